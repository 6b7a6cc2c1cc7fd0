/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Build IDs: the one name by which a binary is known. */
#ifndef IMPRINT_BUILD_ID_H
#define IMPRINT_BUILD_ID_H

#include <stdbool.h>
#include <stdint.h>

#include <imprint/error.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { IMP_BUILD_ID_BYTES = 64, IMP_BUILD_ID_TEXT = 2 * IMP_BUILD_ID_BYTES + 1 };

/* 1 to 64 bytes; size 0 is "none". Bytes beyond size are zero. */
struct imp_build_id {
	uint8_t size;
	uint8_t bytes[IMP_BUILD_ID_BYTES];
};

/* Reads the ID of the ELF file at PATH (its NT_GNU_BUILD_ID note, in segments or sections) at the
 * cost of a few reads. None when it has none or is no ELF file. IMP_ERR_SYSTEM when it cannot be
 * opened or read. */
IMP_API struct imp_error *imp_build_id_of_file(const char *path, struct imp_build_id *ret);

/* Writes ID in lower-case hex and a NUL to TEXT, of IMP_BUILD_ID_TEXT bytes; "" for none. */
IMP_API void imp_build_id_format(const struct imp_build_id *id, char *text);

/* Reads hex of either case, an optional "0x" in front. False, and none, when TEXT is anything else.
 */
IMP_API bool imp_build_id_parse(const char *text, struct imp_build_id *ret);

/* Same length, same bytes. None equals nothing. */
IMP_API bool imp_build_id_equal(const struct imp_build_id *a, const struct imp_build_id *b);

#ifdef __cplusplus
}
#endif

#endif
