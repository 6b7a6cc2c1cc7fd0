// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Images in other people's packages: .deb, .rpm, tar files of any compression, perf's archives.
//
// Of what is in them nothing is believed and nothing is written by its name: members that begin as
// ELF files are copied to a file without a name, links and devices are passed over.
#ifndef ARCHIVE_PACKAGE_H
#define ARCHIVE_PACKAGE_H

#include <stdbool.h>

#include "store/store.h"

struct package_target {
	// Where larger members are unpacked to for the time.
	struct store *store;
	// Whether a member that is no ELF file is wanted, too. May be NULL.
	bool (*wants)(const char *name);
	// Called for each member of interest, its content open at FD, which is closed afterwards.
	// NAME is as the package has it.
	struct imp_error *(*visit)(void *arg, const char *name, int fd);
	void *arg;
};

// Whether the file at PATH begins as a package does. False also when it cannot be read.
bool package_is(const char *path);

// Visits the members of the package at PATH, those of a tar file inside of it, too.
// IMP_ERR_BAD_DATA names the member.
struct imp_error *package_read(const char *path, const struct package_target *target) MUST_CHECK;

#endif
