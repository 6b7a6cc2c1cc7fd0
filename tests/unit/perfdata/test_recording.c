// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
#include "perfdata/recording.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/tap.h"
#include "make/recording.h"
#include "perfdata/sample.h"
#include "unit/perfdata/read_back.h"

enum { USUAL = SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME | SAMPLE_ID | SAMPLE_CPU | SAMPLE_PERIOD };

static const struct event_attr usual_attr = {
	.type = 1, .sample_type = USUAL, .flags = BUILT_FLAGS, .sample_period = 1000
};

static void add_usual_event(struct recording_builder *builder, uint64_t id)
{
	build_event(builder, &usual_attr, "cpu-clock", &id, 1);
}

// A mapping, a name and COUNT samples of event ID.
static void add_usual_records(struct recording_builder *builder, uint64_t id, unsigned count)
{
	struct built_stamp stamp = built_at(10, 11, 100);
	stamp.id = id;
	build_comm(builder, stamp, &(struct comm_record){ 10, 11, true, "app" });
	build_mmap2(builder, stamp, MISC_USER,
		    &(struct mmap_record){ .pid = 10,
					   .tid = 11,
					   .start = 0x400000,
					   .length = 0x1000,
					   .id = build_id_of("0123456789abcdefghij", 20),
					   .prot = 5,
					   .path = "/bin/app" });
	for (unsigned i = 0; i < count; i++)
		build_sample(builder, 0,
			     &(struct built_sample){ .misc = MISC_USER,
						     .ip = 0x400000 + i,
						     .pid = 10,
						     .tid = 11,
						     .time = 200 + i,
						     .id = id,
						     .cpu = 3,
						     .period = 7 });
}

static struct buffer usual_recording(const struct recording_builder_shape *shape, unsigned samples)
{
	struct recording_builder *builder = recording_builder_new_of(shape);
	if (shape->is_pipe)
		build_string_feature(builder, FEATURE_HOSTNAME, "host1");
	add_usual_event(builder, 7);
	build_event_desc(builder);
	add_usual_records(builder, 7, samples);
	if (!shape->is_pipe)
		build_string_feature(builder, FEATURE_HOSTNAME, "host1");
	return recording_builder_finish(builder);
}

static void check_usual_recording(const struct read_back *back, unsigned samples)
{
	const struct events *events = recording_events(back->recording);
	REQUIRE(events->count == 1);
	CHECK_UINT(events->items[0].attr.sample_type, USUAL);
	CHECK_UINT(events->items[0].attr.flags, BUILT_FLAGS);
	CHECK_UINT(events->items[0].attr.sample_period, 1000);
	CHECK_TEXT(events->items[0].name, "cpu-clock");
	REQUIRE(events->items[0].id_count == 1);
	CHECK_UINT(events->items[0].ids[0], 7);
	CHECK_UINT(back->by_type[RECORD_COMM], 1);
	CHECK_UINT(back->by_type[RECORD_MMAP2], 1);
	CHECK_UINT(back->by_type[RECORD_SAMPLE], samples);
	for (size_t i = 0, k = 0; i < back->count; i++) {
		struct sample sample;
		if (back->items[i].record.type != RECORD_SAMPLE)
			continue;
		REQUIRE_OK(sample_read(events, &back->items[i].record, &sample));
		CHECK_UINT(sample.ip, 0x400000 + k);
		CHECK_UINT(sample.tid, 11);
		CHECK_UINT(sample.time, 200 + k);
		CHECK_UINT(sample.cpu, 3);
		CHECK_UINT(sample.period, 7);
		k++;
	}
}

