// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Finds where records begin in bytes cut out of the middle of a recording.
#ifndef PERFDATA_GUESS_H
#define PERFDATA_GUESS_H

#include "perfdata/chunk.h"

// The first place in CHUNK, at or after ALIGNMENT modulo 8 of the file's offset, from which a chain
// of plausible records runs; or SIZE_MAX. Only a guess: it is right when the records before it end
// there.
size_t guess_first_record(const struct chunk *chunk, uint8_t alignment);

#endif
