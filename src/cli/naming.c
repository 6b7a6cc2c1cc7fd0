// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Where files are looked for, by the options and the environment.
#include "cli/naming.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/spot_names.h"
#include "base/array.h"
#include "cli/places.h"

// LIST with a NULL behind it, lent by the list; NULL when it is empty.
static struct imp_error *list_terminated(const struct option_list *list, const char ***ret)
{
	*ret = NULL;
	if (!list->count)
		return NULL;
	const char **items = calloc(list->count + 1, sizeof *items);
	if (!items)
		return &imp_error_no_memory;
	memcpy(items, list->items, list->count * sizeof *items);
	*ret = items;
	return NULL;
}

static void free_terminated(const char ***list)
{
	free(*list);
}

struct imp_error *naming_finder(const struct naming *naming, const struct log *log,
				struct finder **ret)
{
	_cleanup_free_ char *store = places_store();
	_cleanup_free_ char *buildid_dir = places_buildid_dir();
	_cleanup_free_ char *debuginfod_cache = places_debuginfod_cache();
	_cleanup_(free_terminated) const char **image_dirs = NULL;
	_cleanup_(free_terminated) const char **debug_dirs = NULL;
	struct imp_error *err = list_terminated(&naming->image_dirs, &image_dirs);
	if (!err)
		err = list_terminated(&naming->debug_dirs, &debug_dirs);
	if (err)
		return err;
	struct finder_options options = {
		.log = log,
		.image_dirs = image_dirs,
		.store_dir = naming->store_dir ? naming->store_dir : store,
		.buildid_dir = naming->buildid_dir ? naming->buildid_dir : buildid_dir,
		.debug_dirs = debug_dirs,
		.symfs = naming->symfs,
		.sysroot = naming->sysroot,
		.vmlinux = naming->vmlinux,
		.kallsyms = naming->kallsyms,
		.debuginfod_cache = debuginfod_cache,
		.force = naming->force,
	};
	return finder_new(&options, ret);
}

struct imp_error *naming_symbolizer(const struct naming *naming, const struct log *log,
				    struct finder *finder, struct symbolizer **ret)
{
	struct symbolizer_options options = {
		.log = log,
		.no_demangle = naming->no_demangle,
		.no_inline = naming->no_inline,
		.map_dir = "/tmp",
	};
	return symbolizer_new(finder, &options, ret);
}

struct imp_error *naming_profile(const struct naming *naming, const struct log *log,
				 bool wants_lines, unsigned workers, struct profile *profile)
{
	struct naming chosen = *naming;
	chosen.no_inline |= !wants_lines;
	struct finder *finder = NULL;
	struct symbolizer *symbolizer = NULL;
	struct imp_error *err = naming_finder(&chosen, log, &finder);
	if (!err)
		err = naming_symbolizer(&chosen, log, finder, &symbolizer);
	if (!err)
		err = spots_name(profile, symbolizer, workers);
	symbolizer_free(symbolizer);
	finder_free(finder);
	return err;
}

void naming_fini(struct naming *naming)
{
	array_fini(&naming->image_dirs);
	array_fini(&naming->debug_dirs);
}
