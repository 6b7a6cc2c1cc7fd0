// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Names as people write them, from names as linkers know them: C++, Rust (both manglings) and D.
#ifndef SYMBOLIZE_DEMANGLE_H
#define SYMBOLIZE_DEMANGLE_H

#include "base/error.h"

// *RET is the caller's, or NULL when NAME is not mangled: Go's names, C's, and what does not parse.
// What a compiler (".isra.0", ".cold") or this project ("@plt", "@VERSION") put behind the name is
// kept. Errors are for memory.
struct imp_error *demangle(const char *name, char **ret) MUST_CHECK;

#endif
