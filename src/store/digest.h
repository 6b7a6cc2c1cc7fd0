// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The hash by which contents are known, as they are read.
#ifndef STORE_DIGEST_H
#define STORE_DIGEST_H

#include "store/root.h"

// Begins a SHA-256; give it back with EVP_MD_CTX_free().
struct imp_error *digest_new(struct store *store, EVP_MD_CTX **ret) MUST_CHECK;
struct imp_error *digest_add(EVP_MD_CTX *digest, const void *bytes, size_t size) MUST_CHECK;
struct imp_error *digest_end(EVP_MD_CTX *digest, struct store_hash *ret) MUST_CHECK;
DEFINE_CLEANUP(EVP_MD_CTX *, digest, EVP_MD_CTX_free)
#define _cleanup_digest_ _cleanup_(cleanup_digest)

// Hashes IN from its beginning to its end and, with OUT >= 0, writes the very same bytes there.
struct imp_error *digest_fd(struct store *store, int in, const char *path, int out,
			    struct store_hash *ret, uint64_t *size) MUST_CHECK;
struct imp_error *digest_memory(struct store *store, const void *bytes, size_t size,
				struct store_hash *ret) MUST_CHECK;

#endif
