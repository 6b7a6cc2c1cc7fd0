// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// An archive that stands in for a recording.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive/bundle.h"
#include "archive/scratch_dir.h"

struct bundle {
	// The recording, in a file without a name.
	int fd;
	char path[40];
	char *images_dir;
	const char *wanted;
	const char *tmp_dir;
};

static struct imp_error *begin_recording(void *arg, const struct manifest_recording *recording,
					 int *ret)
{
	struct bundle *bundle = arg;
	if (strcmp(recording->name, bundle->wanted) != 0)
		return NULL;
	bundle->fd = open(bundle->tmp_dir, O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
	if (bundle->fd < 0)
		bundle->fd = memfd_create("recording", MFD_CLOEXEC);
	*ret = bundle->fd < 0 ? -1 : fcntl(bundle->fd, F_DUPFD_CLOEXEC, 0);
	return *ret < 0 ? error_system(errno, "%s: no place for the recording", bundle->tmp_dir)
			: NULL;
}

static struct imp_error *several(const char *path, const struct manifest *manifest)
{
	if (!manifest->recordings.count)
		return error_new(IMP_ERR_USAGE, "%s: there is no recording in it", path);
	return error_new(IMP_ERR_USAGE, "%s: %zu recordings; name one of them: '%s:%s', '%s:%s'%s",
			 path, manifest->recordings.count, path, manifest->recordings.items[0].name,
			 path, manifest->recordings.items[1].name,
			 manifest->recordings.count > 2 ? ", ..." : "");
}

static struct imp_error *choose(const char *path, const char *name, char **ret)
{
	_cleanup_manifest_ struct manifest manifest = { 0 };
	struct imp_error *err = bundle_manifest(path, &manifest);
	if (err)
		return err;
	if (!name && manifest.recordings.count != 1)
		return several(path, &manifest);
	for (size_t i = 0; i < manifest.recordings.count; i++)
		if (!name || !strcmp(manifest.recordings.items[i].name, name)) {
			*ret = strdup(manifest.recordings.items[i].name);
			return *ret ? NULL : &imp_error_no_memory;
		}
	return error_new(IMP_ERR_USAGE, "%s: no recording '%s' in it", path, name);
}

static struct imp_error *fill(struct bundle *bundle, const char *path, const struct log *log)
{
	struct imp_error *err = scratch_dir_new(bundle->tmp_dir, &bundle->images_dir);
	if (err)
		return err;
	_cleanup_store_ struct store *store = NULL;
	err = store_open(bundle->images_dir, STORE_WRITE, log, &store);
	if (err)
		return err;
	store_set_transient(store);
	struct bundle_target target = { .store = store, .begin = begin_recording, .arg = bundle };
	_cleanup_manifest_ struct manifest manifest = { 0 };
	return bundle_read(path, &target, &manifest);
}

struct imp_error *bundle_open(const char *path, const char *name, const char *tmp_dir,
			      const struct log *log, struct bundle **ret)
{
	_cleanup_free_ char *wanted = NULL;
	struct imp_error *err = choose(path, name, &wanted);
	if (err)
		return err;
	_cleanup_(cleanup_bundle) struct bundle *bundle = calloc(1, sizeof *bundle);
	if (!bundle)
		return &imp_error_no_memory;
	bundle->fd = -1;
	bundle->wanted = wanted;
	bundle->tmp_dir = tmp_dir;
	err = fill(bundle, path, log);
	if (err)
		return err;
	bundle->wanted = bundle->tmp_dir = NULL;
	(void)snprintf(bundle->path, sizeof bundle->path, "/proc/self/fd/%d", bundle->fd);
	*ret = steal(bundle);
	return NULL;
}

void bundle_close(struct bundle *bundle)
{
	if (!bundle)
		return;
	cleanup_close(&bundle->fd);
	scratch_dir_remove(bundle->images_dir);
	free(bundle);
}

const char *bundle_recording_path(const struct bundle *bundle)
{
	return bundle->path;
}

const char *bundle_images_dir(const struct bundle *bundle)
{
	return bundle->images_dir;
}
