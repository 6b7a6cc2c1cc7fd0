// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Tracepoints by name.
#include <linux/perf_event.h>
#include <string.h>

#include "config.h"
#include "live/event_source.h"

#if HAVE_TRACEPOINTS
#include "base/late/late_tracefs.h"

struct imp_error *event_from_tracefs(const char *system, const char *name, struct event_attr *attr,
				     bool *is_known)
{
	if (!*system || !*name || strchr(system, '/') || strchr(name, '/'))
		return NULL;
	struct imp_error *err = late_tracefs_load();
	if (err)
		return err;
	if (!tracefs_tracing_dir())
		return error_new(IMP_ERR_UNSUPPORTED,
				 "no tracefs is mounted (mount -t tracefs t /sys/kernel/tracing)");
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
#else
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
