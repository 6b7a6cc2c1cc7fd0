// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Records: the types there are, and the bodies of those that tell of processes and mappings.
//
// Source: include/uapi/linux/perf_event.h (types below 64) and tools/lib/perf/include/perf/event.h
// (64 and up).
#ifndef PERFDATA_RECORD_H
#define PERFDATA_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "model/build_id.h"
#include "perfdata/event.h"

enum record_type {
	RECORD_MMAP = 1,
	RECORD_LOST = 2,
	RECORD_COMM = 3,
	RECORD_EXIT = 4,
	RECORD_THROTTLE = 5,
	RECORD_UNTHROTTLE = 6,
	RECORD_FORK = 7,
	RECORD_READ = 8,
	RECORD_SAMPLE = 9,
	RECORD_MMAP2 = 10,
	RECORD_AUX = 11,
	RECORD_ITRACE_START = 12,
	RECORD_LOST_SAMPLES = 13,
	RECORD_SWITCH = 14,
	RECORD_SWITCH_CPU_WIDE = 15,
	RECORD_NAMESPACES = 16,
	RECORD_KSYMBOL = 17,
	RECORD_BPF_EVENT = 18,
	RECORD_CGROUP = 19,
	RECORD_TEXT_POKE = 20,
	RECORD_AUX_OUTPUT_HW_ID = 21,
	RECORD_CALLCHAIN_DEFERRED = 22,
	RECORD_FIRST_SYNTHETIC = 64,
	RECORD_HEADER_ATTR = 64,
	RECORD_HEADER_EVENT_TYPE = 65,
	RECORD_HEADER_TRACING_DATA = 66,
	RECORD_HEADER_BUILD_ID = 67,
	RECORD_FINISHED_ROUND = 68,
	RECORD_ID_INDEX = 69,
	RECORD_AUXTRACE_INFO = 70,
	RECORD_AUXTRACE = 71,
	RECORD_AUXTRACE_ERROR = 72,
	RECORD_THREAD_MAP = 73,
	RECORD_CPU_MAP = 74,
	RECORD_STAT_CONFIG = 75,
	RECORD_STAT = 76,
	RECORD_STAT_ROUND = 77,
	RECORD_EVENT_UPDATE = 78,
	RECORD_TIME_CONV = 79,
	RECORD_HEADER_FEATURE = 80,
	RECORD_COMPRESSED = 81,
	RECORD_FINISHED_INIT = 82,
	RECORD_COMPRESSED2 = 83,
	RECORD_BPF_METADATA = 84,
	RECORD_SCHEDSTAT_CPU = 85,
	RECORD_SCHEDSTAT_DOMAIN = 86,
};

enum { RECORD_HEADER_SIZE = 8, RECORD_MOST_BYTES = 65535 };

// "MMAP2", "SAMPLE", …; NULL for a type this build does not know.
const char *record_type_name(uint32_t type);

enum {
	MISC_CPUMODE_MASK = 7,
	MISC_KERNEL = 1,
	MISC_USER = 2,
	MISC_HYPERVISOR = 3,
	MISC_GUEST_KERNEL = 4,
	MISC_GUEST_USER = 5,
	// What the bits from 12 on mean depends on the type.
	MISC_PROC_MAP_PARSE_TIMEOUT = 1 << 12,
	MISC_MMAP_DATA = 1 << 13,
	MISC_COMM_EXEC = 1 << 13,
	MISC_SWITCH_OUT = 1 << 13,
	MISC_SWITCH_OUT_PREEMPT = 1 << 14,
	MISC_EXACT_IP = 1 << 14,
	MISC_MMAP_BUILD_ID = 1 << 14,
	MISC_BUILD_ID_SIZE = 1 << 15,
};

// One whole record, lent by its chunk.
struct record {
	uint32_t type;
	uint16_t misc;
	// Bytes of the record with its 8-byte header, as its size field has them.
	uint32_t size;
	const uint8_t *bytes;
	bool swap;
	// Where it stands in the file (for what was compressed: where its compressed record
	// stands).
	uint64_t offset;
	// Grows from record to record in file order, and is the same on every pass: the time of
	// what has none.
	uint64_t position;
};

// The body of RECORD after its header.
struct cursor record_body(const struct record *record);

