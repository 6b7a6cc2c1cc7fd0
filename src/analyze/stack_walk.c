// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Bringing samples, the timeline, the finder and the unwinder together.
#include "analyze/stack_walk.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "unwind/unwinder.h"

enum {
	// Deeper chains are cut, and that is counted.
	MOST_FRAMES = 4096,
	MOST_WORDS = 64,
	// PERF_SAMPLE_REGS_ABI_32
	ABI_32 = 1
};

struct stack_walk {
	const struct timeline *timeline;
	struct finder *finder;
	struct unwinder *unwinder;
	// EM_… of 64-bit and of 32-bit tasks; EM_NONE when not known.
	uint16_t machine, machine_32;
	bool is_swapped;
};

struct stack_walker {
	struct stack_walk *walk;
	struct unwind_cache *cache;
	struct timeline_cache timeline_cache;
	// By number of the timeline's images, as far as they were asked for.
	const struct finding **findings;
	struct stack_walk_sums sums;
	// Of the sample at hand.
	uint32_t pid;
	uint64_t time;
	struct imp_error *err;
	struct unwound_frame frames[MOST_FRAMES];
};

// As uname(2) says it.
static void choose_machine(struct stack_walk *walk, const char *arch)
{
	static const struct {
		const char *name;
		uint16_t machine, machine_32;
	} machines[] = {
		{ "x86_64", EM_X86_64, EM_386 },       { "i386", EM_NONE, EM_386 },
		{ "i486", EM_NONE, EM_386 },	       { "i586", EM_NONE, EM_386 },
		{ "i686", EM_NONE, EM_386 },	       { "aarch64", EM_AARCH64, EM_NONE },
		{ "aarch64_be", EM_AARCH64, EM_NONE },
	};
	for (size_t i = 0; arch && i < sizeof machines / sizeof *machines; i++) {
		if (strcmp(machines[i].name, arch) != 0)
			continue;
		walk->machine = machines[i].machine;
		walk->machine_32 = machines[i].machine_32;
	}
}

struct imp_error *stack_walk_new(const struct recording *recording, const struct timeline *timeline,
				 struct finder *finder, struct stack_walk **ret)
{
	struct stack_walk *walk = calloc(1, sizeof *walk);
	if (!walk)
		return &imp_error_no_memory;
	walk->timeline = timeline;
	walk->finder = finder;
	walk->is_swapped = recording_is_swapped(recording);
	choose_machine(walk, recording_features(recording)->arch);
	struct imp_error *err = unwinder_new(&walk->unwinder);
	if (err)
		free(walk);
	else
		*ret = walk;
	return err;
}

void stack_walk_free(struct stack_walk *walk)
{
	if (!walk)
		return;
	unwinder_free(walk->unwinder);
	free(walk);
}

void stack_walk_sums_fini(struct stack_walk_sums *sums)
{
	free(sums->by_image);
	*sums = (struct stack_walk_sums){ .by_image = NULL };
}

struct imp_error *stack_walk_sums_merge(struct stack_walk_sums *sums,
					const struct stack_walk_sums *from)
{
	for (unsigned i = 0; i < UNWIND_ENDS; i++) {
		sums->samples[i] += from->samples[i];
		sums->weight[i] += from->weight[i];
	}
	sums->by_frame_pointer += from->by_frame_pointer;
	if (!sums->by_image && from->image_count) {
		sums->by_image = calloc(from->image_count, sizeof *sums->by_image);
		if (!sums->by_image)
			return &imp_error_no_memory;
		sums->image_count = from->image_count;
	}
	for (size_t i = 0; i < from->image_count; i++)
		sums->by_image[i] += from->by_image[i];
	return NULL;
}

struct imp_error *stack_walker_new(struct stack_walk *walk, struct stack_walker **ret)
{
	struct stack_walker *walker = calloc(1, sizeof *walker);
	if (!walker)
		return &imp_error_no_memory;
	size_t count = timeline_image_count(walk->timeline);
	walker->walk = walk;
	walker->findings = calloc(count + 1, sizeof(const struct finding *));
	walker->sums.by_image = calloc(count + 1, sizeof *walker->sums.by_image);
	walker->sums.image_count = count;
	struct imp_error *err = unwind_cache_new(&walker->cache);
	if (!err && (!walker->findings || !walker->sums.by_image))
		err = &imp_error_no_memory;
	if (err)
		stack_walker_free(walker);
	else
		*ret = walker;
	return err;
}

void stack_walker_free(struct stack_walker *walker)
{
	if (!walker)
		return;
	unwind_cache_free(walker->cache);
	free(walker->findings);
	stack_walk_sums_fini(&walker->sums);
	imp_error_free(walker->err);
	free(walker);
}

void stack_walker_take_sums(struct stack_walker *walker, struct stack_walk_sums *ret)
{
	*ret = walker->sums;
	walker->sums = (struct stack_walk_sums){ .by_image = NULL };
}

static const struct finding *find_image(struct stack_walker *walker, uint32_t number)
{
	const struct finding **finding = &walker->findings[number];
	if (*finding || walker->err)
		return *finding;
	const struct stack_walk *walk = walker->walk;
	walker->err = finder_find(walk->finder, timeline_image(walk->timeline, number), finding);
	return *finding;
}

