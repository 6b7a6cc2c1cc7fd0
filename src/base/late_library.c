// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Loading a library and finding its functions.
#include "base/late_library.h"

#include <dlfcn.h>
#include <string.h>

static struct imp_error *cannot(const struct late_library *library)
{
	const char *why = dlerror();
	return error_new(IMP_ERR_UNSUPPORTED, "%s, which is needed for %s, cannot be loaded: %s",
			 library->soname, library->purpose, why ? why : "it is damaged");
}

static struct imp_error *load_locked(struct late_library *library)
{
	void *handle = dlopen(library->soname, RTLD_NOW | RTLD_LOCAL);
	if (!handle)
		return cannot(library);
	for (size_t i = 0; i < library->symbol_count; i++) {
		void *found = dlsym(handle, library->symbols[i].name);
		if (!found) {
			struct imp_error *err = cannot(library);
			dlclose(handle);
			return err;
		}
		memcpy(library->symbols[i].slot, &found, sizeof found);
	}
	library->is_loaded = true;
	return NULL;
}

struct imp_error *late_library_load(struct late_library *library)
{
	pthread_mutex_lock(&library->lock);
	struct imp_error *err = library->is_loaded ? NULL : load_locked(library);
	pthread_mutex_unlock(&library->lock);
	return err;
}
