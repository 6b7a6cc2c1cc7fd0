// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
#include <string.h>

#include "harness/tap.h"
#include "imprint/symbolizer.h"

TEST(a_file_tells_its_build_id_and_the_text_reads_back)
{
	struct imp_build_id id, again;
	REQUIRE_OK(imp_build_id_of_file("/proc/self/exe", &id));
	CHECK(id.size > 0);
	char text[IMP_BUILD_ID_TEXT];
	imp_build_id_format(&id, text);
	CHECK_UINT(strlen(text), 2 * id.size);
	CHECK(imp_build_id_parse(text, &again) && imp_build_id_equal(&id, &again));
	CHECK(!imp_build_id_parse("no hex", &again) && !imp_build_id_equal(&again, &again));
	CHECK_ERROR(imp_build_id_of_file("/nonexistent", &id), IMP_ERR_SYSTEM);
}

TEST(options_of_another_size_are_refused)
{
	struct imp_recording_options small = { .size = 1 };
	struct imp_recording *recording = NULL;
	CHECK_ERROR(imp_recording_open("/dev/null", &small, &recording), IMP_ERR_USAGE);
	CHECK_ERROR(imp_recording_open("/dev/null", NULL, &recording), IMP_ERR_BAD_DATA);
	CHECK(!recording);
}

static size_t image_of_path(const struct imp_recording *recording, const char *path)
{
	for (size_t i = 0; i < imp_recording_image_count(recording); i++)
		if (!strcmp(imp_recording_image(recording, i).path, path))
			return i;
	return (size_t)-1;
}

// The library's whole way: a recording in which a library was replaced while it ran.
TEST(names_a_place_of_the_build_that_was_mapped)
{
	const char *shared = tap_shared();
	if (!shared)
		return;
	char path[4096], bin[4096];
	snprintf(path, sizeof path, "%s/recordings/vm-6.1-user/scen/replace_live.bmmap/perf.data",
		 shared);
	snprintf(bin, sizeof bin, "%s/recordings/bin", shared);
	struct imp_recording *recording = NULL;
	struct imp_symbolizer *symbolizer = NULL;
	const char *dirs[] = { bin, NULL };
	struct imp_symbolizer_options options = { .size = sizeof options, .image_dirs = dirs };
	REQUIRE_OK(imp_recording_open(path, NULL, &recording));
	REQUIRE_OK(imp_symbolizer_new(&options, &symbolizer));
	size_t index = image_of_path(recording, "/var/run2/lib/libfoo.so");
	REQUIRE(index != (size_t)-1);
	struct imp_image image = imp_recording_image(recording, index);
	CHECK_TEXT(image.identity, "map-time");
	char id[IMP_BUILD_ID_TEXT];
	imp_build_id_format(&image.id, id);
	bool is_first = !strcmp(id, "4cda07b4aba7d32ef2ac1d4643231ec3da3b70ad");
	struct imp_frames frames;
	unsigned named = 0;
	for (uint64_t offset = 0x1000; offset < 0x2000; offset += 16) {
		REQUIRE_OK(imp_symbolize(symbolizer, recording, index, offset, false, &frames));
		CHECK(!frames.count == (frames.unknown != NULL));
		if (frames.count && frames.items[0].function[0] == 'v') {
			CHECK(frames.items[0].function[1] == (is_first ? '1' : '2'));
			named++;
		}
	}
	CHECK(named > 0);
	imp_symbolizer_free(symbolizer);
	imp_recording_free(recording);
}
