// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Compressed files in memory: .gz, .xz, .lzma, .zst, .bz2, .lz4, and the kernel inside a bzImage.
#ifndef ELF_UNPACK_H
#define ELF_UNPACK_H

#include <stdbool.h>

#include "base/buffer.h"
#include "base/error.h"

// True when BYTES begin as one of the forms that unpack() knows (a bzImage among them).
bool unpack_knows(const void *bytes, size_t size);

// Appends the unpacked content of BYTES to RET; bytes after its end are ignored, as kernels put
// sizes and signatures there. IMP_ERR_BAD_DATA when damaged or when it unpacks to more than LIMIT
// bytes. A form without a library here is IMP_ERR_UNSUPPORTED.
struct imp_error *unpack(const void *bytes, size_t size, size_t limit,
			 struct buffer *ret) MUST_CHECK;

// The same for an .xz stream alone (.gnu_debugdata).
struct imp_error *unpack_xz(const void *bytes, size_t size, size_t limit,
			    struct buffer *ret) MUST_CHECK;

#endif
