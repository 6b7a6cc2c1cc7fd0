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

// What a hexadecimal digit stands for, plus one.
static const uint8_t digit_values[256] = {
	['0'] = 1,  ['1'] = 2,	['2'] = 3,  ['3'] = 4,	['4'] = 5,  ['5'] = 6,
	['6'] = 7,  ['7'] = 8,	['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12,
	['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16,
};

// A hexadecimal number that ends with AFTER, which is skipped too.
static bool take_hex(const char **at, const char *end, char after, uint64_t *ret)
{
	uint64_t value = 0;
	const char *start = *at;
	const char *digit = start;
	for (; digit < end && digit_values[(uint8_t)*digit]; digit++) {
		if (value >> 60)
			return false;
		value = value << 4 | (uint64_t)(digit_values[(uint8_t)*digit] - 1);
	}
	if (digit == start || digit == end || *digit != after)
		return false;
	*at = digit + 1;
	*ret = value;
	return true;
}

// "START-END rwxp OFFSET ", and moves *AT behind it.
static bool parse_range(const char **at, const char *end, struct mapping *ret)
{
	if (!take_hex(at, end, '-', &ret->start) || !take_hex(at, end, ' ', &ret->end) ||
	    end - *at < 5)
		return false;
	const char *letters = *at;
	ret->protection = (uint8_t)((letters[0] == 'r' ? PROT_READ : 0) |
				    (letters[1] == 'w' ? PROT_WRITE : 0) |
				    (letters[2] == 'x' ? PROT_EXEC : 0));
	ret->is_shared = letters[3] == 's';
	*at += 5;
	return take_hex(at, end, ' ', &ret->offset) && ret->start < ret->end;
}

// "MAJOR:MINOR INODE     NAME"
static bool parse_file(const char *at, const char *end, struct raw_mapping *ret)
{
	uint64_t major, minor;
	// Some kernels end the line behind the inode, others with a space.
	if (!take_hex(&at, end, ':', &major) || !take_hex(&at, end, ' ', &minor))
		return false;
	ret->inode = 0;
	for (; at < end && *at >= '0' && *at <= '9'; at++)
		ret->inode = ret->inode * 10 + (uint64_t)(*at - '0');
	// The name is padded to a column, but never begins with a space itself.
	while (at < end && *at == ' ')
		at++;
	ret->major = (uint32_t)major;
	ret->minor = (uint32_t)minor;
	ret->name = at;
	ret->name_length = (size_t)(end - at);
	ret->is_escaped = true;
	return true;
}

// Whether the line says that its mapping cannot be executed: "START-END r--p …".
static bool is_plain_data(const char *line, const char *end)
{
	const char *space = memchr(line, ' ', (size_t)(end - line));
	return space && end - space > 4 && space[3] == '-';
}

// A line, and what stands in it behind the range.
struct line {
	const char *file;
	const char *end;
};

// The next line with a range that is well-formed, which goes to RET.
static bool next_range(const char **at, const char *end, bool only_code, struct mapping *ret,
		       struct line *line)
{
	while (*at < end) {
		const char *start = *at;
		const char *newline = memchr(start, '\n', (size_t)(end - start));
		*line = (struct line){ .file = start, .end = newline ? newline : end };
		*at = newline ? newline + 1 : end;
		if (only_code && is_plain_data(start, line->end))
			continue;
		*ret = (struct mapping){ 0 };
		if (parse_range(&line->file, line->end, ret) &&
		    (!only_code || ret->protection & PROT_EXEC))
			return true;
	}
	return false;
}

bool maps_next_line(const char **at, const char *end, struct raw_mapping *ret)
{
	struct line line;
	while (next_range(at, end, false, &ret->mapping, &line))
		if (parse_file(line.file, line.end, ret))
			return true;
	return false;
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
static struct imp_error *bind_file(struct reading *reading, struct raw_mapping *raw)
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
	return NULL;
}

// Most lines name, byte by byte, a file that another process had mapped: that is found at once.
static struct imp_error *take_line(struct reading *reading, const struct line *line,
				   struct mapping *mapping)
{
	size_t length = (size_t)(line->end - line->file);
	if (!mapped_files_recall(reading->files, line->file, length, &mapping->file)) {
		struct raw_mapping raw = { .mapping = *mapping };
		if (!parse_file(line->file, line->end, &raw))
			return NULL;
		struct imp_error *err = bind_file(reading, &raw);
		if (!err)
			err = mapped_files_remember(reading->files, line->file, length,
						    raw.mapping.file);
		if (err)
			return err;
		mapping->file = raw.mapping.file;
	}
	return keep_mapping(reading->mappings, mapping);
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
	struct mapping mapping;
	struct line line;
	struct imp_error *err = NULL;
	while (!err && next_range(&at, end, !reading->options->all, &mapping, &line))
		err = take_line(reading, &line, &mapping);
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
		reading.fd = proc_open_file(proc, outcome, "%u/maps", pid);
		if (reading.fd < 0)
			return NULL;
		bool is_cut;
		struct imp_error *err = read_text(&reading, &is_cut);
		if (!err && !is_cut)
			err = take_text(&reading);
		proc_close(proc, reading.fd);
		if (err || !is_cut)
			return err;
	}
	*outcome = PROC_GONE;
	return NULL;
}
