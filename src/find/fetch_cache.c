// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Files of the shared cache: asked, written aside, verified, put in place.
#include "find/fetch_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "elf/elf_image.h"

// How long an absence is believed, where the cache's own cache_miss_s does not say.
enum { MISS_SECONDS = 600 };

static char *place_of(const char *dir, const struct fetch_job *job)
{
	char *path = NULL;
	return asprintf(&path, "%s/%s/%s", dir, build_id_text(&job->id).text,
			fetch_part_name(job->part)) < 0
		       ? NULL
		       : path;
}

static time_t miss_seconds(const char *dir)
{
	_cleanup_free_ char *path = NULL;
	if (asprintf(&path, "%s/cache_miss_s", dir) < 0) {
		path = NULL;
		return MISS_SECONDS;
	}
	_cleanup_file_ FILE *file = fopen(path, "re");
	long seconds;
	return file && fscanf(file, "%ld", &seconds) == 1 && seconds >= 0 ? seconds : MISS_SECONDS;
}

struct imp_error *fetch_cache_ask(const char *dir, struct fetch_job *job)
{
	_cleanup_free_ char *path = place_of(dir, job);
	struct stat status;
	if (!path)
		return &imp_error_no_memory;
	if (stat(path, &status) < 0)
		return NULL;
	if (status.st_size == 0) {
		if (time(NULL) - status.st_mtime < miss_seconds(dir))
			job->outcome = FETCH_ABSENT;
		return NULL;
	}
	struct build_id id;
	_cleanup_error_ struct imp_error *err = elf_build_id_read(path, &id);
	if (err || !build_id_equal(&id, &job->id))
		return NULL;
	job->outcome = FETCH_KNOWN;
	job->size_bytes = (uint64_t)status.st_size;
	job->path = steal(path);
	return NULL;
}

// Makes PATH and what is above it.
static struct imp_error *make_directories(char *path)
{
	for (char *slash = path + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = 0;
		int failed = mkdir(path, 0700);
		int error = errno;
		*slash = '/';
		if (failed && error != EEXIST)
			return error_system(error, "%s: cannot make its directory", path);
	}
	return NULL;
}

struct imp_error *fetch_cache_create(const char *dir, const struct fetch_job *job, int *fd,
				     char **path)
{
	_cleanup_free_ char *template = NULL;
	if (asprintf(&template, "%s/%s/.imprint-XXXXXX", dir, build_id_text(&job->id).text) < 0) {
		template = NULL;
		return &imp_error_no_memory;
	}
	struct imp_error *err = make_directories(template);
	if (err)
		return err;
	*fd = mkostemp(template, O_CLOEXEC);
	if (*fd < 0)
		return error_system(errno, "%s: cannot create", template);
	*path = steal(template);
	return NULL;
}

struct imp_error *fetch_cache_publish(const char *dir, struct fetch_job *job, const char *temporary,
				      bool *is_right)
{
	_cleanup_elf_image_ struct elf_image *image = NULL;
	struct imp_error *err = elf_image_open(temporary, &image);
	*is_right = !err && build_id_equal(elf_image_id(image), &job->id);
	if (err && imp_error_code(err) != IMP_ERR_NO_MEMORY) {
		imp_error_free(err);
		err = NULL;
	}
	if (err || !*is_right)
		return err;
	_cleanup_free_ char *path = place_of(dir, job);
	if (!path)
		return &imp_error_no_memory;
	if (chmod(temporary, 0400) < 0 || rename(temporary, path) < 0)
		return error_system(errno, "%s: cannot write", path);
	job->path = steal(path);
	return NULL;
}

void fetch_cache_note_absent(const char *dir, const struct fetch_job *job)
{
	_cleanup_free_ char *path = place_of(dir, job);
	if (!path)
		return;
	_cleanup_error_ struct imp_error *err = make_directories(path);
	// An older miss is renewed; a file with content never loses it.
	_cleanup_close_ int fd = err ? -1 : open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	if (fd >= 0)
		(void)futimens(fd, NULL);
}