TEST(reads_files_and_pipes_of_both_byte_orders)
{
	for (unsigned i = 0; i < 16; i++) {
		struct recording_builder_shape shape = {
			.is_big_endian = i & 1,
			.is_pipe = i & 2,
			.has_attrs_last = (i & 6) == 4,
			.has_aligned_features = i & 4,
			.attr_size = i & 8 ? 64 : 0,
		};
		_cleanup_buffer_ struct buffer bytes = usual_recording(&shape, 5);
		struct read_back back;
		REQUIRE_OK(read_back(&bytes, &back));
		check_usual_recording(&back, 5);
		CHECK_TEXT(recording_features(back.recording)->hostname, "host1");
		CHECK_UINT(recording_warning_count(back.recording), 0);
		CHECK_UINT(recording_is_swapped(back.recording), shape.is_big_endian);
		CHECK_UINT(recording_mode(back.recording),
			   shape.is_pipe ? RECORDING_PIPE : RECORDING_FILE);
		CHECK(read_back_visits_the_same(&back));
		read_back_fini(&back);
	}
}

TEST(reads_the_first_version_of_either_byte_order)
{
	for (unsigned i = 0; i < 2; i++) {
		struct recording_builder_shape shape = { .is_version_1 = true,
							 .is_big_endian = i,
							 .attr_size = 72 };
		_cleanup_buffer_ struct buffer bytes = usual_recording(&shape, 3);
		struct read_back back;
		REQUIRE_OK(read_back(&bytes, &back));
		check_usual_recording(&back, 3);
		read_back_fini(&back);
	}
}

TEST(takes_attrs_larger_than_any_known)
{
	struct recording_builder_shape shape = { .attr_size = 512 };
	_cleanup_buffer_ struct buffer bytes = usual_recording(&shape, 3);
	struct read_back back;
	REQUIRE_OK(read_back(&bytes, &back));
	check_usual_recording(&back, 3);
	read_back_fini(&back);
}

TEST(reads_a_recording_that_was_never_finished_to_its_end)
{
	struct recording_builder_shape shape = { .is_unfinished = true };
	_cleanup_buffer_ struct buffer bytes = usual_recording(&shape, 4);
	struct read_back back;
	REQUIRE_OK(read_back(&bytes, &back));
	CHECK_UINT(back.by_type[RECORD_SAMPLE], 4);
	CHECK_UINT(recording_warning_count(back.recording), 1);
	CHECK_TEXT(read_back_warning(&back, 0),
		   "the recording was not finished (its data size is 0): read from offset 256 to "
		   "the end of the file, without header features");
	read_back_fini(&back);
}

TEST(a_recording_cut_anywhere_is_read_to_the_cut)
{
	for (unsigned i = 0; i < 4; i++) {
		struct recording_builder_shape shape = { .is_pipe = i & 1, .is_big_endian = i & 2 };
		_cleanup_buffer_ struct buffer whole = usual_recording(&shape, 2);
		uint64_t before = 0;
		for (size_t size = 0; size < whole.size; size++) {
			struct buffer cut = { .bytes = whole.bytes, .size = size };
			struct read_back back;
			_cleanup_error_ struct imp_error *err = read_back(&cut, &back);
			CHECK(!err || imp_error_code(err) == IMP_ERR_BAD_DATA);
			CHECK(!err || size < 72);
			if (!err) {
				CHECK(back.count >= before);
				CHECK(recording_warning_count(back.recording) > 0 || shape.is_pipe);
				before = back.count;
			}
			read_back_fini(&back);
		}
		CHECK(before >= 4);
	}
}

TEST(says_where_a_record_is_cut)
{
	struct recording_builder_shape shape = { .is_pipe = true };
	_cleanup_buffer_ struct buffer bytes = usual_recording(&shape, 2);
	bytes.size -= 3;
	struct read_back back;
	REQUIRE_OK(read_back(&bytes, &back));
	CHECK_UINT(back.by_type[RECORD_SAMPLE], 1);
	char expected[100];
	snprintf(expected, sizeof expected,
		 "the record at offset %zu is cut off: 53 bytes are left out", bytes.size - 53);
	CHECK_TEXT(read_back_warning(&back, 0), expected);
	read_back_fini(&back);
}

