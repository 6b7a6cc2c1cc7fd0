// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Build IDs beside the mmap events: the table of the header, and records like its entries.
#include "perfdata/recording.h"

#include <string.h>

#include "harness/tap.h"
#include "unit/perfdata/usual.h"

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

// An entry of the table as perf before 2.6.35 wrote it: without the pid.
static void put_old_entry(const struct recording_builder *builder, struct buffer *table,
			  uint16_t misc, uint8_t digit, const char *path)
{
	size_t name_size = (strlen(path) + 1 + 63) / 64 * 64;
	uint8_t id[24] = { 0 };
	char name[128] = "";
	memset(id, digit, 20);
	snprintf(name, sizeof name, "%s", path);
	build_put(builder, table, 0, 4);
	build_put(builder, table, misc, 2);
	build_put(builder, table, 8 + sizeof id + name_size, 2);
	buffer_append(table, id, sizeof id);
	buffer_append(table, name, name_size);
}

TEST(reads_a_table_from_before_there_were_guests)
{
	for (unsigned i = 0; i < 2; i++) {
		struct recording_builder *builder = recording_builder_new_of(
			&(struct recording_builder_shape){ .is_big_endian = i });
		_cleanup_buffer_ struct buffer table = { 0 };
		add_usual_event(builder, 7);
		put_old_entry(builder, &table, MISC_KERNEL, 0x11, "[kernel.kallsyms]");
		put_old_entry(builder, &table, MISC_USER, 0x22, "/bin/a");
		build_feature(builder, FEATURE_BUILD_ID, table.bytes, table.size);
		build_finished_round(builder);
		_cleanup_buffer_ struct buffer bytes = recording_builder_finish(builder);
		struct read_back back;
		REQUIRE_OK(read_back(&bytes, &back));
		CHECK_UINT(recording_warning_count(back.recording), 0);
		REQUIRE(recording_build_id_count(back.recording) == 2);
		const struct build_id_record *kernel = recording_build_id(back.recording, 0);
		const struct build_id_record *user = recording_build_id(back.recording, 1);
		CHECK_TEXT(kernel->path, "[kernel.kallsyms]");
		CHECK_UINT(kernel->misc, MISC_KERNEL);
		CHECK(kernel->pid == -1);
		CHECK_TEXT(build_id_text(&kernel->id).text,
			   "1111111111111111111111111111111111111111");
		CHECK_TEXT(user->path, "/bin/a");
		CHECK_TEXT(build_id_text(&user->id).text,
			   "2222222222222222222222222222222222222222");
		read_back_fini(&back);
	}
}

// A HEADER_BUILD_ID record, with the trailer of the event's sample_type where perf wrote one.
static void put_record(struct recording_builder *builder, uint8_t digit, const char *path,
		       bool has_trailer)
{
	_cleanup_buffer_ struct buffer body = { 0 };
	uint8_t id[20], zeros[4] = { 0 };
	char name[64] = "";
	memset(id, digit, sizeof id);
	snprintf(name, sizeof name, "%s", path);
	build_put(builder, &body, UINT32_MAX, 4);
	buffer_append(&body, id, sizeof id);
	buffer_append(&body, zeros, sizeof zeros);
	buffer_append(&body, name, sizeof name);
	// TID, TIME, ID, CPU.
	build_put(builder, &body, 10, 4);
	build_put(builder, &body, 11, 4);
	build_put(builder, &body, 1234, 8);
	build_put(builder, &body, 7, 8);
	build_put(builder, &body, 3, 8);
	if (!has_trailer)
		body.size -= 32;
	build_record(builder, RECORD_HEADER_BUILD_ID, MISC_USER, body.bytes, body.size);
}

TEST(reads_build_id_records_with_and_without_a_trailer)
{
	struct recording_builder *builder = recording_builder_new();
	add_usual_event(builder, 7);
	put_record(builder, 0x33, "/bin/with", true);
	put_record(builder, 0x44, "/bin/without", false);
	_cleanup_buffer_ struct buffer bytes = recording_builder_finish(builder);
	struct read_back back;
	REQUIRE_OK(read_back(&bytes, &back));
	REQUIRE(back.count == 2);
	struct build_id_record entry;
	struct sample_id id;
	REQUIRE_OK(build_id_record_read(&back.items[0].record, &entry));
	CHECK_TEXT(entry.path, "/bin/with");
	CHECK(entry.is_padded);
	CHECK_TEXT(build_id_text(&entry.id).text, "3333333333333333333333333333333333333333");
	sample_id_read(recording_events(back.recording), &back.items[0].record, &id);
	CHECK(id.has_time);
	CHECK_UINT(id.time, 1234);
	CHECK_UINT(id.tid, 11);
	REQUIRE_OK(build_id_record_read(&back.items[1].record, &entry));
	CHECK_TEXT(entry.path, "/bin/without");
	CHECK_TEXT(build_id_text(&entry.id).text, "4444444444444444444444444444444444444444");
	read_back_fini(&back);
}
