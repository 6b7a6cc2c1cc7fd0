// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
#include "elf/unpack.h"

#include <string.h>

#include "harness/tap.h"

enum { CONTENT_SIZE = 3 << 20, LIMIT = 64 << 20 };

// Content that packs, yet not to nothing: words in an order that a small generator gives.
static char *content(void)
{
	char *text = malloc(CONTENT_SIZE + 16);
	uint32_t state = 1;
	for (size_t at = 0; at < CONTENT_SIZE; at += 8) {
		state = state * 1664525 + 1013904223;
		memcpy(text + at, &"nameless\0imprint-\0build-id\0address-\0"[9 * (state >> 30)],
		       8);
	}
	return text;
}

// What COMMAND (a filter) makes of the content, or false when it is not installed.
static bool filter(const char *command, struct buffer *ret)
{
	char name[] = "/tmp/imprint-test-XXXXXX";
	_cleanup_free_ char *text = content();
	int fd = mkstemp(name);
	if (fd < 0 || write(fd, text, CONTENT_SIZE) != CONTENT_SIZE)
		abort();
	close(fd);
	_cleanup_free_ char *line = NULL;
	if (asprintf(&line, "%s < %s 2>/dev/null", command, name) < 0)
		abort();
	FILE *pipe = popen(line, "r");
	for (;;) {
		uint8_t *at = buffer_extend(ret, 65536);
		size_t n = fread(at, 1, 65536, pipe);
		ret->size -= 65536 - n;
		if (!n)
			break;
	}
	bool worked = pclose(pipe) == 0 && ret->size > 0;
	unlink(name);
	return worked;
}

static void check_form(const char *command)
{
	_cleanup_buffer_ struct buffer packed = { 0 };
	_cleanup_buffer_ struct buffer whole = { 0 };
	_cleanup_free_ char *text = content();
	if (!filter(command, &packed)) {
		tap_skip("%s is missing", command);
		return;
	}
	size_t packed_size = packed.size;
	buffer_text(&packed, "a signature");
	CHECK(unpack_knows(packed.bytes, packed.size));
	REQUIRE_OK(unpack(packed.bytes, packed.size, LIMIT, &whole));
	CHECK_UINT(whole.size, CONTENT_SIZE);
	CHECK(!memcmp(whole.bytes, text, CONTENT_SIZE));
	whole.size = 0;
	CHECK_ERROR(unpack(packed.bytes, packed.size, 1 << 20, &whole), IMP_ERR_BAD_DATA);
	whole.size = 0;
	CHECK_ERROR(unpack(packed.bytes, packed_size / 2, LIMIT, &whole), IMP_ERR_BAD_DATA);
}

TEST(unpacks_gzip)
{
	check_form("gzip -c");
}

TEST(unpacks_xz)
{
	check_form("xz -c -T1");
}

TEST(unpacks_lzma)
{
	check_form("lzma -c");
}

TEST(unpacks_zstd)
{
	check_form("zstd -c");
}

TEST(unpacks_bzip2)
{
	check_form("bzip2 -c");
}

TEST(unpacks_the_legacy_lz4_of_kernels)
{
	_cleanup_buffer_ struct buffer packed = { 0 };
	_cleanup_buffer_ struct buffer whole = { 0 };
	_cleanup_free_ char *text = content();
	if (!filter("lz4 -l -c", &packed)) {
		tap_skip("lz4 is missing");
		return;
	}
	REQUIRE_OK(unpack(packed.bytes, packed.size, LIMIT, &whole));
	CHECK_UINT(whole.size, CONTENT_SIZE);
	CHECK(!memcmp(whole.bytes, text, CONTENT_SIZE));
}

// "abcabcabcabcabcabc" + "xyzzy": three literals, a match of 15 that overlaps itself, the rest.
static const uint8_t lz4[] = "\x02\x21\x4c\x18\x0c\0\0\0"
			     "\x3b"
			     "abc\x03\0"
			     "\x50"
			     "xyzzy";

TEST(an_lz4_match_may_overlap_itself)
{
	_cleanup_buffer_ struct buffer whole = { 0 };
	REQUIRE_OK(unpack(lz4, sizeof lz4 - 1, LIMIT, &whole));
	buffer_append(&whole, "", 1);
	CHECK_TEXT((const char *)whole.bytes, "abcabcabcabcabcabcxyzzy");
}

TEST(an_lz4_match_never_reaches_before_the_block)
{
	uint8_t bad[sizeof lz4];
	memcpy(bad, lz4, sizeof lz4);
	bad[12] = 4;
	_cleanup_buffer_ struct buffer whole = { 0 };
	CHECK_ERROR(unpack(bad, sizeof bad - 1, LIMIT, &whole), IMP_ERR_BAD_DATA);
}

TEST(plain_bytes_are_not_taken_for_packed_ones)
{
	CHECK(!unpack_knows("\x7f"
			    "ELF",
			    4));
	CHECK(!unpack_knows("", 0));
	_cleanup_buffer_ struct buffer whole = { 0 };
	CHECK_ERROR(unpack("plain", 5, LIMIT, &whole), IMP_ERR_UNSUPPORTED);
}
