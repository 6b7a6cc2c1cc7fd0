// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Telling kinds of sources apart.
#include "environment/source.h"

#include <string.h>

#include "environment/core.h"
#include "environment/snapshot_file.h"

struct imp_error *source_snapshot(const char *name, const struct gather_options *live,
				  struct snapshot **ret)
{
	static const struct gather_options here = { 0 };
	if (!strcmp(name, "."))
		return gather_live(live ? live : &here, ret);
	return core_is_file(name) ? core_snapshot(name, ret) : snapshot_read(name, ret);
}

bool source_is_snapshot(const char *name)
{
	return core_is_file(name) || snapshot_is_file(name);
}