TEST(stops_at_a_record_without_a_size)
{
	struct recording_builder *builder = recording_builder_new();
	add_usual_event(builder, 7);
	add_usual_records(builder, 7, 1);
	build_bytes(builder, "\1\0\0\0\0\0\0\0", 8);
	add_usual_records(builder, 7, 1);
	_cleanup_buffer_ struct buffer bytes = recording_builder_finish(builder);
	struct read_back back;
	REQUIRE_OK(read_back(&bytes, &back));
	CHECK_UINT(back.by_type[RECORD_SAMPLE], 1);
	CHECK(recording_warning_count(back.recording) == 1);
	CHECK(strstr(read_back_warning(&back, 0), "damaged at offset ") != NULL);
	read_back_fini(&back);
}

TEST(steps_over_payloads_outside_of_records)
{
	static const uint8_t trace[24] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0 };
	struct recording_builder_shape shape = { .is_pipe = true };
	struct recording_builder *builder = recording_builder_new_of(&shape);
	add_usual_event(builder, 7);
	// This record's size is not a multiple of 8: all after it stands at odd addresses.
	build_record(builder, RECORD_HEADER_TRACING_DATA, 0, "\x18\0\0\0", 4);
	build_bytes(builder, trace, sizeof trace);
	struct buffer auxtrace = { 0 };
	build_put(builder, &auxtrace, sizeof trace, 8);
	for (unsigned i = 0; i < 4; i++)
		build_put(builder, &auxtrace, 0, 8);
	build_record(builder, RECORD_AUXTRACE, 0, auxtrace.bytes, auxtrace.size);
	build_bytes(builder, trace, sizeof trace);
	add_usual_records(builder, 7, 2);
	// And one whose payload is not there.
	auxtrace.bytes[0] = 200;
	build_record(builder, RECORD_AUXTRACE, 0, auxtrace.bytes, auxtrace.size);
	buffer_fini(&auxtrace);
	_cleanup_buffer_ struct buffer bytes = recording_builder_finish(builder);
	struct read_back back;
	REQUIRE_OK(read_back(&bytes, &back));
	CHECK_UINT(back.by_type[RECORD_AUXTRACE], 2);
	CHECK_UINT(back.by_type[RECORD_SAMPLE], 2);
	_cleanup_buffer_ struct buffer tracing = { 0 };
	REQUIRE_OK(recording_read_feature(back.recording, FEATURE_TRACING_DATA, &tracing));
	CHECK(tracing.size == sizeof trace && !memcmp(tracing.bytes, trace, sizeof trace));
	CHECK_UINT(recording_warning_count(back.recording), 1);
	CHECK(strstr(read_back_warning(&back, 0), "runs past the end") != NULL);
	CHECK(read_back_visits_the_same(&back));
	read_back_fini(&back);
}

TEST(inflates_records_that_run_across_compressed_ones)
{
	static const uint32_t types[] = { RECORD_COMPRESSED, RECORD_COMPRESSED2 };
	static const size_t steps[] = { 1, 7, 64, 1000, 100000 };
	for (size_t t = 0; t < 2; t++) {
		for (size_t s = 0; s < sizeof steps / sizeof *steps; s++) {
			struct recording_builder *builder = recording_builder_new();
			add_usual_event(builder, 7);
			build_event_desc(builder);
			build_compressed_begin(builder);
			add_usual_records(builder, 7, 20);
			build_compressed_end(builder, types[t], steps[s]);
			build_finished_round(builder);
			build_compressed_begin(builder);
			for (unsigned i = 0; i < 20; i++)
				build_lost(builder, built_at(1, 1, 9), 7, i);
			build_compressed_end(builder, types[t], steps[s]);
			_cleanup_buffer_ struct buffer bytes = recording_builder_finish(builder);
			struct read_back back;
			REQUIRE_OK(read_back(&bytes, &back));
			check_usual_recording(&back, 20);
			CHECK_UINT(back.by_type[RECORD_LOST], 20);
			CHECK_UINT(back.by_type[RECORD_FINISHED_ROUND], 1);
			CHECK_UINT(recording_warning_count(back.recording), 0);
			CHECK(read_back_visits_the_same(&back));
			uint64_t records, packed, inflated;
			recording_compression(back.recording, &records, &packed, &inflated);
			uint64_t sum = 0;
			for (size_t i = 0; i < back.count; i++)
				sum += back.items[i].record.size;
			CHECK_UINT(inflated, sum - 8);
			CHECK(records >= 2 && packed > 8 * records);
			read_back_fini(&back);
		}
	}
}

