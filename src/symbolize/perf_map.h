// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// perf-PID.map: the functions that a run-time compiler says it made, "START SIZE NAME" a line, in
// hex.
#ifndef SYMBOLIZE_PERF_MAP_H
#define SYMBOLIZE_PERF_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct perf_map;

// Reads the file at PATH; NULL to *ret when there is none, or it is another user's. Lines that are
// none are skipped. Where two entries overlap, the later line is true from its start on: code is
// replaced, and the file only grows.
struct imp_error *perf_map_open(const char *path, struct perf_map **ret) MUST_CHECK;
// The same of an open file, taken also on failure; PATH is for messages.
struct imp_error *perf_map_open_fd(int fd, const char *path, struct perf_map **ret) MUST_CHECK;
// The same from SIZE bytes of TEXT.
struct imp_error *perf_map_parse(const char *text, size_t size, struct perf_map **ret) MUST_CHECK;
void perf_map_free(struct perf_map *map);

struct perf_map_entry {
	uint64_t start, size;
	// Lent by the map.
	const char *name;
};

// The entry that covers ADDRESS. False when none does.
bool perf_map_at(const struct perf_map *map, uint64_t address, struct perf_map_entry *ret);

#endif
