// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Code that a process made itself and told of in a dump: one address, several functions.
#include "analyze/analysis.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "analyze/spot_names.h"
#include "base/buffer.h"
#include "harness/tap.h"
#include "make/recording.h"
#include "perfdata/sample.h"

enum { CODE = 0x10000, OTHER = 0x20000 };

static void put(struct buffer *bytes, uint64_t value, size_t size)
{
	buffer_append(bytes, &value, size);
}

static void put_header(struct buffer *bytes, uint32_t pid)
{
	const uint32_t words[] = { 0x4a695444, 1, 40, 62, 0, pid, 0, 0, 0, 0 };
	buffer_append(bytes, words, sizeof words);
}

// 16 bytes of code called NAME at ADDRESS from TIME on.
static void put_load(struct buffer *bytes, uint64_t time, uint64_t address, const char *name)
{
	static const uint8_t code[16];
	size_t length = strlen(name) + 1;
	put(bytes, 0, 4);
	put(bytes, 16 + 40 + length + sizeof code, 4);
	put(bytes, time, 8);
	put(bytes, 0, 8);
	put(bytes, address, 8);
	put(bytes, address, 8);
	put(bytes, sizeof code, 8);
	put(bytes, time, 8);
	buffer_append(bytes, name, length);
	buffer_append(bytes, code, sizeof code);
}

struct scene {
	// Who the dump says wrote it; its name says 77.
	uint32_t writer;
	// The recording's times are of the dump's clock.
	bool has_clock;
	// When the first function came.
	uint64_t first_load;
};

static void sample_at(struct recording_builder *builder, uint64_t time, uint64_t address)
{
	build_sample(builder, 0,
		     &(struct built_sample){
			     .misc = MISC_USER, .ip = address, .pid = 5, .tid = 5, .time = time });
}

// A process (77 to itself, 5 to the recorder) that maps DUMP and runs what it made.
static struct buffer record(const struct scene *scene, const char *dump)
{
	struct recording_builder *builder = recording_builder_new();
	struct event_attr attr = { .sample_type = SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME,
				   .flags = BUILT_FLAGS };
	uint64_t id = 7;
	if (scene->has_clock) {
		attr.flags |= UINT64_C(1) << ATTR_USE_CLOCKID;
		attr.clockid = CLOCK_MONOTONIC;
	}
	build_event(builder, &attr, "cycles", &id, 1);
	struct mmap_record code = {
		.pid = 5, .tid = 5, .start = CODE, .length = 0x20000, .path = "//anon"
	};
	struct mmap_record marker = {
		.pid = 5, .tid = 5, .start = 0x90000, .length = 0x1000, .path = dump
	};
	build_mmap2(builder, built_at(5, 5, 50000000), MISC_USER, &code);
	build_mmap2(builder, built_at(5, 5, 60000000), MISC_USER, &marker);
	sample_at(builder, 65000000, CODE + 4);
	sample_at(builder, 75000000, CODE + 4);
	sample_at(builder, 85000000, CODE + 4);
	sample_at(builder, 86000000, OTHER + 15);
	sample_at(builder, 87000000, OTHER + 16);
	return recording_builder_finish(builder);
}

// The names of the samples' functions, in the order of their numbers of spots, with commas.
static char *names_of(const struct profile *profile)
{
	struct buffer text = { 0 };
	for (uint32_t i = 0; i < profile->tally.spots.count; i++) {
		const struct spot_name *name = &profile->names[i];
		const char *function = NULL;
		if (name->count)
			function = profile_string(profile,
						  profile->frames.items[name->first].function);
		buffer_format(&text, "%s%s", i ? "," : "",
			      function ? function : unknown_reason_name(name->reason));
	}
	buffer_append(&text, "", 1);
	CHECK(!text.failed);
	return (char *)text.bytes;
}

static void check_names(const struct scene *scene, const char *expected)
{
	char directory[] = "/tmp/imprint-jit-XXXXXX";
	REQUIRE(mkdtemp(directory));
	char dump[64];
	snprintf(dump, sizeof dump, "%s/jit-77.dump", directory);
	_cleanup_buffer_ struct buffer bytes = { 0 };
	put_header(&bytes, scene->writer);
	put_load(&bytes, scene->first_load, CODE, "first");
	put_load(&bytes, 80000000, CODE, "second");
	put_load(&bytes, 80000001, OTHER, "other");
	FILE *file = fopen(dump, "we");
	REQUIRE(file);
	CHECK(fwrite(bytes.bytes, 1, bytes.size, file) == bytes.size);
	fclose(file);
	struct buffer recording = record(scene, dump);
	char *path = built_file(&recording);
	struct finder_options finder_options = { .log = NULL };
	struct symbolizer_options symbolizer_options = { .log = NULL };
	struct analysis_options options = { .workers = 1 };
	_cleanup_finder_ struct finder *finder = NULL;
	_cleanup_profile_ struct profile *profile = NULL;
	struct symbolizer *symbolizer = NULL;
	CHECK_OK(finder_new(&finder_options, &finder));
	CHECK_OK(symbolizer_new(finder, &symbolizer_options, &symbolizer));
	CHECK_OK(analyze(path, &options, &profile));
	if (profile && CHECK_OK(spots_name(profile, symbolizer, 1))) {
		_cleanup_free_ char *names = names_of(profile);
		CHECK_TEXT(names, expected);
	}
	symbolizer_free(symbolizer);
	buffer_fini(&recording);
	built_file_remove(path);
	unlink(dump);
	rmdir(directory);
}

TEST(an_address_has_the_function_that_stood_there_at_the_samples_time)
{
	check_names(&(struct scene){ .writer = 77, .has_clock = true, .first_load = 70000000 },
		    "anonymous,first,second,other,anonymous");
}

TEST(a_dump_of_another_process_names_nothing)
{
	check_names(&(struct scene){ .writer = 78, .has_clock = true, .first_load = 70000000 },
		    "anonymous,anonymous,anonymous");
	// Its functions are older than the mapping of the file: another process had that number.
	check_names(&(struct scene){ .writer = 77, .has_clock = true, .first_load = 40000000 },
		    "anonymous,anonymous,anonymous");
}

TEST(times_of_another_clock_name_nothing)
{
	check_names(&(struct scene){ .writer = 77, .has_clock = false, .first_load = 70000000 },
		    "anonymous,anonymous,anonymous");
}
