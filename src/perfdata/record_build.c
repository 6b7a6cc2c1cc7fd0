// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Building records: header, body, string padded to 8, trailer.
#include "perfdata/record_build.h"

#include <string.h>

enum { HEADER_SIZE = 8, WRITTEN_MOST_BYTES = 65528, BUILD_ID_RECORDED_BYTES = 20 };

static void put(struct buffer *buffer, const void *bytes, size_t size)
{
	buffer_append(buffer, bytes, size);
}

static void put_u16(struct buffer *buffer, uint16_t value)
{
	put(buffer, &value, sizeof value);
}

static void put_u32(struct buffer *buffer, uint32_t value)
{
	put(buffer, &value, sizeof value);
}

static void put_u64(struct buffer *buffer, uint64_t value)
{
	put(buffer, &value, sizeof value);
}

static size_t begin(struct buffer *buffer, uint32_t type, uint16_t misc)
{
	size_t start = buffer->size;
	put_u32(buffer, type);
	put_u16(buffer, misc);
	put_u16(buffer, 0);
	return start;
}

static void pad(struct buffer *buffer, size_t start)
{
	static const uint8_t zeros[8];
	put(buffer, zeros, (start - buffer->size) & 7);
}

static void end(struct buffer *buffer, size_t start)
{
	if (buffer->failed)
		return;
	uint16_t size = (uint16_t)(buffer->size - start);
	memcpy(buffer->bytes + start + 6, &size, sizeof size);
}

// TEXT with its NUL, padded; cut so that the record's size fits its field.
static void put_string(struct buffer *buffer, size_t start, const char *text)
{
	size_t most = WRITTEN_MOST_BYTES - (buffer->size - start) - WRITTEN_TRAILER_SIZE - 8;
	put(buffer, text, strnlen(text, most));
	put(buffer, "", 1);
	pad(buffer, start);
}

static void end_with_trailer(struct buffer *buffer, size_t start, const struct stamp *stamp)
{
	static const struct stamp none;
	const struct stamp *from = stamp ? stamp : &none;
	put_u32(buffer, from->pid);
	put_u32(buffer, from->tid);
	put_u64(buffer, from->time);
	put_u32(buffer, from->cpu);
	put_u32(buffer, 0);
	put_u64(buffer, from->id);
	end(buffer, start);
}

static bool is_recordable(const struct build_id *id)
{
	return id->size > 0 && id->size <= BUILD_ID_RECORDED_BYTES;
}

static void put_mmap_build_id(struct buffer *buffer, const struct build_id *id)
{
	put_u32(buffer, id->size);
	put(buffer, id->bytes, BUILD_ID_RECORDED_BYTES);
}

void record_build_mmap(struct buffer *buffer, const struct mmap_record *mmap, uint16_t cpumode,
		       const struct stamp *stamp)
{
	bool has_id = is_recordable(&mmap->id);
	uint16_t misc = (uint16_t)(cpumode | (has_id ? MISC_MMAP_BUILD_ID : 0) |
				   (mmap->is_data ? MISC_MMAP_DATA : 0));
	size_t start = begin(buffer, RECORD_MMAP2, misc);
	put_u32(buffer, mmap->pid);
	put_u32(buffer, mmap->tid);
	put_u64(buffer, mmap->start);
	put_u64(buffer, mmap->length);
	put_u64(buffer, mmap->page_offset);
	if (has_id) {
		put_mmap_build_id(buffer, &mmap->id);
	} else {
		put_u32(buffer, mmap->major);
		put_u32(buffer, mmap->minor);
		put_u64(buffer, mmap->inode);
		put_u64(buffer, mmap->generation);
	}
	put_u32(buffer, mmap->prot);
	put_u32(buffer, mmap->flags);
	put_string(buffer, start, mmap->path);
	end_with_trailer(buffer, start, stamp);
}

