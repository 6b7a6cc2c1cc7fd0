// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Archives packed and read back, and hostile ones refused with the name of the member.
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive/bundle.h"
#include "archive/pack.h"
#include "harness/tap.h"
#include "make/elf.h"
#include "unit/store/scratch.h"

static const struct tar_options options = { .compression = TAR_ZSTD, .level = 1, .time_s = 1000 };

static struct buffer library(const char *hex, const char *prefix)
{
	struct build_id id = id_of(hex);
	struct buffer bytes = { 0 };
	make_library(id.bytes, id.size, prefix, &bytes);
	return bytes;
}

// Packs two recordings that share a library and differ in another.
static void pack_two(const struct scratch *scratch, const char *name)
{
	scratch_write(scratch, "perf.data", "first recording");
	CHECK(!mkdir(scratch_path(scratch, "again"), 0700) || true);
	scratch_write(scratch, "again/perf.data", "second recording");
	_cleanup_buffer_ struct buffer shared = library("abcdef01", "shared_");
	_cleanup_buffer_ struct buffer own = library("abcdef02", "own_");
	_cleanup_(cleanup_pack) struct pack *pack = NULL;
	REQUIRE_OK(pack_new(&pack));
	CHECK_OK(pack_add_recording(pack, scratch_path(scratch, "perf.data")));
	CHECK_OK(pack_add_recording(pack, scratch_path(scratch, "again/perf.data")));
	struct store_item item = { .id = id_of("abcdef01"), .path = "/lib/shared.so" };
	bool is_new = false;
	CHECK_OK(pack_add_object(pack, &item, shared.bytes, shared.size, &is_new));
	CHECK(is_new);
	CHECK_OK(pack_add_object(pack, &item, shared.bytes, shared.size, &is_new));
	CHECK(!is_new);
	item = (struct store_item){ .id = id_of("abcdef02"), .path = "/lib/own.so" };
	CHECK_OK(pack_add_object(pack, &item, own.bytes, own.size, &is_new));
	struct build_id lost = id_of("ffff");
	CHECK_OK(pack_add_missing(pack, &lost, "/lib/lost.so"));
	CHECK_OK(pack_write(pack, PACK_IMPRINT, scratch_path(scratch, name), &options, NULL));
}

TEST(an_archive_is_put_into_a_store)
{
	_cleanup_scratch_ struct scratch scratch = scratch_new();
	pack_two(&scratch, "a");
	CHECK(bundle_is(scratch_path(&scratch, "a")));
	CHECK(!bundle_is(scratch_path(&scratch, "perf.data")));
	struct bundle_target target = { .store = scratch.store };
	_cleanup_manifest_ struct manifest manifest = { 0 };
	REQUIRE_OK(bundle_read(scratch_path(&scratch, "a"), &target, &manifest));
	CHECK_UINT(manifest.missing.count, 1);
	struct build_id id = id_of("abcdef02");
	_cleanup_store_objects_ struct store_objects found = { 0 };
	REQUIRE_OK(store_find_all(scratch.store, &id, &found));
	CHECK_UINT(found.count, 1);
	CHECK(scratch_has(&scratch, "store/.build-id/ab/cdef01/elf"));
}

TEST(an_archive_stands_in_for_one_of_its_recordings)
{
	_cleanup_scratch_ struct scratch scratch = scratch_new();
	pack_two(&scratch, "a");
	_cleanup_(cleanup_bundle) struct bundle *bundle = NULL;
	CHECK_ERROR(bundle_open(scratch_path(&scratch, "a"), NULL, scratch.dir, NULL, &bundle),
		    IMP_ERR_USAGE);
	REQUIRE_OK(bundle_open(scratch_path(&scratch, "a"), "2-perf.data", scratch.dir, NULL,
			       &bundle));
	char text[64] = { 0 };
	_cleanup_close_ int fd = open(bundle_recording_path(bundle), O_RDONLY | O_CLOEXEC);
	CHECK(read(fd, text, sizeof text - 1) > 0);
	CHECK_TEXT(text, "second recording");
	char dir[256];
	(void)snprintf(dir, sizeof dir, "%s", bundle_images_dir(bundle));
	char elf[300];
	(void)snprintf(elf, sizeof elf, "%s/.build-id/ab/cdef01/elf", dir);
	CHECK(!access(elf, R_OK));
	bundle_close(bundle);
	bundle = NULL;
	CHECK(access(dir, F_OK) < 0);
}

