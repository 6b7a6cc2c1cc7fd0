// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Making the directory, and paths in it.
#include "unit/find/place.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "make/elf.h"

void place_init(struct place *place)
{
	*place = (struct place){ .dir = make_directory() };
	snprintf(place->image_dir, sizeof place->image_dir, "%s/images", place->dir);
	snprintf(place->debug_dir, sizeof place->debug_dir, "%s/debug", place->dir);
	snprintf(place->cache, sizeof place->cache, "%s/client", place->dir);
	snprintf(place->perf, sizeof place->perf, "%s/perf", place->dir);
	place->image_dirs[0] = place->image_dir;
	place->debug_dirs[0] = place->debug_dir;
	mkdir(place->image_dir, 0777);
	place->options = (struct finder_options){ .image_dirs = place->image_dirs,
						  .debug_dirs = place->debug_dirs,
						  .debuginfod_cache = place->cache,
						  .buildid_dir = place->perf };
}

void place_fini(struct place *place)
{
	make_directory_free(place->dir);
}

const char *place_at(const struct place *place, const char *format, ...)
{
	static char path[1024];
	size_t length = (size_t)snprintf(path, sizeof path, "%s/", place->dir);
	va_list args;
	va_start(args, format);
	vsnprintf(path + length, sizeof path - length, format, args);
	va_end(args);
	for (char *slash = path + length; (slash = strchr(slash, '/')); slash++) {
		*slash = 0;
		mkdir(path, 0777);
		*slash = '/';
	}
	return path;
}
