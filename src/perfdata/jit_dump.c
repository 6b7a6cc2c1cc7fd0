// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Walking the records of a dump once.
#include "perfdata/jit_dump.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cursor.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/table.h"

enum {
	// "JiTD" as a number of the writer's byte order.
	MAGIC = 0x4a695444,
	VERSION = 1,
	HEADER_SIZE = 40,
	PREFIX_SIZE = 16,
	CODE_LOAD = 0,
	CODE_MOVE = 1,
	FLAG_ARCH_TIMES = 1
};

static const size_t most_bytes = (size_t)1 << 31;

struct loaded {
	uint64_t offset, size, index;
	// Where the name is in the file.
	uint64_t name;
};

struct jit_dump {
	uint8_t *bytes;
	size_t size;
	uint32_t pid;
	bool has_arch_times;
	// In the order of the file, which is that of their offsets.
	ARRAY_OF(struct loaded) functions;
	ARRAY_OF(struct jit_placement) placements;
	// Functions by their index.
	struct table by_index;
};

void jit_dump_free(struct jit_dump *dump)
{
	if (!dump)
		return;
	free(dump->bytes);
	array_fini(&dump->functions);
	array_fini(&dump->placements);
	table_fini(&dump->by_index);
	free(dump);
}

static bool place(struct jit_dump *dump, uint64_t time_ns, uint64_t address,
		  const struct loaded *function)
{
	struct jit_placement *placement = array_add(&dump->placements);
	if (placement)
		*placement = (struct jit_placement){ time_ns, address, function->size,
						     function->offset };
	return placement;
}

// BODY is what stands behind the prefix, and nothing else. False without memory.
static bool add_load(struct jit_dump *dump, struct cursor *body, size_t body_at, uint64_t time_ns)
{
	// pid, tid and the address where the function was made.
	cursor_skip(body, 16);
	uint64_t address = cursor_u64(body);
	struct loaded function = { .size = cursor_u64(body), .index = cursor_u64(body) };
	function.name = body_at + body->at;
	const char *name = cursor_string(body);
	function.offset = body_at + body->at;
	// Code that is not there has no position, and so no name.
	if (body->failed || !name || !function.size || function.size > cursor_left(body) ||
	    address > UINT64_MAX - function.size)
		return true;
	struct loaded *added = array_add(&dump->functions);
	if (!added)
		return false;
	*added = function;
	return table_insert(&dump->by_index, hash_mix(0, function.index),
			    (uint32_t)dump->functions.count - 1) &&
	       place(dump, time_ns, address, &function);
}

static bool add_move(struct jit_dump *dump, struct cursor *body, uint64_t time_ns)
{
	// pid, tid, and where the function was made and stood.
	cursor_skip(body, 24);
	uint64_t address = cursor_u64(body);
	cursor_skip(body, 8);
	uint64_t wanted = cursor_u64(body);
	const struct loaded *newest = NULL;
	struct table_probe probe = table_probe(&dump->by_index, hash_mix(0, wanted));
	uint32_t number;
	while (!body->failed && table_next(&dump->by_index, &probe, &number)) {
		const struct loaded *function = &dump->functions.items[number];
		if (function->index == wanted && (!newest || function > newest))
			newest = function;
	}
	if (!newest || address > UINT64_MAX - newest->size)
		return true;
	return place(dump, time_ns, address, newest);
}

// Reads records up to the first that is damaged or cut off. False without memory.
static bool read_records(struct jit_dump *dump, struct cursor *at)
{
	while (cursor_left(at) >= PREFIX_SIZE) {
		uint32_t id = cursor_u32(at), size = cursor_u32(at);
		uint64_t time_ns = cursor_u64(at);
		if (size < PREFIX_SIZE || size - PREFIX_SIZE > cursor_left(at) ||
		    dump->functions.count == UINT32_MAX - 1)
			return true;
		size_t body_at = at->at;
		struct cursor body = cursor_over(dump->bytes + body_at, size - PREFIX_SIZE);
		body.swap = at->swap;
		cursor_skip(at, size - PREFIX_SIZE);
		bool is_kept = true;
		if (id == CODE_LOAD)
			is_kept = add_load(dump, &body, body_at, time_ns);
		else if (id == CODE_MOVE)
			is_kept = add_move(dump, &body, time_ns);
		if (!is_kept)
			return false;
	}
	return true;
}

