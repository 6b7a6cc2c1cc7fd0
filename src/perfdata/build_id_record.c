// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Build IDs beside the mmap events: HEADER_BUILD_ID records, and the header's table of such
// entries.
//
// Source: tools/perf/util/build-id.c and header.c of Linux 6.12. Entries are padded to 8 or to 64
// bytes and stand at any alignment.
#include "base/array.h"
#include "perfdata/record.h"

enum { ID_BYTES = 20, ID_ROOM = 24 };

// What stands before the name in an entry after its header.
static void read_identity(struct cursor *body, uint16_t misc, bool has_pid,
			  struct build_id_record *entry)
{
	entry->misc = misc;
	// Before Linux 2.6.35 there was no field for the machine: -1 is the host.
	entry->pid = has_pid ? (int32_t)cursor_u32(body) : -1;
	const uint8_t *id = cursor_bytes(body, ID_ROOM);
	if (!id)
		return;
	// Only with this bit does the byte behind the ID say how long it is (Linux 5.10);
	// simpleperf leaves garbage there.
	entry->is_padded = !(misc & MISC_BUILD_ID_SIZE);
	uint8_t size = entry->is_padded ? ID_BYTES : id[ID_BYTES];
	entry->id = build_id_of(id, size < ID_BYTES ? size : ID_BYTES);
}

struct imp_error *build_id_record_read(const struct record *record, struct build_id_record *ret)
{
	struct cursor body = record_body(record);
	struct build_id_record entry = { 0 };
	read_identity(&body, record->misc, true, &entry);
	entry.path = cursor_string(&body);
	if (body.failed)
		return cursor_error(&body, "HEADER_BUILD_ID");
	*ret = entry;
	return NULL;
}

// Whether TABLE was written before Linux 2.6.35, without the pid: read with it, the first name, the
// kernel's, has lost its first four letters.
static bool lacks_pid(struct cursor table)
{
	static const char cut_name[] = "nel.kallsyms]";
	cursor_skip(&table, RECORD_HEADER_SIZE + 4 + ID_ROOM);
	const uint8_t *name = cursor_bytes(&table, sizeof cut_name - 1);
	return name && !memcmp(name, cut_name, sizeof cut_name - 1);
}

static struct imp_error *read_entry(struct cursor *table, bool has_pid,
				    struct build_id_record *entry)
{
	struct cursor start = *table;
	cursor_skip(table, 4);
	uint16_t misc = cursor_u16(table);
	uint16_t size = cursor_u16(table);
	if (table->failed)
		return cursor_error(table, "build ID entry");
	if (size < RECORD_HEADER_SIZE)
		return error_new(IMP_ERR_BAD_DATA, "a build ID entry of %u bytes at offset %llu",
				 size, (unsigned long long)(start.origin + start.at));
	struct cursor body = cursor_part(table, size - RECORD_HEADER_SIZE);
	if (table->failed)
		return cursor_error(table, "build ID entry");
	read_identity(&body, misc, has_pid, entry);
	if (body.failed)
		return cursor_error(&body, "build ID entry");
	// The name may fill the entry to its last byte.
	size_t left = cursor_left(&body);
	const char *name = left ? (const char *)body.start + body.at : "";
	entry->path = strndup(name, left);
	return entry->path ? NULL : &imp_error_no_memory;
}

struct imp_error *build_id_table_read(struct cursor *table, struct build_id_table *ret)
{
	bool has_pid = !lacks_pid(*table);
	while (cursor_left(table) >= RECORD_HEADER_SIZE) {
		struct build_id_record entry = { 0 };
		struct imp_error *err = read_entry(table, has_pid, &entry);
		if (err)
			return err;
		struct build_id_record *added = array_add(ret);
		if (!added) {
			free((void *)(uintptr_t)entry.path);
			return &imp_error_no_memory;
		}
		*added = entry;
	}
	return NULL;
}

void build_id_table_fini(struct build_id_table *table)
{
	for (size_t i = 0; i < table->count; i++)
		free((void *)(uintptr_t)table->items[i].path);
	array_fini(table);
}
