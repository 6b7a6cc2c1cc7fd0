// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// This very process recorded as a sample of itself with a copy of its stack, and read back.
#include "analyze/analysis.h"

#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <ucontext.h>
#include <unistd.h>

#include "analyze/spot_names.h"
#include "elf/elf_image.h"
#include "harness/tap.h"
#include "make/recording.h"
#include "perfdata/sample.h"

enum { MOST_STACK = 65528, MOST_OBJECTS = 32 };

static struct {
	uint64_t registers[40];
	uint64_t mask, pc, stack_pointer;
	uint8_t stack[MOST_STACK];
	size_t stack_size;
} moment;

static bool take_registers(const ucontext_t *context)
{
#if defined(__x86_64__)
	static const int order[] = { REG_RAX, REG_RBX, REG_RCX, REG_RDX, REG_RSI, REG_RDI,
				     REG_RBP, REG_RSP, REG_RIP, REG_R8,	 REG_R9,  REG_R10,
				     REG_R11, REG_R12, REG_R13, REG_R14, REG_R15 };
	for (unsigned i = 0; i < 17; i++)
		moment.registers[i] = (uint64_t)context->uc_mcontext.gregs[order[i]];
	moment.mask = 0xff01ff;
	moment.stack_pointer = moment.registers[7];
	moment.pc = moment.registers[8];
	return true;
#elif defined(__aarch64__)
	for (unsigned i = 0; i < 31; i++)
		moment.registers[i] = context->uc_mcontext.regs[i];
	moment.registers[31] = moment.stack_pointer = context->uc_mcontext.sp;
	moment.registers[32] = moment.pc = context->uc_mcontext.pc;
	moment.mask = 0x1ffffffff;
	return true;
#else
	(void)context;
	return false;
#endif
}

static bool has_moment;

// Global, so that they are called by symbols that no compiler makes copies of.
void walked_inner(void);
int walked_outer(int depth);

__attribute__((noinline)) void walked_inner(void)
{
	ucontext_t context;
	getcontext(&context);
	has_moment = take_registers(&context);
	// By the kernel, since sanitizers forbid to read other functions' frames.
	_cleanup_close_ int memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	ssize_t size = pread(memory, moment.stack, MOST_STACK, (off_t)moment.stack_pointer);
	has_moment &= size > 0;
	moment.stack_size = size > 0 ? (size_t)size & ~(size_t)7 : 0;
	__asm__ volatile("");
}

__attribute__((noinline)) int walked_outer(int depth)
{
	volatile int sum = depth;
	if (depth)
		sum += walked_outer(depth - 1);
	else
		walked_inner();
	return sum;
}

// The mappings of code, in the order of dl_iterate_phdr().
struct mapped {
	char path[4096];
	struct build_id id;
	uint64_t start, size, offset;
};
static struct mapped mapped[MOST_OBJECTS];
static size_t mapped_count;

static int note_object(struct dl_phdr_info *found, size_t size, void *arg)
{
	(void)size;
	(void)arg;
	for (int i = 0; i < found->dlpi_phnum && mapped_count < MOST_OBJECTS; i++) {
		const ElfW(Phdr) *header = &found->dlpi_phdr[i];
		if (header->p_type != PT_LOAD || !(header->p_flags & PF_X))
			continue;
		struct mapped *object = &mapped[mapped_count];
		const char *name = found->dlpi_name[0] ? found->dlpi_name : "/proc/self/exe";
		if (!realpath(name, object->path))
			continue;
		imp_error_free(elf_build_id_read(object->path, &object->id));
		uint64_t into_page = header->p_vaddr % 4096;
		object->start = found->dlpi_addr + header->p_vaddr - into_page;
		object->size = header->p_memsz + into_page;
		object->offset = header->p_offset - into_page;
		mapped_count++;
	}
	return 0;
}

struct scene {
	// The recording says of no image which build it is.
	bool has_no_ids;
	// The test program's ID is that of another build.
	bool has_other_id;
	size_t stack_size;
};

static struct recording_builder *record(const struct scene *scene)
{
	struct recording_builder *builder = recording_builder_new();
	struct event_attr attr = {
		.sample_type = SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME | SAMPLE_CALLCHAIN |
			       SAMPLE_REGS_USER | SAMPLE_STACK_USER,
		.sample_regs_user = moment.mask,
		.sample_stack_user = MOST_STACK,
		.flags = BUILT_FLAGS | UINT64_C(1) << ATTR_EXCLUDE_CALLCHAIN_USER,
	};
	uint64_t id = 7;
	struct utsname machine;
	uname(&machine);
	build_event(builder, &attr, "cycles", &id, 1);
	build_string_feature(builder, FEATURE_ARCH, machine.machine);
	build_comm(builder, built_at(1, 1, 1),
		   &(struct comm_record){ .pid = 1, .tid = 1, .is_exec = true, .comm = "self" });
	for (size_t i = 0; i < mapped_count; i++) {
		struct mmap_record map = { .pid = 1,
					   .tid = 1,
					   .start = mapped[i].start,
					   .length = mapped[i].size,
					   .page_offset = mapped[i].offset,
					   .prot = 5,
					   .path = mapped[i].path };
		if (!scene->has_no_ids)
			map.id = mapped[i].id;
		if (i == 0 && scene->has_other_id)
			map.id.bytes[0] ^= 1;
		build_mmap2(builder, built_at(1, 1, 2), MISC_USER, &map);
	}
	build_sample(builder, 0,
		     &(struct built_sample){ .misc = MISC_USER,
					     .ip = moment.pc,
					     .pid = 1,
					     .tid = 1,
					     .time = 10,
					     .period = 1,
					     .user_abi = 2,
					     .user_regs = moment.registers,
					     .stack = moment.stack,
					     .stack_size = scene->stack_size,
					     .stack_valid = scene->stack_size });
	return builder;
}

