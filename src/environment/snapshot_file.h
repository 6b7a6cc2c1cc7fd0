// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Snapshots as files: newline-delimited JSON, compressed when the name ends with ".zst".
//
// The form is described in imprint-snapshot(5).
#ifndef ENVIRONMENT_SNAPSHOT_FILE_H
#define ENVIRONMENT_SNAPSHOT_FILE_H

#include <stdio.h>

#include "environment/snapshot.h"

// Readers refuse a higher one; members and line types they do not know they skip.
enum { SNAPSHOT_VERSION = 1 };

// Writes SNAPSHOT to PATH ("-": standard output).
struct imp_error *snapshot_write(const struct snapshot *snapshot, const char *path) MUST_CHECK;

// Reads the snapshot at PATH ("-": standard input).
struct imp_error *snapshot_read(const char *path, struct snapshot **ret) MUST_CHECK;

// Whether the file at PATH begins like a snapshot, plain or compressed; for commands that take
// several kinds of file.
bool snapshot_is_file(const char *path);

// "2026-12-01T03:00:00.123456789Z" and back; 0 when TEXT is no such time.
struct time_text {
	char text[40];
};
struct time_text time_text_of(uint64_t time_ns);
uint64_t time_text_parse(const char *text);

#endif
