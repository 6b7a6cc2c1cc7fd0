// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// `imprint store add`: takes files, trees, processes and the running kernel into the store.
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/parallel.h"
#include "base/units.h"
#include "cli/archived.h"
#include "cli/command.h"
#include "cli/naming.h"
#include "cli/needs.h"
#include "cli/store_use.h"
#include "find/intake.h"

extern const struct command command_store_add;

struct add_options {
	const char *dir;
	uint64_t workers;
};

static const struct option add_options[] = {
	STORE_OPTION(struct add_options, dir),
	{ .kind = OPTION_THREADS,
	  .letter = 'j',
	  .name = "jobs",
	  .argument = "N",
	  .help = "threads to read with (one for each processor)",
	  .offset = offsetof(struct add_options, workers) },
	{ .kind = OPTION_END },
};

struct found {
	char *path;
	// Named by the user, not met in a tree: taken in whatever it is called, and an error when
	// it is no image.
	bool is_named;
};

struct addition {
	struct intake intake;
	struct store_seen *seen;
	// Files of trees that need not be opened.
	size_t seen_files;
	ARRAY_OF(struct found) files;
	// One for each worker.
	struct intake_counts *counts;
	unsigned workers;
};

static struct imp_error *note_file(struct addition *add, const char *path, bool is_named)
{
	struct found *file = array_add(&add->files);
	if (!file || !(file->path = strdup(path)))
		return &imp_error_no_memory;
	file->is_named = is_named;
	return NULL;
}

static struct imp_error *note_tree(struct addition *add, const char *dir)
{
	char *path = realpath(dir, NULL);
	if (!path)
		return error_system(errno, "%s: cannot open", dir);
	char *roots[] = { path, NULL };
	// From directory to directory: the kernel then looks each name up alone, not its whole
	// path.
	FTS *walk = fts_open(roots, FTS_PHYSICAL, NULL);
	struct imp_error *err = walk ? NULL : error_system(errno, "%s: cannot walk", dir);
	for (FTSENT *file; !err && (file = fts_read(walk));) {
		if (file->fts_info == FTS_F &&
		    store_seen_knows(add->seen, file->fts_path, file->fts_statp))
			add->seen_files++;
		else if (file->fts_info == FTS_F)
			err = note_file(add, file->fts_path, false);
		else if (file->fts_info == FTS_DNR || file->fts_info == FTS_ERR)
			log_message(add->intake.log, LOG_WARNING, "%s: cannot be read: %s",
				    file->fts_path, strerror(file->fts_errno));
	}
	if (walk)
		(void)fts_close(walk);
	free(path);
	return err;
}

static struct imp_error *add_named(struct addition *add, int fd, const struct found *file,
				   enum intake_outcome *outcome)
{
	struct intake intake = add->intake;
	intake.unpacks_all = true;
	_cleanup_free_ char *path = realpath(file->path, NULL);
	struct imp_error *err = intake_fd(&intake, fd, path ? path : file->path, outcome);
	if (!err && *outcome == INTAKE_NO_IMAGE)
		err = error_new(IMP_ERR_BAD_DATA,
				"%s: no program, library, kernel, module or debug file",
				file->path);
	return err;
}

static struct imp_error *add_file(void *arg, unsigned worker, size_t piece)
{
	struct addition *add = arg;
	const struct found *file = &add->files.items[piece];
	struct intake_counts *counts = &add->counts[worker];
	// O_NONBLOCK: a FIFO must not hang.
	_cleanup_close_ int fd = open(file->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 && file->is_named)
		return error_system(errno, "%s: cannot open", file->path);
	if (fd < 0) {
		log_message(add->intake.log, LOG_WARNING, "%s: cannot be opened: %s", file->path,
			    strerror(errno));
		counts->unreadable++;
		return NULL;
	}
	enum intake_outcome outcome = INTAKE_NO_IMAGE;
	struct imp_error *err = file->is_named ? add_named(add, fd, file, &outcome)
					       : intake_fd(&add->intake, fd, file->path, &outcome);
	counts->known += outcome == INTAKE_KNOWN;
	counts->no_image += outcome == INTAKE_NO_IMAGE;
	return err;
}

static bool is_number(const char *word)
{
	return *word && strspn(word, "0123456789") == strlen(word) && strlen(word) < 10;
}

static struct imp_error *add_process(struct addition *add, const char *word)
{
	bool found = false;
	struct imp_error *err = intake_process(&add->intake, (uint32_t)strtoul(word, NULL, 10),
					       &add->counts[0], &found);
	if (!err && !found)
		err = error_new(IMP_ERR_SYSTEM, "%s: neither a file nor a process", word);
	return err;
}

// Finds what a recording needs, wherever it is, and takes it in.
struct needed {
	struct addition *add;
	struct finder *finder;
	size_t images, missing;
};

static struct imp_error *take_found(const struct intake *intake, const struct elf_image *image,
				    enum image_kind kind, const char *path)
{
	if (!image)
		return NULL;
	struct store_item item = { .path = path };
	intake_describe_image(image, &item);
	if (kind == IMAGE_VDSO)
		item.role = STORE_VDSO;
	size_t size;
	const void *bytes = elf_image_bytes(image, &size);
	return store_batch_add_memory(intake->batch, &item, bytes, size);
}

static struct imp_error *take_kallsyms(const struct intake *intake, const struct image *image,
				       const char *file)
{
	enum { MOST_BYTES = 256 << 20 };
	_cleanup_buffer_ struct buffer text = { 0 };
	struct imp_error *err = file_slurp_path(file, MOST_BYTES, &text);
	struct store_item item = { .id = image->id,
				   .role = STORE_KALLSYMS,
				   .path = "[kernel.kallsyms]" };
	return err ? err : store_batch_add_memory(intake->batch, &item, text.bytes, text.size);
}

