// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Sources that go by paths: the recorded one, and where debug files of what is there stand.
#include <fcntl.h>
#include <string.h>
#include <zlib.h>

#include "base/file.h"
#include "find/processes.h"
#include "find/search.h"

// The recorded path without the kernel's " (deleted)"; NULL when it names no file.
static char *plain_path(const struct search *search)
{
	static const char deleted[] = " (deleted)";
	const char *path = search->image->path;
	if (!path || path[0] != '/' || path[1] == '/' || !strncmp(path, "/memfd:", 7) ||
	    !strncmp(path, "/SYSV", 5))
		return NULL;
	char *copy = strdup(path);
	size_t length = copy ? strlen(copy) : 0;
	if (length > strlen(deleted) && !strcmp(copy + length - strlen(deleted), deleted))
		copy[length - strlen(deleted)] = 0;
	return copy;
}

struct imp_error *look_at_processes(struct search *search)
{
	int fd;
	_cleanup_free_ char *place = NULL;
	if (search->finding->image)
		return NULL;
	struct imp_error *err = processes_open(search->finder->processes, &search->image->id,
					       search->image->id_is_padded, &fd, &place);
	return err || fd < 0 ? err : search_try_fd(search, fd, place);
}

struct imp_error *look_at_named_path(struct search *search)
{
	_cleanup_free_ char *path = plain_path(search);
	return path && search->finder->options.is_path_named ? search_try(search, path) : NULL;
}

struct imp_error *look_at_path(struct search *search)
{
	const struct finder_options *options = &search->finder->options;
	_cleanup_free_ char *path = plain_path(search);
	struct imp_error *err = NULL;
	if (!path)
		return NULL;
	if (options->symfs)
		err = search_try_format(search, "%s%s", options->symfs, path);
	if (!err && options->sysroot)
		err = search_try_format(search, "%s%s", options->sysroot, path);
	bool was_asked = options->is_path_named && !search->takes_any;
	if (!err && !search->finding->image && !was_asked)
		err = search_try(search, path);
	return err;
}

// The checksum of .gnu_debuglink, over the whole file. False when it cannot be read.
static bool checksum_of(const char *path, uint32_t *ret)
{
	_cleanup_file_ FILE *file = fopen(path, "re");
	_cleanup_free_ uint8_t *room = malloc(1 << 16);
	if (!file || !room)
		return false;
	uLong sum = crc32(0, NULL, 0);
	size_t size;
	while ((size = fread(room, 1, 1 << 16, file)))
		sum = crc32(sum, room, (uInt)size);
	*ret = (uint32_t)sum;
	return !ferror(file);
}

// What .gnu_debuglink says.
struct debuglink {
	const char *name;
	uint32_t checksum;
};

static bool debuglink_of(const struct elf_image *image, struct debuglink *ret)
{
	const struct elf_section *section = elf_image_section_named(image, ".gnu_debuglink");
	if (!section)
		return false;
	struct cursor bytes = elf_image_section_bytes(image, section);
	const char *name = cursor_string(&bytes);
	if (!name || !*name)
		return false;
	cursor_skip(&bytes, (4 - bytes.at % 4) % 4);
	uint32_t checksum = cursor_u32(&bytes);
	*ret = (struct debuglink){ name, checksum };
	return !bytes.failed;
}

// The ID decides. A debug file without one is taken when its checksum is the one that the verified
// file names; with another ID it never is, whatever its checksum.
static struct imp_error *try_link(struct search *search, const char *path,
				  const struct debuglink *link)
{
	size_t before = search->steps.count;
	struct imp_error *err = search_try(search, path);
	if (err || search->steps.count == before ||
	    search->steps.items[search->steps.count - 1].outcome != FIND_NO_ID)
		return err;
	uint32_t checksum;
	if (!checksum_of(path, &checksum) || checksum != link->checksum)
		return NULL;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	const struct elf_image *file;
	if (fd < 0)
		return NULL;
	err = opened_get(&search->finder->opened, fd, path, &file);
	if (err && imp_error_code(err) != IMP_ERR_NO_MEMORY) {
		imp_error_free(err);
		return NULL;
	}
	return err ? err
		   : search_take(search, file, path, "no ID; the checksum of .gnu_debuglink fits");
}

// The directory of PATH, with its slash.
static char *directory_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	return strndup(path, slash ? (size_t)(slash - path) + 1 : 0);
}

static struct imp_error *try_beside(struct search *search, const char *file,
				    const struct debuglink *link)
{
	_cleanup_free_ char *dir = directory_of(file);
	if (!dir)
		return &imp_error_no_memory;
	const char *const *tree = search->finder->options.debug_dirs;
	for (int i = -2; i < 0 || tree[i]; i++) {
		_cleanup_free_ char *path = NULL;
		if (i == -2)
			path = path_of("%s%s", dir, link->name);
		else if (i == -1)
			path = path_of("%s.debug/%s", dir, link->name);
		else
			path = path_of("%s%s%s", tree[i], dir, link->name);
		if (!path)
			return &imp_error_no_memory;
		// A stripped file may be called as its link.
		if (strcmp(path, file) != 0) {
			struct imp_error *err = try_link(search, path, link);
			if (err || search_is_complete(search))
				return err;
		}
	}
	return NULL;
}

struct imp_error *look_by_debuglink(struct search *search)
{
	struct debuglink link;
	const struct elf_image *image = search->finding->image;
	if (!image || search->rank >= RANK_DWARF || !debuglink_of(image, &link) ||
	    strchr(link.name, '/'))
		return NULL;
	struct imp_error *err = try_beside(search, elf_image_path(image), &link);
	_cleanup_free_ char *recorded = plain_path(search);
	if (!err && !search_is_complete(search) && recorded &&
	    strcmp(recorded, elf_image_path(image)) != 0)
		err = try_beside(search, recorded, &link);
	return err;
}

struct imp_error *look_at_debug_paths(struct search *search)
{
	_cleanup_free_ char *path = plain_path(search);
	struct imp_error *err = NULL;
	if (!path)
		return NULL;
	const char *const *dir = search->finder->options.debug_dirs;
	for (; *dir && !err; dir++) {
		// Fedora's, Ubuntu's, and Ubuntu's for what moved from /lib to /usr/lib.
		err = search_try_format(search, "%s%s.debug", *dir, path);
		if (!err)
			err = search_try_format(search, "%s%s", *dir, path);
		if (!err && !strncmp(path, "/usr/lib/", 9))
			err = search_try_format(search, "%s%s", *dir, path + 4);
	}
	return err;
}
