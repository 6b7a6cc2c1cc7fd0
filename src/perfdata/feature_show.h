// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// All of a feature's payload as a tree of named values, for whoever prints it.
#ifndef PERFDATA_FEATURE_SHOW_H
#define PERFDATA_FEATURE_SHOW_H

#include "perfdata/feature.h"

// Takes the values. KEY is NULL within a list. Strings are lent for the call.
struct feature_sink {
	void (*begin)(void *arg, const char *key, bool is_list);
	void (*end)(void *arg, bool is_list);
	void (*text)(void *arg, const char *key, const char *value);
	void (*number)(void *arg, const char *key, uint64_t value);
	void *arg;
};

// Whether feature_show() knows what BIT holds. What EVENT_DESC and BUILD_ID hold is shown as the
// recording's events and images.
bool feature_can_be_shown(unsigned bit);

// Gives SINK one value, which may be a tree, for feature BIT, under KEY. FEATURES are those of the
// same recording: some payloads cannot be read without others. On an error SINK was given nothing.
// SINK may be NULL: only whether the payload can be read.
struct imp_error *feature_show(unsigned bit, const struct cursor *payload,
			       const struct features *features, const char *key,
			       const struct feature_sink *sink) MUST_CHECK;

#endif
