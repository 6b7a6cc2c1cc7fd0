// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// What records other than samples tell, printed as `perf script` does.
//
// Source: the output of perf 6.1.
#include <inttypes.h>
#include <sys/mman.h>

#include "cli/script_line.h"

// "r-xp" of prot and flags.
static void print_protection(FILE *out, const struct mmap_record *map)
{
	fprintf(out, "%c%c%c%c", map->prot & PROT_READ ? 'r' : '-',
		map->prot & PROT_WRITE ? 'w' : '-', map->prot & PROT_EXEC ? 'x' : '-',
		map->flags & MAP_SHARED ? 's' : 'p');
}

// printf("%#lx"), which writes 0 as "0".
static void print_hex(FILE *out, uint64_t value)
{
	fprintf(out, "%#" PRIx64, value);
}

static void print_map(FILE *out, const struct record *record)
{
	struct mmap_record map;
	struct imp_error *err = mmap_record_read(record, &map);
	if (err) {
		imp_error_free(err);
		return;
	}
	fprintf(out, " %d/%d: [", (int32_t)map.pid, (int32_t)map.tid);
	print_hex(out, map.start);
	putc('(', out);
	print_hex(out, map.length);
	fputs(") @ ", out);
	print_hex(out, map.page_offset);
	if (record->type == RECORD_MMAP) {
		fprintf(out, "]: %c %s", map.is_data ? 'r' : 'x', map.path);
		return;
	}
	if (build_id_is_none(&map.id))
		fprintf(out, " %02x:%02x %" PRIu64 " %" PRIu64 "]: ", map.major, map.minor,
			map.inode, map.generation);
	else
		fprintf(out, " <%s>]: ", build_id_text(&map.id).text);
	print_protection(out, &map);
	fprintf(out, " %s", map.path);
}

static void print_comm_record(FILE *out, const struct record *record)
{
	struct comm_record comm;
	struct imp_error *err = comm_record_read(record, &comm);
	if (!err)
		fprintf(out, "%s: %s:%d/%d", comm.is_exec ? " exec" : "", comm.comm,
			(int32_t)comm.pid, (int32_t)comm.tid);
	imp_error_free(err);
}

static void print_task_record(FILE *out, const struct record *record)
{
	struct task_record task;
	struct imp_error *err = task_record_read(record, &task);
	if (!err)
		fprintf(out, "(%d:%d):(%d:%d)", (int32_t)task.pid, (int32_t)task.tid,
			(int32_t)task.parent_pid, (int32_t)task.parent_tid);
	imp_error_free(err);
}

static void print_lost_record(FILE *out, const struct record *record)
{
	struct lost_record lost;
	struct imp_error *err = lost_record_read(record, &lost);
	if (!err)
		fprintf(out, " lost %" PRIu64, lost.lost);
	imp_error_free(err);
}

static void print_namespaces(FILE *out, const struct record *record)
{
	static const char *const kinds[] = { "net", "uts", "ipc", "pid", "user", "mnt", "cgroup" };
	enum { KINDS = sizeof kinds / sizeof *kinds, A_LINE = 4 };
	struct namespaces_record namespaces;
	uint64_t device, inode;
	struct imp_error *err = namespaces_record_read(record, &namespaces);
	if (err) {
		imp_error_free(err);
		return;
	}
	fprintf(out, " %d/%d - nr_namespaces: %" PRIu64 "\n\t\t[", (int32_t)namespaces.pid,
		(int32_t)namespaces.tid, namespaces.count);
	for (uint64_t i = 0; namespaces_record_at(&namespaces, i, &device, &inode); i++) {
		if (i && i % A_LINE == 0)
			fputs("\n\t\t ", out);
		fprintf(out, "%" PRIu64 "/%s: %" PRIu64 "/0x%" PRIx64 "%s", i,
			i < KINDS ? kinds[i] : "unknown", device, inode,
			i + 1 < namespaces.count ? ", " : "]");
	}
}

static void print_cgroup_record(FILE *out, const struct record *record)
{
	struct cgroup_record cgroup;
	struct imp_error *err = cgroup_record_read(record, &cgroup);
	if (!err)
		fprintf(out, " cgroup: %" PRIu64 " %s", cgroup.id, cgroup.path);
	imp_error_free(err);
}

void script_print_body(FILE *out, const struct record *record)
{
	switch (record->type) {
	case RECORD_MMAP:
	case RECORD_MMAP2:
		print_map(out, record);
		break;
	case RECORD_COMM:
		print_comm_record(out, record);
		break;
	case RECORD_FORK:
	case RECORD_EXIT:
		print_task_record(out, record);
		break;
	case RECORD_NAMESPACES:
		print_namespaces(out, record);
		break;
	case RECORD_CGROUP:
		print_cgroup_record(out, record);
		break;
	case RECORD_LOST:
	case RECORD_LOST_SAMPLES:
		print_lost_record(out, record);
		break;
	default:
		break;
	}
}