static struct imp_error *read_header(struct jit_dump *dump, struct cursor *at)
{
	uint32_t magic = cursor_u32(at);
	at->swap = magic == __builtin_bswap32(MAGIC);
	uint32_t version = cursor_u32(at), size = cursor_u32(at);
	cursor_skip(at, 8);
	dump->pid = cursor_u32(at);
	// When the file was begun, by whatever clock.
	cursor_u64(at);
	dump->has_arch_times = cursor_u64(at) & FLAG_ARCH_TIMES;
	if (at->failed || (magic != MAGIC && !at->swap))
		return error_new(IMP_ERR_BAD_DATA, "is no jitdump");
	if (version != VERSION)
		return error_new(IMP_ERR_UNSUPPORTED, "is a jitdump of version %u", version);
	if (size > HEADER_SIZE)
		cursor_skip(at, size - HEADER_SIZE);
	return NULL;
}

// Takes BYTES.
static struct imp_error *parse_owned(uint8_t *bytes, size_t size, struct jit_dump **ret)
{
	struct jit_dump *dump = calloc(1, sizeof *dump);
	if (!dump) {
		free(bytes);
		return &imp_error_no_memory;
	}
	dump->bytes = bytes;
	dump->size = size;
	struct cursor at = cursor_over(bytes, size);
	struct imp_error *err = read_header(dump, &at);
	if (!err && !at.failed && !read_records(dump, &at))
		err = &imp_error_no_memory;
	if (err)
		jit_dump_free(dump);
	else
		*ret = dump;
	return err;
}

struct imp_error *jit_dump_parse(const void *bytes, size_t size, struct jit_dump **ret)
{
	uint8_t *copy = malloc(size + 1);
	if (!copy)
		return &imp_error_no_memory;
	memcpy(copy, bytes, size);
	return parse_owned(copy, size, ret);
}

// Such files may stand where everybody may write: only a regular one counts, of this user, of root,
// or any for root.
static bool is_acceptable(int fd)
{
	struct stat status;
	return fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
	       (status.st_uid == 0 || status.st_uid == geteuid() || geteuid() == 0);
}

struct imp_error *jit_dump_open(const char *path, struct jit_dump **ret)
{
	*ret = NULL;
	_cleanup_close_ int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 || !is_acceptable(fd))
		return NULL;
	_cleanup_buffer_ struct buffer bytes = { 0 };
	struct imp_error *err = file_slurp(fd, path, most_bytes, &bytes);
	if (err)
		return err;
	// Nothing at all still is a block of its own.
	buffer_append(&bytes, "", 1);
	if (bytes.failed)
		return &imp_error_no_memory;
	size_t size = bytes.size - 1;
	err = parse_owned(steal(bytes.bytes), size, ret);
	return err ? error_context(err, "%s", path) : NULL;
}

uint32_t jit_dump_pid(const struct jit_dump *dump)
{
	return dump->pid;
}

bool jit_dump_has_arch_times(const struct jit_dump *dump)
{
	return dump->has_arch_times;
}

size_t jit_dump_placement_count(const struct jit_dump *dump)
{
	return dump->placements.count;
}

const struct jit_placement *jit_dump_placement(const struct jit_dump *dump, size_t index)
{
	return &dump->placements.items[index];
}

bool jit_dump_function_at(const struct jit_dump *dump, uint64_t offset, struct jit_function *ret)
{
	size_t low = 0, high = dump->functions.count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (dump->functions.items[middle].offset <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	const struct loaded *function = low ? &dump->functions.items[low - 1] : NULL;
	if (!function || offset - function->offset >= function->size)
		return false;
	*ret = (struct jit_function){ function->offset, function->size,
				      (const char *)dump->bytes + function->name };
	return true;
}
