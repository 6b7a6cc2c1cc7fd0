// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Payloads of header features as bytes: the writing half of perfdata/feature.h.
#ifndef PERFDATA_FEATURE_ENCODE_H
#define PERFDATA_FEATURE_ENCODE_H

#include "base/buffer.h"
#include "perfdata/feature.h"
#include "perfdata/record.h"

// A length (with the NUL, rounded up to 64) and the text, padded.
void feature_put_string(struct buffer *buffer, const char *text);
// A count and that many strings.
void feature_put_list(struct buffer *buffer, const char *const *items, size_t count);
void feature_put_u32(struct buffer *buffer, uint32_t value);
void feature_put_u64(struct buffer *buffer, uint64_t value);

// The payload of BIT from FEATURES, for the features that struct features has fields for. False,
// and nothing appended, when FEATURES does not say, or the feature is none of those.
bool feature_encode(const struct features *features, unsigned bit, struct buffer *ret);

// One event of a recording as it is written.
struct written_event {
	struct event_attr attr;
	const char *name;
	const uint64_t *ids;
	size_t id_count;
};
// The size that all attrs of EVENTS are written with: readers walk them by one step.
uint32_t written_attr_size(const struct written_event *events, size_t count);
void feature_encode_event_desc(const struct written_event *events, size_t count,
			       struct buffer *ret);

// One entry of the BUILD_ID table. CPUMODE is MISC_KERNEL or MISC_USER.
void feature_encode_build_id(struct buffer *buffer, const struct build_id *id, uint16_t cpumode,
			     const char *path);

#endif
