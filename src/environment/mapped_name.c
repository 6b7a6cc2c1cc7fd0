// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Taking the kernel's names apart.
#include "environment/mapped_name.h"

#include <string.h>

bool mapped_name_is_jitdump(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	size_t length = strlen(name);
	return !strncmp(name, "jit-", 4) && length > 9 && !strcmp(name + length - 5, ".dump");
}

static bool begins(const char *name, const char *with)
{
	return !strncmp(name, with, strlen(with));
}

// Of a deleted file: these have never had a path.
static enum mapped_kind kind_of_deleted(const char *name)
{
	if (begins(name, "/memfd:"))
		return MAPPED_MEMFD;
	if (begins(name, "/SYSV") || !strcmp(name, "/dev/zero") || !strcmp(name, "/anon_hugepage"))
		return MAPPED_SHARED_MEMORY;
	return MAPPED_FILE;
}

struct imp_error *mapped_name_take(struct snapshot *snapshot, const char *name,
				   struct snapshot_image *image)
{
	static const char mark[] = " (deleted)";
	size_t length = strlen(name), mark_length = sizeof mark - 1;
	bool is_marked = length > mark_length && !strcmp(name + length - mark_length, mark);
	_cleanup_free_ char *path = strndup(name, is_marked ? length - mark_length : length);
	if (!path)
		return &imp_error_no_memory;
	image->kind = is_marked ? kind_of_deleted(path) : MAPPED_FILE;
	if (image->kind == MAPPED_FILE && mapped_name_is_jitdump(path))
		image->kind = MAPPED_JIT;
	image->is_deleted = is_marked && image->kind == MAPPED_FILE;
	size_t skip = image->kind == MAPPED_MEMFD ? strlen("/memfd:") : 0;
	return snapshot_text(snapshot, path + skip, &image->path);
}
