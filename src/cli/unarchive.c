// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// `imprint unarchive`: an archive's images into the store, its recordings into a directory.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "archive/bundle.h"
#include "base/units.h"
#include "cli/command.h"
#include "cli/printable.h"
#include "cli/store_use.h"

extern const struct command command_unarchive;

struct unarchive_options {
	const char *dir;
	const char *recordings_dir;
	bool no_recordings;
	bool list;
	bool force;
};

#define ROW(kind_, letter_, name_, argument_, field, help_)                             \
	{                                                                               \
		.kind = kind_, .letter = letter_, .name = name_, .argument = argument_, \
		.help = help_, .offset = offsetof(struct unarchive_options, field)      \
	}

static const struct option unarchive_rows[] = {
	STORE_OPTION(struct unarchive_options, dir),
	ROW(OPTION_TEXT, 'C', "directory", "DIR", recordings_dir, "where recordings go (.)"),
	ROW(OPTION_FLAG, 'n', "no-recordings", NULL, no_recordings, "images only"),
	ROW(OPTION_FLAG, 'l', "list", NULL, list, "only say what is in it"),
	ROW(OPTION_FLAG, 'f', "force", NULL, force, "write over recordings that are there"),
	{ .kind = OPTION_END },
};

struct destination {
	const struct unarchive_options *options;
	int dir;
	char unfinished[300];
};

// Under another name until it is verified.
static struct imp_error *begin(void *arg, const struct manifest_recording *recording, int *ret)
{
	struct destination *to = arg;
	if (to->options->no_recordings)
		return NULL;
	if (!to->options->force && !faccessat(to->dir, recording->name, F_OK, AT_SYMLINK_NOFOLLOW))
		return error_new(IMP_ERR_USAGE,
				 "a file of that name is there (--force replaces it)");
	(void)snprintf(to->unfinished, sizeof to->unfinished, ".%d.unfinished", getpid());
	*ret = openat(to->dir, to->unfinished, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		      0600);
	return *ret < 0 ? error_system(errno, "cannot create a file") : NULL;
}

static struct imp_error *end(void *arg, const struct manifest_recording *recording, bool is_whole)
{
	struct destination *to = arg;
	if (!is_whole) {
		(void)unlinkat(to->dir, to->unfinished, 0);
		return NULL;
	}
	if (renameat(to->dir, to->unfinished, to->dir, recording->name) < 0)
		return error_system(errno, "cannot give the file its name");
	return NULL;
}

static void print_manifest(const struct manifest *manifest)
{
	for (size_t i = 0; i < manifest->recordings.count; i++) {
		printf("recording %10s ",
		       units_size(manifest->recordings.items[i].size_bytes).text);
		printable(stdout, manifest->recordings.items[i].name);
		putchar('\n');
	}
	for (size_t i = 0; i < manifest->objects.count; i++) {
		const struct manifest_object *object = &manifest->objects.items[i];
		struct store_ref ref = { .id = object->id, .hash = object->hash };
		printf("%-9s %10s %-40s %-8s ", object->is_elsewhere ? "elsewhere" : "object",
		       units_size(object->size_bytes).text, store_ref_text(&ref).text,
		       store_rank_name(object->rank));
		printable(stdout, object->path ? object->path : "");
		putchar('\n');
	}
	for (size_t i = 0; i < manifest->missing.count; i++) {
		const struct manifest_missing *missing = &manifest->missing.items[i];
		printf("missing              %-40s          ", build_id_text(&missing->id).text);
		printable(stdout, missing->path ? missing->path : "");
		putchar('\n');
	}
}

static struct imp_error *unarchive(const char *path, const struct unarchive_options *options,
				   const struct log *log)
{
	_cleanup_manifest_ struct manifest manifest = { 0 };
	if (options->list) {
		struct imp_error *err = bundle_manifest(path, &manifest);
		if (!err)
			print_manifest(&manifest);
		return err;
	}
	const char *place = options->recordings_dir ? options->recordings_dir : ".";
	_cleanup_close_ int dir = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return error_system(errno, "%s: cannot open", place);
	_cleanup_store_ struct store *store = NULL;
	struct imp_error *err = store_use(options->dir, STORE_WRITE, log, &store);
	struct destination to = { .options = options, .dir = dir };
	struct bundle_target target = { .store = store, .begin = begin, .end = end, .arg = &to };
	if (!err)
		err = bundle_read(path, &target, &manifest);
	if (!err)
		printf("%zu recordings, %zu objects\n",
		       options->no_recordings ? 0 : manifest.recordings.count,
		       manifest.objects.count);
	return err;
}

static int unarchive_run(const struct invocation *invocation, struct imp_error **err)
{
	if (invocation->operands.count != 1) {
		*err = error_new(IMP_ERR_USAGE, "one archive is expected");
		return EXIT_USAGE;
	}
	*err = unarchive(invocation->operands.items[0], invocation->options, invocation->log);
	return *err ? EXIT_FAILED : EXIT_DONE;
}

const struct command command_unarchive = {
	.name = "unarchive",
	.summary = "Put an archive's images into the store, its recordings here",
	.usage = "unarchive [OPTIONS] ARCHIVE",
	.description =
		"Everything is held against the archive's manifest: sizes, hashes, build IDs.\n"
		"What does not fit is refused, with the name of the member.",
	.options = unarchive_rows,
	.options_size = sizeof(struct unarchive_options),
	.run = unarchive_run,
};
