// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Directories and links below an open directory, reached without ever following a link.
#ifndef STORE_BENEATH_H
#define STORE_BENEATH_H

#include <stdbool.h>

// Opens the directory PATH (relative, no "." or "..") below ROOT; makes what is missing when MAKE.
// -1 and errno otherwise; ELOOP or ENOTDIR when a component is a link or a file.
int beneath_open_dir(int root, const char *path, bool make);

// Splits PATH at its last slash and opens the directory in front of it. *name is the rest, lent by
// PATH.
int beneath_open_parent(int root, const char *path, bool make, const char **name);

// Removes the empty directories of PATH from the innermost outwards, down to but not including
// ROOT.
void beneath_prune(int root, const char *path);

// A name that nothing else in a directory for temporary files has.
struct tmp_name {
	char text[24];
};
struct tmp_name tmp_name_new(void);

// Makes TO_NAME in TO another name of the file FROM_NAME in FROM (no link), replacing at once what
// file or link is there; where the file system has no second names, a link with TEXT. TMP is a
// directory on the way. False and errno when the system refuses.
struct second_name {
	int from;
	const char *from_name;
	int to;
	const char *to_name;
	const char *text;
	int tmp;
};
bool beneath_second_name(const struct second_name *names);

#endif
