// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// What imprint info has found out, and the two ways to print it.
#ifndef CLI_INFO_H
#define CLI_INFO_H

#include "base/array.h"
#include "perfdata/contents.h"
#include "perfdata/feature_show.h"

struct info {
	struct recording *recording;
	struct contents contents;
	// Lines.
	ARRAY_OF(char *) left_out;
};

// The counts of all record types, those that do not occur among them; false at the end.
bool info_row(const struct info *info, size_t index, struct contents_row *ret);

// Shows feature BIT of the recording to SINK.
struct imp_error *info_show_feature(const struct info *info, unsigned bit, const char *key,
				    const struct feature_sink *sink) MUST_CHECK;

void info_print(const struct info *info);
void info_print_json(const struct info *info);

#endif
