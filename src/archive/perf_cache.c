// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Names of files in perf's cache.
#include "archive/perf_cache.h"

#include <stdio.h>
#include <string.h>

static const struct kind_def {
	const char *name;
	enum store_role role;
} kinds[] = {
	{ "elf", STORE_EXECUTABLE },
	{ "debug", STORE_DEBUG },
	{ "vdso", STORE_VDSO },
	{ "kallsyms", STORE_KALLSYMS },
};

static const struct kind_def *kind_of(const char *name)
{
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (!strcmp(kinds[i].name, name))
			return &kinds[i];
	return NULL;
}

static bool id_of(const char *text, size_t length, struct build_id *ret)
{
	char digits[BUILD_ID_TEXT_SIZE];
	if (length < 2 || length >= sizeof digits)
		return false;
	memcpy(digits, text, length);
	digits[length] = 0;
	return build_id_parse(digits, ret);
}

// Where the component before END of NAME begins.
static size_t component_before(const char *name, size_t end)
{
	while (end > 0 && name[end - 1] != '/')
		end--;
	return end;
}

bool perf_cached_parse(const char *name, struct perf_cached *ret)
{
	while (!strncmp(name, "./", 2) || *name == '/')
		name += *name == '/' ? 1 : 2;
	size_t length = strlen(name);
	size_t last = component_before(name, length);
	const struct kind_def *kind = kind_of(name + last);
	// perf before 4.11 had the file itself under the ID.
	size_t id_end = kind && last ? last - 1 : length;
	size_t id_start = component_before(name, id_end);
	if (!id_start || !id_of(name + id_start, id_end - id_start, &ret->id))
		return false;
	ret->role = kind ? kind->role : STORE_EXECUTABLE;
	const char *lead = name[0] == '[' ? "" : "/";
	int size = snprintf(ret->path, sizeof ret->path, "%s%.*s", lead, (int)id_start - 1, name);
	return size > 0 && (size_t)size < sizeof ret->path;
}
