// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// What exporters call a frame, and in which unit an event's weights are.
#ifndef RENDER_EXPORT_FRAME_TEXT_H
#define RENDER_EXPORT_FRAME_TEXT_H

#include "base/buffer.h"
#include "profile/call_tree.h"

// Appends the function; for what has none "[buildid:HEX]+0xOFF", "PATH+0xOFF" or "[reason]".
void frame_text(const struct call_tree *tree, const struct call_symbol *symbol,
		struct buffer *text);

// "nanoseconds" for clocks, whose periods are times; "count" for all other events.
const char *event_unit(const struct profile_event *event);

#endif