TEST(the_same_needs_make_the_same_bytes)
{
	_cleanup_scratch_ struct scratch scratch = scratch_new();
	pack_two(&scratch, "a");
	pack_two(&scratch, "b");
	struct store_hash hashes[2];
	const char *const names[] = { "a", "b" };
	for (size_t i = 0; i < 2; i++) {
		uint64_t size;
		_cleanup_close_ int fd =
			open(scratch_path(&scratch, names[i]), O_RDONLY | O_CLOEXEC);
		REQUIRE_OK(store_hash_of_fd(fd, names[i], &hashes[i], &size));
	}
	CHECK(store_hash_equal(&hashes[0], &hashes[1]));
}

TEST(what_the_other_side_has_is_left_out)
{
	_cleanup_scratch_ struct scratch scratch = scratch_new();
	pack_two(&scratch, "base");
	_cleanup_manifest_ struct manifest base = { 0 };
	REQUIRE_OK(bundle_manifest(scratch_path(&scratch, "base"), &base));
	_cleanup_buffer_ struct buffer shared = library("abcdef01", "shared_");
	_cleanup_buffer_ struct buffer fresh = library("abcdef03", "fresh_");
	_cleanup_(cleanup_pack) struct pack *pack = NULL;
	REQUIRE_OK(pack_new(&pack));
	struct store_item item = { .id = id_of("abcdef01") };
	CHECK_OK(pack_add_object(pack, &item, shared.bytes, shared.size, NULL));
	item.id = id_of("abcdef03");
	CHECK_OK(pack_add_object(pack, &item, fresh.bytes, fresh.size, NULL));
	CHECK_OK(pack_leave_out(pack, &base));
	CHECK_OK(pack_write(pack, PACK_IMPRINT, scratch_path(&scratch, "b"), &options, NULL));
	struct bundle_target target = { .store = scratch.store };
	_cleanup_manifest_ struct manifest manifest = { 0 };
	REQUIRE_OK(bundle_read(scratch_path(&scratch, "b"), &target, &manifest));
	CHECK(scratch_has(&scratch, "store/.build-id/ab/cdef03/elf"));
	CHECK(!scratch_has(&scratch, "store/.build-id/ab/cdef01"));
}

// The parts of a hostile archive; each is a sound one but for one fault.
struct fault {
	const char *title;
	// Members after the manifest: name and content, or a link's target.
	const char *name, *content, *target;
	const char *says;
};

#define SOUND_HASH "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"

static const char sound_manifest[] =
	"{\"format\": \"imprint-archive\", \"version\": 1, \"recordings\": [{\"name\": "
	"\"perf.data\", \"size\": 5, \"sha256\": \"" SOUND_HASH "\"}], \"objects\": [{\"sha256\": "
	"\"" SOUND_HASH "\", \"size\": 5, \"build_id\": null, \"role\": \"kallsyms\", \"rank\": "
	"\"stripped\", \"path\": \"[kernel.kallsyms]\"}], \"missing\": []}";

static const struct fault faults[] = {
	{ "an absolute name", "/etc/passwd", "hello", NULL, "member '/etc/passwd'" },
	{ "a way out", "objects/../../outside", "hello", NULL, "member 'objects/../../outside'" },
	{ "a link", "objects/" SOUND_HASH, NULL, "/etc/passwd", "not a plain file" },
	{ "a name not in the manifest", "recordings/other", "hello", NULL, "not in the manifest" },
	{ "another content", "recordings/perf.data", "hallo", NULL, "not what the manifest says" },
	{ "another content", "objects/" SOUND_HASH, "hallo", NULL, "not what the manifest says" },
	{ "another size", "recordings/perf.data", "hello!", NULL, "the manifest says 5" },
	{ "a member missing", "recordings/perf.data", "hello", NULL, "is missing" },
};

static struct imp_error *begin(void *arg, const struct manifest_recording *recording, int *ret)
{
	char path[128];
	(void)snprintf(path, sizeof path, "%s/%s.part", (const char *)arg, recording->name);
	*ret = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	return NULL;
}

