// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Telling archives from recordings.
#include "cli/archived.h"
#include "cli/temporary.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive/image_archive.h"

enum { MOST_IMAGE_ARCHIVES = 16 };

// The archives of images that are open: as long as the program, since every finder may use them.
static struct {
	struct image_archive *open;
	// Where it was asked for.
	char *path;
} images[MOST_IMAGE_ARCHIVES];

struct imp_error *archived_images(const char *path, const struct log *log, const char **ret)
{
	struct stat status;
	*ret = path;
	if (stat(path, &status) || !S_ISREG(status.st_mode))
		return NULL;
	size_t i = 0;
	while (i < MOST_IMAGE_ARCHIVES && images[i].open && strcmp(images[i].path, path) != 0)
		i++;
	if (i == MOST_IMAGE_ARCHIVES)
		return error_new(IMP_ERR_USAGE, "--images: at most %d archives",
				 MOST_IMAGE_ARCHIVES);
	if (!images[i].open) {
		struct imp_error *err =
			image_archive_open(path, temporary_directory(), log, &images[i].open);
		if (err)
			return error_context(err, "--images");
		images[i].path = strdup(path);
		if (!images[i].path)
			return &imp_error_no_memory;
	}
	*ret = image_archive_dir(images[i].open);
	return NULL;
}

void archived_close(void)
{
	for (size_t i = 0; i < MOST_IMAGE_ARCHIVES; i++) {
		image_archive_close(images[i].open);
		free(images[i].path);
		images[i].open = NULL;
		images[i].path = NULL;
	}
}

// Splits "FILE:NAME" in TEXT, when there is no file of the whole name.
static const char *split_name(char *text)
{
	char *colon = strrchr(text, ':');
	if (!colon || !access(text, F_OK))
		return NULL;
	*colon = 0;
	return colon + 1;
}

static struct imp_error *look_in(struct naming *naming, const char *dir)
{
	const char **slot = array_add(&naming->image_dirs);
	if (!slot)
		return &imp_error_no_memory;
	*slot = dir;
	// Where kallsyms are found, which have no ID of their own to be found by.
	if (!naming->buildid_dir)
		naming->buildid_dir = dir;
	return NULL;
}

struct imp_error *archived_open(const char **path, struct naming *naming, const struct log *log,
				struct bundle **ret)
{
	_cleanup_free_ char *file = strdup(*path);
	if (!file)
		return &imp_error_no_memory;
	const char *name = split_name(file);
	if (!strcmp(file, "-") || !bundle_is(file))
		return NULL;
	_cleanup_(cleanup_bundle) struct bundle *bundle = NULL;
	struct imp_error *err = bundle_open(file, name, temporary_directory(), log, &bundle);
	if (!err && naming)
		err = look_in(naming, bundle_images_dir(bundle));
	if (err)
		return err;
	*path = bundle_recording_path(bundle);
	*ret = steal(bundle);
	return NULL;
}
