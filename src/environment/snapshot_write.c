// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Writing snapshots.
#include <string.h>
#include <time.h>

#include "base/hex.h"
#include "base/json.h"
#include "base/zstd_file.h"
#include "environment/snapshot_file.h"

#define NS_PER_SECOND UINT64_C(1000000000)

struct time_text time_text_of(uint64_t time_ns)
{
	struct time_text text;
	time_t seconds = (time_t)(time_ns / NS_PER_SECOND);
	struct tm utc;
	gmtime_r(&seconds, &utc);
	size_t length = strftime(text.text, sizeof text.text, "%Y-%m-%dT%H:%M:%S", &utc);
	snprintf(text.text + length, sizeof text.text - length, ".%09uZ",
		 (unsigned)(time_ns % NS_PER_SECOND));
	return text;
}

// Leaves out what is not known.
static void member_text(struct json *json, const char *key, const char *value)
{
	if (*value)
		json_member_string(json, key, value);
}

static void member_number(struct json *json, const char *key, uint64_t value)
{
	if (value)
		json_member_uint(json, key, value);
}

static void member_id(struct json *json, const char *key, const struct build_id *id)
{
	if (!build_id_is_none(id))
		json_member_string(json, key, build_id_text(id).text);
}

static void member_time(struct json *json, const char *key, uint64_t time_ns)
{
	if (time_ns)
		json_member_string(json, key, time_text_of(time_ns).text);
}

static void begin_line(struct json *json, const char *type)
{
	json_begin_object(json);
	json_member_string(json, "type", type);
}

static void write_head(struct json *json, const struct snapshot *snapshot)
{
	begin_line(json, "snapshot");
	json_member_uint(json, "version", SNAPSHOT_VERSION);
	member_text(json, "source", snapshot->source);
	member_time(json, "time", snapshot->time_ns);
	member_text(json, "host", snapshot->host);
	member_text(json, "machine_id", snapshot->machine_id);
	member_text(json, "boot_id", snapshot->boot_id);
	member_text(json, "os", snapshot->os);
	member_text(json, "os_version", snapshot->os_version);
	member_text(json, "architecture", snapshot->architecture);
	json_end_object(json);
	if (!*snapshot->kernel_release && build_id_is_none(&snapshot->kernel_id))
		return;
	begin_line(json, "kernel");
	member_text(json, "release", snapshot->kernel_release);
	member_id(json, "id", &snapshot->kernel_id);
	json_end_object(json);
}

static void write_module(struct json *json, const struct snapshot_module *module)
{
	begin_line(json, "module");
	json_member_string(json, "name", module->name);
	member_id(json, "id", &module->id);
	if (module->address)
		json_member_hex(json, "address", module->address);
	member_number(json, "size", module->size);
	json_end_object(json);
}

static void write_image(struct json *json, const struct snapshot_image *image, size_t number)
{
	begin_line(json, "image");
	json_member_uint(json, "image", number);
	json_member_string(json, "kind", mapped_kind_name(image->kind));
	member_text(json, "path", image->path);
	if (image->is_deleted)
		json_member_bool(json, "deleted", true);
	if (image->id_is_known && build_id_is_none(&image->id))
		json_member_string(json, "id", NULL);
	member_id(json, "id", &image->id);
	member_text(json, "identity", image->identity);
	if (image->has_content_hash) {
		char hash[2 * CONTENT_HASH_SIZE + 1];
		hex_format(image->content_hash, CONTENT_HASH_SIZE, hash);
		json_member_string(json, "sha256", hash);
	}
	member_text(json, "soname", image->soname);
	member_text(json, "package", image->package);
	if (image->inode) {
		char device[32];
		snprintf(device, sizeof device, "%02x:%02x", image->major, image->minor);
		json_member_string(json, "device", device);
		json_member_uint(json, "inode", image->inode);
	}
	member_number(json, "size", image->size);
	json_end_object(json);
}

static char *put_decimal(char *at, uint32_t value)
{
	char digits[10];
	unsigned count = 0;
	do {
		digits[count++] = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	while (count)
		*at++ = digits[--count];
	return at;
}

// Hexadecimal without zeros in front, and a space.
static char *put_hex(char *at, uint64_t value)
{
	int digits = value ? (67 - __builtin_clzll(value)) / 4 : 1;
	for (int i = digits - 1; i >= 0; i--)
		*at++ = "0123456789abcdef"[value >> (4 * i) & 15];
	*at++ = ' ';
	return at;
}

static void write_mapping(struct json *json, const struct snapshot_mapping *mapping)
{
	char text[80];
	char *at = put_hex(text, mapping->start);
	at = put_hex(at, mapping->size);
	at = put_hex(at, mapping->offset);
	*put_decimal(at, mapping->image) = 0;
	json_string(json, text);
}

static void write_process(struct json *json, const struct snapshot *snapshot,
			  const struct snapshot_process *process)
{
	begin_line(json, "process");
	json_member_uint(json, "pid", process->pid);
	member_number(json, "parent", process->parent);
	member_time(json, "start", process->start_ns);
	member_number(json, "start_ticks", process->start_ticks);
	member_text(json, "comm", process->comm);
	member_text(json, "command", process->command);
	member_text(json, "exe", process->exe);
	if (process->has_uid)
		json_member_uint(json, "uid", process->uid);
	member_text(json, "user", process->user);
	member_text(json, "cgroup", process->cgroup);
	member_text(json, "unit", process->unit);
	member_text(json, "runtime", process->runtime);
	member_text(json, "container", process->container);
	if (strcmp(process->root, "/"))
		member_text(json, "root", process->root);
	member_number(json, "mount_namespace", process->mount_namespace);
	member_number(json, "pid_namespace", process->pid_namespace);
	member_text(json, "unread", process->unread);
	json_key(json, "mappings");
	json_begin_array(json);
	for (size_t i = 0; i < process->mapping_count; i++)
		write_mapping(json, &snapshot->mappings.items[process->first_mapping + i]);
	json_end_array(json);
	json_end_object(json);
}

static void write_lines(FILE *out, const struct snapshot *snapshot)
{
	struct json json = { .out = out, .lines = true };
	write_head(&json, snapshot);
	for (size_t i = 0; i < snapshot->modules.count; i++)
		write_module(&json, &snapshot->modules.items[i]);
	for (size_t i = 0; i < snapshot->images.count; i++)
		write_image(&json, &snapshot->images.items[i], i);
	for (size_t i = 0; i < snapshot->processes.count; i++)
		write_process(&json, snapshot, &snapshot->processes.items[i]);
	begin_line(&json, "end");
	json_member_uint(&json, "images", snapshot->images.count);
	json_member_uint(&json, "processes", snapshot->processes.count);
	json_member_uint(&json, "kernel_threads", snapshot->kernel_threads);
	json_member_uint(&json, "gone", snapshot->gone);
	json_member_uint(&json, "forbidden", snapshot->forbidden);
	json_end_object(&json);
}

struct imp_error *snapshot_write(const struct snapshot *snapshot, const char *path)
{
	FILE *out;
	struct imp_error *err = zstd_file_create(path, &out);
	if (err)
		return err;
	write_lines(out, snapshot);
	return zstd_file_close(out, path);
}
