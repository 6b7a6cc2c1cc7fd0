// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// A directory of its own for a test, and a store in it.
#ifndef UNIT_STORE_SCRATCH_H
#define UNIT_STORE_SCRATCH_H

#include "store/store.h"

struct scratch {
	char dir[64];
	// dir/store, open for writing.
	struct store *store;
};

// Makes both; the test fails when that does not work.
struct scratch scratch_new(void);
void scratch_free(struct scratch *scratch);
#define _cleanup_scratch_ __attribute__((cleanup(scratch_free)))

// "DIR/NAME" of the scratch directory, in a ring of static buffers.
const char *scratch_path(const struct scratch *scratch, const char *name);

// Writes TEXT to a file in the scratch directory.
void scratch_write(const struct scratch *scratch, const char *name, const char *text);

// Whether there is a file, directory or link NAME.
bool scratch_has(const struct scratch *scratch, const char *name);

// The text of a file (read through links), or "".
const char *scratch_read(const struct scratch *scratch, const char *name);

// An ID of the digits HEX.
struct build_id id_of(const char *hex);

#endif
