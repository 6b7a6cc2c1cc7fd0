// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The bodies of the records that tell of processes, mappings, names and losses.
#include "perfdata/record.h"

// The error for a BODY that ran past its end.
static struct imp_error *body_error(const struct cursor *body, const struct record *record)
{
	const char *name = record_type_name(record->type);
	return cursor_error(body, name ? name : "record");
}

static void read_build_id_form(struct cursor *body, struct mmap_record *map)
{
	uint8_t size = cursor_u8(body);
	cursor_skip(body, 3);
	const uint8_t *id = cursor_bytes(body, 20);
	if (id)
		map->id = build_id_of(id, size < 20 ? size : 20);
}

static void read_inode_form(struct cursor *body, struct mmap_record *map)
{
	map->major = cursor_u32(body);
	map->minor = cursor_u32(body);
	map->inode = cursor_u64(body);
	map->generation = cursor_u64(body);
	map->has_inode = true;
}

// What kernels up to 6.18 at least do: while any recorder in the machine asks for build IDs,
// records for others may be marked as if they had one, and have a device and an inode there. A
// record with an ID has its size (the kernel knows up to 20 bytes), three zero bytes, and zeros
// behind the ID; a device number rarely looks like that, and one of a disk (major 8) is told by its
// small minor.
static bool has_build_id_form(const struct cursor *body)
{
	struct cursor at = *body;
	uint8_t size = cursor_u8(&at);
	const uint8_t *padding = cursor_bytes(&at, 3);
	const uint8_t *id = cursor_bytes(&at, 20);
	if (!padding || !id)
		return true;
	if (size > 20 || padding[0] || padding[1] || padding[2])
		return false;
	for (size_t i = size; i < 20; i++)
		if (id[i])
			return false;
	bool is_minor = body->swap ? !id[0] && id[1] < 0x10 : !id[3] && id[2] < 0x10;
	return size > 8 || !is_minor;
}

struct imp_error *mmap_record_read(const struct record *record, struct mmap_record *ret)
{
	struct cursor body = record_body(record);
	struct mmap_record map = { .is_data = record->misc & MISC_MMAP_DATA };
	map.pid = cursor_u32(&body);
	map.tid = cursor_u32(&body);
	map.start = cursor_u64(&body);
	map.length = cursor_u64(&body);
	map.page_offset = cursor_u64(&body);
	if (record->type == RECORD_MMAP2) {
		if (record->misc & MISC_MMAP_BUILD_ID && has_build_id_form(&body))
			read_build_id_form(&body, &map);
		else
			read_inode_form(&body, &map);
		map.prot = cursor_u32(&body);
		map.flags = cursor_u32(&body);
	}
	map.path = cursor_string(&body);
	if (body.failed)
		return body_error(&body, record);
	*ret = map;
	return NULL;
}

struct imp_error *comm_record_read(const struct record *record, struct comm_record *ret)
{
	struct cursor body = record_body(record);
	struct comm_record comm = { .is_exec = record->misc & MISC_COMM_EXEC };
	comm.pid = cursor_u32(&body);
	comm.tid = cursor_u32(&body);
	comm.comm = cursor_string(&body);
	if (body.failed)
		return body_error(&body, record);
	*ret = comm;
	return NULL;
}

struct imp_error *task_record_read(const struct record *record, struct task_record *ret)
{
	struct cursor body = record_body(record);
	struct task_record task;
	task.pid = cursor_u32(&body);
	task.parent_pid = cursor_u32(&body);
	task.tid = cursor_u32(&body);
	task.parent_tid = cursor_u32(&body);
	task.time = cursor_u64(&body);
	if (body.failed)
		return body_error(&body, record);
	*ret = task;
	return NULL;
}

struct imp_error *ksymbol_record_read(const struct record *record, struct ksymbol_record *ret)
{
	struct cursor body = record_body(record);
	struct ksymbol_record symbol;
	symbol.start = cursor_u64(&body);
	symbol.length = cursor_u32(&body);
	symbol.type = cursor_u16(&body);
	symbol.is_unregister = cursor_u16(&body) & 1;
	symbol.name = cursor_string(&body);
	if (body.failed)
		return body_error(&body, record);
	*ret = symbol;
	return NULL;
}

struct imp_error *namespaces_record_read(const struct record *record, struct namespaces_record *ret)
{
	enum { LINK_SIZE = 16 };
	struct cursor body = record_body(record);
	struct namespaces_record namespaces;
	namespaces.pid = cursor_u32(&body);
	namespaces.tid = cursor_u32(&body);
	namespaces.count = cursor_u64(&body);
	if (!body.failed && namespaces.count > cursor_left(&body) / LINK_SIZE)
		return error_new(IMP_ERR_BAD_DATA, "NAMESPACES at offset %llu names %llu links",
				 (unsigned long long)record->offset,
				 (unsigned long long)namespaces.count);
	namespaces.links = cursor_part(&body, (size_t)namespaces.count * LINK_SIZE);
	if (body.failed)
		return body_error(&body, record);
	*ret = namespaces;
	return NULL;
}

bool namespaces_record_at(const struct namespaces_record *namespaces, uint64_t index,
			  uint64_t *device, uint64_t *inode)
{
	if (index >= namespaces->count)
		return false;
	struct cursor links = namespaces->links;
	cursor_skip(&links, (size_t)index * 16);
	*device = cursor_u64(&links);
	*inode = cursor_u64(&links);
	return !links.failed;
}

struct imp_error *cgroup_record_read(const struct record *record, struct cgroup_record *ret)
{
	struct cursor body = record_body(record);
	struct cgroup_record cgroup;
	cgroup.id = cursor_u64(&body);
	cgroup.path = cursor_string(&body);
	if (body.failed)
		return body_error(&body, record);
	*ret = cgroup;
	return NULL;
}

struct imp_error *lost_record_read(const struct record *record, struct lost_record *ret)
{
	struct cursor body = record_body(record);
	struct lost_record lost = { 0 };
	if (record->type == RECORD_LOST)
		lost.id = cursor_u64(&body);
	lost.lost = cursor_u64(&body);
	if (body.failed)
		return body_error(&body, record);
	*ret = lost;
	return NULL;
}

struct imp_error *switch_record_read(const struct record *record, struct switch_record *ret)
{
	struct cursor body = record_body(record);
	struct switch_record change = {
		.is_out = record->misc & MISC_SWITCH_OUT,
		.is_preempted = record->misc & MISC_SWITCH_OUT &&
				record->misc & MISC_SWITCH_OUT_PREEMPT,
		.has_other = record->type == RECORD_SWITCH_CPU_WIDE,
	};
	if (change.has_other) {
		change.other_pid = cursor_u32(&body);
		change.other_tid = cursor_u32(&body);
	}
	if (body.failed)
		return body_error(&body, record);
	*ret = change;
	return NULL;
}
