// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Reading snapshots: every line is foreign.
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <string.h>
#include <time.h>

#include "base/buffer.h"
#include "base/hex.h"
#include "base/zstd_file.h"
#include "environment/snapshot_file.h"

// A line holds one process; a million mappings of 40 bytes.
enum { MOST_LINE_BYTES = 64 * 1024 * 1024 };

struct reader {
	struct snapshot *snapshot;
	const char *path;
	uint64_t line;
	bool has_head;
	bool has_end;
};

uint64_t time_text_parse(const char *text)
{
	struct tm utc = { 0 };
	char fraction[10] = "";
	int consumed = 0;
	if (sscanf(text, "%d-%d-%dT%d:%d:%d%n", &utc.tm_year, &utc.tm_mon, &utc.tm_mday,
		   &utc.tm_hour, &utc.tm_min, &utc.tm_sec, &consumed) != 6)
		return 0;
	if (utc.tm_year < 1970 || utc.tm_year > 2500)
		return 0;
	if (utc.tm_hour > 23 || utc.tm_min > 59 || utc.tm_sec > 59)
		return 0;
	utc.tm_year -= 1900;
	utc.tm_mon--;
	uint64_t ns = 0;
	if (text[consumed] == '.' && sscanf(text + consumed + 1, "%9[0-9]", fraction) == 1) {
		for (size_t i = 0; i < 9; i++)
			ns = ns * 10 + (i < strlen(fraction) ? (uint64_t)(fraction[i] - '0') : 0);
	}
	// What is no day of the calendar would be made one.
	int month = utc.tm_mon, day = utc.tm_mday;
	time_t seconds = timegm(&utc);
	if (utc.tm_mon != month || utc.tm_mday != day)
		return 0;
	return seconds < 0 ? 0 : (uint64_t)seconds * 1000000000 + ns;
}

static struct imp_error *bad_line(const struct reader *reader, const char *what)
{
	return error_new(IMP_ERR_BAD_DATA, "%s: line %" PRIu64 ": %s", reader->path, reader->line,
			 what);
}

static struct imp_error *take_text(struct reader *reader, const json_t *line, const char *key,
				   const char **ret)
{
	const char *text = json_string_value(json_object_get(line, key));
	return text ? snapshot_text(reader->snapshot, text, ret) : NULL;
}

// Members that are texts, by name and place.
struct text_member {
	const char *key;
	size_t offset;
};

static struct imp_error *take_texts(struct reader *reader, const json_t *line,
				    const struct text_member *members, void *ret)
{
	for (; members->key; members++) {
		const char **place = (const char **)(void *)((char *)ret + members->offset);
		struct imp_error *err = take_text(reader, line, members->key, place);
		if (err)
			return err;
	}
	return NULL;
}

static uint64_t number_of(const json_t *line, const char *key)
{
	json_int_t value = json_integer_value(json_object_get(line, key));
	return value > 0 ? (uint64_t)value : 0;
}

static uint64_t hex_of(const json_t *line, const char *key)
{
	const char *text = json_string_value(json_object_get(line, key));
	return text ? strtoull(text, NULL, 16) : 0;
}

static uint64_t time_of(const json_t *line, const char *key)
{
	const char *text = json_string_value(json_object_get(line, key));
	return text ? time_text_parse(text) : 0;
}

static struct build_id id_of(const json_t *line)
{
	struct build_id id = { 0 };
	const char *text = json_string_value(json_object_get(line, "id"));
	if (text)
		build_id_parse(text, &id);
	return id;
}

static struct imp_error *take_head(struct reader *reader, const json_t *line)
{
	static const struct text_member members[] = {
		{ "source", offsetof(struct snapshot, source) },
		{ "host", offsetof(struct snapshot, host) },
		{ "machine_id", offsetof(struct snapshot, machine_id) },
		{ "boot_id", offsetof(struct snapshot, boot_id) },
		{ "os", offsetof(struct snapshot, os) },
		{ "os_version", offsetof(struct snapshot, os_version) },
		{ "architecture", offsetof(struct snapshot, architecture) },
		{ 0 },
	};
	uint64_t version = number_of(line, "version");
	if (version == 0 || version > SNAPSHOT_VERSION)
		return error_new(IMP_ERR_UNSUPPORTED,
				 "%s: snapshot of version %" PRIu64 "; known are up to %d",
				 reader->path, version, SNAPSHOT_VERSION);
	reader->has_head = true;
	reader->snapshot->time_ns = time_of(line, "time");
	return take_texts(reader, line, members, reader->snapshot);
}

