// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Finding each image once, and what offsets mean in what was found.
#include "find/finder.h"

#include <pthread.h>
#include <string.h>

#include "base/hash.h"
#include "base/table.h"
#include "elf/altlink.h"
#include "find/dir_index.h"
#include "find/kernels.h"
#include "find/processes.h"
#include "find/search.h"
#include "find/sources.h"
#include "store/store.h"

// One image that was asked for, and its answer.
struct entry {
	struct image image;
	char *path, *reference_symbol;
	pthread_mutex_t lock;
	bool is_done;
	struct finding finding;
	struct find_step *steps;
};

struct cache {
	pthread_mutex_t lock;
	struct table table;
	ARRAY_OF(struct entry *) entries;
};

static const char *const default_debug_dirs[] = { "/usr/lib/debug", NULL };

static void entry_free(struct entry *entry)
{
	if (!entry)
		return;
	for (size_t i = 0; i < entry->finding.step_count; i++)
		free(entry->steps[i].place);
	free(entry->steps);
	symbols_free((struct symbols *)(uintptr_t)entry->finding.kallsyms);
	free(entry->path);
	free(entry->reference_symbol);
	pthread_mutex_destroy(&entry->lock);
	free(entry);
}

void finder_free(struct finder *finder)
{
	if (!finder)
		return;
	for (size_t i = 0; finder->cache && i < finder->cache->entries.count; i++)
		entry_free(finder->cache->entries.items[i]);
	if (finder->cache) {
		array_fini(&finder->cache->entries);
		table_fini(&finder->cache->table);
		pthread_mutex_destroy(&finder->cache->lock);
		free(finder->cache);
	}
	dir_index_free(finder->index);
	kernels_free(finder->kernels);
	processes_free(finder->processes);
	store_free(finder->store);
	if (finder->options.remote.free)
		finder->options.remote.free(finder->options.remote.arg);
	opened_fini(&finder->opened);
	for (size_t i = 0; i < finder->strings.count; i++)
		free(finder->strings.items[i]);
	array_fini(&finder->strings);
	free(finder->image_dirs);
	free(finder->debug_dirs);
	free(finder);
}

// Replaces *TEXT by a copy that FINDER owns.
static bool keep(struct finder *finder, const char **text)
{
	if (!*text)
		return true;
	char *copy = strdup(*text);
	char **slot = copy ? array_add(&finder->strings) : NULL;
	if (!slot) {
		free(copy);
		return false;
	}
	*text = *slot = copy;
	return true;
}

static bool keep_list(struct finder *finder, const char *const *list, const char ***ret)
{
	size_t count = 0;
	while (list && list[count])
		count++;
	*ret = calloc(count + 1, sizeof **ret);
	for (size_t i = 0; *ret && i < count; i++) {
		(*ret)[i] = list[i];
		if (!keep(finder, &(*ret)[i]))
			return false;
	}
	return *ret;
}

static bool keep_options(struct finder *finder, const struct finder_options *options)
{
	struct finder_options *ours = &finder->options;
	*ours = *options;
	if (!ours->debug_dirs || !ours->debug_dirs[0])
		ours->debug_dirs = default_debug_dirs;
	bool kept = keep(finder, &ours->store_dir) && keep(finder, &ours->buildid_dir) &&
		    keep(finder, &ours->symfs) && keep(finder, &ours->sysroot) &&
		    keep(finder, &ours->vmlinux) && keep(finder, &ours->kallsyms) &&
		    keep(finder, &ours->debuginfod_cache) &&
		    keep_list(finder, ours->image_dirs, &finder->image_dirs) &&
		    keep_list(finder, ours->debug_dirs, &finder->debug_dirs);
	ours->image_dirs = finder->image_dirs;
	ours->debug_dirs = finder->debug_dirs;
	return kept;
}

static struct imp_error *open_parts(struct finder *finder)
{
	finder->cache = calloc(1, sizeof *finder->cache);
	finder->kernels = kernels_new(finder->options.log);
	finder->processes = processes_new();
	if (!finder->cache || !finder->kernels || !finder->processes)
		return &imp_error_no_memory;
	pthread_mutex_init(&finder->cache->lock, NULL);
	struct imp_error *err = NULL;
	if (finder->image_dirs[0])
		err = dir_index_new(finder->options.image_dirs, finder->options.log,
				    &finder->index);
	if (!err && finder->options.store_dir)
		err = store_open(finder->options.store_dir,
				 finder->options.remote.pull ? STORE_WRITE : STORE_READ,
				 finder->options.log, &finder->store);
	return err;
}

