// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Writing, checking and removing compressed copies.
#include "store/packed.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <zstd.h>

#include "base/file.h"
#include "store/beneath.h"
#include "store/digest.h"
#include "store/root.h"

enum { STEP_BYTES = 256 * 1024, HEAD_SIZE = 8, END_SIZE = HEAD_SIZE + STORE_HASH_BYTES };

// What every zstd skips: its magic number, and how much.
static const uint8_t end_head[HEAD_SIZE] = { 0x50, 0x2a, 0x4d, 0x18, STORE_HASH_BYTES, 0, 0, 0 };

static void format_name(const struct store_hash *hash, const char *method, char *ret)
{
	(void)snprintf(ret, PACKED_NAME_SIZE, "%s.%s", store_hash_text(hash).text, method);
}

// The directory of copies whose hashes begin as NAME does; -1 and errno.
static int open_shard(struct store *store, const char *name, bool make)
{
	char path[16];
	(void)snprintf(path, sizeof path, "packed/%.2s", name);
	return beneath_open_dir(store->home, path, make);
}

// Compares the frames in FD with the hash behind them.
static struct imp_error *check_frames(struct store *store, int fd, uint64_t size, bool *ret)
{
	_cleanup_digest_ EVP_MD_CTX *digest = NULL;
	_cleanup_free_ uint8_t *bytes = malloc(STEP_BYTES);
	struct imp_error *err = bytes ? digest_new(store, &digest) : &imp_error_no_memory;
	size_t got = 1;
	for (uint64_t at = 0; !err && got && at < size; at += got) {
		size_t step = size - at < STEP_BYTES ? (size_t)(size - at) : STEP_BYTES;
		err = file_pread(fd, store->dir, bytes, step, at, &got);
		if (!err)
			err = digest_add(digest, bytes, got);
	}
	uint8_t end[END_SIZE];
	if (!err)
		err = file_pread(fd, store->dir, end, sizeof end, size, &got);
	struct store_hash hash;
	if (!err)
		err = digest_end(digest, &hash);
	if (!err)
		*ret = got == sizeof end && !memcmp(end, end_head, HEAD_SIZE) &&
		       !memcmp(end + HEAD_SIZE, hash.bytes, sizeof hash.bytes);
	return err;
}

