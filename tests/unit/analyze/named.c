// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Profiles with names from given files alone, and the rows of perf's own report beside a recording.
#include "unit/analyze/named.h"

#include <string.h>

#include "analyze/analysis.h"
#include "analyze/spot_names.h"
#include "harness/tap.h"

struct profile *named_profile(const char *path, const char *const *image_dirs, const char *kallsyms)
{
	const char *const no_dirs[] = { NULL };
	struct finder_options finder_options = { .image_dirs = image_dirs,
						 .debug_dirs = no_dirs,
						 .symfs = "/nonexistent",
						 .kallsyms = kallsyms };
	struct analysis_options options = { .by_pid = true };
	struct symbolizer_options symbolizer_options = { .no_inline = true };
	struct profile *profile = NULL;
	struct finder *finder = NULL;
	struct symbolizer *symbolizer = NULL;
	bool is_done = CHECK_OK(analyze(path, &options, &profile)) &&
		       CHECK_OK(finder_new(&finder_options, &finder)) &&
		       CHECK_OK(symbolizer_new(finder, &symbolizer_options, &symbolizer)) &&
		       CHECK_OK(spots_name(profile, symbolizer, 1));
	symbolizer_free(symbolizer);
	finder_free(finder);
	if (is_done)
		return profile;
	profile_free(profile);
	return NULL;
}

void named_rows(const struct profile *profile, void (*take)(void *arg, const struct named_row *row),
		void *arg)
{
	const struct tally *tally = &profile->tally;
	for (uint32_t i = 0; i < tally->nodes.count; i++) {
		const struct stack_node *node = &tally->nodes.items[i];
		if (stack_node_is_root(node) || !node->samples)
			continue;
		// Without chains every node stands below its root.
		const struct stack_root *root =
			&tally->roots.items[tally->nodes.items[node->parent].spot];
		const struct spot_name *name = &profile->names[node->spot];
		struct named_row row = {
			.samples = node->samples,
			.event = root->event,
			.task = &tally->tasks.items[root->task],
			.object = profile_object_of(profile, &tally->spots.items[node->spot]),
			.reason = name->reason,
		};
		if (name->count)
			row.function = profile_string(profile,
						      profile->frames.items[name->first].function);
		take(arg, &row);
	}
}

bool perfs_row_read(const char *line, struct perfs_row *ret)
{
	char level[8];
	if (sscanf(line, " %llu |%63[^|]|%255[^|]|%7s %511[^\n]", &ret->samples, ret->comm,
		   ret->object, level, ret->symbol) != 5)
		return false;
	ret->comm[strcspn(ret->comm, " ")] = '\0';
	ret->object[strcspn(ret->object, " ")] = '\0';
	ret->symbol[strcspn(ret->symbol, " ")] = '\0';
	ret->is_kernel = !strcmp(level, "[k]");
	return true;
}