// The fields of a record's sample_id trailer (or of a sample); `has_` tells which were recorded.
struct sample_id {
	const struct event *event;
	uint32_t pid, tid, cpu;
	uint64_t time, id;
	bool has_tid, has_time, has_cpu;
};

// Reads RECORD's trailer (any type below 64 but SAMPLE, and HEADER_BUILD_ID). A record synthesized
// by perf has ID 0 and time 0 and belongs to the first event. Never fails: what is not there is not
// `has_`.
void sample_id_read(const struct events *events, const struct record *record,
		    struct sample_id *ret);

// Strings below are lent by the record and end within it; an unterminated one is IMP_ERR_BAD_DATA.

// MMAP and MMAP2.
struct mmap_record {
	uint32_t pid, tid;
	uint64_t start, length, page_offset;
	// Of MMAP2's build-ID form; none otherwise.
	struct build_id id;
	// Of MMAP2's plain form.
	uint32_t major, minor;
	uint64_t inode, generation;
	bool has_inode;
	bool is_data;
	uint32_t prot, flags;
	const char *path;
};
struct imp_error *mmap_record_read(const struct record *record, struct mmap_record *ret) MUST_CHECK;

struct comm_record {
	uint32_t pid, tid;
	bool is_exec;
	const char *comm;
};
struct imp_error *comm_record_read(const struct record *record, struct comm_record *ret) MUST_CHECK;

// FORK and EXIT.
struct task_record {
	uint32_t pid, parent_pid, tid, parent_tid;
	uint64_t time;
};
struct imp_error *task_record_read(const struct record *record, struct task_record *ret) MUST_CHECK;

struct ksymbol_record {
	uint64_t start;
	uint32_t length;
	// 1 BPF, 2 out-of-line code.
	uint16_t type;
	bool is_unregister;
	const char *name;
};
struct imp_error *ksymbol_record_read(const struct record *record,
				      struct ksymbol_record *ret) MUST_CHECK;

struct namespaces_record {
	uint32_t pid, tid;
	uint64_t count;
	// {dev, inode} pairs in the record's byte order; read with namespaces_record_at().
	struct cursor links;
};
struct imp_error *namespaces_record_read(const struct record *record,
					 struct namespaces_record *ret) MUST_CHECK;

// The link INDEX (0 net, 1 uts, 2 ipc, 3 pid, 4 user, 5 mnt, 6 cgroup); false when there is none.
bool namespaces_record_at(const struct namespaces_record *namespaces, uint64_t index,
			  uint64_t *device, uint64_t *inode);

struct cgroup_record {
	uint64_t id;
	const char *path;
};
struct imp_error *cgroup_record_read(const struct record *record,
				     struct cgroup_record *ret) MUST_CHECK;

// LOST and LOST_SAMPLES; id is 0 for the latter (see its trailer).
struct lost_record {
	uint64_t id, lost;
};
struct imp_error *lost_record_read(const struct record *record, struct lost_record *ret) MUST_CHECK;

// SWITCH and SWITCH_CPU_WIDE.
struct switch_record {
	bool is_out, is_preempted;
	// Of SWITCH_CPU_WIDE: what ran before (out: runs next).
	uint32_t other_pid, other_tid;
	bool has_other;
};
struct imp_error *switch_record_read(const struct record *record,
				     struct switch_record *ret) MUST_CHECK;

// An entry of the header's BUILD_ID table, or a HEADER_BUILD_ID record.
struct build_id_record {
	uint16_t misc;
	int32_t pid;
	struct build_id id;
	// The length byte was not there: id has 20 bytes, or fewer than were meant.
	bool is_padded;
	const char *path;
};
struct imp_error *build_id_record_read(const struct record *record,
				       struct build_id_record *ret) MUST_CHECK;

// The whole BUILD_ID table of a header: entries with owned paths, for build_id_table_fini().
struct build_id_table {
	struct build_id_record *items;
	size_t count;
	size_t room;
};

// Reads TABLE's entries to RET (zeroed). What was read before an error stays in RET.
struct imp_error *build_id_table_read(struct cursor *table, struct build_id_table *ret) MUST_CHECK;
void build_id_table_fini(struct build_id_table *table);

#endif
