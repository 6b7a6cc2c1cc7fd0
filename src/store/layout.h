// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Names in a store: the one page that says where what lies. imprint-store(5) tells the same to
// people.
//
//	.build-id/ab/cdef…/			the entry of a build ID; where perf looks, too
//		ROLE.RANK.SHA256		an object: bytes, mode 0444 or less
//		elf debug vdso kallsyms		the best object once more, by perf's names
//	.build-id/ab/cdef….debug		gdb, elfutils, LLVM, systemtap: the best with
// symbols 	executables/.build-id/ab/cdef…		for core files: the program or library
//	.imprint/hashes/ab/abcdef…/		the entry of an image without a build ID
//	.imprint/version			"imprint store 1\n"
//	.imprint/lock				shared: while adding; exclusive: while taking away
//	.imprint/journal/ab			where entries were seen, what was verified
//	.imprint/paths/abc			the same sights, by the directory of their path
//	.imprint/pins/ID			never to be collected
//	.imprint/packed/ab/SHA256.METHOD	contents compressed, for archives
//	.imprint/tmp/RANDOM			being written
//	.imprint/damaged/NAME			set aside
//
// "Once more" is a second name of the same inode, or a link where the file system has none.
// The time of modification of an entry is when it was last used.
#ifndef STORE_LAYOUT_H
#define STORE_LAYOUT_H

#include "store/store.h"

#define LAYOUT_VERSION "imprint store 1\n"
#define LAYOUT_HOME ".imprint"

enum {
	// "executable.stripped." and a hash.
	OBJECT_NAME_SIZE = 96,
	// ".imprint/hashes/ab/" and the longest ID.
	ENTRY_DIR_SIZE = 160,
};

// An entry's name: the hex of its build ID, or of its hash.
struct entry_name {
	bool is_hash;
	char text[BUILD_ID_TEXT_SIZE];
};

struct entry_name entry_name_of(const struct build_id *id, const struct store_hash *hash);

struct entry_dir {
	char text[ENTRY_DIR_SIZE];
};
// ".build-id/ab/cdef…", of an ID of one byte ".build-id/ab/_"; ".imprint/hashes/ab/abcdef…".
struct entry_dir entry_dir_of(const struct entry_name *name);

// Whether the entry has names outside of it: an ID of one byte leaves nothing for a file's name, a
// hash means nothing to others.
bool entry_has_places(const struct entry_name *name);

// The shard of the journals for an entry's name: its first two digits; for the directory of a path:
// three of a sum.
struct shard {
	char text[4];
};
struct shard shard_of(const char *name);
struct shard shard_of_path(const char *path);

struct object_name {
	char text[OBJECT_NAME_SIZE];
};
struct object_name object_name_of(const struct store_object *object);
// Reads role, rank and hash from a file name; false when it is no object's.
bool object_name_parse(const char *name, struct store_object *ret);

#endif
