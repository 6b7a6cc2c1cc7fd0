// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Where files are looked for, by the options and the environment.
#include "cli/naming.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/spot_names.h"
#include "base/array.h"
#include "cli/archived.h"
#include "cli/places.h"
#include "cli/remote_use.h"

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

char *naming_own_store(const struct naming *naming)
{
	const char *named = naming->store_dir;
	return named && !remote_is_url(named) ? strdup(named) : places_store();
}

// The store's directory, the caller's; where a URL is named, that of the user's own store, through
// which *remote is read.
static struct imp_error *choose_store(const struct naming *naming, const struct log *log,
				      char **dir, struct finder_remote *remote)
{
	const char *named = naming->store_dir ? naming->store_dir : places_store_url();
	bool is_elsewhere = named && remote_is_url(named);
	*dir = naming_own_store(naming);
	if (!is_elsewhere)
		return NULL;
	if (!*dir)
		return error_new(IMP_ERR_USAGE,
				 "no store to keep what comes from %s: set HOME or IMPRINT_STORE",
				 named);
	return remote_use_finder(named, log, remote);
}

struct imp_error *naming_finder(const struct naming *naming, const struct log *log,
				struct finder **ret)
{
	_cleanup_free_ char *buildid_dir = places_buildid_dir();
	_cleanup_free_ char *debuginfod_cache = places_debuginfod_cache();
	_cleanup_(free_terminated) const char **image_dirs = NULL;
	_cleanup_(free_terminated) const char **debug_dirs = NULL;
	struct imp_error *err = list_terminated(&naming->image_dirs, &image_dirs);
	for (size_t i = 0; i < naming->image_dirs.count && !err; i++)
		err = archived_images(image_dirs[i], log, &image_dirs[i]);
	if (!err)
		err = list_terminated(&naming->debug_dirs, &debug_dirs);
	_cleanup_free_ char *store = NULL;
	struct finder_remote remote = { 0 };
	if (!err)
		err = choose_store(naming, log, &store, &remote);
	if (err)
		return err;
	struct finder_options options = {
		.log = log,
		.image_dirs = image_dirs,
		.store_dir = store,
		.remote = remote,
		.buildid_dir = naming->buildid_dir ? naming->buildid_dir : buildid_dir,
		.debug_dirs = debug_dirs,
		.symfs = naming->symfs,
		.sysroot = naming->sysroot,
		.vmlinux = naming->vmlinux,
		.kallsyms = naming->kallsyms,
		.debuginfod_cache = debuginfod_cache,
		.is_path_named = naming->is_path_named,
		.force = naming->force,
	};
	return finder_new(&options, ret);
}

struct imp_error *naming_symbolizer(const struct naming *naming, const struct log *log,
				    struct finder *finder, struct symbolizer **ret)
{
	_cleanup_free_ char *store = naming_own_store(naming);
	struct symbolizer_options options = {
		.log = log,
		.index_dir = naming->no_index ? NULL : store,
		.no_demangle = naming->no_demangle,
		.no_inline = naming->no_inline,
		.map_dir = "/tmp",
	};
	return symbolizer_new(finder, &options, ret);
}

static struct imp_error *name_profile(const struct naming *naming,
				      const struct analysis_options *analysis,
				      struct profile *profile)
{
	struct symbolizer *symbolizer = NULL;
	struct imp_error *err =
		naming_symbolizer(naming, analysis->log, analysis->finder, &symbolizer);
	if (!err)
		err = spots_name(profile, symbolizer, analysis->workers);
	if (!err)
		err = symbolizer_save_indexes(symbolizer, analysis->workers);
	symbolizer_free(symbolizer);
	return err;
}

struct imp_error *naming_analyze(const struct naming *naming, const char *path,
				 const struct analysis_options *analysis, enum naming_depth depth,
				 struct profile **ret)
{
	struct naming chosen = *naming;
	chosen.no_inline |= depth != NAMING_LINES;
	_cleanup_finder_ struct finder *finder = NULL;
	_cleanup_profile_ struct profile *profile = NULL;
	struct imp_error *err = naming_finder(&chosen, analysis->log, &finder);
	struct analysis_options with_finder = *analysis;
	with_finder.finder = finder;
	if (!err)
		err = analyze(path, &with_finder, &profile);
	if (!err && depth != NAMING_NONE)
		err = name_profile(&chosen, &with_finder, profile);
	if (!err)
		*ret = steal(profile);
	return err;
}

void naming_fini(struct naming *naming)
{
	array_fini(&naming->image_dirs);
	array_fini(&naming->debug_dirs);
}
