// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Making and removing a scratch directory.
#include "unit/store/scratch.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/tap.h"

struct scratch scratch_new(void)
{
	struct scratch scratch = { .dir = "/tmp/imprint-store-XXXXXX" };
	if (!mkdtemp(scratch.dir))
		tap_fail(__FILE__, __LINE__, "cannot make %s", scratch.dir);
	CHECK_OK(store_open(scratch_path(&scratch, "store"), STORE_WRITE, NULL, &scratch.store));
	return scratch;
}

static int remove_one(const char *path, const struct stat *stat, int kind, struct FTW *walk)
{
	(void)stat;
	(void)kind;
	(void)walk;
	return remove(path);
}

void scratch_free(struct scratch *scratch)
{
	store_free(scratch->store);
	(void)nftw(scratch->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

const char *scratch_path(const struct scratch *scratch, const char *name)
{
	static char ring[8][4096];
	static unsigned at;
	char *path = ring[at++ % 8];
	(void)snprintf(path, sizeof ring[0], "%s/%s", scratch->dir, name);
	return path;
}

void scratch_write(const struct scratch *scratch, const char *name, const char *text)
{
	FILE *file = fopen(scratch_path(scratch, name), "w");
	if (!file || fputs(text, file) < 0 || fclose(file))
		tap_fail(__FILE__, __LINE__, "cannot write %s", name);
}

bool scratch_has(const struct scratch *scratch, const char *name)
{
	struct stat stat;
	return !lstat(scratch_path(scratch, name), &stat);
}

const char *scratch_read(const struct scratch *scratch, const char *name)
{
	static char text[4096];
	FILE *file = fopen(scratch_path(scratch, name), "r");
	size_t got = file ? fread(text, 1, sizeof text - 1, file) : 0;
	text[got] = 0;
	if (file)
		(void)fclose(file);
	return text;
}

struct build_id id_of(const char *hex)
{
	struct build_id id;
	CHECK(build_id_parse(hex, &id));
	return id;
}
