// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// What imprint explain has found out, and the two ways to tell it.
#ifndef CLI_EXPLAIN_H
#define CLI_EXPLAIN_H

#include "analyze/evidence.h"
#include "find/finder.h"
#include "symbolize/symbolizer.h"

// One image, and perhaps one place in it.
struct explanation {
	// The recording; NULL when the image was named by itself.
	const char *recording;
	// The question, when it was about a place of a recording.
	bool has_moment;
	struct moment moment;
	// The command's name; or NULL.
	const char *comm;
	// The namespaces it was in; NULL when not recorded.
	const struct namespace_set *namespaces;
	// The mapping, when a record told of it.
	bool has_mapping;
	struct mapping_record mapping;
	// What else the recording maps under the image's path.
	struct other_builds others;
	// What is at that path on this machine now: FIND_SKIPPED when it was not looked at.
	enum find_outcome now;
	struct build_id now_id;
	// NULL when the address was in none; then `unlocated` says why.
	const struct image *image;
	enum unknown_reason unlocated;
	// NULL when nothing was looked for.
	const struct finding *finding;
	bool has_offset;
	file_off offset;
	// What the offset is called.
	struct frames frames;
	// The symbols that the name was chosen from.
	const struct symbols *aliases;
	size_t alias_first, alias_count;
	// Every place that was looked at.
	bool is_full;
};

void explain_print(const struct explanation *explanation);

struct json;
// As one object.
void explain_print_json(const struct explanation *explanation, struct json *json);

#endif
