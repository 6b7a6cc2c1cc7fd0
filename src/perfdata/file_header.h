// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The header of a perf.data file or stream, and the two tables it points to.
//
//	file                               stream
//	 0  u64 magic                       0  u64 magic
//	 8  u64 size (104; 72 very old)     8  u64 size = 16
//	16  u64 size of an attrs entry     16  records …
//	24  attrs        {offset, size}
//	40  data         {offset, size}    then, behind data, a table of {offset, size}: one for
//	56  event types  {offset, size}    each bit that is set, in ascending order
//	72  256 bits: features
//
// Source: tools/perf/util/header.{c,h} of Linux 6.12.
#ifndef PERFDATA_FILE_HEADER_H
#define PERFDATA_FILE_HEADER_H

#include "perfdata/event.h"
#include "perfdata/feature.h"
#include "perfdata/input.h"
#include "perfdata/warnings.h"

struct file_header {
	bool is_pipe, swap;
	// Magic "PERFFILE": before Linux 2.6.36 or so.
	bool is_version_1;
	uint64_t size, attr_size;
	struct section attrs, data;
	uint64_t features[FEATURE_BITS / 64];
};

// IMP_ERR_BAD_DATA when INPUT does not begin as a recording does.
struct imp_error *file_header_read(const struct input *input, struct file_header *ret) MUST_CHECK;

// Adds the events of the attrs section. What is wrong with one costs that one, or its IDs.
struct imp_error *file_header_read_attrs(const struct input *input,
					 const struct file_header *header, struct events *events,
					 struct warnings *warnings) MUST_CHECK;

// Where each feature's payload is.
struct feature_sections {
	uint64_t present[FEATURE_BITS / 64];
	struct section at[FEATURE_BITS];
};

// Reads the table behind the data section, which ends at DATA_END.
struct imp_error *file_header_read_features(const struct input *input,
					    const struct file_header *header, uint64_t data_end,
					    struct feature_sections *ret,
					    struct warnings *warnings) MUST_CHECK;

// Adds an event of ATTR with COUNT IDs in the cursor; *ret, if not NULL, is it.
struct imp_error *event_add_with_ids(struct events *events, const struct event_attr *attr,
				     struct cursor *ids, struct event **ret) MUST_CHECK;

#endif
