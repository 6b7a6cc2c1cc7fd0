// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The directories that the environment names: imprint's store, perf's cache, debuginfod's.
#ifndef CLI_PLACES_H
#define CLI_PLACES_H

// $IMPRINT_STORE unless it is a URL, else imprint/store in $XDG_DATA_HOME or ~/.local/share. NULL
// when the environment does not say; free it.
char *places_store(void);

// $IMPRINT_STORE when it is a URL, lent by the environment; else NULL.
const char *places_store_url(void);

// $IMPRINT_CENSUS, else imprint/census.sqlite beside the store's place, as above.
char *places_census(void);

// imprint/known-ids in $XDG_CACHE_HOME or ~/.cache, as above.
char *places_known_ids(void);

// ~/.debug, as above.
char *places_buildid_dir(void);

// Where debuginfod's client keeps what it fetched, as above.
char *places_debuginfod_cache(void);

#endif
