// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The journal of an entry: where its objects were seen and when they were found whole.
//
// Lines, each appended by one write and closed by a check sum; a line that was cut short or mixed
// with another is skipped. Losing one costs a second look at a file, never a wrong answer.
//
//	KIND TIME SHA256 DEVICE:INODE:SIZE:MTIME:CTIME PATH CHECK
//
// KIND is `s` for a sight (the stamp is the foreign file's) or `v` for verified (the stamp is the
// object's, PATH is "-"). Times of stamps in nanoseconds. PATH has %XX for what would break the
// line, and is "-" when not known.
#ifndef STORE_JOURNAL_H
#define STORE_JOURNAL_H

#include "store/store.h"

// What tells whether a file is still the one that was read.
struct file_stamp {
	uint64_t device;
	uint64_t inode;
	uint64_t size;
	int64_t mtime_ns;
	int64_t ctime_ns;
};

struct file_stamp file_stamp_of(const struct stat *stat);
bool file_stamp_equal(const struct file_stamp *a, const struct file_stamp *b);

struct journal_line {
	// 's' or 'v'.
	char kind;
	int64_t time_s;
	struct store_hash hash;
	struct file_stamp stamp;
	// NULL for "-".
	char *path;
};

struct journal {
	ARRAY_OF(struct journal_line);
};

void journal_fini(struct journal *journal);
#define _cleanup_journal_ __attribute__((cleanup(journal_fini)))

// Reads the journal in the entry ENTRY, the oldest line first. None is empty.
struct imp_error *journal_read(int entry, struct journal *ret) MUST_CHECK;

// Appends LINE. TMP is a directory for the rewritten file when the journal has become long.
struct imp_error *journal_append(int entry, int tmp, const struct journal_line *line) MUST_CHECK;

// Sets the time of last use to now, unless that was less than an hour ago. Failing is no matter.
void journal_touch(int entry);
// When the entry was last used; 0 when that is not known.
int64_t journal_used_s(int entry);

#endif
