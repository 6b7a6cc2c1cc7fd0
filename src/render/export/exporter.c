// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The table of exporters.
#include "render/export/exporter.h"

#include <string.h>

#include "render/export/flamegraph.h"
#include "render/export/folded.h"
#include "render/export/pprof.h"
#include "render/export/speedscope.h"

const struct exporter exporters[] = {
	{ .name = "flamegraph",
	  .summary = "a page for any browser, which needs nothing else: zoom, search, build IDs",
	  .wants_lines = true,
	  .write = flamegraph_write },
	{ .name = "folded",
	  .summary = "one stack a line, root first, with its samples (flame graphs)",
	  .wants_lines = true,
	  .write = folded_write },
	{ .name = "pprof",
	  .summary = "profile.proto, compressed (pprof, Go's tools, cloud profilers)",
	  .is_binary = true,
	  .wants_lines = true,
	  .write = pprof_write },
	{ .name = "speedscope",
	  .summary = "speedscope's JSON (speedscope.app)",
	  .wants_lines = true,
	  .write = speedscope_write },
	{ .name = NULL },
};

const struct exporter *exporter_find(const char *name)
{
	for (const struct exporter *exporter = exporters; exporter->name; exporter++)
		if (!strcmp(exporter->name, name))
			return exporter;
	return NULL;
}
