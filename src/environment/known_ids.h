// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Build IDs that took long to read, packed files' above all, kept from one run to the next.
//
// A file is the same one when its device, inode, size, time of change and time of status are: the
// kernel sets the last, nobody else. The file they are kept in is text: a line of the form's name,
// then a line for each of those numbers, decimal, and the ID. It serves only when it is the user's
// own and nobody else may write it, and may be removed at any time.
#ifndef ENVIRONMENT_KNOWN_IDS_H
#define ENVIRONMENT_KNOWN_IDS_H

#include <stdbool.h>
#include <sys/stat.h>

#include "base/buffer.h"
#include "model/build_id.h"

struct known_ids {
	// Lent; NULL: nothing is kept.
	const char *path;
	struct buffer text;
	bool has_new;
};

// Reads what is kept at PATH; what cannot be read, or is not in this form, is nothing.
void known_ids_load(struct known_ids *ids, const char *path);

bool known_ids_find(const struct known_ids *ids, const struct stat *file, struct build_id *ret);

// FILE has ID. A file that changed within the last seconds is not kept: it could change once more
// without a sign.
void known_ids_add(struct known_ids *ids, const struct stat *file, const struct build_id *id);

// Writes what is new, making the directories above; that it cannot be written is no error.
void known_ids_save(struct known_ids *ids);

void known_ids_fini(struct known_ids *ids);
#define _cleanup_known_ids_ __attribute__((cleanup(known_ids_fini)))

#endif
