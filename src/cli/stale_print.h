// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The forms in which imprint stale answers.
#ifndef CLI_STALE_PRINT_H
#define CLI_STALE_PRINT_H

#include "environment/stale.h"

bool stale_has_old_kernel(const struct stale_report *report);

void stale_print_text(const struct snapshot *snapshot, const struct stale_report *report,
		      bool show_all);
void stale_print_json(const struct snapshot *snapshot, const struct stale_report *report);
void stale_print_nagios(const struct snapshot *snapshot, const struct stale_report *report);
void stale_print_openmetrics(const struct snapshot *snapshot, const struct stale_report *report);

// Who runs WHAT: a soname, a path, a file name, or an ID or at least six digits of it. False when
// nobody does.
bool stale_uses_text(const struct snapshot *snapshot, const char *what);
bool stale_uses_json(const struct snapshot *snapshot, const char *what);

#endif
