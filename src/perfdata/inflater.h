// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Reads a stream in order from its first compressed record on, giving out the records within the
// compressed ones among the others.
//
// The compressed records of a stream hold one zstd stream; records within may run from one to the
// next. Source: tools/perf/builtin-record.c and util/tool.c of Linux 6.17.
#ifndef PERFDATA_INFLATER_H
#define PERFDATA_INFLATER_H

#include "perfdata/stream.h"

struct inflater;

// STREAM and WARNINGS (NULL: none wanted) are lent.
struct imp_error *inflater_new(const struct stream *stream, struct warnings *warnings,
			       struct inflater **ret) MUST_CHECK;
void inflater_free(struct inflater *inflater);

// The next chunk, in ROOM; *has_more is false, and there is none, at the end.
struct imp_error *inflater_next(struct inflater *inflater, struct chunk_room *room,
				struct chunk *ret, bool *has_more) MUST_CHECK;

// Where in the file it stands.
uint64_t inflater_offset(const struct inflater *inflater);

// What was read so far.
struct inflater_counts {
	uint64_t records, bytes, inflated_bytes;
};
struct inflater_counts inflater_counts(const struct inflater *inflater);

#endif