struct imp_error *finder_new(const struct finder_options *options, struct finder **ret)
{
	_cleanup_finder_ struct finder *finder = calloc(1, sizeof *finder);
	if (!finder) {
		if (options->remote.free)
			options->remote.free(options->remote.arg);
		return &imp_error_no_memory;
	}
	opened_init(&finder->opened);
	struct imp_error *err = keep_options(finder, options) ? open_parts(finder)
							      : &imp_error_no_memory;
	if (!err)
		*ret = steal(finder);
	return err;
}

// ID without the zeros at its end.
static struct build_id trimmed(const struct build_id *id)
{
	uint32_t size = id->size;
	while (size && !id->bytes[size - 1])
		size--;
	return build_id_of(id->bytes, size);
}

// The IDs by which files may be named: where the length was not recorded, all that are likely.
static void list_ids(struct search *search)
{
	const struct build_id *id = &search->image->id;
	search->ids[search->id_count++] = *id;
	if (!search->image->id_is_padded)
		return;
	const struct build_id shortest = trimmed(id);
	static const uint8_t usual[] = { 16, 8 };
	for (size_t i = 0; i < sizeof usual; i++)
		if (shortest.size <= usual[i] && usual[i] < id->size)
			search->ids[search->id_count++] = build_id_of(id->bytes, usual[i]);
	if (!build_id_equal(&shortest, &search->ids[search->id_count - 1]))
		search->ids[search->id_count++] = shortest;
}

static struct imp_error *ask_sources(struct search *search)
{
	struct imp_error *err = NULL;
	for (size_t i = 0; i < source_count && !err && !search_is_complete(search); i++) {
		search->source = sources[i].name;
		if (sources[i].kinds & 1U << search->image->kind)
			err = sources[i].look(search);
	}
	return err;
}

static bool has_nothing(const struct finding *finding)
{
	return !finding->image && !finding->debug && !finding->kallsyms;
}

// --force: what is at the recorded path, whatever its ID.
static struct imp_error *take_by_force(struct search *search)
{
	search->takes_any = true;
	search->source = "path";
	struct imp_error *err = look_at_path(search);
	search->source = "vmlinux";
	bool is_kernel = search->image->kind == IMAGE_KERNEL;
	if (!err && is_kernel && has_nothing(search->finding) && search->finder->options.vmlinux)
		err = search_try(search, search->finder->options.vmlinux);
	search->source = "kallsyms";
	if (!err && has_nothing(search->finding) && image_kind_is_kernel_side(search->image->kind))
		err = look_at_kallsyms(search);
	search->finding->is_forced = !has_nothing(search->finding);
	return err;
}

// The reason that the steps give for finding nothing.
static enum unknown_reason reason_of(struct search *search)
{
	bool was_unreadable = false;
	for (size_t i = 0; i < search->steps.count; i++) {
		const struct find_step *step = &search->steps.items[i];
		if (step->outcome == FIND_OTHER_BUILD && !strcmp(step->source, "path"))
			search->finding->other = step->other;
		was_unreadable |= step->outcome == FIND_UNREADABLE;
	}
	if (search->finding->other.size)
		return UNKNOWN_OTHER_BUILD;
	return was_unreadable ? UNKNOWN_UNREADABLE : UNKNOWN_IMAGE_NOT_FOUND;
}

static enum unknown_reason reason_without_search(const struct image *image)
{
	switch (image->kind) {
	case IMAGE_JIT:
	case IMAGE_ANON:
	case IMAGE_SPECIAL:
		return UNKNOWN_ANONYMOUS;
	case IMAGE_KERNEL:
	case IMAGE_MODULE:
	case IMAGE_GUEST_KERNEL:
	case IMAGE_GUEST_MODULE:
	case IMAGE_USER:
	case IMAGE_VDSO:
	case IMAGE_KINDS:
	default:
		break;
	}
	if (image->identity == IDENTITY_AMBIGUOUS)
		return UNKNOWN_AMBIGUOUS;
	return identity_is_usable(image->identity) && image->id.size ? KNOWN : UNKNOWN_NO_IDENTITY;
}

