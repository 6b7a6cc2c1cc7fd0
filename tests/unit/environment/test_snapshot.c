// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
#include "environment/snapshot_file.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/tap.h"

static const char sample[] =
	"{\"type\":\"snapshot\",\"version\":1,\"source\":\"live\","
	"\"time\":\"2026-12-01T03:04:05.000000006Z\",\"host\":\"h\",\"os\":\"debian\"}\n"
	"{\"type\":\"kernel\",\"release\":\"6.1.0\",\"id\":\"0102\"}\n"
	"{\"type\":\"module\",\"name\":\"loop\",\"id\":\"0304\",\"address\":\"0xffffffffc0000000\","
	"\"size\":4096}\n"
	"{\"type\":\"image\",\"image\":0,\"kind\":\"file\",\"path\":\"/lib/liba.so\","
	"\"deleted\":true,\"id\":\"aabb\",\"soname\":\"liba.so\",\"package\":\"{\\\"name\\\":"
	"\\\"liba\\\"}\",\"device\":\"fe:0a\",\"inode\":42,\"size\":8192}\n"
	"{\"type\":\"image\",\"image\":1,\"kind\":\"file\",\"path\":\"/x\",\"id\":null,"
	"\"sha256\":\"00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\"}\n"
	"{\"type\":\"image\",\"image\":2,\"kind\":\"anon\"}\n"
	"{\"type\":\"process\",\"pid\":7,\"parent\":1,\"start\":\"2026-12-01T03:00:00.500000000Z\","
	"\"start_ticks\":77,\"comm\":\"x y\",\"uid\":33,\"root\":\"/srv\",\"mappings\":"
	"[\"7f0000000000 2000 0 0\",\"ffffffffff600000 1000 0 1\",\"1000 1000 ffff000 2\"]}\n"
	"{\"type\":\"end\",\"images\":3,\"processes\":1,\"kernel_threads\":5,\"gone\":2,"
	"\"forbidden\":1}\n";

static struct imp_error *read_text(const char *text, size_t size, struct snapshot **ret)
{
	char path[] = "/tmp/imprint-snapshot-XXXXXX";
	int fd = mkstemp(path);
	if (fd < 0 || write(fd, text, size) != (ssize_t)size)
		abort();
	close(fd);
	struct imp_error *err = snapshot_read(path, ret);
	unlink(path);
	return err;
}

TEST(a_snapshot_is_read_and_written_again_the_same)
{
	_cleanup_snapshot_ struct snapshot *snapshot = NULL;
	REQUIRE_OK(read_text(sample, strlen(sample), &snapshot));
	const struct snapshot_process *process = snapshot_process_of(snapshot, 7);
	REQUIRE(process && process->mapping_count == 3);
	CHECK_TEXT(process->comm, "x y");
	CHECK_TEXT(process->root, "/srv");
	CHECK_UINT(snapshot->images.items[0].minor, 10);
	CHECK(!snapshot->images.items[2].id_is_known && snapshot->images.items[1].id_is_known);
	CHECK_UINT(snapshot->gone, 2);
	char path[] = "/tmp/imprint-snapshot-XXXXXX";
	int fd = mkstemp(path);
	REQUIRE(fd >= 0);
	CHECK_OK(snapshot_write(snapshot, path));
	char text[sizeof sample + 100];
	ssize_t size = read(fd, text, sizeof text - 1);
	text[size > 0 ? size : 0] = 0;
	CHECK_TEXT(text, sample);
	close(fd);
	unlink(path);
}

TEST(an_address_is_found_in_its_mapping)
{
	_cleanup_snapshot_ struct snapshot *snapshot = NULL;
	REQUIRE_OK(read_text(sample, strlen(sample), &snapshot));
	const struct snapshot_process *process = snapshot_process_of(snapshot, 7);
	REQUIRE(process);
	const struct snapshot_mapping *mapping = snapshot_locate(snapshot, process, 0x7f0000001fff);
	CHECK(mapping && mapping->image == 0);
	CHECK(!snapshot_locate(snapshot, process, 0x7f0000002000));
	mapping = snapshot_locate(snapshot, process, 0x1000);
	CHECK(mapping && mapping->image == 2 && mapping->offset == 0xffff000);
}

