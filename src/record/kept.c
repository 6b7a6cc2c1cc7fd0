// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Objects beside what is to be kept.
#include "record/kept.h"

#include <string.h>

#include "base/file.h"
#include "live/kernel.h"

// False when there are none or they cannot be read: then adding tells what is wrong.
static bool find(struct store *store, const struct build_id *id, enum store_role role,
		 struct store_objects *ret)
{
	if (build_id_is_none(id))
		return false;
	struct store_query query = { .id = *id, .role = role };
	struct imp_error *err = store_find(store, &query, ret);
	imp_error_free(err);
	return !err && ret->count;
}

bool kept_role(struct store *store, const struct build_id *id, enum store_role role)
{
	_cleanup_store_objects_ struct store_objects objects = { 0 };
	return find(store, id, role, &objects);
}

static int object_open(struct store *store, const struct store_object *object)
{
	int fd;
	struct imp_error *err = store_object_open(store, object, &fd);
	imp_error_free(err);
	return err ? -1 : fd;
}

static bool are_equal(int a, int b, uint64_t size)
{
	enum { PIECE_BYTES = 64 << 10 };
	_cleanup_free_ uint8_t *bytes = malloc((size_t)2 * PIECE_BYTES);
	for (uint64_t at = 0; bytes && at < size; at += PIECE_BYTES) {
		size_t piece = size - at < PIECE_BYTES ? (size_t)(size - at) : PIECE_BYTES;
		size_t got_a, got_b;
		struct imp_error *err = file_pread(a, "", bytes, piece, at, &got_a);
		if (!err)
			err = file_pread(b, "", bytes + PIECE_BYTES, piece, at, &got_b);
		bool is_equal = !err && got_a == piece && got_b == piece &&
				!memcmp(bytes, bytes + PIECE_BYTES, piece);
		imp_error_free(err);
		if (!is_equal)
			return false;
	}
	return bytes;
}

bool kept_bytes(struct store *store, const struct build_id *id, int fd, uint64_t size)
{
	_cleanup_store_objects_ struct store_objects objects = { 0 };
	if (!find(store, id, STORE_EXECUTABLE, &objects))
		return false;
	for (size_t i = 0; i < objects.count; i++) {
		const struct store_object *object = &objects.items[i];
		if (object->role != STORE_EXECUTABLE || object->size_bytes != size)
			continue;
		_cleanup_close_ int kept = object_open(store, object);
		if (kept >= 0 && are_equal(kept, fd, size))
			return true;
	}
	return false;
}

// Takes the next line of TEXT as a module; false at the end, and at what is none.
static bool next_module(const char **text, const char *end, struct kernel_module *ret)
{
	char line[512];
	const char *newline = *text < end ? memchr(*text, '\n', (size_t)(end - *text)) : NULL;
	size_t length = newline ? (size_t)(newline - *text) : sizeof line;
	if (length >= sizeof line)
		return false;
	memcpy(line, *text, length);
	line[length] = 0;
	*text = newline + 1;
	return kernel_module_parse(line, ret);
}

static bool have_same_modules(const char *a, size_t a_size, const char *b, size_t b_size)
{
	const char *a_end = a + a_size, *b_end = b + b_size;
	struct kernel_module left, right;
	while (a < a_end && b < b_end) {
		if (!next_module(&a, a_end, &left) || !next_module(&b, b_end, &right))
			return false;
		if (strcmp(left.name, right.name) || left.address != right.address ||
		    left.size != right.size)
			return false;
	}
	return a == a_end && b == b_end;
}

bool kept_modules(struct store *store, const struct build_id *id, const char *text, size_t size)
{
	enum { MOST_BYTES = 1 << 24 };
	_cleanup_store_objects_ struct store_objects objects = { 0 };
	if (!find(store, id, STORE_MODULES, &objects))
		return false;
	bool is_kept = false;
	for (size_t i = 0; !is_kept && i < objects.count; i++) {
		_cleanup_buffer_ struct buffer bytes = { 0 };
		_cleanup_close_ int fd = object_open(store, &objects.items[i]);
		if (fd < 0)
			continue;
		struct imp_error *err = file_slurp(fd, "", MOST_BYTES, &bytes);
		is_kept = !err &&
			  have_same_modules((const char *)bytes.bytes, bytes.size, text, size);
		imp_error_free(err);
	}
	return is_kept;
}
