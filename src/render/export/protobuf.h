// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Writing messages of Protocol Buffers.
//
// Source: https://protobuf.dev/programming-guides/encoding/. A field that is not written has the
// value 0 or is empty, so these are not.
#ifndef RENDER_EXPORT_PROTOBUF_H
#define RENDER_EXPORT_PROTOBUF_H

#include "base/buffer.h"

void protobuf_uint(struct buffer *message, unsigned field, uint64_t value);
// A message within MESSAGE; written even when empty.
void protobuf_message(struct buffer *message, unsigned field, const struct buffer *inner);
// Adds VALUE to what will be written as one packed field.
void protobuf_pack(struct buffer *packed, uint64_t value);

#endif
