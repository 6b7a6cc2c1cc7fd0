// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Judging a saved index by its build ID and the content of the files at hand, and making one.
#include "symbolize/saved_index.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>

#include "base/parallel.h"

enum {
	// Below this an index saves less than looking for it costs.
	LEAST_BYTES = 128 * 1024,
	// A file that changed so lately may change again without its times telling.
	SETTLED_SECONDS = 2,
	// Of older versions, and of other contents: more are not tried.
	TRIED_MOST = 8
};

static int64_t nanoseconds(struct timespec time)
{
	return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

// All but the hash.
static struct dwarf_source source_of(const struct elf_image *image)
{
	struct dwarf_source source = { .size = 0 };
	struct stat file;
	size_t size;
	(void)elf_image_bytes(image, &size);
	source.size = size;
	if (!elf_image_file(image, &file))
		return source;
	source.device = file.st_dev;
	source.inode = file.st_ino;
	source.modified_ns = nanoseconds(file.st_mtim);
	source.changed_ns = nanoseconds(file.st_ctim);
	return source;
}

static bool same_file(const struct dwarf_source *a, const struct dwarf_source *b)
{
	return a->inode && a->inode == b->inode && a->device == b->device && a->size == b->size &&
	       a->modified_ns == b->modified_ns && a->changed_ns == b->changed_ns;
}

// The file that IMAGE was mapped from, when it is still at its path; -1 otherwise.
static int reopen(const struct elf_image *image, const struct dwarf_source *source)
{
	_cleanup_close_ int fd =
		source->inode ? open(elf_image_path(image), O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
	struct stat now;
	if (fd < 0 || fstat(fd, &now) < 0 || now.st_dev != source->device ||
	    now.st_ino != source->inode || nanoseconds(now.st_ctim) != source->changed_ns)
		return -1;
	return steal_fd(&fd);
}

// Sets the hash of SOURCE, which is of IMAGE. Reading a file leaves this process's memory as small
// as it was, touching all of a mapping does not.
static struct imp_error *hash_source(const struct elf_image *image, struct dwarf_source *source)
{
	struct store_hash hash;
	uint64_t size;
	_cleanup_close_ int fd = reopen(image, source);
	size_t mapped_size;
	const void *bytes = elf_image_bytes(image, &mapped_size);
	struct imp_error *err = fd < 0 ? store_hash_of_memory(bytes, mapped_size, &hash)
				       : store_hash_of_fd(fd, elf_image_path(image), &hash, &size);
	if (!err)
		memcpy(source->hash, hash.bytes, sizeof source->hash);
	return err;
}

// Says whether IMAGE (or NULL) has the content that an index was made of.
static struct imp_error *is_source(const struct elf_image *image,
				   const struct dwarf_source *made_of, bool *ret)
{
	static const struct dwarf_source none;
	*ret = !image && memcmp(made_of, &none, sizeof none) == 0;
	if (!image)
		return NULL;
	struct dwarf_source source = source_of(image);
	*ret = same_file(&source, made_of);
	if (*ret || source.size != made_of->size)
		return NULL;
	struct imp_error *err = hash_source(image, &source);
	*ret = !err && memcmp(source.hash, made_of->hash, sizeof source.hash) == 0;
	return err;
}

// Opens OBJECT when it is an index of FILES.
static struct imp_error *try_object(struct store *store, const struct store_object *object,
				    const struct index_files *files, struct dwarf **ret)
{
	struct dwarf_sources made_of;
	struct dwarf *index = NULL;
	bool is_right = false;
	int fd;
	_cleanup_free_ char *path = store_object_path(store, object);
	if (!path)
		return &imp_error_no_memory;
	struct imp_error *err = store_object_open(store, object, &fd);
	if (!err)
		err = dwarf_open_index(fd, path, elf_image_id(files->debug), &made_of, &index);
	if (err)
		return err;
	err = is_source(files->debug, &made_of.debug, &is_right);
	if (!err && is_right)
		err = is_source(files->alt, &made_of.alt, &is_right);
	if (err || !is_right)
		dwarf_free(index);
	else
		*ret = index;
	return err;
}

struct imp_error *saved_index_find(struct store *store, const struct index_files *files,
				   const struct log *log, struct dwarf **ret)
{
	_cleanup_store_objects_ struct store_objects objects = { 0 };
	const struct store_query query = { .id = *elf_image_id(files->debug), .role = STORE_INDEX };
	*ret = NULL;
	if (build_id_is_none(&query.id))
		return NULL;
	struct imp_error *err = store_find(store, &query, &objects);
	for (size_t i = 0; i < objects.count && i < TRIED_MOST && !err && !*ret; i++) {
		err = try_object(store, &objects.items[i], files, ret);
		if (!err || imp_error_code(err) == IMP_ERR_NO_MEMORY)
			continue;
		log_message(log, LOG_NOTE, "not used: %s", imp_error_message(err));
		imp_error_free(steal(err));
	}
	if (err && imp_error_code(err) != IMP_ERR_NO_MEMORY)
		imp_error_free(steal(err));
	return err;
}

bool saved_index_pays(const struct dwarf *dwarf, const struct index_files *files)
{
	bool is_whole = files->alt || !elf_image_section_named(files->debug, ".gnu_debugaltlink");
	return !dwarf_is_index(dwarf) && !build_id_is_none(elf_image_id(files->debug)) &&
	       is_whole && !dwarf_split_units(dwarf) && dwarf_info_size(dwarf) >= LEAST_BYTES &&
	       dwarf_share_read(dwarf) >= 0.5;
}

static struct imp_error *describe(const struct elf_image *image, struct dwarf_source *ret)
{
	*ret = source_of(image);
	struct imp_error *err = hash_source(image, ret);
	int64_t age_ns = nanoseconds((struct timespec){ .tv_sec = time(NULL) }) - ret->changed_ns;
	if (age_ns < SETTLED_SECONDS * INT64_C(1000000000))
		ret->device = ret->inode = 0;
	return err;
}

struct imp_error *saved_index_keep(struct store *store, const struct index_files *files,
				   struct dwarf *dwarf, unsigned workers)
{
	// Another process may have been faster; and what is damaged gets out of the way.
	struct dwarf *present = NULL;
	struct imp_error *err = saved_index_find(store, files, NULL, &present);
	bool is_present = present;
	dwarf_free(present);
	if (err || is_present)
		return err;
	_cleanup_close_ int fd = store_spool(store);
	if (fd < 0)
		return error_system(errno, "%s: cannot write", store_dir(store));
	struct dwarf_saving saving = { .id = *elf_image_id(files->debug),
				       .fd = fd,
				       .path = store_dir(store),
				       .workers = parallel_workers(workers) };
	const struct store_item item = { .id = saving.id,
					 .role = STORE_INDEX,
					 .rank = STORE_DWARF };
	err = describe(files->debug, &saving.sources.debug);
	if (!err && files->alt)
		err = describe(files->alt, &saving.sources.alt);
	if (!err)
		err = dwarf_save_index(dwarf, &saving);
	return err ? err : store_add_fd(store, &item, fd, NULL);
}
