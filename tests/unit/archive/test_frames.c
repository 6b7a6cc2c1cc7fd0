// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Archives of frames: the same bytes however they came about, and read like any other.
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive/bundle.h"
#include "archive/pack.h"
#include "archive/zstd_frame.h"
#include "harness/tap.h"
#include "store/packed.h"
#include "unit/store/scratch.h"

// A content of more than two frames that does not shrink to nothing.
static struct buffer large(unsigned seed)
{
	struct buffer bytes = { 0 };
	uint32_t state = seed;
	for (size_t i = 0; i < (size_t)2 * FRAME_MOST_BYTES / 4 + 1000; i++) {
		state = state * 1664525 + 1013904223;
		uint32_t word = i % 16 ? state >> 28 : state;
		buffer_append(&bytes, &word, sizeof word);
	}
	return bytes;
}

static const char *const texts[] = { "small", "", "another" };

static struct store_hash pack(const struct scratch *scratch, const struct buffer *big,
			      struct store *copies, unsigned workers)
{
	scratch_write(scratch, "perf.data", "a recording");
	_cleanup_(cleanup_pack) struct pack *pack = NULL;
	struct store_hash hash = { 0 };
	CHECK_OK(pack_new(&pack));
	CHECK_OK(pack_add_recording(pack, scratch_path(scratch, "perf.data")));
	// Without an ID: any bytes will do.
	struct store_item item = { .role = STORE_KALLSYMS };
	for (size_t i = 0; i < 3; i++)
		CHECK_OK(pack_add_object(pack, &item, texts[i], strlen(texts[i]), NULL));
	CHECK_OK(pack_add_object(pack, &item, big->bytes, big->size, NULL));
	struct tar_options options = { .compression = TAR_FRAMES,
				       .workers = workers,
				       .time_s = 1000 };
	CHECK_OK(pack_write(pack, PACK_IMPRINT, scratch_path(scratch, "a"), &options, copies));
	_cleanup_close_ int fd = open(scratch_path(scratch, "a"), O_RDONLY | O_CLOEXEC);
	uint64_t size;
	CHECK_OK(store_hash_of_fd(fd, "a", &hash, &size));
	return hash;
}

static struct imp_error *count_copy(void *arg, const struct packed_copy *copy)
{
	(void)copy;
	++*(size_t *)arg;
	return NULL;
}

TEST(threads_and_copies_do_not_change_the_bytes)
{
	_cleanup_scratch_ struct scratch scratch = scratch_new();
	_cleanup_buffer_ struct buffer big = large(7);
	struct store_hash plain = pack(&scratch, &big, NULL, 1);
	struct store_hash others[] = { pack(&scratch, &big, NULL, 3),
				       pack(&scratch, &big, scratch.store, 2),
				       pack(&scratch, &big, scratch.store, 1),
				       pack(&scratch, &big, scratch.store, 4) };
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		CHECK(store_hash_equal(&plain, &others[i]));
	size_t copies = 0;
	CHECK_OK(packed_walk(scratch.store, count_copy, &copies));
	// Not of the empty one, nor of the recording.
	CHECK_UINT(copies, 3);
}

TEST(a_damaged_copy_is_made_again)
{
	_cleanup_scratch_ struct scratch scratch = scratch_new();
	_cleanup_buffer_ struct buffer big = large(8);
	struct store_hash plain = pack(&scratch, &big, scratch.store, 2);
	struct store_hash hash;
	REQUIRE_OK(store_hash_of_memory(big.bytes, big.size, &hash));
	char name[200];
	(void)snprintf(name, sizeof name, "store/.imprint/packed/%.2s/%s.%s",
		       store_hash_text(&hash).text, store_hash_text(&hash).text,
		       frame_method().text);
	CHECK(!chmod(scratch_path(&scratch, name), 0600));
	CHECK(!truncate(scratch_path(&scratch, name), 1000));
	struct store_hash again = pack(&scratch, &big, scratch.store, 2);
	CHECK(store_hash_equal(&plain, &again));
	struct stat stat_;
	CHECK(!stat(scratch_path(&scratch, name), &stat_) && stat_.st_size > 1000);
}

TEST(frames_are_read_back)
{
	_cleanup_scratch_ struct scratch scratch = scratch_new();
	_cleanup_buffer_ struct buffer big = large(9);
	(void)pack(&scratch, &big, scratch.store, 2);
	CHECK(bundle_is(scratch_path(&scratch, "a")));
	struct bundle_target target = { .store = scratch.store };
	_cleanup_manifest_ struct manifest manifest = { 0 };
	REQUIRE_OK(bundle_read(scratch_path(&scratch, "a"), &target, &manifest));
	CHECK_UINT(manifest.objects.count, 4);
	struct store_hash hash;
	REQUIRE_OK(store_hash_of_memory(big.bytes, big.size, &hash));
	_cleanup_store_objects_ struct store_objects found = { 0 };
	REQUIRE_OK(store_find_hash(scratch.store, &hash, &found));
	CHECK_UINT(found.count, 1);
}

TEST(an_archive_that_cannot_be_written_is_an_error_whatever_the_threads)
{
	_cleanup_scratch_ struct scratch scratch = scratch_new();
	_cleanup_buffer_ struct buffer big = large(10);
	_cleanup_(cleanup_pack) struct pack *pack = NULL;
	REQUIRE_OK(pack_new(&pack));
	struct store_item item = { .role = STORE_KALLSYMS };
	CHECK_OK(pack_add_object(pack, &item, big.bytes, big.size, NULL));
	// Writing to standard output, which is a full disk.
	_cleanup_close_ int out = dup(STDOUT_FILENO);
	_cleanup_close_ int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
	if (full < 0 || fflush(stdout) || dup2(full, STDOUT_FILENO) < 0)
		return;
	struct tar_options options = { .compression = TAR_FRAMES, .workers = 3 };
	struct imp_error *err = pack_write(pack, PACK_IMPRINT, "-", &options, scratch.store);
	CHECK(dup2(out, STDOUT_FILENO) >= 0);
	CHECK_ERROR(err, IMP_ERR_SYSTEM);
}
