// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Where event names come from that no table here holds: sysfs, tracefs, libpfm4.
//
// Each answers true and fills what it knows of ATTR, or false when it does not know the name; an
// error is for a name that is known and cannot be used.
#ifndef LIVE_EVENT_SOURCE_H
#define LIVE_EVENT_SOURCE_H

#include "base/buffer.h"
#include "perfdata/attr.h"

// PMU/TERMS/: the event and format files of /sys/bus/event_source/devices/PMU (SYS is where sysfs
// is mounted, NULL means /sys).
struct imp_error *event_from_sysfs(const char *sys, const char *pmu, const char *terms,
				   struct event_attr *attr, bool *is_known) MUST_CHECK;

// SYSTEM:NAME.
struct imp_error *event_from_tracefs(const char *system, const char *name, struct event_attr *attr,
				     bool *is_known) MUST_CHECK;

// Appends the tracepoints that fit the patterns (fnmatch(3)), "SYSTEM:NAME" and a zero byte each,
// in the order of their names.
struct imp_error *event_matches_of_tracefs(const char *system, const char *name,
					   struct buffer *ret) MUST_CHECK;

struct imp_error *event_from_pfm(const char *name, struct event_attr *attr,
				 bool *is_known) MUST_CHECK;

#endif
