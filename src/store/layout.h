// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Names in a store: the one page that says where what lies. imprint-store(5) tells the same to
// people.
//
//	.imprint/version			"imprint store 1\n"
//	.imprint/lock				shared: while adding; exclusive: while taking away
//	.imprint/tmp/PID-N			being written
//	.imprint/damaged/NAME			set aside
//	.imprint/ids/ab/abcdef…/		the entry of a build ID
//		ROLE.RANK.SHA256		an object: bytes, mode 0444 or less
//		elf debug vdso kallsyms		links to the best object, by perf's names
//		journal				where seen, what was verified; its mtime: last used
//		pin				never to be collected; lines: why
//	.imprint/hashes/ab/abcdef…/		the same for an object without a build ID
//
//	.build-id/ab/cdef… -> ../../PATH/HEX	for perf: leads to the entry
//	.build-id/ab/cdef….debug		for gdb, elfutils, LLVM, systemtap: the best with
// symbols 	executables/.build-id/ab/cdef…		for core files: the program or library
//	PATH/HEX -> ../…/.imprint/ids/ab/HEX	what was seen at PATH
#ifndef STORE_LAYOUT_H
#define STORE_LAYOUT_H

#include "store/store.h"

#define LAYOUT_VERSION "imprint store 1\n"
#define LAYOUT_HOME ".imprint"

enum {
	// "executable.stripped." and a hash.
	OBJECT_NAME_SIZE = 96,
	// "hashes/ab/" and the longest ID.
	ENTRY_DIR_SIZE = 160,
	VIEW_PATH_SIZE = 4096,
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
// "ids/ab/abcdef…" below LAYOUT_HOME.
struct entry_dir entry_dir_of(const struct entry_name *name);

struct object_name {
	char text[OBJECT_NAME_SIZE];
};
struct object_name object_name_of(const struct store_object *object);
// Reads role, rank and hash from a file name; false when it is no object's.
bool object_name_parse(const char *name, struct store_object *ret);

// Whether PATH can stand in the tree as it is: absolute or bracketed, no odd components, nothing of
// ours.
bool layout_path_is_plain(const char *path);

#endif
