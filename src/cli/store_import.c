// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// `imprint store import`: what other tools have gathered, into the store.
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive/bundle.h"
#include "archive/package.h"
#include "archive/perf_cache.h"
#include "base/file.h"
#include "base/units.h"
#include "cli/command.h"
#include "cli/places.h"
#include "cli/store_use.h"
#include "find/intake.h"

extern const struct command command_store_import;

struct import_options {
	const char *dir;
};

static const struct option import_options[] = {
	STORE_OPTION(struct import_options, dir),
	{ .kind = OPTION_END },
};

struct import {
	struct intake intake;
	size_t known;
	size_t no_image;
};

enum { MOST_TEXT_BYTES = 256 << 20 };

// kallsyms and vdsos, which no file of a program's is: kallsyms bear no ID of their own, the
// cache's word for it counts.
static struct imp_error *take_memory(struct import *import, int fd,
				     const struct perf_cached *cached)
{
	_cleanup_buffer_ struct buffer bytes = { 0 };
	struct imp_error *err = file_slurp(fd, cached->path, MOST_TEXT_BYTES, &bytes);
	if (err)
		return err;
	struct store_item item = { .id = cached->id, .role = cached->role, .path = cached->path };
	if (cached->role == STORE_VDSO) {
		struct elf_brief brief;
		elf_brief_read_memory(bytes.bytes, bytes.size, &brief);
		intake_describe(&brief, &item);
		item.role = STORE_VDSO;
		item.id = elf_build_id_read_memory(bytes.bytes, bytes.size);
	}
	if (!bytes.size || build_id_is_none(&item.id)) {
		import->no_image++;
		return NULL;
	}
	return store_batch_add_memory(import->intake.batch, &item, bytes.bytes, bytes.size);
}

// Takes FD in, which NAME is the name of in perf's cache or in a package; seen at PATH where NAME
// does not tell.
static struct imp_error *take(struct import *import, int fd, const char *name, const char *path)
{
	struct perf_cached cached;
	bool is_cached = perf_cached_parse(name, &cached);
	if (lseek(fd, 0, SEEK_SET) < 0)
		return error_system(errno, "%s: cannot read", path);
	if (is_cached && (cached.role == STORE_KALLSYMS || cached.role == STORE_VDSO))
		return take_memory(import, fd, &cached);
	enum intake_outcome outcome;
	struct imp_error *err =
		intake_fd(&import->intake, fd, is_cached ? cached.path : path, &outcome);
	if (!err) {
		import->known += outcome == INTAKE_KNOWN;
		import->no_image += outcome == INTAKE_NO_IMAGE;
	}
	return err;
}

static struct imp_error *take_file(struct import *import, const char *path, const char *name)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0)
		return take(import, fd, name, path);
	log_message(import->intake.log, LOG_WARNING, "%s: cannot be opened: %s", path,
		    strerror(errno));
	return NULL;
}

// perf's cache, debuginfod's, or any tree.
static struct imp_error *take_tree(struct import *import, const char *dir)
{
	_cleanup_free_ char *root = realpath(dir, NULL);
	if (!root)
		return error_system(errno, "%s: cannot open", dir);
	char *roots[] = { root, NULL };
	FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	struct imp_error *err = walk ? NULL : error_system(errno, "%s: cannot walk", dir);
	for (FTSENT *file; !err && (file = fts_read(walk));) {
		if (file->fts_info == FTS_F)
			err = take_file(import, file->fts_path, file->fts_path + strlen(root));
		else if (file->fts_info == FTS_DNR || file->fts_info == FTS_ERR)
			log_message(import->intake.log, LOG_WARNING, "%s: cannot be read: %s",
				    file->fts_path, strerror(file->fts_errno));
	}
	if (walk)
		(void)fts_close(walk);
	return err;
}

