// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Runs a fuzz target over files: replay DIRECTORY..., each file whole and cut short in many places.
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "fuzz.h"

// Longer files are cut at some places only.
enum { FILE_MOST_BYTES = 16 << 20, CUTS_MOST = 400 };

static void run(const uint8_t *bytes, size_t size)
{
	// A copy of just this size, so that a sanitizer sees what reads beyond it.
	uint8_t *copy = malloc(size ? size : 1);
	if (!copy)
		abort();
	memcpy(copy, bytes, size);
	LLVMFuzzerTestOneInput(copy, size);
	free(copy);
}

static bool replay_file(const char *path)
{
	_cleanup_buffer_ struct buffer bytes = { 0 };
	_cleanup_error_ struct imp_error *err = file_slurp_path(path, FILE_MOST_BYTES, &bytes);
	if (err) {
		printf("# %s\n", imp_error_message(err));
		return false;
	}
	uint8_t nothing = 0;
	const uint8_t *start = bytes.bytes ? bytes.bytes : &nothing;
	run(start, bytes.size);
	size_t step = bytes.size / CUTS_MOST + 1;
	for (size_t size = 0; size < bytes.size; size += step)
		run(start, size);
	return true;
}

static unsigned replay_directory(const char *directory, bool *is_good)
{
	_cleanup_dir_ DIR *dir = opendir(directory);
	unsigned count = 0;
	struct dirent *entry;
	while (dir && (entry = readdir(dir))) {
		_cleanup_free_ char *path = NULL;
		if (entry->d_name[0] == '.')
			continue;
		if (asprintf(&path, "%s/%s", directory, entry->d_name) < 0)
			abort();
		*is_good = replay_file(path) && *is_good;
		count++;
	}
	return count;
}

int main(int argc, char **argv)
{
	unsigned count = 0;
	bool is_good = true;
	for (int i = 1; i < argc; i++)
		count += replay_directory(argv[i], &is_good);
	is_good = is_good && count;
	printf("1..1\n%sok 1 - %u inputs\n", is_good ? "" : "not ", count);
	return !is_good;
}