TEST(a_record_between_two_compressed_ones_does_not_tear_what_runs_across_them)
{
	struct recording_builder *builder = recording_builder_new();
	add_usual_event(builder, 7);
	struct recording_builder *inner = recording_builder_new();
	add_usual_event(inner, 7);
	build_compressed_begin(builder);
	build_comm(builder, built_at(1, 1, 5), &(struct comm_record){ 1, 1, false, "first" });
	build_bytes(builder, "\4\0\0\0\0\0\x38\0half", 12);
	build_compressed_end(builder, RECORD_COMPRESSED, 4096);
	build_finished_round(builder);
	build_compressed_begin(builder);
	build_bytes(builder, (uint8_t[44]){ 0 }, 44);
	build_compressed_end(builder, RECORD_COMPRESSED, 4096);
	struct buffer unused = recording_builder_finish(inner);
	buffer_fini(&unused);
	_cleanup_buffer_ struct buffer bytes = recording_builder_finish(builder);
	struct read_back back;
	REQUIRE_OK(read_back(&bytes, &back));
	REQUIRE(back.count == 3);
	CHECK_UINT(back.items[0].record.type, RECORD_COMM);
	CHECK_UINT(back.items[1].record.type, RECORD_FINISHED_ROUND);
	CHECK_UINT(back.items[2].record.type, RECORD_EXIT);
	CHECK(!memcmp(back.items[2].bytes + 8, "half", 4));
	CHECK(read_back_visits_the_same(&back));
	read_back_fini(&back);
}

TEST(a_damaged_compressed_record_costs_what_is_compressed_after_it_only)
{
	struct recording_builder *builder = recording_builder_new();
	add_usual_event(builder, 7);
	build_compressed_begin(builder);
	add_usual_records(builder, 7, 5);
	build_compressed_end(builder, RECORD_COMPRESSED, 100000);
	build_record(builder, RECORD_COMPRESSED, 0, "no zstd stream goes on so", 25);
	build_compressed_begin(builder);
	add_usual_records(builder, 7, 5);
	build_compressed_end(builder, RECORD_COMPRESSED, 100000);
	build_finished_round(builder);
	_cleanup_buffer_ struct buffer bytes = recording_builder_finish(builder);
	struct read_back back;
	REQUIRE_OK(read_back(&bytes, &back));
	CHECK_UINT(back.by_type[RECORD_SAMPLE], 5);
	CHECK_UINT(back.by_type[RECORD_FINISHED_ROUND], 1);
	CHECK_UINT(recording_warning_count(back.recording), 1);
	CHECK(strstr(read_back_warning(&back, 0), "all compressed ones after it are left out"));
	read_back_fini(&back);
}

TEST(trusts_the_payload_of_a_compressed2_whose_size_overflowed)
{
	struct recording_builder *builder = recording_builder_new();
	add_usual_event(builder, 7);
	build_compressed_begin(builder);
	add_usual_records(builder, 7, 5);
	build_compressed_end(builder, RECORD_COMPRESSED2, 100000);
	build_finished_round(builder);
	_cleanup_buffer_ struct buffer bytes = recording_builder_finish(builder);
	// The one event's ID and attr stand before.
	size_t record_at = 104 + 8 + 144;
	bytes.bytes[record_at + 6] = bytes.bytes[record_at + 7] = 0;
	struct read_back back;
	REQUIRE_OK(read_back(&bytes, &back));
	CHECK_UINT(back.by_type[RECORD_SAMPLE], 5);
	CHECK_UINT(back.by_type[RECORD_FINISHED_ROUND], 1);
	CHECK_UINT(recording_warning_count(back.recording), 0);
	read_back_fini(&back);
}