// Reads the recording of SCENE; names are made by the finder that callers were found by.
static struct profile *read_back(const struct scene *scene)
{
	walked_outer(3);
	if (!mapped_count)
		dl_iterate_phdr(note_object, NULL);
	if (!has_moment || !mapped_count || build_id_is_none(&mapped[0].id)) {
		tap_skip("this machine is not unwound, or the test program has no build ID");
		return NULL;
	}
	struct scene whole = *scene;
	if (!whole.stack_size || whole.stack_size > moment.stack_size)
		whole.stack_size = moment.stack_size;
	struct buffer bytes = recording_builder_finish(record(&whole));
	char *path = built_file(&bytes);
	struct finder_options finder_options = { .log = NULL };
	struct symbolizer_options symbolizer_options = { .no_inline = true };
	_cleanup_finder_ struct finder *finder = NULL;
	struct symbolizer *symbolizer = NULL;
	struct profile *profile = NULL;
	CHECK_OK(finder_new(&finder_options, &finder));
	struct analysis_options options = { .with_chains = true, .workers = 2, .finder = finder };
	CHECK_OK(analyze(path, &options, &profile));
	CHECK_OK(symbolizer_new(finder, &symbolizer_options, &symbolizer));
	if (profile && symbolizer)
		CHECK_OK(spots_name(profile, symbolizer, 1));
	symbolizer_free(symbolizer);
	buffer_fini(&bytes);
	built_file_remove(path);
	return profile;
}

// The functions of the only stack, innermost first.
static size_t functions_of(const struct profile *profile, const char **names, size_t most)
{
	const struct tally *tally = &profile->tally;
	size_t count = 0;
	for (uint32_t i = 0; i < tally->nodes.count; i++) {
		if (!tally->nodes.items[i].samples)
			continue;
		for (uint32_t at = i; !stack_node_is_root(&tally->nodes.items[at]) && count < most;
		     at = tally->nodes.items[at].parent) {
			const struct spot_name *name = &profile->names[tally->nodes.items[at].spot];
			names[count++] = "?";
			if (name->count)
				names[count - 1] = profile_string(
					profile, profile->frames.items[name->first].function);
		}
	}
	return count;
}

TEST(callers_come_from_the_copied_stack)
{
	const char *names[64] = { NULL };
	_cleanup_profile_ struct profile *profile = read_back(&(struct scene){ .stack_size = 0 });
	if (!profile)
		return;
	size_t count = functions_of(profile, names, 64);
	REQUIRE(count >= 7);
	CHECK_TEXT(names[0], "walked_inner");
	for (size_t i = 1; i <= 4; i++)
		CHECK_TEXT(names[i], "walked_outer");
	size_t at_main = 0;
	while (at_main < count && strcmp(names[at_main], "main") != 0)
		at_main++;
	CHECK(at_main < count);
	CHECK_UINT(profile->origin.chain_ends[UNWIND_OUTERMOST], 1);
	CHECK_UINT(profile->origin.chains_by_frame_pointer, 0);
	CHECK(profile->origin.has_chains);
}

TEST(a_chain_ends_where_the_copy_ends_and_that_is_counted)
{
	const char *names[64] = { NULL };
	_cleanup_profile_ struct profile *profile = read_back(&(struct scene){ .stack_size = 8 });
	if (!profile)
		return;
	REQUIRE(functions_of(profile, names, 64) >= 1);
	CHECK_TEXT(names[0], "walked_inner");
	CHECK_UINT(profile->origin.chain_ends[UNWIND_STACK_SHORT], 1);
	CHECK_UINT(profile->origin.chain_ends[UNWIND_OUTERMOST], 0);
}

TEST(nothing_is_guessed_of_an_image_that_was_not_found)
{
	const char *names[64] = { NULL };
	_cleanup_profile_ struct profile *profile =
		read_back(&(struct scene){ .has_other_id = true });
	if (!profile)
		return;
	CHECK_UINT(functions_of(profile, names, 64), 1);
	CHECK_TEXT(names[0], "?");
	CHECK_UINT(profile->origin.chain_ends[UNWIND_IMAGE_NOT_FOUND], 1);
	uint64_t ended = 0;
	for (size_t i = 0; i < profile->objects.count; i++)
		ended += profile->objects.items[i].ended_chains;
	CHECK_UINT(ended, 1);
}

TEST(no_build_is_adopted_for_a_frame_that_none_was_recorded_for)
{
	_cleanup_profile_ struct profile *profile =
		read_back(&(struct scene){ .has_no_ids = true });
	if (profile)
		CHECK_UINT(profile->origin.chain_ends[UNWIND_NO_IDENTITY], 1);
}