// What .gnu_debugaltlink says: the path of the file that dwz moved common parts to, made absolute
// by the debug file's own place, and its ID. False without one.
static bool altlink_of(const struct elf_image *debug, struct build_id *id, char **path)
{
	const char *name;
	if (!elf_altlink(debug, id, &name))
		return false;
	_cleanup_free_ char *real = realpath(elf_image_path(debug), NULL);
	const char *slash = real ? strrchr(real, '/') : NULL;
	if (name[0] == '/' || !slash)
		*path = strdup(name);
	else
		*path = path_of("%.*s/%s", (int)(slash - real), real, name);
	return *path != NULL;
}

// Looks for the dwz file that the found debug file refers to, as for an image of its own. It has no
// such file itself, so this goes no deeper.
static struct imp_error *find_alt(struct search *search)
{
	_cleanup_free_ char *path = NULL;
	struct image image = { .kind = IMAGE_USER, .identity = IDENTITY_MAP_TIME };
	if (!search->finding->debug || !altlink_of(search->finding->debug, &image.id, &path))
		return NULL;
	image.path = path;
	struct finding found = { 0 };
	struct search alt = {
		.finder = search->finder, .image = &image, .finding = &found, .is_alt = true
	};
	list_ids(&alt);
	struct imp_error *err = ask_sources(&alt);
	search->finding->alt = found.debug;
	for (size_t i = 0; i < alt.steps.count; i++) {
		struct find_step *step = err ? NULL : array_add(&search->steps);
		if (!step && !err)
			err = &imp_error_no_memory;
		if (step)
			*step = alt.steps.items[i];
		else
			free(alt.steps.items[i].place);
	}
	array_fini(&alt.steps);
	return err;
}

// Where offset 0 of a kernel or a vdso lies in the file that was found.
static void find_base(const struct search *search)
{
	struct finding *finding = search->finding;
	const struct image *image = search->image;
	const struct elf_image *file = finding->debug ? finding->debug : finding->image;
	elf_addr address;
	if (finding->kallsyms || !file)
		return;
	if (image->kind == IMAGE_KERNEL || image->kind == IMAGE_GUEST_KERNEL) {
		const char *name = image->reference_symbol ? image->reference_symbol : "_text";
		if (elf_symbol_address(file, name, &address) ||
		    (!image->reference_symbol && elf_symbol_address(file, "_stext", &address)))
			finding->base = address.value;
	}
	for (size_t i = 0; !finding->base && i < elf_image_segment_count(file); i++) {
		const struct load_segment *segment = elf_image_segment(file, i);
		bool counts = image->kind == IMAGE_VDSO ? !segment->offset : segment->is_executable;
		if (counts && image->kind != IMAGE_USER)
			finding->base = segment->address;
	}
}

static struct imp_error *run(struct search *search)
{
	struct finding *finding = search->finding;
	finding->reason = reason_without_search(search->image);
	bool may_be_forced = search->finder->options.force && finding->reason != UNKNOWN_ANONYMOUS;
	struct imp_error *err = NULL;
	if (finding->reason == KNOWN) {
		list_ids(search);
		err = ask_sources(search);
		finding->reason = has_nothing(finding) ? reason_of(search) : KNOWN;
	}
	if (!err && finding->reason != KNOWN && may_be_forced) {
		err = take_by_force(search);
		if (!has_nothing(finding))
			finding->reason = KNOWN;
	}
	if (!err)
		find_base(search);
	return err ? err : find_alt(search);
}

static bool same(const struct image *a, const struct image *b)
{
	bool same_id = a->id.size ? build_id_equal(&a->id, &b->id) : !b->id.size;
	return same_id && a->kind == b->kind && a->identity == b->identity &&
	       a->id_is_padded == b->id_is_padded &&
	       !strcmp(a->path ? a->path : "", b->path ? b->path : "") &&
	       !strcmp(a->reference_symbol ? a->reference_symbol : "",
		       b->reference_symbol ? b->reference_symbol : "");
}

