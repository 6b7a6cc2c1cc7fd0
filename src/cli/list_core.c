// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Listing a core file's images.
#include "cli/list_core.h"

#include <stdio.h>

#include "cli/printable.h"
#include "environment/source.h"

enum { ID_COLUMNS = 40 };

struct imp_error *list_core(const char *path)
{
	_cleanup_snapshot_ struct snapshot *snapshot = NULL;
	struct imp_error *err = source_snapshot(path, NULL, &snapshot);
	for (size_t i = 0; !err && i < snapshot->images.count; i++) {
		const struct snapshot_image *image = &snapshot->images.items[i];
		if (image->kind != MAPPED_FILE && image->kind != MAPPED_VDSO)
			continue;
		bool has_id = !build_id_is_none(&image->id);
		printf("%-*s ", ID_COLUMNS, has_id ? build_id_text(&image->id).text : "none");
		printable(stdout, image->path);
		putchar('\n');
	}
	return err;
}
