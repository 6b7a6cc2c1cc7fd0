// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
#include "analyze/survivors.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "elf/elf_image.h"
#include "harness/tap.h"
#include "make/elf.h"
#include "make/recording.h"
#include "perfdata/sample.h"

DEFINE_CLEANUP(struct recording *, recording, recording_close)
DEFINE_CLEANUP(struct survey *, survey, survey_free)

// A recording at PATH in which this process mapped something, made on HOST (NULL: it does not say).
static void write_recording(const char *path, const char *host)
{
	struct recording_builder *builder =
		recording_builder_new_of(&(struct recording_builder_shape){ 0 });
	struct event_attr attr = { .sample_type = SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME,
				   .flags = BUILT_FLAGS };
	uint32_t pid = (uint32_t)getpid();
	uint64_t id = 7;
	struct mmap_record map = { .pid = pid,
				   .tid = pid,
				   .start = 0x400000,
				   .length = 0x1000,
				   .prot = 5,
				   .path = "/bin/app" };
	build_event(builder, &attr, "cycles", &id, 1);
	if (host)
		build_string_feature(builder, FEATURE_HOSTNAME, host);
	build_mmap2(builder, built_at(pid, pid, 1000), MISC_USER, &map);
	struct buffer bytes = recording_builder_finish(builder);
	make_file(path, bytes.bytes, bytes.size);
	buffer_fini(&bytes);
}

// What this test's own program is found by, with the recording at PATH; NULL when it is not.
static const char *source_of_this_program(const char *path)
{
	static char source[32];
	_cleanup_(cleanup_recording) struct recording *recording = NULL;
	_cleanup_(cleanup_survey) struct survey *survey = NULL;
	_cleanup_finder_ struct finder *finder = NULL;
	struct image image = { .kind = IMAGE_USER,
			       .identity = IDENTITY_MAP_TIME,
			       .path = "/nowhere" };
	const struct finding *finding = NULL;
	const char *const no_trees[] = { "/nowhere", NULL };
	struct imp_error *err = elf_build_id_read("/proc/self/exe", &image.id);
	if (!err)
		err = recording_open(path, NULL, &recording);
	if (!err)
		err = survey_new(recording, NULL, &survey);
	if (!err)
		err = finder_new(&(struct finder_options){ .debug_dirs = no_trees }, &finder);
	if (!err)
		err = survivors_add(recording, survey, finder);
	if (!err)
		err = finder_find(finder, &image, &finding);
	CHECK_OK(err);
	for (size_t i = 0; finding && i < finding->step_count; i++)
		if (finding->steps[i].outcome == FIND_MATCH) {
			snprintf(source, sizeof source, "%s", finding->steps[i].source);
			return source;
		}
	return NULL;
}

TEST(processes_that_still_run_are_asked_when_host_and_start_fit)
{
	char *dir = make_directory(), path[256];
	snprintf(path, sizeof path, "%s/perf.data", dir);
	write_recording(path, NULL);
	CHECK_TEXT(source_of_this_program(path), "process");
	// Written before this process began.
	const struct timespec times[] = { { 1000000000, 0 }, { 1000000000, 0 } };
	CHECK(utimensat(AT_FDCWD, path, times, 0) == 0);
	CHECK(!source_of_this_program(path));
	write_recording(path, "another host");
	CHECK(!source_of_this_program(path));
	make_directory_free(dir);
}
