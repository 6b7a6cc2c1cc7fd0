// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// One walk over the directories, the IDs read by many threads, one sorted table.
#include "find/dir_index.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "base/array.h"
#include "base/hex.h"
#include "base/parallel.h"
#include "elf/elf_image.h"
#include "model/image.h"

enum { PIECE = 64, NAME_SIZE = 128 };

struct dir_index {
	const char *const *dirs;
	const struct log *log;
	pthread_mutex_t lock;
	bool is_read;
	// The first `with_id` of the files have an ID and are sorted by it.
	ARRAY_OF(struct indexed_file) files;
	size_t with_id;
	ARRAY_OF(char *) packed;
	// Owns the paths of `files`.
	ARRAY_OF(char *) paths;
};

// Directories yet to be read.
struct walk {
	struct dir_index *index;
	ARRAY_OF(char *) open;
};

struct imp_error *dir_index_new(const char *const *dirs, const struct log *log,
				struct dir_index **ret)
{
	struct dir_index *index = calloc(1, sizeof *index);
	if (!index)
		return &imp_error_no_memory;
	index->dirs = dirs;
	index->log = log;
	pthread_mutex_init(&index->lock, NULL);
	*ret = index;
	return NULL;
}

void dir_index_free(struct dir_index *index)
{
	if (!index)
		return;
	for (size_t i = 0; i < index->paths.count; i++)
		free(index->paths.items[i]);
	for (size_t i = 0; i < index->packed.count; i++)
		free(index->packed.items[i]);
	array_fini(&index->paths);
	array_fini(&index->packed);
	array_fini(&index->files);
	pthread_mutex_destroy(&index->lock);
	free(index);
}

static bool is_packed(const char *name)
{
	static const char *const ends[] = { ".xz", ".gz", ".zst", ".bz2", ".lzma" };
	size_t length = strlen(name);
	if (!strncmp(name, "vmlinuz", 7))
		return true;
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
		size_t end = strlen(ends[i]);
		if (length > end && !strcmp(name + length - end, ends[i]))
			return true;
	}
	return false;
}

// Takes PATH as a file to be looked at; frees it where it is of no use.
static bool add_file(struct dir_index *index, char *path)
{
	const char *name = strrchr(path, '/') + 1;
	char **slot;
	if (is_packed(name)) {
		slot = array_add(&index->packed);
	} else {
		struct indexed_file *file = array_add(&index->files);
		slot = file ? array_add(&index->paths) : NULL;
		if (slot)
			*file = (struct indexed_file){ .path = path,
						       .is_kallsyms = !strcmp(name, "kallsyms") };
	}
	if (slot)
		*slot = path;
	else
		free(path);
	return slot;
}

// What the kernel makes up is never searched, even when all of / is.
static bool is_made_up(int fd)
{
	struct statfs status;
	if (fstatfs(fd, &status) < 0)
		return false;
	return status.f_type == PROC_SUPER_MAGIC || status.f_type == SYSFS_MAGIC ||
	       status.f_type == DEBUGFS_MAGIC || status.f_type == TRACEFS_MAGIC ||
	       status.f_type == CGROUP2_SUPER_MAGIC;
}

static unsigned char type_of(DIR *dir, const struct dirent *entry)
{
	if (entry->d_type != DT_UNKNOWN && entry->d_type != DT_LNK)
		return entry->d_type;
	struct stat status;
	if (fstatat(dirfd(dir), entry->d_name, &status, 0) < 0)
		return DT_UNKNOWN;
	if (S_ISREG(status.st_mode))
		return DT_REG;
	// A link to a directory may lead in a circle, and what it leads to stands elsewhere.
	return S_ISDIR(status.st_mode) && entry->d_type != DT_LNK ? DT_DIR : DT_UNKNOWN;
}

static bool read_directory(struct walk *walk, const char *path)
{
	_cleanup_dir_ DIR *dir = opendir(path);
	if (!dir) {
		log_message(walk->index->log, LOG_WARNING, "%s: %s", path, strerror(errno));
		return true;
	}
	if (is_made_up(dirfd(dir)))
		return true;
	for (struct dirent *entry; (entry = readdir(dir));) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		unsigned char type = type_of(dir, entry);
		char *child = NULL;
		if (type != DT_REG && type != DT_DIR)
			continue;
		if (asprintf(&child, "%s/%s", path, entry->d_name) < 0)
			return false;
		if (type == DT_REG) {
			if (!add_file(walk->index, child))
				return false;
			continue;
		}
		char **slot = array_add(&walk->open);
		if (slot)
			*slot = child;
		else
			free(child);
		if (!slot)
			return false;
	}
	return true;
}

static bool walk_all(struct dir_index *index)
{
	struct walk walk = { .index = index };
	bool done = true;
	for (const char *const *dir = index->dirs; dir && *dir && done; dir++) {
		done = read_directory(&walk, *dir);
		while (done && walk.open.count) {
			_cleanup_free_ char *path = walk.open.items[--walk.open.count];
			done = read_directory(&walk, path);
		}
	}
	for (size_t i = 0; i < walk.open.count; i++)
		free(walk.open.items[i]);
	array_fini(&walk.open);
	return done;
}

