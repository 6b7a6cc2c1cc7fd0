// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Compressed copies: whole or not there at all, collected first, gone with what they are of.
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "harness/tap.h"
#include "store/packed.h"
#include "unit/store/scratch.h"

static const char content[] = "a content that is compressed";
static const char method[] = "test1-1";

static struct store_hash hash_of_content(void)
{
	struct store_hash hash = { 0 };
	CHECK_OK(store_hash_of_memory(content, sizeof content, &hash));
	return hash;
}

// Keeps a copy of `content` that says it is of HASH.
static void keep(struct store *store, const struct store_hash *hash)
{
	uint8_t frame[256];
	size_t size = ZSTD_compress(frame, sizeof frame, content, sizeof content, 1);
	struct packing *packing = NULL;
	REQUIRE_OK(packing_new(store, hash, method, &packing));
	CHECK_OK(packing_add(packing, frame, 10));
	CHECK_OK(packing_add(packing, frame + 10, size - 10));
	CHECK_OK(packing_end(packing));
}

static const char *copy_name(const struct store_hash *hash)
{
	static char name[200];
	struct store_hash_text text = store_hash_text(hash);
	(void)snprintf(name, sizeof name, "store/.imprint/packed/%.2s/%s.%s", text.text, text.text,
		       method);
	return name;
}

static bool has_copy(struct store *store, const struct store_hash *hash, const char *how)
{
	_cleanup_close_ int fd = -1;
	uint64_t size = 0;
	CHECK_OK(packed_open(store, hash, how, false, &fd, &size));
	return fd >= 0;
}

TEST(a_copy_is_found_under_its_hash_and_method)
{
	_cleanup_scratch_ struct scratch scratch = scratch_new();
	struct store_hash hash = hash_of_content();
	CHECK(!has_copy(scratch.store, &hash, method));
	keep(scratch.store, &hash);
	CHECK(!has_copy(scratch.store, &hash, "test1-2"));
	_cleanup_close_ int fd = -1;
	uint64_t size = 0;
	REQUIRE_OK(packed_open(scratch.store, &hash, method, false, &fd, &size));
	uint8_t frame[256];
	CHECK(fd >= 0 && size <= sizeof frame && read(fd, frame, size) == (ssize_t)size);
	char text[sizeof content];
	CHECK_UINT(ZSTD_decompress(text, sizeof text, frame, size), sizeof content);
	CHECK_TEXT(text, content);
}

TEST(a_copy_that_was_given_up_leaves_nothing)
{
	_cleanup_scratch_ struct scratch scratch = scratch_new();
	struct store_hash hash = hash_of_content();
	struct packing *packing = NULL;
	REQUIRE_OK(packing_new(scratch.store, &hash, method, &packing));
	CHECK_OK(packing_add(packing, "begun", 5));
	packing_free(packing);
	CHECK(!has_copy(scratch.store, &hash, method));
	struct store_verify_counts counts = { 0 };
	CHECK_OK(store_verify(scratch.store, &(struct store_verify_options){ 0 }, &counts));
	CHECK_UINT(counts.leftovers, 0);
}

static void damage(const struct scratch *scratch, const char *name, off_t at)
{
	const char *path = scratch_path(scratch, name);
	CHECK(!chmod(path, 0600));
	_cleanup_close_ int fd = open(path, O_RDWR | O_CLOEXEC);
	CHECK(fd >= 0 && pwrite(fd, "X", 1, at) == 1);
}

TEST(a_copy_with_one_other_byte_is_none)
{
	_cleanup_scratch_ struct scratch scratch = scratch_new();
	struct store_hash hash = hash_of_content();
	keep(scratch.store, &hash);
	damage(&scratch, copy_name(&hash), 9);
	CHECK(!has_copy(scratch.store, &hash, method));
	CHECK(!scratch_has(&scratch, copy_name(&hash)));
}

TEST(a_copy_cut_at_any_length_is_none)
{
	_cleanup_scratch_ struct scratch scratch = scratch_new();
	struct store_hash hash = hash_of_content();
	keep(scratch.store, &hash);
	struct stat stat_;
	CHECK(!stat(scratch_path(&scratch, copy_name(&hash)), &stat_));
	for (off_t size = 0; size < stat_.st_size; size++) {
		keep(scratch.store, &hash);
		CHECK(!truncate(scratch_path(&scratch, copy_name(&hash)), size));
		CHECK(!has_copy(scratch.store, &hash, method));
	}
}

TEST(verify_removes_the_copy_of_another_content)
{
	_cleanup_scratch_ struct scratch scratch = scratch_new();
	struct store_hash hash = hash_of_content();
	struct store_hash other = hash;
	other.bytes[31] ^= 1;
	keep(scratch.store, &hash);
	keep(scratch.store, &other);
	struct store_verify_counts counts = { 0 };
	CHECK_OK(store_verify(scratch.store, &(struct store_verify_options){ 0 }, &counts));
	CHECK_UINT(counts.leftovers, 1);
	CHECK(has_copy(scratch.store, &hash, method));
	CHECK(!has_copy(scratch.store, &other, method));
}

TEST(copies_are_collected_before_anything_else)
{
	_cleanup_scratch_ struct scratch scratch = scratch_new();
	struct store_hash hash = hash_of_content();
	struct store_item item = { .id = id_of("abcdef01"), .path = "/bin/p" };
	REQUIRE_OK(store_add_memory(scratch.store, &item, content, sizeof content, NULL));
	keep(scratch.store, &hash);
	struct store_gc_options options = { .most_bytes = sizeof content };
	struct store_gc_counts counts = { 0 };
	REQUIRE_OK(store_gc(scratch.store, &options, &counts));
	CHECK_UINT(counts.copies_gone, 1);
	CHECK_UINT(counts.copies_kept_bytes, 0);
	CHECK_UINT(counts.gone, 0);
	CHECK_UINT(counts.kept, 1);
	CHECK(!has_copy(scratch.store, &hash, method));
}

TEST(a_removed_entry_leaves_no_copy)
{
	_cleanup_scratch_ struct scratch scratch = scratch_new();
	struct store_hash hash = hash_of_content();
	struct store_item item = { .id = id_of("abcdef01"), .path = "/bin/p" };
	REQUIRE_OK(store_add_memory(scratch.store, &item, content, sizeof content, NULL));
	keep(scratch.store, &hash);
	bool found = false;
	CHECK_OK(store_remove(scratch.store, &item.id, NULL, &found));
	CHECK(found);
	CHECK(!has_copy(scratch.store, &hash, method));
}

TEST(a_store_that_is_read_only_keeps_none)
{
	_cleanup_scratch_ struct scratch scratch = scratch_new();
	struct store_hash hash = hash_of_content();
	keep(scratch.store, &hash);
	_cleanup_store_ struct store *store = NULL;
	REQUIRE_OK(store_open(scratch_path(&scratch, "store"), STORE_READ, NULL, &store));
	CHECK(has_copy(store, &hash, method));
	struct packing *packing = NULL;
	CHECK_ERROR(packing_new(store, &hash, method, &packing), IMP_ERR_USAGE);
	damage(&scratch, copy_name(&hash), 9);
	CHECK(!has_copy(store, &hash, method));
	CHECK(scratch_has(&scratch, copy_name(&hash)));
}
