// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Reading a process's mappings by ioctl or from text.
#include "live/maps.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "base/file.h"

void mappings_fini(struct mappings *mappings)
{
	array_fini(mappings);
}

// struct procmap_query of linux/fs.h since 6.11, which Debian 12 does not have.
struct map_query {
	uint64_t size;
	uint64_t flags;
	uint64_t address;
	uint64_t start, end;
	uint64_t protection;
	uint64_t page_size;
	uint64_t offset;
	uint64_t inode;
	uint32_t major, minor;
	uint32_t name_size;
	uint32_t id_size;
	uint64_t name;
	uint64_t id;
};

enum {
	QUERY_READABLE = 1,
	QUERY_WRITABLE = 2,
	QUERY_EXECUTABLE = 4,
	QUERY_SHARED = 8,
	QUERY_COVERING_OR_NEXT = 16,
};

#define MAP_QUERY _IOWR('f', 17, struct map_query)

static uint8_t protection_of(uint64_t flags)
{
	return (uint8_t)((flags & QUERY_READABLE ? PROT_READ : 0) |
			 (flags & QUERY_WRITABLE ? PROT_WRITE : 0) |
			 (flags & QUERY_EXECUTABLE ? PROT_EXEC : 0));
}

static struct imp_error *keep_mapping(struct mappings *mappings, const struct mapping *mapping)
{
	struct mapping *slot = array_add(mappings);
	if (!slot)
		return &imp_error_no_memory;
	*slot = *mapping;
	return NULL;
}

// Asks for the ID of the mapping that begins at START. False when the kernel has none.
static bool query_id(int fd, uint64_t start, struct build_id *ret)
{
	uint8_t bytes[BUILD_ID_MOST_BYTES];
	struct map_query query = { .size = sizeof query,
				   .address = start,
				   .id = (uintptr_t)bytes,
				   .id_size = sizeof bytes };
	if (ioctl(fd, MAP_QUERY, &query) < 0 || query.start != start)
		return false;
	*ret = build_id_of(bytes, query.id_size);
	return query.id_size > 0;
}

static struct imp_error *take_query(struct process_view *view, int fd,
				    const struct map_query *query, const char *name,
				    struct mapped_files *files, struct mappings *ret)
{
	struct raw_mapping raw = {
		.mapping = { .start = query->start,
			     .end = query->end,
			     .offset = query->offset,
			     .protection = protection_of(query->protection),
			     .is_shared = query->protection & QUERY_SHARED },
		.major = query->major,
		.minor = query->minor,
		.inode = query->inode,
		.name = name,
		.name_length = query->name_size ? query->name_size - 1 : 0,
	};
	bool is_new;
	struct imp_error *err = mapped_files_bind(files, view, &raw, &is_new, &raw.mapping.file);
	if (err)
		return err;
	struct build_id id;
	if (is_new && query->inode && query_id(fd, query->start, &id))
		mapped_files_set_id(files, raw.mapping.file, &id);
	if (is_new)
		mapped_files_look_for_id(files, view, &raw.mapping);
	return keep_mapping(ret, &raw.mapping);
}

enum reading {
	READ_WHOLE,
	// The address space went away in the middle.
	READ_CUT,
	// The kernel does not know the ioctl; nothing was read.
	READ_NOT_POSSIBLE
};

// Reads by ioctl from FD.
static struct imp_error *read_queries(struct process_view *view, int fd, bool all,
				      struct mapped_files *files, struct mappings *ret,
				      enum reading *reading)
{
	char name[PATH_MAX + 64];
	for (uint64_t address = 0;;) {
		struct map_query query = {
			.size = sizeof query,
			.flags = QUERY_COVERING_OR_NEXT | (all ? 0U : QUERY_EXECUTABLE),
			.address = address,
			.name = (uintptr_t)name,
			.name_size = sizeof name,
		};
		if (ioctl(fd, MAP_QUERY, &query) < 0) {
			if (errno == EINTR)
				continue;
			*reading = errno == ENOTTY || errno == EINVAL ? READ_NOT_POSSIBLE
				   : errno == ENOENT		      ? READ_WHOLE
								      : READ_CUT;
			return NULL;
		}
		struct imp_error *err = take_query(view, fd, &query, name, files, ret);
		if (err)
			return err;
		if (query.end <= address)
			return NULL;
		address = query.end;
	}
}