static struct imp_error *take_kernel(struct reader *reader, const json_t *line)
{
	reader->snapshot->kernel_id = id_of(line);
	return take_text(reader, line, "release", &reader->snapshot->kernel_release);
}

static struct imp_error *take_module(struct reader *reader, const json_t *line)
{
	struct snapshot_module *module = snapshot_add_module(reader->snapshot);
	if (!module)
		return &imp_error_no_memory;
	module->id = id_of(line);
	module->address = hex_of(line, "address");
	module->size = number_of(line, "size");
	return take_text(reader, line, "name", &module->name);
}

static bool kind_parse(const char *name, enum mapped_kind *ret)
{
	for (unsigned kind = 0; name && kind < MAPPED_KINDS; kind++) {
		if (!strcmp(name, mapped_kind_name(kind))) {
			*ret = kind;
			return true;
		}
	}
	return false;
}

static struct imp_error *take_image(struct reader *reader, const json_t *line)
{
	static const struct text_member members[] = {
		{ "path", offsetof(struct snapshot_image, path) },
		{ "identity", offsetof(struct snapshot_image, identity) },
		{ "soname", offsetof(struct snapshot_image, soname) },
		{ "package", offsetof(struct snapshot_image, package) },
		{ 0 },
	};
	if (number_of(line, "image") != reader->snapshot->images.count)
		return bad_line(reader, "images are not numbered from 0 in their order");
	struct snapshot_image *image = snapshot_add_image(reader->snapshot);
	if (!image)
		return &imp_error_no_memory;
	if (!kind_parse(json_string_value(json_object_get(line, "kind")), &image->kind))
		return bad_line(reader, "image of an unknown kind");
	image->id = id_of(line);
	image->id_is_known = json_object_get(line, "id") != NULL;
	image->is_deleted = json_is_true(json_object_get(line, "deleted"));
	const char *hash = json_string_value(json_object_get(line, "sha256"));
	if (hash && strlen(hash) == 2 * (size_t)CONTENT_HASH_SIZE)
		image->has_content_hash =
			hex_parse(hash, 2 * (size_t)CONTENT_HASH_SIZE, image->content_hash);
	const char *device = json_string_value(json_object_get(line, "device"));
	if (device && sscanf(device, "%" SCNx32 ":%" SCNx32, &image->major, &image->minor) != 2)
		return bad_line(reader, "device is not MAJOR:MINOR");
	image->inode = number_of(line, "inode");
	image->size = number_of(line, "size");
	return take_texts(reader, line, members, image);
}

static struct imp_error *take_mapping(struct reader *reader, const char *text)
{
	struct snapshot_mapping mapping;
	char end;
	if (!text ||
	    sscanf(text, "%" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNu32 "%c", &mapping.start,
		   &mapping.size, &mapping.offset, &mapping.image, &end) != 4)
		return bad_line(reader, "mapping is not START SIZE OFFSET IMAGE");
	if (mapping.image >= reader->snapshot->images.count)
		return bad_line(reader, "mapping of an image that was not described");
	struct snapshot_mapping *slot = snapshot_add_mapping(reader->snapshot);
	if (!slot)
		return &imp_error_no_memory;
	*slot = mapping;
	return NULL;
}

static struct imp_error *take_process(struct reader *reader, const json_t *line)
{
	static const struct text_member members[] = {
		{ "comm", offsetof(struct snapshot_process, comm) },
		{ "command", offsetof(struct snapshot_process, command) },
		{ "exe", offsetof(struct snapshot_process, exe) },
		{ "user", offsetof(struct snapshot_process, user) },
		{ "cgroup", offsetof(struct snapshot_process, cgroup) },
		{ "unit", offsetof(struct snapshot_process, unit) },
		{ "runtime", offsetof(struct snapshot_process, runtime) },
		{ "container", offsetof(struct snapshot_process, container) },
		{ "root", offsetof(struct snapshot_process, root) },
		{ "unread", offsetof(struct snapshot_process, unread) },
		{ 0 },
	};
	struct snapshot_process *process = snapshot_add_process(reader->snapshot);
	if (!process)
		return &imp_error_no_memory;
	process->pid = (uint32_t)number_of(line, "pid");
	process->parent = (uint32_t)number_of(line, "parent");
	process->has_uid = json_is_integer(json_object_get(line, "uid"));
	process->uid = (uint32_t)number_of(line, "uid");
	process->start_ns = time_of(line, "start");
	process->start_ticks = number_of(line, "start_ticks");
	process->mount_namespace = number_of(line, "mount_namespace");
	process->pid_namespace = number_of(line, "pid_namespace");
	struct imp_error *err = take_texts(reader, line, members, process);
	const json_t *mappings = json_object_get(line, "mappings");
	process->mapping_count = json_array_size(mappings);
	for (size_t i = 0; !err && i < process->mapping_count; i++)
		err = take_mapping(reader, json_string_value(json_array_get(mappings, i)));
	return err;
}

