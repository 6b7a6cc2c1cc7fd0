// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Looking a module up in modules.dep.
#include "record/module_file.h"

#include <fcntl.h>
#include <string.h>

#include "base/buffer.h"
#include "base/file.h"
#include "model/image.h"

enum { DEPENDENCIES_MOST = 64 << 20, NAME_ROOM = 128 };

// The line of TEXT that begins with the file of module NAME, without what it depends on; or NULL.
static const char *find_line(char *text, const char *name)
{
	for (char *line; (line = strsep(&text, "\n"));) {
		char module[NAME_ROOM];
		line[strcspn(line, ":")] = 0;
		module_name_of(line, module, sizeof module);
		if (!strcmp(module, name))
			return line;
	}
	return NULL;
}

struct imp_error *module_file_open(const char *dir, const char *name, int *fd, char **path)
{
	_cleanup_buffer_ struct buffer text = { 0 };
	_cleanup_free_ char *list = NULL;
	_cleanup_free_ char *file = NULL;
	char wanted[NAME_ROOM];
	module_name_of(name, wanted, sizeof wanted);
	*fd = -1;
	if (!*wanted)
		return NULL;
	if (asprintf(&list, "%s/modules.dep", dir) < 0)
		return &imp_error_no_memory;
	// Without a list there is no answer, which is one.
	imp_error_free(file_slurp_path(list, DEPENDENCIES_MOST, &text));
	buffer_append(&text, "", 1);
	if (text.failed)
		return &imp_error_no_memory;
	const char *line = find_line((char *)text.bytes, wanted);
	if (!line)
		return NULL;
	if (asprintf(&file, "%s%s%s", line[0] == '/' ? "" : dir, line[0] == '/' ? "" : "/", line) <
	    0)
		return &imp_error_no_memory;
	*fd = open(file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	*path = steal(file);
	return NULL;
}
