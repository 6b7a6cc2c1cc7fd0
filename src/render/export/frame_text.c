// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Naming frames for exporters.
#include "render/export/frame_text.h"

#include <string.h>

#include "render/columns.h"

void frame_text(const struct call_tree *tree, const struct call_symbol *symbol, struct buffer *text)
{
	const char *function = profile_string(tree->profile, symbol->function);
	const struct profile_object *object = symbol_object(tree, symbol);
	if (function) {
		buffer_text(text, function);
	} else if (!object || object->image.kind == IMAGE_ANON) {
		buffer_format(text, "[%s]", unknown_reason_name(symbol->reason));
	} else {
		bool has_id = !build_id_is_none(&object->image.id) &&
			      identity_is_usable(object->image.identity);
		if (has_id)
			buffer_format(text, "[buildid:%s]", build_id_text(&object->image.id).text);
		else
			buffer_text(text, object->image.path);
		buffer_format(text, "+0x%llx", (unsigned long long)symbol->offset);
	}
}

const char *event_unit(const struct profile_event *event)
{
	static const char *const clocks[] = { "cpu-clock", "task-clock" };
	for (size_t i = 0; i < sizeof clocks / sizeof *clocks; i++) {
		size_t length = strlen(clocks[i]);
		const char *name = event->name ? event->name : "";
		// Modifiers stand behind a colon.
		if (!strncmp(name, clocks[i], length) && (!name[length] || name[length] == ':'))
			return "nanoseconds";
	}
	return "count";
}
