// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// What the files of the recording builder share: the builder, and values in the recording's order.
#ifndef MAKE_RECORDING_BUILDER_H
#define MAKE_RECORDING_BUILDER_H

#include <zstd.h>

#include "base/array.h"
#include "make/recording.h"

struct built_event {
	struct event_attr attr;
	char *name;
	uint64_t *ids;
	size_t id_count;
};

struct recording_builder {
	struct recording_builder_shape shape;
	ARRAY_OF(struct built_event) events;
	struct buffer features[FEATURE_BITS];
	bool has_feature[FEATURE_BITS];
	struct buffer records;
	// What is to be compressed, while that goes on.
	struct buffer plain;
	bool is_compressing;
	ZSTD_CStream *zstd;
};

// Ends the program when memory ran out.
void must(bool ok);

void put_zeros(struct buffer *buffer, size_t size);
void put_bytes(struct buffer *buffer, const void *bytes, size_t size);
// A string with its NUL, padded so that what is in BUFFER then is a multiple of ALIGN bytes.
void put_text(struct buffer *buffer, const char *text, size_t align);
void put_words(const struct recording_builder *builder, struct buffer *body, const uint64_t *words,
	       uint64_t count);
// The attr, cut or filled up with zeros to SIZE bytes.
void put_attr(const struct recording_builder *builder, struct buffer *buffer,
	      const struct event_attr *attr, size_t size);

// The whole recording, but for what the builder owns.
struct buffer lay_out_file(const struct recording_builder *builder);
struct buffer lay_out_pipe(const struct recording_builder *builder);

#endif
