// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Trying candidates: each is verified by its own build ID, and each step is remembered.
#include "find/search.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

#include "elf/unpack.h"

bool search_is_complete(const struct search *search)
{
	const struct finding *finding = search->finding;
	return (finding->image || search->is_alt) && finding->debug && search->rank == RANK_DWARF;
}

bool search_wants(const struct search *search, const struct build_id *id)
{
	if (search->takes_any)
		return true;
	const struct image *image = search->image;
	return image->id_is_padded ? build_id_equal_padded(&image->id, id)
				   : build_id_equal(&image->id, id);
}

struct imp_error *search_note(struct search *search, const char *place, enum find_outcome outcome,
			      const struct build_id *other, const char *detail)
{
	char *copy = strdup(place);
	struct find_step *step = copy ? array_add(&search->steps) : NULL;
	if (!step) {
		free(copy);
		return &imp_error_no_memory;
	}
	*step = (struct find_step){
		.source = search->source, .place = copy, .outcome = outcome, .detail = detail
	};
	if (other)
		step->other = *other;
	return NULL;
}

// FILE tells where the code of SEARCH's image lies.
static bool has_layout(const struct search *search, const struct elf_image *file)
{
	switch (search->image->kind) {
	case IMAGE_KERNEL:
	case IMAGE_GUEST_KERNEL:
		return true;
	case IMAGE_MODULE:
	case IMAGE_GUEST_MODULE:
		return elf_image_type(file) == ELF_RELOCATABLE;
	case IMAGE_USER:
	case IMAGE_VDSO:
	case IMAGE_JIT:
	case IMAGE_ANON:
	case IMAGE_SPECIAL:
	case IMAGE_KINDS:
	default:
		return elf_image_has_layout(file);
	}
}

struct imp_error *search_take(struct search *search, const struct elf_image *file,
			      const char *place, const char *detail)
{
	struct finding *finding = search->finding;
	enum find_rank rank = find_rank_of(file);
	const struct elf_image *code = finding->image;
	uint64_t shift;
	if (code && !elf_image_shift(code, file, &shift))
		return search_note(search, place, FIND_SKIPPED, NULL,
				   "the same ID, but the code lies elsewhere: of another link");
	if (!code && has_layout(search, file)) {
		finding->image = file;
		// A debug file that was found before has the ID, but not this code.
		if (finding->debug && !elf_image_shift(file, finding->debug, &shift)) {
			finding->debug = NULL;
			search->rank = RANK_NOTHING;
		}
	}
	if (!finding->debug || rank > search->rank) {
		finding->debug = file;
		search->rank = rank;
	}
	return search_note(search, place, FIND_MATCH, elf_image_id(file),
			   detail ? detail : find_rank_name(rank));
}

// The ID of the file in FD, packed or not. *image is the file when it had to be opened for that.
static struct imp_error *identify(struct search *search, int fd, const char *place,
				  struct build_id *ret, const struct elf_image **image)
{
	uint8_t head[0x210];
	struct imp_error *err = elf_build_id_read_fd(fd, place, 0, ret);
	if (err || ret->size)
		return err;
	ssize_t size = pread(fd, head, sizeof head, 0);
	if (size <= 0 || !unpack_knows(head, (size_t)size))
		return NULL;
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (copy < 0)
		return error_system(errno, "%s: cannot open", place);
	err = opened_get(&search->finder->opened, copy, place, image);
	if (!err)
		*ret = *elf_image_id(*image);
	return err;
}

// What cannot be read is a step like others; only memory is an error.
static struct imp_error *note_failure(struct search *search, const char *place,
				      struct imp_error *err)
{
	if (imp_error_code(err) == IMP_ERR_NO_MEMORY)
		return err;
	const char *detail = imp_error_code(err) == IMP_ERR_SYSTEM ? "cannot be read" : "damaged";
	imp_error_free(err);
	return search_note(search, place, FIND_UNREADABLE, NULL, detail);
}

struct imp_error *search_try_fd(struct search *search, int fd_taken, const char *place)
{
	_cleanup_close_ int fd = fd_taken;
	struct build_id id = { 0 };
	const struct elf_image *file = NULL;
	struct imp_error *err = identify(search, fd, place, &id, &file);
	if (err)
		return note_failure(search, place, err);
	if (!id.size && !search->takes_any)
		return search_note(search, place, FIND_NO_ID, NULL, NULL);
	if (!search_wants(search, &id))
		return search_note(search, place, FIND_OTHER_BUILD, &id, NULL);
	if (!file)
		err = opened_get(&search->finder->opened, steal_fd(&fd), place, &file);
	// The file may have been replaced in place since its ID was read.
	if (!err && !search_wants(search, elf_image_id(file)))
		return search_note(search, place, FIND_OTHER_BUILD, elf_image_id(file), NULL);
	return err ? note_failure(search, place, err) : search_take(search, file, place, NULL);
}

struct imp_error *search_try(struct search *search, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return search_note(search, path, FIND_ABSENT, NULL, NULL);
	if (fd < 0)
		return search_note(search, path, FIND_UNREADABLE, NULL,
				   errno == EACCES ? "permission denied" : "cannot be opened");
	struct stat status;
	if (fstat(fd, &status) == 0 && !S_ISREG(status.st_mode)) {
		close(fd);
		return search_note(search, path, FIND_SKIPPED, NULL, "no regular file");
	}
	return search_try_fd(search, fd, path);
}

char *path_of(const char *format, ...)
{
	char *path = NULL;
	va_list args;
	va_start(args, format);
	if (vasprintf(&path, format, args) < 0)
		path = NULL;
	va_end(args);
	return path;
}

struct imp_error *search_try_format(struct search *search, const char *format, ...)
{
	_cleanup_free_ char *path = NULL;
	va_list args;
	va_start(args, format);
	if (vasprintf(&path, format, args) < 0)
		path = NULL;
	va_end(args);
	return path ? search_try(search, path) : &imp_error_no_memory;
}
