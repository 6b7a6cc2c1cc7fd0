// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// jit-PID.dump: the functions that a run-time compiler made, each with the time from which on it
// stood at its address.
//
// A function is known by the position of its code in the file, which is never used twice, while
// addresses are. Source: tools/perf/Documentation/jitdump-specification.txt of Linux 6.12.
#ifndef PERFDATA_JIT_DUMP_H
#define PERFDATA_JIT_DUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct jit_dump;

// Reads the file at PATH; NULL to *ret when there is none, or it is another user's. Damage and a
// record that is cut off end the reading; what came before is kept. IMP_ERR_BAD_DATA when it is no
// dump at all.
struct imp_error *jit_dump_open(const char *path, struct jit_dump **ret) MUST_CHECK;
// The same from SIZE bytes (copied).
struct imp_error *jit_dump_parse(const void *bytes, size_t size, struct jit_dump **ret) MUST_CHECK;
void jit_dump_free(struct jit_dump *dump);

// What its header says: the process as it knows itself.
uint32_t jit_dump_pid(const struct jit_dump *dump);
// Times are counts of a processor's clock, and so not to be compared with others.
bool jit_dump_has_arch_times(const struct jit_dump *dump);

// SIZE bytes of code whose position in the file is OFFSET stand at ADDRESS from TIME_NS on.
struct jit_placement {
	uint64_t time_ns, address, size, offset;
};

// Functions that were loaded and those that were moved, in the order of the file.
size_t jit_dump_placement_count(const struct jit_dump *dump);
const struct jit_placement *jit_dump_placement(const struct jit_dump *dump, size_t index);

struct jit_function {
	// The position of its code in the file.
	uint64_t offset, size;
	// Lent by the dump.
	const char *name;
};

// The function whose code is at OFFSET of the file. False when none is.
bool jit_dump_function_at(const struct jit_dump *dump, uint64_t offset, struct jit_function *ret);

#endif