static struct imp_error *take_end(struct reader *reader, const json_t *line)
{
	reader->has_end = true;
	reader->snapshot->gone = number_of(line, "gone");
	reader->snapshot->forbidden = number_of(line, "forbidden");
	reader->snapshot->kernel_threads = number_of(line, "kernel_threads");
	return NULL;
}

static const struct line_type {
	const char *name;
	struct imp_error *(*take)(struct reader *reader, const json_t *line);
} line_types[] = {
	{ "snapshot", take_head }, { "kernel", take_kernel },	{ "module", take_module },
	{ "image", take_image },   { "process", take_process }, { "end", take_end },
};

static struct imp_error *take_line(struct reader *reader, const json_t *line)
{
	const char *type = json_string_value(json_object_get(line, "type"));
	if (!type || (!reader->has_head && strcmp(type, "snapshot")))
		return bad_line(reader, "not a snapshot (imprint-snapshot(5))");
	for (size_t i = 0; i < sizeof line_types / sizeof *line_types; i++)
		if (!strcmp(type, line_types[i].name))
			return line_types[i].take(reader, line);
	return NULL;
}

static struct imp_error *parse_line(struct reader *reader, const void *text, size_t length)
{
	json_error_t problem;
	json_t *line = json_loadb(text, length, 0, &problem);
	if (!line)
		return bad_line(reader, problem.text);
	struct imp_error *err = take_line(reader, line);
	json_decref(line);
	return err;
}

// Reads one line without its newline into LINE. False at the end, and when it is too long: then
// LINE has more than MOST_LINE_BYTES.
static bool next_line(FILE *in, struct buffer *line)
{
	line->size = 0;
	int c;
	while ((c = getc_unlocked(in)) != EOF && c != '\n' && line->size <= MOST_LINE_BYTES) {
		uint8_t *byte = buffer_extend(line, 1);
		if (!byte)
			return false;
		*byte = (uint8_t)c;
	}
	return c != EOF || line->size;
}

static struct imp_error *read_lines(FILE *in, struct reader *reader)
{
	_cleanup_buffer_ struct buffer line = { 0 };
	while (next_line(in, &line)) {
		reader->line++;
		if (line.size > MOST_LINE_BYTES)
			return bad_line(reader, "line is too long");
		if (!line.size)
			continue;
		struct imp_error *err = parse_line(reader, line.bytes, line.size);
		if (err)
			return err;
	}
	if (line.failed)
		return &imp_error_no_memory;
	// What base/zstd_file says of damaged or cut-off data.
	if (ferror(in) && errno == EBADMSG)
		return error_new(IMP_ERR_SYSTEM,
				 "%s: its compressed data is damaged or cut off after %" PRIu64
				 " lines",
				 reader->path, reader->line);
	if (ferror(in))
		return error_system(errno, "%s: cannot read", reader->path);
	if (!reader->has_end)
		return error_new(IMP_ERR_BAD_DATA, "%s: ends after %" PRIu64 " lines without %s",
				 reader->path, reader->line, "the line of type \"end\"");
	return NULL;
}

struct imp_error *snapshot_read(const char *path, struct snapshot **ret)
{
	_cleanup_snapshot_ struct snapshot *snapshot = NULL;
	struct imp_error *err = snapshot_new("", &snapshot);
	if (err)
		return err;
	_cleanup_file_ FILE *in = NULL;
	err = zstd_file_open(path, &in);
	if (err)
		return err;
	struct reader reader = { .snapshot = snapshot, .path = path };
	err = read_lines(in, &reader);
	if (!err)
		*ret = steal(snapshot);
	return err;
}

bool snapshot_is_file(const char *path)
{
	_cleanup_file_ FILE *in = NULL;
	struct imp_error *err = zstd_file_open(path, &in);
	if (err) {
		imp_error_free(err);
		return false;
	}
	static const char begin[] = "{\"type\":\"snapshot\"";
	char bytes[sizeof begin - 1];
	return fread(bytes, 1, sizeof bytes, in) == sizeof bytes &&
	       !memcmp(bytes, begin, sizeof bytes);
}