static struct imp_error *visit_member(void *arg, const char *name, int fd)
{
	// A package's names are relative to the root of the machine it is for, and lead nowhere
	// else.
	for (const char *up; (up = strstr(name, "../"));)
		name = up + 3;
	while (!strncmp(name, "./", 2) || *name == '/')
		name += *name == '/' ? 1 : 2;
	_cleanup_free_ char *path = NULL;
	if (asprintf(&path, "/%s", name) < 0) {
		path = NULL;
		return &imp_error_no_memory;
	}
	return take(arg, fd, name, path);
}

static bool is_kallsyms(const char *name)
{
	struct perf_cached cached;
	return perf_cached_parse(name, &cached) && cached.role == STORE_KALLSYMS;
}

static struct imp_error *take_word(struct import *import, const char *word)
{
	struct stat stat_;
	if (stat(word, &stat_) < 0)
		return error_system(errno, "%s: cannot open", word);
	if (S_ISDIR(stat_.st_mode))
		return take_tree(import, word);
	if (bundle_is(word))
		return error_new(IMP_ERR_USAGE,
				 "%s: an archive of imprint's: 'imprint unarchive' "
				 "takes it in",
				 word);
	if (!package_is(word))
		return error_new(IMP_ERR_USAGE,
				 "%s: neither a directory nor a package ('imprint store add' takes "
				 "single files)",
				 word);
	struct package_target target = { .store = import->intake.store,
					 .wants = is_kallsyms,
					 .visit = visit_member,
					 .arg = import };
	return package_read(word, &target);
}

// Without words: what perf and debuginfod keep for this user.
static struct imp_error *take_default(struct import *import)
{
	char *dirs[] = { places_buildid_dir(), places_debuginfod_cache() };
	struct imp_error *err = NULL;
	size_t there = 0;
	for (size_t i = 0; i < sizeof dirs / sizeof *dirs; i++) {
		bool is_there = dirs[i] && !access(dirs[i], F_OK);
		there += is_there;
		if (!err && is_there)
			err = take_tree(import, dirs[i]);
		free(dirs[i]);
	}
	if (!err && !there)
		err = error_new(IMP_ERR_USAGE, "neither perf nor debuginfod has a cache here: name "
					       "a directory or a package");
	return err;
}

static struct imp_error *import_into(struct store *store, const struct invocation *invocation,
				     struct import *import)
{
	import->intake = (struct intake){ .store = store, .log = invocation->log };
	struct imp_error *err = store_batch_new(store, &import->intake.batch);
	if (err)
		return err;
	const struct operands *words = &invocation->operands;
	if (!words->count)
		err = take_default(import);
	for (size_t i = 0; !err && i < words->count; i++)
		err = take_word(import, words->items[i]);
	// What was taken in before a failure stays.
	struct store_batch_counts counts = { 0 };
	struct imp_error *failed = store_batch_commit(import->intake.batch, &counts);
	if (err) {
		imp_error_free(failed);
		return err;
	}
	if (!failed)
		printf("%zu added (%s), %zu known\n", counts.added,
		       units_size(counts.added_bytes).text, counts.known + import->known);
	return failed;
}

static int import_run(const struct invocation *invocation, struct imp_error **err)
{
	const struct import_options *options = invocation->options;
	_cleanup_store_ struct store *store = NULL;
	*err = store_use(options->dir, STORE_WRITE, invocation->log, &store);
	struct import import = { 0 };
	if (!*err)
		*err = import_into(store, invocation, &import);
	return *err ? EXIT_FAILED : EXIT_DONE;
}

const struct command command_store_import = {
	.name = "import",
	.summary = "Take in what perf, debuginfod or packages have gathered",
	.usage = "store import [--store DIR] [DIR|PACKAGE...]",
	.description =
		"DIR is perf's cache or debuginfod's; without a word both of this user are taken.\n"
		"PACKAGE is a .deb, an .rpm, a tar file, or an archive of perf archive. Images are\n"
		"taken in under the build ID of their own bytes, wherever they lie.",
	.options = import_options,
	.options_size = sizeof(struct import_options),
	.run = import_run,
};
