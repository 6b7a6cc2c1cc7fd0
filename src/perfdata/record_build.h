// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Records built in memory: what a recorder tells of that the kernel did not.
//
// Each call appends one whole record to a buffer (buffer.failed tells when memory ran out); the
// trailer is that of a recording whose events record WRITTEN_TRAILER.
#ifndef PERFDATA_RECORD_BUILD_H
#define PERFDATA_RECORD_BUILD_H

#include "base/buffer.h"
#include "perfdata/record.h"

// PERF_SAMPLE_TID | TIME | CPU | IDENTIFIER: what every event of our recordings records, so that
// the trailer of each record is the same 32 bytes.
#define WRITTEN_TRAILER (UINT64_C(1) << 1 | UINT64_C(1) << 2 | UINT64_C(1) << 7 | UINT64_C(1) << 16)
enum { WRITTEN_TRAILER_SIZE = 32 };

// The trailer's fields. All zero (as for NULL) is what perf gives to records it synthesizes: they
// belong to no event and come before everything that has a time.
struct stamp {
	uint32_t pid, tid, cpu;
	uint64_t time, id;
};

// MMAP2: with its build ID when it has one of at most 20 bytes, else with its inode. CPUMODE is
// MISC_USER or MISC_KERNEL.
void record_build_mmap(struct buffer *buffer, const struct mmap_record *mmap, uint16_t cpumode,
		       const struct stamp *stamp);
void record_build_comm(struct buffer *buffer, const struct comm_record *comm,
		       const struct stamp *stamp);
// TYPE is RECORD_FORK or RECORD_EXIT.
void record_build_task(struct buffer *buffer, uint32_t type, const struct task_record *task,
		       const struct stamp *stamp);

struct namespace_link {
	uint64_t device, inode;
};
// LINKS in the order of the kernel: net, uts, ipc, pid, user, mnt, cgroup.
enum { NAMESPACE_LINKS = 7 };
void record_build_namespaces(struct buffer *buffer, uint32_t pid, uint32_t tid,
			     const struct namespace_link links[NAMESPACE_LINKS],
			     const struct stamp *stamp);
void record_build_ksymbol(struct buffer *buffer, const struct ksymbol_record *symbol,
			  const struct stamp *stamp);
void record_build_cgroup(struct buffer *buffer, const struct cgroup_record *cgroup,
			 const struct stamp *stamp);
// LOST of event ID.
void record_build_lost(struct buffer *buffer, uint64_t id, uint64_t lost,
		       const struct stamp *stamp);

// LOST_SAMPLES of the event that STAMP names.
void record_build_lost_samples(struct buffer *buffer, uint64_t lost, const struct stamp *stamp);

// A record of perf's own (64 and up, no trailer): header and SIZE bytes of BODY, padded to 8.
void record_build_plain(struct buffer *buffer, uint32_t type, uint16_t misc, const void *body,
			size_t size);

// Puts ID (at most 20 bytes) into an MMAP2 record of SIZE bytes in place of its inode. False when
// the record has one already or cannot take it; nothing changed then.
bool record_set_build_id(uint8_t *bytes, size_t size, const struct build_id *id);

#endif
