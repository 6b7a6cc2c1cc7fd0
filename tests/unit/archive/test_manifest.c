// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Manifests, written and read back, and those that are refused.
#include <string.h>

#include "archive/manifest.h"
#include "harness/tap.h"
#include "unit/store/scratch.h"

#define HASH_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define HASH_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

#define WHOLE(recordings, objects)                                                             \
	"{\"format\": \"imprint-archive\", \"version\": 1, \"recordings\": [" recordings "], " \
	"\"objects\": [" objects "], \"missing\": []}"
#define RECORDING(name) "{\"name\": \"" name "\", \"size\": 3, \"sha256\": \"" HASH_A "\"}"
#define OBJECT(hash, id, role)                                                            \
	"{\"sha256\": \"" hash "\", \"size\": 5, \"build_id\": " id ", \"role\": \"" role \
	"\", \"rank\": \"dwarf\", \"path\": null}"

static struct imp_error *read_text(const char *text, struct manifest *ret)
{
	return manifest_read(text, strlen(text), ret);
}

TEST(a_manifest_is_read_back_sorted_by_hash)
{
	_cleanup_manifest_ struct manifest read = { 0 };
	REQUIRE_OK(read_text(WHOLE(RECORDING("perf.data"),
				   OBJECT(HASH_B, "null", "debug") ", " OBJECT(HASH_A, "\"abcdef\"",
									       "executable")),
			     &read));
	_cleanup_buffer_ struct buffer text = { 0 };
	REQUIRE_OK(manifest_write(&read, &text));
	_cleanup_manifest_ struct manifest again = { 0 };
	REQUIRE_OK(manifest_read((const char *)text.bytes, text.size, &again));
	REQUIRE(again.recordings.count == 1 && again.objects.count == 2);
	CHECK_TEXT(again.recordings.items[0].name, "perf.data");
	CHECK_TEXT(build_id_text(&again.objects.items[0].id).text, "abcdef");
	CHECK(build_id_is_none(&again.objects.items[1].id));
	CHECK_UINT(again.objects.items[1].role, STORE_DEBUG);
	CHECK_UINT(again.objects.items[1].rank, STORE_DWARF);
}

TEST(odd_manifests_are_refused)
{
	static const char *const texts[] = {
		"",
		"[]",
		"{\"format\": \"other\", \"version\": 1}",
		WHOLE(RECORDING("../perf.data"), ""),
		WHOLE(RECORDING(".."), ""),
		WHOLE(RECORDING(""), ""),
		WHOLE(RECORDING("a/b"), ""),
		WHOLE(RECORDING("a\\nb"), ""),
		WHOLE(RECORDING("a") ", " RECORDING("a"), ""),
		WHOLE("{\"name\": \"a\", \"size\": -1, \"sha256\": \"" HASH_A "\"}", ""),
		WHOLE("{\"name\": \"a\", \"size\": 1, \"sha256\": \"aa\"}", ""),
		WHOLE("", OBJECT(HASH_A, "\"xyz\"", "executable")),
		WHOLE("", OBJECT(HASH_A, "7", "executable")),
		WHOLE("", OBJECT(HASH_A, "null", "program")),
	};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		_cleanup_manifest_ struct manifest read = { 0 };
		CHECK_ERROR(read_text(texts[i], &read), IMP_ERR_BAD_DATA);
	}
	_cleanup_manifest_ struct manifest read = { 0 };
	CHECK_ERROR(read_text("{\"format\": \"imprint-archive\", \"version\": 2}", &read),
		    IMP_ERR_UNSUPPORTED);
}

TEST(every_truncation_is_refused)
{
	static const char text[] = WHOLE(RECORDING("perf.data"), OBJECT(HASH_A, "null", "vdso"));
	for (size_t size = 0; size < sizeof text - 1; size++) {
		_cleanup_manifest_ struct manifest read = { 0 };
		CHECK_ERROR(manifest_read(text, size, &read), IMP_ERR_BAD_DATA);
	}
}
