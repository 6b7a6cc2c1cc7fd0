// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Event attributes: a byte for the byte order, then the attr.
#include "fuzz.h"
#include "perfdata/event.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	if (!size)
		return 0;
	struct cursor cursor = cursor_over(bytes + 1, size - 1);
	cursor.swap = bytes[0] & 1;
	struct event event = { 0 };
	struct imp_error *err = attr_read(&cursor, (uint32_t)(size - 1), &event.attr);
	if (!err) {
		event_lay_out(&event);
		char *name = event_name_of(&event.attr);
		FUZZ_CHECK(name && *name);
		FUZZ_CHECK(event.layout.variable >= 8 && event.layout.variable <= 80);
		FUZZ_CHECK(event.layout.trailer_size <= 48);
		free(name);
	}
	imp_error_free(err);
	return 0;
}
