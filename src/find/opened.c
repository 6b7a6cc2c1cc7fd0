// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Files by device, inode, size and time of change.
#include "find/opened.h"

#include <errno.h>
#include <sys/stat.h>

void opened_init(struct opened *opened)
{
	*opened = (struct opened){ 0 };
	pthread_mutex_init(&opened->lock, NULL);
}

void opened_fini(struct opened *opened)
{
	for (size_t i = 0; i < opened->files.count; i++)
		elf_image_free(opened->files.items[i].image);
	array_fini(&opened->files);
	pthread_mutex_destroy(&opened->lock);
}

static struct opened_file file_of(const struct stat *status)
{
	return (struct opened_file){ .device = status->st_dev,
				     .inode = status->st_ino,
				     .size = (uint64_t)status->st_size,
				     .changed_ns = status->st_ctim.tv_sec * 1000000000LL +
						   status->st_ctim.tv_nsec };
}

// Called under the lock.
static const struct elf_image *find(const struct opened *opened, const struct opened_file *file)
{
	for (size_t i = 0; i < opened->files.count; i++) {
		const struct opened_file *known = &opened->files.items[i];
		if (known->inode == file->inode && known->device == file->device &&
		    known->size == file->size && known->changed_ns == file->changed_ns)
			return known->image;
	}
	return NULL;
}

// Adds FILE unless another thread was faster; *ret is the one that is kept.
static struct imp_error *add(struct opened *opened, struct opened_file *file,
			     const struct elf_image **ret)
{
	pthread_mutex_lock(&opened->lock);
	const struct elf_image *known = file->inode ? find(opened, file) : NULL;
	struct opened_file *slot = known ? NULL : array_add(&opened->files);
	if (slot)
		*slot = *file;
	pthread_mutex_unlock(&opened->lock);
	if (known || !slot)
		elf_image_free(file->image);
	if (!known && !slot)
		return &imp_error_no_memory;
	*ret = known ? known : file->image;
	return NULL;
}

struct imp_error *opened_get(struct opened *opened, int fd_taken, const char *path,
			     const struct elf_image **ret)
{
	_cleanup_close_ int fd = fd_taken;
	struct stat status;
	if (fstat(fd, &status) < 0)
		return error_system(errno, "%s: cannot stat", path);
	struct opened_file file = file_of(&status);
	pthread_mutex_lock(&opened->lock);
	const struct elf_image *known = find(opened, &file);
	pthread_mutex_unlock(&opened->lock);
	if (known) {
		*ret = known;
		return NULL;
	}
	struct imp_error *err = elf_image_open_fd(steal_fd(&fd), path, 0, &file.image);
	return err ? err : add(opened, &file, ret);
}

struct imp_error *opened_keep(struct opened *opened, struct elf_image *image)
{
	struct opened_file file = { .image = image };
	const struct elf_image *kept;
	return add(opened, &file, &kept);
}