TEST(pieces_are_found_whatever_stands_at_their_cuts)
{
	// Samples whose raw data look like records, so that boundaries are guessed wrongly.
	static uint8_t decoy[60004];
	for (size_t at = 4; at + 8 <= sizeof decoy; at += 8)
		memcpy(decoy + at, "\x09\0\0\0\2\0\x08\0", 8);
	struct recording_builder *builder = recording_builder_new();
	struct event_attr attr = { .sample_type = SAMPLE_IP | SAMPLE_RAW };
	build_event(builder, &attr, NULL, NULL, 0);
	for (unsigned i = 0; i < 100; i++) {
		build_sample(
			builder, 0,
			&(struct built_sample){ .ip = i,
						.raw = decoy,
						.raw_size = (uint32_t)(sizeof decoy - 8 * i) });
		for (unsigned k = 0; k < 900; k++)
			build_sample(
				builder, 0,
				&(struct built_sample){ .ip = k, .raw_size = 12, .raw = decoy });
	}
	_cleanup_buffer_ struct buffer bytes = recording_builder_finish(builder);
	CHECK(bytes.size > 6 * PIECE_SIZE);
	char *path = built_file(&bytes);
	for (unsigned workers = 1; workers <= 8; workers *= 2) {
		struct read_back back;
		REQUIRE_OK(read_back_path(path, workers, &back));
		CHECK_UINT(back.by_type[RECORD_SAMPLE], 100 * 901);
		CHECK_UINT(back.count, 100 * 901);
		CHECK_UINT(recording_warning_count(back.recording), 0);
		CHECK(read_back_visits_the_same(&back));
		read_back_fini(&back);
	}
	built_file_remove(path);
}

static void write_file(const char *path, const void *bytes, size_t size)
{
	FILE *file = fopen(path, "w");
	if (file) {
		CHECK(fwrite(bytes, 1, size, file) == size);
		fclose(file);
	}
}

TEST(reads_the_files_of_a_directory_in_order_each_with_its_own_compression)
{
	char directory[] = "/tmp/imprint-test-XXXXXX";
	REQUIRE(mkdtemp(directory));
	_cleanup_buffer_ struct buffer head =
		usual_recording(&(struct recording_builder_shape){ 0 }, 1);
	char path[100];
	snprintf(path, sizeof path, "%s/data", directory);
	write_file(path, head.bytes, head.size);
	for (unsigned i = 0; i < 12; i++) {
		struct recording_builder *builder = recording_builder_new();
		add_usual_event(builder, 7);
		if (i % 2)
			build_compressed_begin(builder);
		build_lost(builder, built_at(1, 1, 1), 7, 1000 + i);
		if (i % 2)
			build_compressed_end(builder, RECORD_COMPRESSED, 4096);
		_cleanup_buffer_ struct buffer part = recording_builder_finish(builder);
		snprintf(path, sizeof path, "%s/data.%u", directory, i);
		write_file(path, part.bytes + 256, part.size - 256);
	}
	struct read_back back;
	REQUIRE_OK(read_back_path(directory, 2, &back));
	CHECK_UINT(recording_mode(back.recording), RECORDING_DIRECTORY);
	CHECK_UINT(recording_warning_count(back.recording), 0);
	REQUIRE(back.by_type[RECORD_LOST] == 12);
	for (unsigned i = 0; i < 12; i++) {
		struct lost_record lost;
		REQUIRE_OK(lost_record_read(&back.items[3 + i].record, &lost));
		CHECK_UINT(lost.lost, 1000 + i);
	}
	CHECK(read_back_visits_the_same(&back));
	read_back_fini(&back);
	for (unsigned i = 0; i < 12; i++) {
		snprintf(path, sizeof path, "%s/data.%u", directory, i);
		unlink(path);
	}
	snprintf(path, sizeof path, "%s/data", directory);
	unlink(path);
	rmdir(directory);
}