static struct stretch stretch_at(struct stack_walker *walker, uint64_t address)
{
	return timeline_find(walker->walk->timeline, walker->pid, walker->time, MISC_USER,
			     abs_addr_of(address), &walker->timeline_cache);
}

static bool has_no_file(const struct image *image)
{
	return image->kind == IMAGE_JIT || image->kind == IMAGE_ANON ||
	       image->kind == IMAGE_SPECIAL;
}

static struct unwind_place locate(void *arg, uint64_t address)
{
	struct stack_walker *walker = arg;
	struct stretch stretch = stretch_at(walker, address);
	struct unwind_place place = { .is_mapped = stretch.image != NO_IMAGE };
	if (!place.is_mapped)
		return place;
	const struct image *image = timeline_image(walker->walk->timeline, stretch.image);
	if (has_no_file(image))
		return place;
	const struct finding *finding = find_image(walker, stretch.image);
	if (!finding || !finding->image) {
		bool has_identity = finding && finding->reason != UNKNOWN_NO_IDENTITY &&
				    finding->reason != UNKNOWN_AMBIGUOUS;
		place.missing = has_identity ? UNWIND_IMAGE_NOT_FOUND : UNWIND_NO_IDENTITY;
		return place;
	}
	file_off offset = file_off_of(address - stretch.base);
	if (finding_address(finding, image, offset, &place.address) == KNOWN) {
		place.image = finding->image;
		place.debug = finding->debug;
	}
	return place;
}

static void count_end(struct stack_walker *walker, const struct unwound *unwound, uint64_t weight)
{
	struct stack_walk_sums *sums = &walker->sums;
	sums->samples[unwound->end]++;
	sums->weight[unwound->end] += weight;
	sums->by_frame_pointer += unwound->by_frame_pointer > 0;
	bool is_images_fault =
		unwound->end == UNWIND_IMAGE_NOT_FOUND || unwound->end == UNWIND_NO_IDENTITY ||
		unwound->end == UNWIND_NO_DESCRIPTION || unwound->end == UNWIND_BAD_DESCRIPTION;
	if (!is_images_fault)
		return;
	struct stretch stretch = stretch_at(walker, unwound->end_address);
	if (stretch.image != NO_IMAGE)
		sums->by_image[stretch.image]++;
}

// The first frame is the sampled one, which the chain has where the sample was taken in user mode.
static struct imp_error *append(struct chain *chain, const struct unwound *unwound)
{
	size_t first = 0;
	if (chain->entries.count &&
	    chain->entries.items[chain->entries.count - 1].cpumode == MISC_USER)
		first = 1;
	if (!array_reserve(&chain->entries, unwound->count))
		return &imp_error_no_memory;
	for (size_t i = first; i < unwound->count; i++)
		chain->entries.items[chain->entries.count++] =
			(struct chain_entry){ unwound->frames[i].address, MISC_USER,
					      unwound->frames[i].is_return };
	return NULL;
}

// The recorder asked for the stack, and the task had one: a thread of the kernel has none.
static bool has_stack(const struct sample *sample)
{
	const struct event_attr *attr = &sample->event->attr;
	return attr->sample_type & SAMPLE_STACK_USER && attr->sample_type & SAMPLE_REGS_USER &&
	       sample->user_abi && sample->user_regs.count;
}

static bool has_user_callers(const struct chain *chain)
{
	for (size_t i = chain->entries.count; i-- > 0;)
		if (chain->entries.items[i].cpumode == MISC_USER &&
		    chain->entries.items[i].is_return)
			return true;
	return chain->is_deferred;
}

struct imp_error *stack_walk_extend(struct stack_walker *walker, const struct sample *sample,
				    uint64_t time, struct chain *chain)
{
	if (!has_stack(sample) || has_user_callers(chain))
		return NULL;
	const struct stack_walk *walk = walker->walk;
	uint64_t words[MOST_WORDS];
	uint64_t count = sample->user_regs.count < MOST_WORDS ? sample->user_regs.count
							      : MOST_WORDS;
	for (uint64_t i = 0; i < count; i++)
		words[i] = word_at(&sample->user_regs, i);
	walker->pid = sample->pid;
	walker->time = time;
	struct unwind_sample input = {
		.machine = sample->user_abi == ABI_32 ? walk->machine_32 : walk->machine,
		.registers = words,
		.register_count = (uint32_t)count,
		.register_mask = sample->event->attr.sample_regs_user,
		.stack = sample->user_stack,
		.stack_size = sample->user_stack_size,
		.swap = walk->is_swapped,
		.locate = locate,
		.arg = walker,
	};
	struct unwound unwound = { .frames = walker->frames, .most = MOST_FRAMES };
	struct imp_error *err = unwind(walk->unwinder, walker->cache, &input, &unwound);
	if (!err)
		err = steal(walker->err);
	if (err)
		return err;
	count_end(walker, &unwound, sample->period);
	return append(chain, &unwound);
}
