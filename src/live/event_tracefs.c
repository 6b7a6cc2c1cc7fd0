// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Tracepoints by name.
#include <fnmatch.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "live/event_source.h"

#if HAVE_TRACEPOINTS
#include "base/late/late_tracefs.h"

static struct imp_error *load(void)
{
	struct imp_error *err = late_tracefs_load();
	if (!err && !tracefs_tracing_dir())
		err = error_new(IMP_ERR_UNSUPPORTED,
				"no tracefs is mounted (mount -t tracefs t /sys/kernel/tracing)");
	return err;
}

struct imp_error *event_from_tracefs(const char *system, const char *name, struct event_attr *attr,
				     bool *is_known)
{
	if (!*system || !*name || strchr(system, '/') || strchr(name, '/'))
		return NULL;
	struct imp_error *err = load();
	if (err)
		return err;
	_cleanup_free_ char *id = NULL;
	char *text = tracefs_event_file_read(NULL, system, name, "id", NULL);
	if (!text)
		return NULL;
	id = text;
	attr->type = PERF_TYPE_TRACEPOINT;
	attr->config = strtoull(id, NULL, 10);
	*is_known = true;
	return NULL;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

// Sorts a list that ends with NULL, as libtracefs gives it.
static void sort_names(char **list)
{
	size_t count = 0;
	while (list && list[count])
		count++;
	if (count)
		qsort(list, count, sizeof *list, compare_names);
}

static void add_matches(const char *system, const char *pattern, struct buffer *ret)
{
	char **events = tracefs_system_events(NULL, system);
	sort_names(events);
	for (size_t i = 0; events && events[i]; i++) {
		if (fnmatch(pattern, events[i], 0))
			continue;
		buffer_format(ret, "%s:%s", system, events[i]);
		buffer_append(ret, "", 1);
	}
	tracefs_list_free(events);
}

struct imp_error *event_matches_of_tracefs(const char *system, const char *name, struct buffer *ret)
{
	struct imp_error *err = load();
	if (err)
		return err;
	char **systems = tracefs_event_systems(NULL);
	sort_names(systems);
	for (size_t i = 0; systems && systems[i]; i++)
		if (!fnmatch(system, systems[i], 0))
			add_matches(systems[i], name, ret);
	tracefs_list_free(systems);
	return NULL;
}
#else
struct imp_error *event_matches_of_tracefs(const char *system, const char *name, struct buffer *ret)
{
	(void)system;
	(void)name;
	(void)ret;
	return NULL;
}

struct imp_error *event_from_tracefs(const char *system, const char *name, struct event_attr *attr,
				     bool *is_known)
{
	(void)system;
	(void)name;
	(void)attr;
	(void)is_known;
	return NULL;
}
#endif