// A hexadecimal (BASE 16) or decimal number that ends with AFTER, which is skipped too.
static bool take_number(const char **at, const char *end, unsigned base, char after, uint64_t *ret)
{
	uint64_t value = 0;
	const char *start = *at;
	for (; *at < end; (*at)++) {
		char c = **at;
		unsigned digit = c >= '0' && c <= '9'	? (unsigned)(c - '0')
				 : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a' + 10)
							: base;
		if (digit >= base)
			break;
		if (value > (UINT64_MAX - digit) / base)
			return false;
		value = value * base + digit;
	}
	if (*at == start || *at == end || **at != after)
		return false;
	(*at)++;
	*ret = value;
	return true;
}

static bool parse_line(const char *at, const char *end, struct raw_mapping *ret)
{
	*ret = (struct raw_mapping){ .is_escaped = true };
	uint64_t major, minor;
	if (!take_number(&at, end, 16, '-', &ret->mapping.start) ||
	    !take_number(&at, end, 16, ' ', &ret->mapping.end) || end - at < 5)
		return false;
	ret->mapping.protection =
		(uint8_t)((at[0] == 'r' ? PROT_READ : 0) | (at[1] == 'w' ? PROT_WRITE : 0) |
			  (at[2] == 'x' ? PROT_EXEC : 0));
	ret->mapping.is_shared = at[3] == 's';
	at += 5;
	// Some kernels end the line behind the inode, others with a space.
	if (!take_number(&at, end, 16, ' ', &ret->mapping.offset) ||
	    !take_number(&at, end, 16, ':', &major) || !take_number(&at, end, 16, ' ', &minor))
		return false;
	for (; at < end && *at >= '0' && *at <= '9'; at++)
		ret->inode = ret->inode * 10 + (uint64_t)(*at - '0');
	// The name is padded to a column, but never begins with a space itself.
	while (at < end && *at == ' ')
		at++;
	ret->major = (uint32_t)major;
	ret->minor = (uint32_t)minor;
	ret->name = at;
	ret->name_length = (size_t)(end - at);
	return ret->mapping.start < ret->mapping.end;
}

bool maps_next_line(const char **at, const char *end, struct raw_mapping *ret)
{
	while (*at < end) {
		const char *line = *at;
		const char *newline = memchr(line, '\n', (size_t)(end - line));
		const char *line_end = newline ? newline : end;
		*at = newline ? newline + 1 : end;
		if (parse_line(line, line_end, ret))
			return true;
	}
	return false;
}

static struct imp_error *read_text(struct process_view *view, int fd, bool all,
				   struct mapped_files *files, struct mappings *ret,
				   enum proc_outcome *outcome)
{
	_cleanup_buffer_ struct buffer text = { 0 };
	struct imp_error *err = file_slurp(fd, "maps", (size_t)256 << 20, &text);
	if (err && imp_error_code(err) != IMP_ERR_NO_MEMORY) {
		imp_error_free(err);
		*outcome = PROC_GONE;
		return NULL;
	}
	if (err)
		return err;
	const char *at = (const char *)text.bytes;
	const char *end = at + text.size;
	struct raw_mapping raw;
	while (maps_next_line(&at, end, &raw)) {
		if (!all && !(raw.mapping.protection & PROT_EXEC))
			continue;
		bool is_new;
		err = mapped_files_bind(files, view, &raw, &is_new, &raw.mapping.file);
		if (err)
			return err;
		if (is_new)
			mapped_files_look_for_id(files, view, &raw.mapping);
		err = keep_mapping(ret, &raw.mapping);
		if (err)
			return err;
	}
	return NULL;
}

struct imp_error *maps_read(const struct proc *proc, uint32_t pid,
			    const struct maps_options *options, struct mapped_files *files,
			    struct mappings *ret, enum proc_outcome *outcome)
{
	struct maps_options defaults = { 0 };
	if (!options)
		options = &defaults;
	size_t before = ret->count;
	struct process_view view = process_view_of(proc, pid);
	// An open maps file stays with its address space: when the process executes another program
	// meanwhile, the reading ends early and begins once more.
	for (unsigned attempt = 0; attempt < 3; attempt++) {
		_cleanup_close_ int fd = proc_open_file(proc, outcome, "%u/maps", pid);
		if (fd < 0)
			return NULL;
		enum reading reading = options->text ? READ_NOT_POSSIBLE : READ_WHOLE;
		struct imp_error *err = NULL;
		if (reading == READ_WHOLE)
			err = read_queries(&view, fd, options->all, files, ret, &reading);
		if (!err && reading == READ_NOT_POSSIBLE)
			err = read_text(&view, fd, options->all, files, ret, outcome);
		if (err || reading != READ_CUT || ret->count == before)
			return err;
		ret->count = before;
	}
	*outcome = PROC_GONE;
	return NULL;
}
