// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Compressed copies: what archives are made of, kept so that each content is compressed once.
//
// A copy stands at .imprint/packed/ab/SHA256.METHOD: frames of zstd, then one to be skipped with
// the SHA-256 of all before it. Equal methods make equal bytes. A copy can always be made again: it
// is not made durable, and one that is not whole is removed by whoever meets it.
#ifndef STORE_PACKED_H
#define STORE_PACKED_H

#include "store/store.h"

enum { PACKED_METHOD_SIZE = 24, PACKED_NAME_SIZE = STORE_HASH_TEXT_SIZE + PACKED_METHOD_SIZE };

// Opens the copy of the content HASH made by METHOD, at its beginning; *size is that of its frames.
// *ret is -1 when there is no whole one; IS_CHECKED: that it is whole was seen before. Notes that
// it was used.
struct imp_error *packed_open(struct store *store, const struct store_hash *hash,
			      const char *method, bool is_checked, int *ret,
			      uint64_t *size) MUST_CHECK;

// A copy being written; under its name only when it is whole.
struct packing;
struct imp_error *packing_new(struct store *store, const struct store_hash *hash,
			      const char *method, struct packing **ret) MUST_CHECK;
struct imp_error *packing_add(struct packing *packing, const void *frames, size_t size) MUST_CHECK;
// Completes the copy and frees PACKING in any case.
struct imp_error *packing_end(struct packing *packing) MUST_CHECK;
// Gives up; nothing is left behind.
void packing_free(struct packing *packing);

struct packed_copy {
	struct store_hash hash;
	char name[PACKED_NAME_SIZE];
	uint64_t size_bytes;
	// When it was last used, to the hour.
	int64_t used_s;
};

// Visits all copies, in no order.
typedef struct imp_error *packed_visitor(void *arg, const struct packed_copy *copy);
struct imp_error *packed_walk(struct store *store, packed_visitor *visit, void *arg) MUST_CHECK;

// Unpacks COPY: *ret says whether it is whole and of the content that its name says.
struct imp_error *packed_check(struct store *store, const struct packed_copy *copy,
			       bool *ret) MUST_CHECK;

// Removes one copy, and says whether it did; all copies of a content.
bool packed_remove(struct store *store, const struct packed_copy *copy);
void packed_remove_all(struct store *store, const struct store_hash *hash);

DEFINE_CLEANUP(struct packing *, packing, packing_free)

#endif
