// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// SHA-256 by libcrypto.
#include "store/digest.h"

#include <sys/stat.h>

#include "base/file.h"

enum { COPY_BYTES = 256 * 1024 };

// SHA-256, looked for once in a store's life: each look costs as much as hashing a page.
static struct imp_error *find_sha256(struct store *store, EVP_MD **ret)
{
	*ret = atomic_load(&store->sha256);
	if (*ret)
		return NULL;
	struct imp_error *err = late_crypto_load();
	if (err)
		return err;
	EVP_MD *found = EVP_MD_fetch(NULL, "SHA256", NULL), *other = NULL;
	if (!found)
		return &imp_error_no_memory;
	if (!atomic_compare_exchange_strong(&store->sha256, &other, found)) {
		EVP_MD_free(found);
		found = other;
	}
	*ret = found;
	return NULL;
}

void store_digest_fini(struct store *store)
{
	EVP_MD *sha256 = atomic_load(&store->sha256);
	if (sha256)
		EVP_MD_free(sha256);
}

struct imp_error *digest_new(struct store *store, EVP_MD_CTX **ret)
{
	EVP_MD *sha256;
	struct imp_error *err = find_sha256(store, &sha256);
	if (err)
		return err;
	EVP_MD_CTX *digest = EVP_MD_CTX_new();
	if (!digest || !EVP_DigestInit_ex(digest, sha256, NULL)) {
		EVP_MD_CTX_free(digest);
		return &imp_error_no_memory;
	}
	*ret = digest;
	return NULL;
}

struct imp_error *digest_add(EVP_MD_CTX *digest, const void *bytes, size_t size)
{
	return EVP_DigestUpdate(digest, bytes, size)
		       ? NULL
		       : error_new(IMP_ERR_UNSUPPORTED, "SHA-256 does not work here");
}

struct imp_error *digest_end(EVP_MD_CTX *digest, struct store_hash *ret)
{
	if (!EVP_DigestFinal_ex(digest, ret->bytes, NULL))
		return error_new(IMP_ERR_UNSUPPORTED, "SHA-256 does not work here");
	return NULL;
}

struct imp_error *digest_fd(struct store *store, int in, const char *path, int out,
			    struct store_hash *ret, uint64_t *size)
{
	_cleanup_digest_ EVP_MD_CTX *digest = NULL;
	struct imp_error *err = digest_new(store, &digest);
	// A file that its size says is at its end is not asked again.
	struct stat stat;
	uint64_t end = fstat(in, &stat) < 0 ? UINT64_MAX : (uint64_t)stat.st_size;
	_cleanup_free_ uint8_t *bytes = malloc(end < COPY_BYTES ? (size_t)end + 1 : COPY_BYTES);
	if (!err && !bytes)
		err = &imp_error_no_memory;
	uint64_t done = 0;
	for (size_t got = 1; !err && got && done < end; done += got) {
		size_t wanted = end - done < COPY_BYTES ? (size_t)(end - done) : COPY_BYTES;
		err = file_pread(in, path, bytes, wanted, done, &got);
		if (!err)
			err = digest_add(digest, bytes, got);
		if (!err && out >= 0)
			err = file_write(out, store->dir, bytes, got);
	}
	if (err)
		return err;
	*size = done;
	return digest_end(digest, ret);
}

struct imp_error *store_hash_fd(struct store *store, int fd, const char *path,
				struct store_hash *ret, uint64_t *size)
{
	return digest_fd(store, fd, path, -1, ret, size);
}

struct imp_error *digest_memory(struct store *store, const void *bytes, size_t size,
				struct store_hash *ret)
{
	_cleanup_digest_ EVP_MD_CTX *digest = NULL;
	struct imp_error *err = digest_new(store, &digest);
	if (err)
		return err;
	err = digest_add(digest, bytes, size);
	return err ? err : digest_end(digest, ret);
}

struct imp_error *store_hash_of_fd(int fd, const char *path, struct store_hash *ret, uint64_t *size)
{
	struct store anywhere = { .root = -1 };
	struct imp_error *err = store_hash_fd(&anywhere, fd, path, ret, size);
	store_digest_fini(&anywhere);
	return err;
}

struct imp_error *store_hash_of_memory(const void *bytes, size_t size, struct store_hash *ret)
{
	struct store anywhere = { .root = -1 };
	struct imp_error *err = digest_memory(&anywhere, bytes, size, ret);
	store_digest_fini(&anywhere);
	return err;
}