static struct entry *entry_new(const struct image *image)
{
	struct entry *entry = calloc(1, sizeof *entry);
	if (!entry)
		return NULL;
	entry->image = *image;
	entry->path = image->path ? strdup(image->path) : NULL;
	entry->reference_symbol = image->reference_symbol ? strdup(image->reference_symbol) : NULL;
	entry->image.path = entry->path;
	entry->image.reference_symbol = entry->reference_symbol;
	pthread_mutex_init(&entry->lock, NULL);
	if ((!entry->path && image->path) ||
	    (!entry->reference_symbol && image->reference_symbol)) {
		entry_free(entry);
		return NULL;
	}
	return entry;
}

// The entry of IMAGE, new or known; NULL when memory ran out. Called under the cache's lock.
static struct entry *entry_of(struct cache *cache, const struct image *image)
{
	const char *path = image->path ? image->path : "";
	uint64_t hash = hash_bytes(build_id_hash(&image->id), path, strlen(path));
	struct table_probe probe = table_probe(&cache->table, hash);
	uint32_t index;
	while (table_next(&cache->table, &probe, &index))
		if (same(&cache->entries.items[index]->image, image))
			return cache->entries.items[index];
	struct entry *entry = entry_new(image);
	struct entry **slot = entry ? array_add(&cache->entries) : NULL;
	if (!slot) {
		entry_free(entry);
		return NULL;
	}
	*slot = entry;
	return table_insert(&cache->table, hash, (uint32_t)cache->entries.count - 1) ? entry : NULL;
}

static struct imp_error *search_for(struct finder *finder, struct entry *entry)
{
	struct search search = { .finder = finder,
				 .image = &entry->image,
				 .finding = &entry->finding };
	struct imp_error *err = run(&search);
	entry->steps = search.steps.items;
	entry->finding.steps = search.steps.items;
	entry->finding.step_count = search.steps.count;
	entry->is_done = true;
	return err;
}

struct imp_error *finder_find(struct finder *finder, const struct image *image,
			      const struct finding **ret)
{
	pthread_mutex_lock(&finder->cache->lock);
	struct entry *entry = entry_of(finder->cache, image);
	pthread_mutex_unlock(&finder->cache->lock);
	if (!entry)
		return &imp_error_no_memory;
	pthread_mutex_lock(&entry->lock);
	struct imp_error *err = entry->is_done ? NULL : search_for(finder, entry);
	pthread_mutex_unlock(&entry->lock);
	if (!err)
		*ret = &entry->finding;
	return err;
}

struct imp_error *finder_add_process(struct finder *finder, uint32_t pid)
{
	return processes_add(finder->processes, pid, 0);
}

struct imp_error *finder_add_survivor(struct finder *finder, uint32_t pid, int64_t written_s)
{
	return processes_add(finder->processes, pid, written_s);
}

struct imp_error *finder_open_perf_map(struct finder *finder, uint32_t pid, int *ret, char **place)
{
	return processes_open_map(finder->processes, pid, ret, place);
}

enum unknown_reason finding_address(const struct finding *finding, const struct image *image,
				    file_off offset, elf_addr *ret)
{
	if (finding->reason != KNOWN)
		return finding->reason;
	// Modules' sections lie below this; see elf/module_layout.h.
	const uint64_t text_most = UINT64_C(1) << 32;
	switch (image->kind) {
	case IMAGE_MODULE:
	case IMAGE_GUEST_MODULE:
		if (offset.value >= text_most)
			return UNKNOWN_OUTSIDE_IMAGE;
		*ret = elf_addr_of(finding->base + offset.value);
		return KNOWN;
	case IMAGE_KERNEL:
	case IMAGE_GUEST_KERNEL:
	case IMAGE_VDSO:
		*ret = elf_addr_of(finding->base + offset.value);
		return KNOWN;
	case IMAGE_USER:
	case IMAGE_JIT:
	case IMAGE_ANON:
	case IMAGE_SPECIAL:
	case IMAGE_KINDS:
	default:
		break;
	}
	// A debug file alone does not say where in the mapped file the code stood.
	if (!finding->image)
		return UNKNOWN_IMAGE_NOT_FOUND;
	return elf_image_address(finding->image, offset, ret) ? KNOWN : UNKNOWN_OUTSIDE_IMAGE;
}
