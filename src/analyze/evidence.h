// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The records that an answer rests on: one sample by its number, and what told of the mapping it
// fell into.
#ifndef ANALYZE_EVIDENCE_H
#define ANALYZE_EVIDENCE_H

#include "analyze/survey.h"
#include "base/array.h"

// One sample, without what it lends.
struct moment {
	// From 1, in the order of the file; 0 when no sample was asked for.
	uint64_t number;
	uint64_t record_offset;
	uint64_t address;
	// As samples tell it, and as the timeline is asked (see survey_time()).
	uint64_t time_ns, timeline_time;
	uint32_t pid, tid;
	unsigned cpumode;
	bool has_time, has_pid, has_address;
};

// Sample NUMBER of RECORDING, which SURVEY has surveyed. *found is false when it has fewer;
// *count is how many there are.
struct imp_error *evidence_sample(struct recording *recording, const struct survey *survey,
				  uint64_t number, struct moment *ret, bool *found,
				  uint64_t *count) MUST_CHECK;

// A MMAP or MMAP2 record.
struct mapping_record {
	uint64_t record_offset;
	bool is_mmap2;
	uint64_t start, length, page_offset;
	// The process that mapped it; the one that asked or an ancestor, or none for the kernel.
	uint32_t pid;
	// 0: made by the recorder for what was mapped when it began.
	uint64_t time_ns;
	bool has_time;
	uint32_t protection;
	struct build_id id;
	uint32_t major, minor;
	uint64_t inode;
	bool has_inode;
	// Owned.
	char *path;
};

// What RECORD says, read as MAPPED and ID; without a path, which is the caller's to give.
struct mapping_record mapping_record_of(const struct record *record,
					const struct mmap_record *mapped,
					const struct sample_id *id);
void mapping_record_fini(struct mapping_record *mapping);

// The record by which STRETCH (an answer of the timeline to MOMENT) was mapped: the latest before
// it that covers the address with the same base. *found is false when no record did (the process
// was never told of).
struct imp_error *evidence_mapping(struct recording *recording, const struct survey *survey,
				   const struct moment *moment, const struct stretch *stretch,
				   struct mapping_record *ret, bool *found) MUST_CHECK;

// Mappings of one path as other builds; see evidence_other_builds().
struct other_builds {
	ARRAY_OF(struct mapping_record);
};

void other_builds_fini(struct other_builds *builds);

// The records that mapped the path of IMAGE as another build than its: of each build the first,
// ordered by time. Appended to RET.
struct imp_error *evidence_other_builds(struct recording *recording, const struct survey *survey,
					const struct image *image,
					struct other_builds *ret) MUST_CHECK;

#endif
