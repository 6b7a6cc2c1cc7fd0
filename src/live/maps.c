// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Reading a process's mappings as text, and by ioctl what the text does not tell.
#include "live/maps.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

void mappings_fini(struct mappings *mappings)
{
	array_fini(mappings);
	buffer_fini(&mappings->text);
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
	QUERY_COVERING_OR_NEXT = 16,
};

#define MAP_QUERY _IOWR('f', 17, struct map_query)

static struct imp_error *keep_mapping(struct mappings *mappings, const struct mapping *mapping)
{
	struct mapping *slot = array_add(mappings);
	if (!slot)
		return &imp_error_no_memory;
	*slot = *mapping;
	return NULL;
}

// Asks about the mapping that begins where RAW does. False when the kernel does not answer, or
// another file is mapped there meanwhile.
static bool ask(int fd, const struct raw_mapping *raw, struct map_query *query)
{
	query->size = sizeof *query;
	query->address = raw->mapping.start;
	return ioctl(fd, MAP_QUERY, query) >= 0 && query->start == raw->mapping.start &&
	       query->inode == raw->inode && query->major == raw->major &&
	       query->minor == raw->minor;
}

static bool query_id(int fd, const struct raw_mapping *raw, struct build_id *ret)
{
	uint8_t bytes[BUILD_ID_MOST_BYTES];
	struct map_query query = { .id = (uintptr_t)bytes, .id_size = sizeof bytes };
	if (!ask(fd, raw, &query))
		return false;
	*ret = build_id_of(bytes, query.id_size);
	return query.id_size > 0;
}

// The name of RAW as it is, without escapes, into NAME.
static bool query_name(int fd, const struct raw_mapping *raw, char *name, size_t size,
		       size_t *length)
{
	struct map_query query = { .name = (uintptr_t)name, .name_size = (uint32_t)size };
	if (!ask(fd, raw, &query) || !query.name_size)
		return false;
	*length = query.name_size - 1;
	return true;
}

// Whether the address space is still there: its text ends early when it goes away. Kernels that do
// not know the ioctl cannot say.
static bool is_gone(int fd)
{
	struct map_query query = { .size = sizeof query, .flags = QUERY_COVERING_OR_NEXT };
	return ioctl(fd, MAP_QUERY, &query) < 0 && errno == ESRCH;
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

// Whether the line says that its mapping cannot be executed: "START-END r--p …".
static bool is_plain_data(const char *line, const char *end)
{
	const char *space = memchr(line, ' ', (size_t)(end - line));
	return space && end - space > 4 && space[3] == '-';
}

static bool next_line(const char **at, const char *end, bool only_code, struct raw_mapping *ret)
{
	while (*at < end) {
		const char *line = *at;
		const char *newline = memchr(line, '\n', (size_t)(end - line));
		const char *line_end = newline ? newline : end;
		*at = newline ? newline + 1 : end;
		if (only_code && is_plain_data(line, line_end))
			continue;
		if (parse_line(line, line_end, ret) &&
		    (!only_code || ret->mapping.protection & PROT_EXEC))
			return true;
	}
	return false;
}

bool maps_next_line(const char **at, const char *end, struct raw_mapping *ret)
{
	return next_line(at, end, false, ret);
}

// How a process's maps are read.
struct reading {
	struct process_view view;
	int fd;
	const struct maps_options *options;
	struct mapped_files *files;
	struct mappings *mappings;
};

// Binds RAW to its file; at first sight the kernel is asked for its ID, and if it does not tell,
// the file is.
static struct imp_error *take_line(struct reading *reading, struct raw_mapping *raw)
{
	char name[PATH_MAX + 64];
	bool may_ask = !reading->options->text;
	raw->is_escaped = memmem(raw->name, raw->name_length, "\\012", 4) != NULL;
	if (raw->is_escaped && may_ask &&
	    query_name(reading->fd, raw, name, sizeof name, &raw->name_length)) {
		raw->name = name;
		raw->is_escaped = false;
	}
	bool is_new;
	struct imp_error *err =
		mapped_files_bind(reading->files, &reading->view, raw, &is_new, &raw->mapping.file);
	if (err)
		return err;
	struct build_id id;
	if (is_new && may_ask && raw->inode && query_id(reading->fd, raw, &id))
		mapped_files_set_id(reading->files, raw->mapping.file, &id);
	if (is_new)
		mapped_files_look_for_id(reading->files, &reading->view, &raw->mapping);
	return keep_mapping(reading->mappings, &raw->mapping);
}

// The page of system calls at a fixed address comes last on x86-64: nothing else can be there.
static bool ends_with_gate(const struct buffer *text)
{
	static const char gate[] = "ffffffffff600000-";
	if (text->size < 2 || text->bytes[text->size - 1] != '\n')
		return false;
	const uint8_t *newline = memrchr(text->bytes, '\n', text->size - 1);
	const uint8_t *line = newline ? newline + 1 : text->bytes;
	size_t length = (size_t)(text->bytes + text->size - line);
	return length > strlen(gate) && !memcmp(line, gate, strlen(gate));
}

// Reads the text as a whole: it costs the kernel less than half of what asking for each mapping
// does. *IS_CUT says that the address space went away meanwhile.
static struct imp_error *read_text(struct reading *reading, bool *is_cut)
{
	enum { STEP = 64 * 1024, MOST_BYTES = 256 * 1024 * 1024 };
	struct buffer *text = &reading->mappings->text;
	text->size = 0;
	*is_cut = false;
	// The last read, which brings nothing, costs as much as another.
	while (!ends_with_gate(text) && text->size < MOST_BYTES) {
		uint8_t *at = buffer_extend(text, STEP);
		if (!at)
			return &imp_error_no_memory;
		ssize_t got = read(reading->fd, at, STEP);
		text->size -= STEP - (size_t)(got > 0 ? got : 0);
		if (got < 0 && errno == EINTR)
			continue;
		*is_cut = got < 0 || (got == 0 && text->size && !reading->options->text &&
				      is_gone(reading->fd));
		if (got <= 0)
			break;
	}
	return NULL;
}

static struct imp_error *take_text(struct reading *reading)
{
	const char *at = (const char *)reading->mappings->text.bytes;
	const char *end = at + reading->mappings->text.size;
	struct raw_mapping raw;
	struct imp_error *err = NULL;
	while (!err && next_line(&at, end, !reading->options->all, &raw))
		err = take_line(reading, &raw);
	return err;
}

struct imp_error *maps_read(const struct proc *proc, uint32_t pid,
			    const struct maps_options *options, struct mapped_files *files,
			    struct mappings *ret, enum proc_outcome *outcome)
{
	static const struct maps_options defaults = { 0 };
	struct reading reading = { .view = process_view_of(proc, pid),
				   .options = options ? options : &defaults,
				   .files = files,
				   .mappings = ret };
	// An open maps file stays with its address space: when the process executes another program
	// meanwhile, the reading ends early and begins once more.
	for (unsigned attempt = 0; attempt < 3; attempt++) {
		_cleanup_close_ int fd = proc_open_file(proc, outcome, "%u/maps", pid);
		if (fd < 0)
			return NULL;
		reading.fd = fd;
		bool is_cut;
		struct imp_error *err = read_text(&reading, &is_cut);
		if (err || !is_cut)
			return err ? err : take_text(&reading);
	}
	*outcome = PROC_GONE;
	return NULL;
}