static void check_refused(const struct scratch *scratch, const char *says)
{
	char dir[64];
	memcpy(dir, scratch->dir, sizeof dir);
	struct bundle_target target = { .store = scratch->store, .begin = begin, .arg = dir };
	_cleanup_manifest_ struct manifest manifest = { 0 };
	_cleanup_error_ struct imp_error *err =
		bundle_read(scratch_path(scratch, "hostile"), &target, &manifest);
	if (!err)
		tap_fail(__FILE__, __LINE__, "taken, expected: %s", says);
	else if (!strstr(imp_error_message(err), says))
		tap_fail(__FILE__, __LINE__, "'%s' lacks '%s'", imp_error_message(err), says);
	CHECK(!scratch_has(scratch, "store/.imprint/hashes/2c"));
	CHECK(!scratch_has(scratch, "outside"));
}

TEST(hostile_archives_are_refused_with_the_members_name)
{
	for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
		const struct fault *fault = &faults[i];
		_cleanup_scratch_ struct scratch scratch = scratch_new();
		struct tar_stream *tar;
		REQUIRE_OK(tar_stream_new(scratch_path(&scratch, "hostile"), &options, &tar));
		CHECK_OK(tar_stream_memory(tar, "manifest.json", sound_manifest,
					   sizeof sound_manifest - 1));
		if (fault->target)
			CHECK_OK(tar_stream_link(tar, fault->name, fault->target));
		else
			CHECK_OK(tar_stream_memory(tar, fault->name, fault->content,
						   strlen(fault->content)));
		REQUIRE_OK(tar_stream_close(tar));
		check_refused(&scratch, fault->says);
	}
}

TEST(a_member_that_is_there_twice_is_refused)
{
	_cleanup_scratch_ struct scratch scratch = scratch_new();
	struct tar_stream *tar;
	REQUIRE_OK(tar_stream_new(scratch_path(&scratch, "hostile"), &options, &tar));
	CHECK_OK(
		tar_stream_memory(tar, "manifest.json", sound_manifest, sizeof sound_manifest - 1));
	for (int i = 0; i < 2; i++)
		CHECK_OK(tar_stream_memory(tar, "recordings/perf.data", "hello", 5));
	REQUIRE_OK(tar_stream_close(tar));
	check_refused(&scratch, "there twice");
}

TEST(a_bomb_is_refused_by_its_own_claims)
{
	_cleanup_scratch_ struct scratch scratch = scratch_new();
	static const char text[] =
		"{\"format\": \"imprint-archive\", \"version\": 1, \"recordings\": [{\"name\": "
		"\"x\", \"size\": 100000000000, \"sha256\": \"" SOUND_HASH
		"\"}], \"objects\": [], \"missing\": []}";
	struct tar_stream *tar;
	REQUIRE_OK(tar_stream_new(scratch_path(&scratch, "hostile"), &options, &tar));
	CHECK_OK(tar_stream_memory(tar, "manifest.json", text, sizeof text - 1));
	REQUIRE_OK(tar_stream_close(tar));
	check_refused(&scratch, "member 'manifest.json': claims");
}

TEST(an_object_of_another_build_than_claimed_is_refused)
{
	_cleanup_scratch_ struct scratch scratch = scratch_new();
	_cleanup_buffer_ struct buffer bytes = library("abcdef01", "a_");
	_cleanup_(cleanup_pack) struct pack *pack = NULL;
	REQUIRE_OK(pack_new(&pack));
	struct store_item item = { .id = id_of("abcdef02") };
	CHECK_OK(pack_add_object(pack, &item, bytes.bytes, bytes.size, NULL));
	CHECK_OK(pack_write(pack, PACK_IMPRINT, scratch_path(&scratch, "hostile"), &options, NULL));
	check_refused(&scratch, "its build ID is abcdef01, the manifest says abcdef02");
	CHECK(!scratch_has(&scratch, "store/.build-id"));
}

TEST(every_truncation_of_an_archive_is_refused)
{
	_cleanup_scratch_ struct scratch scratch = scratch_new();
	pack_two(&scratch, "hostile");
	const char *path = scratch_path(&scratch, "hostile");
	struct stat whole;
	REQUIRE(!stat(path, &whole));
	for (off_t size = whole.st_size - 1; size > 0; size -= 7) {
		REQUIRE(!truncate(path, size));
		struct bundle_target target = { .store = scratch.store };
		_cleanup_manifest_ struct manifest manifest = { 0 };
		CHECK_ERROR(bundle_read(path, &target, &manifest), IMP_ERR_BAD_DATA);
	}
	CHECK(!scratch_has(&scratch, "store/.build-id"));
}