TEST(reads_what_comes_through_a_pipe)
{
	_cleanup_buffer_ struct buffer bytes =
		usual_recording(&(struct recording_builder_shape){ 0 }, 300);
	char path[] = "/tmp/imprint-test-XXXXXX";
	REQUIRE(mkdtemp(path));
	char fifo[100];
	snprintf(fifo, sizeof fifo, "%s/fifo", path);
	REQUIRE(mkfifo(fifo, 0600) == 0);
	pid_t writer = fork();
	if (writer == 0) {
		write_file(fifo, bytes.bytes, bytes.size);
		_exit(0);
	}
	struct read_back back;
	struct imp_error *err = read_back_path(fifo, 1, &back);
	waitpid(writer, NULL, 0);
	unlink(fifo);
	rmdir(path);
	REQUIRE_OK(err);
	check_usual_recording(&back, 300);
	read_back_fini(&back);
}

static bool pack(const char *path, const char *program)
{
	pid_t child = fork();
	if (child == 0) {
		execlp(program, program, "-q", "-f", path, (char *)NULL);
		_exit(127);
	}
	int status = 1;
	waitpid(child, &status, 0);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(reads_compressed_files)
{
	static const struct {
		const char *program, *suffix;
	} packers[] = { { "gzip", ".gz" }, { "xz", ".xz" }, { "zstd", ".zst" } };
	for (size_t i = 0; i < sizeof packers / sizeof *packers; i++) {
		_cleanup_buffer_ struct buffer bytes =
			usual_recording(&(struct recording_builder_shape){ 0 }, 300);
		char *path = built_file(&bytes);
		char packed[100];
		snprintf(packed, sizeof packed, "%s%s", path, packers[i].suffix);
		if (pack(path, packers[i].program)) {
			struct read_back back;
			REQUIRE_OK(read_back_path(packed, 1, &back));
			check_usual_recording(&back, 300);
			read_back_fini(&back);
		} else {
			printf("# no %s here\n", packers[i].program);
		}
		unlink(packed);
		built_file_remove(path);
	}
}

TEST(says_what_is_not_a_recording)
{
	static const struct {
		const char *bytes;
		size_t size;
		const char *message;
	} inputs[] = {
		{ "", 0, "empty, so not a recording" },
		{ "\x7f"
		  "ELF\2\1\1",
		  8,
		  "not a recording: expected \"PERFILE2\" at offset 0, found 7f 45 4c 46 02 01 01 00" },
		{ "PERFILE2", 8, "truncated header at offset 8 of 8" },
		{ "\x1f\x8b\x08 not gzip", 12, NULL },
	};
	for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
		struct buffer bytes = { 0 };
		buffer_append(&bytes, inputs[i].bytes, inputs[i].size);
		struct read_back back;
		struct imp_error *err = read_back(&bytes, &back);
		buffer_fini(&bytes);
		REQUIRE(err != NULL);
		CHECK_UINT(imp_error_code(err), IMP_ERR_BAD_DATA);
		const char *message = strstr(imp_error_message(err), ": ");
		REQUIRE(message != NULL);
		if (inputs[i].message)
			CHECK_TEXT(message + 2, inputs[i].message);
		imp_error_free(err);
		read_back_fini(&back);
	}
	struct read_back back;
	CHECK_ERROR(read_back_path("/nonexistent/perf.data", 1, &back), IMP_ERR_SYSTEM);
	read_back_fini(&back);
}

TEST(names_events_by_what_the_recording_says_or_their_attr)
{
	struct recording_builder_shape shape = { .is_pipe = true };
	struct recording_builder *builder = recording_builder_new_of(&shape);
	struct event_attr attr = usual_attr;
	uint64_t ids[] = { 5, 6 };
	build_event(builder, &attr, NULL, &ids[0], 1);
	attr.type = 0;
	attr.config = 1;
	build_event(builder, &attr, NULL, &ids[1], 1);
	struct buffer update = { 0 };
	build_put(builder, &update, 2, 8);
	build_put(builder, &update, 5, 8);
	buffer_append(&update, "my-event", 9);
	build_record(builder, RECORD_EVENT_UPDATE, 0, update.bytes, update.size);
	buffer_fini(&update);
	_cleanup_buffer_ struct buffer bytes = recording_builder_finish(builder);
	struct read_back back;
	REQUIRE_OK(read_back(&bytes, &back));
	const struct events *events = recording_events(back.recording);
	REQUIRE(events->count == 2);
	CHECK_TEXT(events->items[0].name, "my-event");
	CHECK_TEXT(events->items[1].name, "instructions");
	CHECK(events_by_id(events, 6) == &events->items[1]);
	CHECK(events_by_id(events, 8) == NULL);
	read_back_fini(&back);
}

