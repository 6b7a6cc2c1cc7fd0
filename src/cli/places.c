// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The directories that the environment names.
#include "cli/places.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "remote/address.h"

// $NAME when it is set and not empty.
static const char *environment(const char *name)
{
	const char *value = getenv(name);
	return value && *value ? value : NULL;
}

// DIR, a slash and REST; NULL without DIR or memory.
static char *below(const char *dir, const char *rest)
{
	char *path = NULL;
	if (!dir || asprintf(&path, "%s/%s", dir, rest) < 0)
		return NULL;
	return path;
}

// $VARIABLE (NULL: none), else NAME in imprint's directory for data.
static char *data_place(const char *variable, const char *name)
{
	const char *place = variable ? environment(variable) : NULL;
	if (place)
		return strdup(place);
	const char *data = environment("XDG_DATA_HOME");
	_cleanup_free_ char *dir = data ? below(data, "imprint")
					: below(environment("HOME"), ".local/share/imprint");
	return below(dir, name);
}

const char *places_store_url(void)
{
	const char *place = environment("IMPRINT_STORE");
	return place && remote_is_url(place) ? place : NULL;
}

char *places_store(void)
{
	return data_place(places_store_url() ? NULL : "IMPRINT_STORE", "store");
}

char *places_census(void)
{
	return data_place("IMPRINT_CENSUS", "census.sqlite");
}

char *places_known_ids(void)
{
	const char *cache = environment("XDG_CACHE_HOME");
	return cache ? below(cache, "imprint/known-ids")
		     : below(environment("HOME"), ".cache/imprint/known-ids");
}

char *places_buildid_dir(void)
{
	return below(environment("HOME"), ".debug");
}

// The client's own rule: debuginfod_find_* (elfutils 0.188), which knows an older place in HOME.
char *places_debuginfod_cache(void)
{
	const char *cache = environment("DEBUGINFOD_CACHE_PATH");
	if (cache)
		return strdup(cache);
	const char *home = environment("HOME");
	_cleanup_free_ char *old = below(home, ".debuginfod_client_cache");
	struct stat status;
	if (old && !stat(old, &status) && S_ISDIR(status.st_mode))
		return steal(old);
	const char *base = environment("XDG_CACHE_HOME");
	return base ? below(base, "debuginfod_client") : below(home, ".cache/debuginfod_client");
}