// ".../[kernel.kallsyms]/HEX/kallsyms": perf's cache names the ID in the path only.
static struct build_id id_of_directory(const char *path)
{
	struct build_id id = { 0 };
	char text[BUILD_ID_TEXT_SIZE];
	const char *end = strrchr(path, '/');
	const char *start = end;
	while (start > path && start[-1] != '/')
		start--;
	size_t length = (size_t)(end - start);
	if (length < 2 || length >= sizeof text)
		return id;
	memcpy(text, start, length);
	text[length] = 0;
	build_id_parse(text, &id);
	return id;
}

static struct imp_error *read_ids(void *arg, unsigned worker, size_t piece)
{
	struct dir_index *index = arg;
	(void)worker;
	for (size_t i = piece * PIECE; i < (piece + 1) * PIECE && i < index->files.count; i++) {
		struct indexed_file *file = &index->files.items[i];
		if (file->is_kallsyms) {
			file->id = id_of_directory(file->path);
			continue;
		}
		struct imp_error *err = elf_build_id_read(file->path, &file->id);
		if (err && imp_error_code(err) == IMP_ERR_NO_MEMORY)
			return err;
		if (err)
			log_message(index->log, LOG_NOTE, "%s", imp_error_message(err));
		imp_error_free(err);
	}
	return NULL;
}

static int compare_files(const void *left, const void *right)
{
	const struct indexed_file *a = left, *b = right;
	// Those without an ID last.
	int order = (a->id.size == 0) - (b->id.size == 0);
	if (!order)
		order = build_id_compare(&a->id, &b->id);
	return order ? order : strcmp(a->path, b->path);
}

static int compare_texts(const void *left, const void *right)
{
	return strcmp(*(char *const *)left, *(char *const *)right);
}

static struct imp_error *read_all(struct dir_index *index)
{
	if (!walk_all(index))
		return &imp_error_no_memory;
	struct imp_error *err = parallel_run(
		parallel_workers(0), (index->files.count + PIECE - 1) / PIECE, read_ids, index);
	if (err)
		return err;
	if (index->files.count)
		qsort(index->files.items, index->files.count, sizeof *index->files.items,
		      compare_files);
	if (index->packed.count)
		qsort(index->packed.items, index->packed.count, sizeof(char *), compare_texts);
	while (index->with_id < index->files.count && index->files.items[index->with_id].id.size)
		index->with_id++;
	index->is_read = true;
	return NULL;
}

static struct imp_error *make_ready(struct dir_index *index)
{
	pthread_mutex_lock(&index->lock);
	struct imp_error *err = index->is_read ? NULL : read_all(index);
	pthread_mutex_unlock(&index->lock);
	return err;
}

// The first file whose ID is not less than the SIZE bytes at BYTES, and zeros.
static size_t lower_bound(const struct dir_index *index, const uint8_t *bytes, size_t size)
{
	size_t low = 0, high = index->with_id;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (memcmp(index->files.items[middle].id.bytes, bytes, size) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct imp_error *dir_index_find(struct dir_index *index, const struct build_id *id, bool padded,
				 const struct indexed_file **first, size_t *count)
{
	*count = 0;
	struct imp_error *err = make_ready(index);
	if (err)
		return err;
	// Bytes beyond an ID's size are zero, so an ID and its padded form stand side by side.
	if (!index->files.count)
		return NULL;
	size_t at = lower_bound(index, id->bytes, sizeof id->bytes);
	*first = index->files.items + at;
	for (; at < index->with_id; at++) {
		const struct build_id *have = &index->files.items[at].id;
		if (padded ? build_id_equal_padded(id, have) : build_id_equal(id, have))
			++*count;
		else if (memcmp(id->bytes, have->bytes, sizeof id->bytes) != 0)
			break;
		else if (!*count)
			++*first;
		else
			break;
	}
	return NULL;
}

struct imp_error *dir_index_packed(struct dir_index *index, const char *name, const char ***paths,
				   size_t *count)
{
	*paths = NULL;
	*count = 0;
	struct imp_error *err = make_ready(index);
	if (err || !index->packed.count)
		return err;
	const char **found = calloc(index->packed.count, sizeof *found);
	if (!found)
		return &imp_error_no_memory;
	for (size_t i = 0; i < index->packed.count; i++) {
		char module[NAME_SIZE];
		module_name_of(index->packed.items[i], module, sizeof module);
		if (!strncmp(module, name, strlen(name)))
			found[(*count)++] = index->packed.items[i];
	}
	*paths = found;
	return NULL;
}

struct imp_error *dir_index_complete(struct dir_index *index, const char *prefix,
				     const struct indexed_file **first, size_t *count)
{
	*count = 0;
	struct imp_error *err = make_ready(index);
	if (err)
		return err;
	uint8_t bytes[BUILD_ID_MOST_BYTES] = { 0 };
	size_t digits = strlen(prefix), whole = digits / 2;
	if (digits > 2 * sizeof bytes || !hex_parse(prefix, 2 * whole, bytes))
		return NULL;
	size_t at = lower_bound(index, bytes, whole);
	for (; at < index->with_id; at++) {
		struct build_id_text text = build_id_text(&index->files.items[at].id);
		int order = strncasecmp(text.text, prefix, digits);
		if (order > 0 || (order < 0 && *count))
			break;
		if (order == 0 && (*count)++ == 0)
			*first = index->files.items + at;
	}
	return NULL;
}
