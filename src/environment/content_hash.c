// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Hashing by libcrypto, which uses the processor's own instructions.
#include "environment/content_hash.h"

#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/late/late_crypto.h"

bool content_hash_of(int fd, uint8_t *hash)
{
	enum { STEP = 256 * 1024 };
	struct stat stat;
	if (fstat(fd, &stat) || !S_ISREG(stat.st_mode))
		return false;
	_cleanup_error_ struct imp_error *missing = late_crypto_load();
	if (missing)
		return false;
	_cleanup_free_ uint8_t *bytes = malloc(STEP);
	EVP_MD_CTX *digest = EVP_MD_CTX_new();
	bool is_good = bytes && digest && EVP_DigestInit_ex(digest, EVP_sha256(), NULL);
	for (uint64_t at = 0; is_good;) {
		size_t got = 0;
		struct imp_error *err = file_pread(fd, "", bytes, STEP, at, &got);
		imp_error_free(err);
		is_good = !err && EVP_DigestUpdate(digest, bytes, got);
		at += got;
		if (got < STEP)
			break;
	}
	is_good = is_good && EVP_DigestFinal_ex(digest, hash, NULL);
	EVP_MD_CTX_free(digest);
	return is_good;
}