TEST(a_broken_feature_costs_itself_alone)
{
	struct recording_builder *builder = recording_builder_new();
	add_usual_event(builder, 7);
	add_usual_records(builder, 7, 1);
	build_feature(builder, FEATURE_HOSTNAME, "\xff\xff\xff\xffhost", 8);
	build_string_feature(builder, FEATURE_ARCH, "x86_64");
	build_feature(builder, FEATURE_EVENT_DESC, "\xff\xff\xff\xff\1\0\0\0", 8);
	build_feature(builder, FEATURE_BUILD_ID, "\0\0\0\0\2\0\3\0", 8);
	_cleanup_buffer_ struct buffer bytes = recording_builder_finish(builder);
	struct read_back back;
	REQUIRE_OK(read_back(&bytes, &back));
	CHECK_TEXT(recording_features(back.recording)->hostname, NULL);
	CHECK_TEXT(recording_features(back.recording)->arch, "x86_64");
	CHECK_UINT(recording_warning_count(back.recording), 3);
	CHECK_UINT(back.by_type[RECORD_SAMPLE], 1);
	read_back_fini(&back);
}

TEST(reads_the_table_of_build_ids)
{
	struct recording_builder *builder = recording_builder_new();
	add_usual_event(builder, 7);
	struct build_id_record entries[] = {
		{ .misc = MISC_KERNEL,
		  .pid = -1,
		  .id = build_id_of("abcdefgh", 8),
		  .path = "[kernel.kallsyms]" },
		{ .misc = MISC_USER,
		  .pid = -1,
		  .id = build_id_of("abcdefgh", 8),
		  .path = "/bin/a",
		  .is_padded = true },
	};
	build_table_entry(builder, &entries[0]);
	build_table_entry(builder, &entries[1]);
	build_finished_round(builder);
	_cleanup_buffer_ struct buffer bytes = recording_builder_finish(builder);
	struct read_back back;
	REQUIRE_OK(read_back(&bytes, &back));
	REQUIRE(recording_build_id_count(back.recording) == 2);
	const struct build_id_record *kernel = recording_build_id(back.recording, 0);
	CHECK_UINT(kernel->misc & MISC_CPUMODE_MASK, MISC_KERNEL);
	CHECK_UINT(kernel->id.size, 8);
	CHECK(!kernel->is_padded);
	CHECK_TEXT(kernel->path, "[kernel.kallsyms]");
	const struct build_id_record *user = recording_build_id(back.recording, 1);
	CHECK(user->is_padded);
	CHECK_UINT(user->id.size, 20);
	CHECK(build_id_equal_padded(&user->id, &kernel->id));
	CHECK_TEXT(user->path, "/bin/a");
	read_back_fini(&back);
}

TEST(one_file_of_many_ids_cannot_be_made_to_fill_memory)
{
	// Every event claims the whole file as its IDs.
	struct recording_builder *builder = recording_builder_new();
	for (unsigned i = 0; i < 1000; i++)
		build_event(builder, &usual_attr, NULL, NULL, 0);
	_cleanup_buffer_ struct buffer bytes = recording_builder_finish(builder);
	for (unsigned i = 0; i < 1000; i++) {
		memset(bytes.bytes + 104 + 144 * i + 128, 0, 8);
		memcpy(bytes.bytes + 104 + 144 * i + 136, &bytes.size, 8);
	}
	struct read_back back;
	REQUIRE_OK(read_back(&bytes, &back));
	const struct events *events = recording_events(back.recording);
	size_t ids = 0;
	for (size_t i = 0; i < events->count; i++)
		ids += events->items[i].id_count;
	CHECK_UINT(events->count, 1000);
	CHECK(ids <= bytes.size / 8);
	read_back_fini(&back);
}
