// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The journals of a store: where its objects were seen, and when they were found whole.
//
// Lines, each appended by one write and closed by a check sum; a line that was cut short or mixed
// with another is skipped. Losing one costs a second look at a file, never a wrong answer.
//
//	KIND TIME ENTRY ROLE.RANK.SHA256 DEVICE:INODE:SIZE:MTIME:CTIME PATH CHECK
//
// KIND is `s` for a sight (the stamp is the foreign file's) or `v` for verified (the stamp is the
// object's, PATH is "-"). ENTRY is the ID, or "sha256-" and the hash. Times of stamps are in
// nanoseconds. PATH has %XX for what would break the line, and is "-" when not known. CHECK is the
// CRC-32 of all before its space.
//
// A line stands in the shard of its entry, and a sight also in that of the directory where it was,
// so that both are found by reading a few lines whatever the store holds, and all sights of a
// directory at once.
#ifndef STORE_JOURNAL_H
#define STORE_JOURNAL_H

#include "store/layout.h"

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
	struct entry_name entry;
	// The object, as it was described then.
	enum store_role role;
	enum store_rank rank;
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

// Appends the lines about ENTRY, or the sights at PATH, to RET, the oldest first.
struct imp_error *journal_read_entry(struct store *store, const struct entry_name *entry,
				     struct journal *ret) MUST_CHECK;
struct imp_error *journal_read_path(struct store *store, const char *path,
				    struct journal *ret) MUST_CHECK;

// Appends all sights that stand in the same shard as those of the directory of PATH.
struct imp_error *journal_read_dir(struct store *store, const char *path,
				   struct journal *ret) MUST_CHECK;

// Appends COUNT lines, those of one shard by one write.
struct imp_error *journal_append(struct store *store, const struct journal_line *lines,
				 size_t count) MUST_CHECK;

#endif