static struct imp_error *take_need(void *arg, const struct image *image)
{
	struct needed *needed = arg;
	const struct intake *intake = &needed->add->intake;
	const struct finding *finding;
	struct imp_error *err = finder_find(needed->finder, image, &finding);
	if (err)
		return err;
	needed->images++;
	needed->missing += !finding->image && !finding->debug && !finding->kallsyms_path;
	bool has_symbols = finding->kallsyms_path && image->kind == IMAGE_KERNEL &&
			   !build_id_is_none(&image->id);
	err = take_found(intake, finding->image, image->kind, image->path);
	if (!err && finding->debug != finding->image)
		err = take_found(intake, finding->debug, image->kind, image->path);
	if (!err && finding->alt)
		err = take_found(intake, finding->alt, image->kind, elf_image_path(finding->alt));
	return err || !has_symbols ? err : take_kallsyms(intake, image, finding->kallsyms_path);
}

static struct imp_error *add_recording(struct addition *add, const char *path)
{
	struct naming all = { .store_dir = store_dir(add->intake.store) };
	_cleanup_(cleanup_bundle) struct bundle *bundle = NULL;
	struct needed needed = { .add = add };
	struct imp_error *err = archived_open(&path, &all, add->intake.log, &bundle);
	if (!err)
		err = naming_finder(&all, add->intake.log, &needed.finder);
	if (!err)
		err = needs_visit(path, false, add->intake.log, take_need, &needed);
	finder_free(needed.finder);
	naming_fini(&all);
	if (!err && needed.missing)
		log_message(add->intake.log, LOG_WARNING,
			    "%s: %zu of %zu images were found nowhere ('imprint fetch' asks "
			    "debuginfod)",
			    path, needed.missing, needed.images);
	return err;
}

// A word is a file or directory if there is one, else a process or "kernel".
static struct imp_error *add_word(struct addition *add, const char *word)
{
	struct stat stat_;
	bool is_there = !stat(word, &stat_);
	if (is_there && needs_is_recording(word))
		return add_recording(add, word);
	if (is_there)
		return S_ISDIR(stat_.st_mode) ? note_tree(add, word) : note_file(add, word, true);
	if (!strcmp(word, "kernel"))
		return intake_kernel(&add->intake, &add->counts[0]);
	if (is_number(word))
		return add_process(add, word);
	return error_system(errno, "%s: cannot open", word);
}

static struct imp_error *add_all(struct addition *add, const struct operands *operands)
{
	struct imp_error *err = NULL;
	for (size_t i = 0; !err && i < operands->count; i++)
		err = add_word(add, operands->items[i]);
	if (!err)
		err = parallel_run(add->workers, add->files.count, add_file, add);
	return err;
}

static void print_counts(const struct addition *add, const struct store_batch_counts *batch)
{
	size_t known = batch->known + add->seen_files;
	size_t unreadable = 0;
	for (unsigned i = 0; i < add->workers; i++) {
		known += add->counts[i].known;
		unreadable += add->counts[i].unreadable;
	}
	printf("%zu added (%s), %zu known\n", batch->added, units_size(batch->added_bytes).text,
	       known);
	if (unreadable)
		log_message(add->intake.log, LOG_WARNING, "%zu files could not be read",
			    unreadable);
	if (batch->collisions)
		log_message(add->intake.log, LOG_WARNING,
			    "%zu have the build ID of other contents; both are kept, told apart "
			    "by path",
			    batch->collisions);
}

static struct imp_error *add_to(struct store *store, const struct invocation *invocation,
				struct addition *add)
{
	add->counts = calloc(add->workers, sizeof *add->counts);
	if (!add->counts)
		return &imp_error_no_memory;
	add->intake = (struct intake){ .store = store, .log = invocation->log };
	_cleanup_(cleanup_store_seen) struct store_seen *seen = NULL;
	struct imp_error *err = store_seen_new(store, &seen);
	if (!err)
		err = store_batch_new(store, &add->intake.batch);
	if (err)
		return err;
	add->seen = seen;
	err = add_all(add, &invocation->operands);
	// What was taken in before a failure stays.
	struct store_batch_counts counts = { 0 };
	struct imp_error *failed = store_batch_commit(add->intake.batch, &counts);
	if (err) {
		imp_error_free(failed);
		return err;
	}
	if (!failed)
		print_counts(add, &counts);
	return failed;
}

static int add_run(const struct invocation *invocation, struct imp_error **err)
{
	const struct add_options *options = invocation->options;
	if (!invocation->operands.count) {
		*err = error_new(IMP_ERR_USAGE, "what is to be added?");
		return EXIT_USAGE;
	}
	_cleanup_store_ struct store *store = NULL;
	*err = store_use(options->dir, STORE_WRITE, invocation->log, &store);
	struct addition add = { .workers = parallel_workers((unsigned)options->workers) };
	if (!*err)
		*err = add_to(store, invocation, &add);
	for (size_t i = 0; i < add.files.count; i++)
		free(add.files.items[i].path);
	array_fini(&add.files);
	free(add.counts);
	return *err ? EXIT_FAILED : EXIT_DONE;
}

const struct command command_store_add = {
	.name = "add",
	.summary = "Take files, trees, processes or the running kernel in",
	.usage = "store add [--store DIR] FILE|DIR|PID|RECORDING|kernel...",
	.description = "Every image found is copied, under the build ID read from its own bytes.\n"
		       "A PID's images are taken from its mappings, so replaced and deleted files\n"
		       "too; of a RECORDING, the images that its samples hit, wherever they are\n"
		       "found. What was added before and has not changed is not read again.",
	.options = add_options,
	.options_size = sizeof(struct add_options),
	.run = add_run,
};
