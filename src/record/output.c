// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Opening, renaming, closing.
#include "record/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

// Only its owner may read a recording: it tells what others run.
enum { FILE_MODE = 0600 };

static struct imp_error *step_aside(const char *path)
{
	struct stat stat;
	if (lstat(path, &stat) || !S_ISREG(stat.st_mode) || !stat.st_size)
		return NULL;
	_cleanup_free_ char *old = NULL;
	if (asprintf(&old, "%s.old", path) < 0)
		return &imp_error_no_memory;
	if (rename(path, old))
		return error_system(errno, "%s: cannot be renamed to %s", path, old);
	return NULL;
}

static struct imp_error *open_file(struct output *output)
{
	struct stat stat;
	struct imp_error *err = step_aside(output->path);
	if (err)
		return err;
	output->is_stream = !lstat(output->path, &stat) && !S_ISREG(stat.st_mode);
	output->fd = output->is_stream ? open(output->path, O_WRONLY | O_CLOEXEC)
				       : open(output->path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC,
					      FILE_MODE);
	return output->fd < 0 ? error_system(errno, "%s: cannot create", output->path) : NULL;
}

struct imp_error *output_open(const struct output_options *options, struct output *ret)
{
	struct output output = { .fd = -1 };
	bool is_stdout = !strcmp(options->path, "-");
	output.path = strdup(is_stdout ? "(standard output)" : options->path);
	struct imp_error *err = NULL;
	if (!output.path)
		err = &imp_error_no_memory;
	else if (!is_stdout)
		err = open_file(&output);
	else
		output.fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	output.is_stream |= is_stdout;
	if (!err && output.fd < 0)
		err = error_system(errno, "standard output");
	struct writer_options writer = { .is_stream = output.is_stream,
					 .zstd_level = options->zstd_level,
					 .most_ring_bytes = options->most_ring_bytes };
	if (!err)
		err = writer_new(output.fd, output.path, &writer, &output.writer);
	if (err)
		output_close(&output);
	else
		*ret = output;
	return err;
}

void output_close(struct output *output)
{
	writer_free(output->writer);
	if (output->fd > 0)
		close(output->fd);
	free(output->path);
	*output = (struct output){ .fd = -1 };
}

struct imp_error *output_set_aside(const struct output *output, char **name)
{
	struct timespec now;
	struct tm local;
	char text[32] = "";
	clock_gettime(CLOCK_REALTIME, &now);
	localtime_r(&now.tv_sec, &local);
	strftime(text, sizeof text, "%Y%m%d%H%M%S", &local);
	_cleanup_free_ char *aside = NULL;
	enum { HUNDREDTH_NS = 10000000 };
	if (asprintf(&aside, "%s.%s%02ld", output->path, text, now.tv_nsec / HUNDREDTH_NS) < 0)
		return &imp_error_no_memory;
	if (rename(output->path, aside))
		return error_system(errno, "%s: cannot be renamed to %s", output->path, aside);
	*name = steal(aside);
	return NULL;
}
