// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The message of a cursor that ran past its end.
#include "base/cursor.h"

#include <inttypes.h>

struct imp_error *cursor_error(const struct cursor *cursor, const char *what)
{
	return error_new(IMP_ERR_BAD_DATA, "truncated %s at offset %" PRIu64 " of %" PRIu64, what,
			 cursor->origin + cursor->failed_at, cursor->origin + cursor->size);
}