TEST(images_are_compared_by_id_else_by_content)
{
	_cleanup_snapshot_ struct snapshot *snapshot = NULL;
	REQUIRE_OK(read_text(sample, strlen(sample), &snapshot));
	const struct snapshot_image *images = snapshot->images.items;
	CHECK(snapshot_images_equal(&images[0], &images[0]));
	CHECK(snapshot_images_equal(&images[1], &images[1]));
	CHECK(!snapshot_images_equal(&images[0], &images[1]));
	// Nothing known equals nothing.
	CHECK(!snapshot_images_equal(&images[2], &images[2]));
	CHECK_TEXT(snapshot_image_identity(&images[0]).text, "aabb");
	CHECK_TEXT(snapshot_image_identity(&images[1]).text,
		   "sha256:00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff");
	CHECK_TEXT(snapshot_image_identity(&images[2]).text, "");
	char name[16];
	CHECK(snapshot_package_member(&images[0], "name", name, sizeof name));
	CHECK_TEXT(name, "liba");
	CHECK(!snapshot_package_member(&images[0], "version", name, sizeof name));
}

TEST(every_truncation_is_refused)
{
	for (size_t size = 0; size < strlen(sample) - 1; size++) {
		struct snapshot *snapshot = NULL;
		CHECK_ERROR(read_text(sample, size, &snapshot), IMP_ERR_BAD_DATA);
	}
}

static void check_refused(const char *text, enum imp_error_code code)
{
	struct snapshot *snapshot = NULL;
	CHECK_ERROR(read_text(text, strlen(text), &snapshot), code);
}

#define HEAD "{\"type\":\"snapshot\",\"version\":1}\n"

TEST(lines_that_do_not_fit_are_refused)
{
	check_refused("{\"type\":\"snapshot\",\"version\":2}\n", IMP_ERR_UNSUPPORTED);
	check_refused("{\"type\":\"end\"}\n", IMP_ERR_BAD_DATA);
	check_refused("[]\n", IMP_ERR_BAD_DATA);
	check_refused(HEAD "{\"type\":\"image\",\"image\":1,\"kind\":\"file\"}\n",
		      IMP_ERR_BAD_DATA);
	check_refused(HEAD "{\"type\":\"image\",\"image\":0,\"kind\":\"new\"}\n", IMP_ERR_BAD_DATA);
	check_refused(HEAD "{\"type\":\"process\",\"mappings\":[\"1 2 3 0\"]}\n", IMP_ERR_BAD_DATA);
	check_refused(HEAD "{\"type\":\"process\",\"mappings\":[7]}\n", IMP_ERR_BAD_DATA);
	check_refused(HEAD "{\"type\":", IMP_ERR_BAD_DATA);
}

TEST(what_is_not_known_is_skipped)
{
	_cleanup_snapshot_ struct snapshot *snapshot = NULL;
	const char *text = HEAD "{\"type\":\"new\"}\n\n{\"type\":\"end\",\"new\":[{}]}\n";
	CHECK_OK(read_text(text, strlen(text), &snapshot));
}

TEST(times_are_read_as_they_are_written)
{
	CHECK_TEXT(time_text_of(1764558245000000006).text, "2025-12-01T03:04:05.000000006Z");
	CHECK_UINT(time_text_parse("2025-12-01T03:04:05.000000006Z"), 1764558245000000006);
	CHECK_UINT(time_text_parse("2025-12-01T03:04:05Z"), 1764558245000000000);
	CHECK_UINT(time_text_parse("2025-12-01T03:04:05.25Z"), 1764558245250000000);
	CHECK_UINT(time_text_parse("yesterday"), 0);
}