struct imp_error *packed_open(struct store *store, const struct store_hash *hash,
			      const char *method, bool is_checked, int *ret, uint64_t *size)
{
	*ret = -1;
	char name[PACKED_NAME_SIZE];
	format_name(hash, method, name);
	_cleanup_close_ int shard = open_shard(store, name, false);
	_cleanup_close_ int fd = shard < 0 ? -1
					   : openat(shard, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	struct stat stat;
	// Whatever keeps it from being read, it can be made again.
	if (fd < 0 || fstat(fd, &stat) < 0 || !S_ISREG(stat.st_mode))
		return NULL;
	bool is_whole = is_checked && stat.st_size > END_SIZE;
	*size = stat.st_size > END_SIZE ? (uint64_t)stat.st_size - END_SIZE : 0;
	struct imp_error *err = *size && !is_whole ? check_frames(store, fd, *size, &is_whole)
						   : NULL;
	if (err)
		return err;
	if (!is_whole && store_is_writable(store))
		(void)unlinkat(shard, name, 0);
	if (!is_whole)
		return NULL;
	entry_touch(fd);
	*ret = steal_fd(&fd);
	return NULL;
}

struct packing {
	struct store *store;
	char name[PACKED_NAME_SIZE];
	struct tmp_name tmp;
	int fd;
	EVP_MD_CTX *digest;
};

void packing_free(struct packing *packing)
{
	if (!packing)
		return;
	if (packing->fd >= 0) {
		(void)close(packing->fd);
		(void)unlinkat(packing->store->tmp, packing->tmp.text, 0);
	}
	EVP_MD_CTX_free(packing->digest);
	free(packing);
}

struct imp_error *packing_new(struct store *store, const struct store_hash *hash,
			      const char *method, struct packing **ret)
{
	if (!store_is_writable(store))
		return error_new(IMP_ERR_USAGE, "%s: the store is open for reading only",
				 store->dir);
	_cleanup_(cleanup_packing) struct packing *packing = calloc(1, sizeof *packing);
	if (!packing)
		return &imp_error_no_memory;
	packing->store = store;
	packing->tmp = tmp_name_new();
	format_name(hash, method, packing->name);
	// For the owner alone: the content may not be for everybody.
	packing->fd = openat(store->tmp, packing->tmp.text,
			     O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0400);
	if (packing->fd < 0)
		return error_system(errno, "%s: cannot create a file", store->dir);
	struct imp_error *err = digest_new(store, &packing->digest);
	if (!err)
		*ret = steal(packing);
	return err;
}

struct imp_error *packing_add(struct packing *packing, const void *frames, size_t size)
{
	struct imp_error *err = digest_add(packing->digest, frames, size);
	return err ? err : file_write(packing->fd, packing->store->dir, frames, size);
}

struct imp_error *packing_end(struct packing *packing)
{
	_cleanup_(cleanup_packing) struct packing *own = packing;
	uint8_t end[END_SIZE];
	struct store_hash hash;
	struct imp_error *err = digest_end(own->digest, &hash);
	if (err)
		return err;
	memcpy(end, end_head, HEAD_SIZE);
	memcpy(end + HEAD_SIZE, hash.bytes, sizeof hash.bytes);
	err = file_write(own->fd, own->store->dir, end, sizeof end);
	if (err)
		return err;
	_cleanup_close_ int shard = open_shard(own->store, own->name, true);
	if (shard < 0 || renameat(own->store->tmp, own->tmp.text, shard, own->name) < 0)
		return error_system(errno, "%s: cannot keep a compressed copy", own->store->dir);
	(void)close(steal_fd(&own->fd));
	return NULL;
}

static bool parse_name(const char *name, struct packed_copy *ret)
{
	size_t length = strlen(name);
	if (length < STORE_HASH_TEXT_SIZE + 1 || length >= sizeof ret->name ||
	    name[STORE_HASH_TEXT_SIZE - 1] != '.')
		return false;
	char hex[STORE_HASH_TEXT_SIZE];
	memcpy(hex, name, sizeof hex - 1);
	hex[sizeof hex - 1] = 0;
	memcpy(ret->name, name, length + 1);
	return store_hash_parse(hex, &ret->hash);
}

static struct imp_error *walk_shard(struct store *store, const char *digits, packed_visitor *visit,
				    void *arg)
{
	_cleanup_close_ int shard = open_shard(store, digits, false);
	_cleanup_dir_ DIR *dir = shard < 0 ? NULL : open_listing(shard);
	struct imp_error *err = NULL;
	for (struct dirent *file; dir && !err && (file = readdir(dir));) {
		struct packed_copy copy;
		struct stat stat;
		if (!parse_name(file->d_name, &copy) ||
		    fstatat(shard, file->d_name, &stat, AT_SYMLINK_NOFOLLOW) < 0 ||
		    !S_ISREG(stat.st_mode))
			continue;
		copy.size_bytes = (uint64_t)stat.st_size;
		copy.used_s = stat.st_mtim.tv_sec;
		err = visit(arg, &copy);
	}
	return err;
}

struct imp_error *packed_walk(struct store *store, packed_visitor *visit, void *arg)
{
	struct imp_error *err = NULL;
	for (unsigned byte = 0; !err && byte < 256; byte++) {
		char digits[3];
		(void)snprintf(digits, sizeof digits, "%02x", byte & 0xff);
		err = walk_shard(store, digits, visit, arg);
	}
	return err;
}

// The SHA-256 of what the frames in FD unpack to; *is_whole is false when they do not.
static struct imp_error *unpack(struct store *store, int fd, struct store_hash *ret, bool *is_whole)
{
	_cleanup_digest_ EVP_MD_CTX *digest = NULL;
	_cleanup_free_ uint8_t *bytes = malloc((size_t)2 * STEP_BYTES);
	ZSTD_DCtx *zstd = ZSTD_createDCtx();
	struct imp_error *err = bytes && zstd ? digest_new(store, &digest) : &imp_error_no_memory;
	size_t got = 1;
	size_t left = 0;
	for (uint64_t at = 0; !err && got && !ZSTD_isError(left); at += got) {
		err = file_pread(fd, store->dir, bytes, STEP_BYTES, at, &got);
		ZSTD_inBuffer in = { bytes, err ? 0 : got, 0 };
		bool is_full = false;
		// What was read may be used up while more is to come out.
		while (!err && !ZSTD_isError(left) && (in.pos < in.size || (left && is_full))) {
			ZSTD_outBuffer out = { bytes + STEP_BYTES, STEP_BYTES, 0 };
			left = ZSTD_decompressStream(zstd, &out, &in);
			is_full = out.pos == out.size;
			err = digest_add(digest, out.dst, out.pos);
		}
	}
	(void)ZSTD_freeDCtx(zstd);
	*is_whole = !left;
	return err ? err : digest_end(digest, ret);
}

struct imp_error *packed_check(struct store *store, const struct packed_copy *copy, bool *ret)
{
	_cleanup_close_ int shard = open_shard(store, copy->name, false);
	_cleanup_close_ int fd =
		shard < 0 ? -1 : openat(shard, copy->name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	// Gone meanwhile, or another user's.
	*ret = fd < 0;
	if (fd < 0)
		return NULL;
	struct store_hash hash = { 0 };
	bool unpacks = false;
	bool is_whole = false;
	struct imp_error *err = NULL;
	if (copy->size_bytes > END_SIZE)
		err = check_frames(store, fd, copy->size_bytes - END_SIZE, &is_whole);
	if (!err && is_whole)
		err = unpack(store, fd, &hash, &unpacks);
	*ret = is_whole && unpacks && store_hash_equal(&hash, &copy->hash);
	return err;
}

bool packed_remove(struct store *store, const struct packed_copy *copy)
{
	_cleanup_close_ int shard = open_shard(store, copy->name, false);
	if (shard < 0 || unlinkat(shard, copy->name, 0) < 0)
		return false;
	char path[16];
	(void)snprintf(path, sizeof path, "packed/%.2s", copy->name);
	(void)unlinkat(store->home, path, AT_REMOVEDIR);
	return true;
}

static struct imp_error *remove_if_of(void *arg, const struct packed_copy *copy)
{
	struct packed_copy *wanted = arg;
	if (store_hash_equal(&copy->hash, &wanted->hash))
		memcpy(wanted->name, copy->name, sizeof wanted->name);
	return NULL;
}

void packed_remove_all(struct store *store, const struct store_hash *hash)
{
	struct store_hash_text text = store_hash_text(hash);
	for (;;) {
		struct packed_copy copy = { .hash = *hash };
		_cleanup_error_ struct imp_error *err =
			walk_shard(store, text.text, remove_if_of, &copy);
		if (err || !*copy.name || !packed_remove(store, &copy))
			return;
	}
}