void record_build_comm(struct buffer *buffer, const struct comm_record *comm,
		       const struct stamp *stamp)
{
	size_t start = begin(buffer, RECORD_COMM, comm->is_exec ? MISC_COMM_EXEC : 0);
	put_u32(buffer, comm->pid);
	put_u32(buffer, comm->tid);
	put_string(buffer, start, comm->comm);
	end_with_trailer(buffer, start, stamp);
}

void record_build_task(struct buffer *buffer, uint32_t type, const struct task_record *task,
		       const struct stamp *stamp)
{
	size_t start = begin(buffer, type, 0);
	put_u32(buffer, task->pid);
	put_u32(buffer, task->parent_pid);
	put_u32(buffer, task->tid);
	put_u32(buffer, task->parent_tid);
	put_u64(buffer, task->time);
	end_with_trailer(buffer, start, stamp);
}

void record_build_namespaces(struct buffer *buffer, uint32_t pid, uint32_t tid,
			     const struct namespace_link links[NAMESPACE_LINKS],
			     const struct stamp *stamp)
{
	size_t start = begin(buffer, RECORD_NAMESPACES, 0);
	put_u32(buffer, pid);
	put_u32(buffer, tid);
	put_u64(buffer, NAMESPACE_LINKS);
	for (int i = 0; i < NAMESPACE_LINKS; i++) {
		put_u64(buffer, links[i].device);
		put_u64(buffer, links[i].inode);
	}
	end_with_trailer(buffer, start, stamp);
}

void record_build_ksymbol(struct buffer *buffer, const struct ksymbol_record *symbol,
			  const struct stamp *stamp)
{
	size_t start = begin(buffer, RECORD_KSYMBOL, 0);
	put_u64(buffer, symbol->start);
	put_u32(buffer, symbol->length);
	put_u16(buffer, symbol->type);
	put_u16(buffer, symbol->is_unregister);
	put_string(buffer, start, symbol->name);
	end_with_trailer(buffer, start, stamp);
}

void record_build_cgroup(struct buffer *buffer, const struct cgroup_record *cgroup,
			 const struct stamp *stamp)
{
	size_t start = begin(buffer, RECORD_CGROUP, 0);
	put_u64(buffer, cgroup->id);
	put_string(buffer, start, cgroup->path);
	end_with_trailer(buffer, start, stamp);
}

void record_build_lost(struct buffer *buffer, uint64_t id, uint64_t lost, const struct stamp *stamp)
{
	size_t start = begin(buffer, RECORD_LOST, 0);
	put_u64(buffer, id);
	put_u64(buffer, lost);
	end_with_trailer(buffer, start, stamp);
}

void record_build_lost_samples(struct buffer *buffer, uint64_t lost, const struct stamp *stamp)
{
	size_t start = begin(buffer, RECORD_LOST_SAMPLES, 0);
	put_u64(buffer, lost);
	end_with_trailer(buffer, start, stamp);
}

void record_build_plain(struct buffer *buffer, uint32_t type, uint16_t misc, const void *body,
			size_t size)
{
	size_t start = begin(buffer, type, misc);
	put(buffer, body, size);
	pad(buffer, start);
	end(buffer, start);
}

bool record_set_build_id(uint8_t *bytes, size_t size, const struct build_id *id)
{
	enum { MISC_AT = 4, UNION_AT = 40, FIXED_BYTES = 72 };
	uint32_t type;
	uint16_t misc;
	if (size < FIXED_BYTES || !is_recordable(id))
		return false;
	memcpy(&type, bytes, sizeof type);
	memcpy(&misc, bytes + MISC_AT, sizeof misc);
	if (type != RECORD_MMAP2 || misc & MISC_MMAP_BUILD_ID)
		return false;
	misc |= MISC_MMAP_BUILD_ID;
	memcpy(bytes + MISC_AT, &misc, sizeof misc);
	uint32_t id_size = id->size;
	memcpy(bytes + UNION_AT, &id_size, sizeof id_size);
	memcpy(bytes + UNION_AT + sizeof id_size, id->bytes, BUILD_ID_RECORDED_BYTES);
	return true;
}
