// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
#include "environment/recorded.h"

#include <string.h>

#include "analyze/survey.h"
#include "base/cleanup.h"
#include "harness/tap.h"
#include "make/recording.h"
#include "perfdata/sample.h"

DEFINE_CLEANUP(struct recording *, recording, recording_close)
DEFINE_CLEANUP(struct survey *, survey, survey_free)

static struct recording_builder *begin(void)
{
	struct recording_builder *builder = recording_builder_new();
	struct event_attr attr = { .sample_type = SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME,
				   .flags = BUILT_FLAGS };
	uint64_t id = 7;
	build_event(builder, &attr, "cycles", &id, 1);
	build_string_feature(builder, FEATURE_HOSTNAME, "web1");
	build_string_feature(builder, FEATURE_OSRELEASE, "6.1.0-1");
	return builder;
}

static void map(struct recording_builder *builder, uint64_t time, uint64_t start, const char *path,
		uint8_t digit)
{
	struct mmap_record mmap = { .pid = 10,
				    .tid = 10,
				    .start = start,
				    .length = 0x1000,
				    .page_offset = 0x3000,
				    .path = path };
	mmap.id.size = digit ? 20 : 0;
	memset(mmap.id.bytes, digit, mmap.id.size);
	build_mmap2(builder, built_at(10, 10, time), MISC_USER, &mmap);
}

static struct snapshot *snapshot_of(struct recording_builder *builder)
{
	_cleanup_(cleanup_recording) struct recording *recording = NULL;
	_cleanup_(cleanup_survey) struct survey *survey = NULL;
	struct snapshot *snapshot = NULL;
	struct buffer bytes = recording_builder_finish(builder);
	char *path = built_file(&bytes);
	buffer_fini(&bytes);
	if (CHECK_OK(recording_open(path, NULL, &recording)) &&
	    CHECK_OK(survey_new(recording, NULL, &survey)))
		CHECK_OK(recorded_snapshot(recording, survey->timeline, survey->last_time_ns,
					   &snapshot));
	built_file_remove(path);
	return snapshot;
}

TEST(a_process_has_the_mappings_that_it_had_last)
{
	struct recording_builder *builder = begin();
	build_comm(builder, built_at(10, 10, 1), &(struct comm_record){ 10, 10, true, "sh" });
	map(builder, 2, 0x10000, "/bin/sh", 0xaa);
	build_comm(builder, built_at(10, 10, 3), &(struct comm_record){ 10, 10, true, "app" });
	map(builder, 4, 0x20000, "/bin/app", 0xbb);
	map(builder, 5, 0x30000, "/lib/old.so (deleted)", 0xcc);
	map(builder, 6, 0x30000, "/lib/new.so", 0);
	_cleanup_snapshot_ struct snapshot *snapshot = snapshot_of(builder);
	REQUIRE(snapshot);
	CHECK_TEXT(snapshot->source, "recording");
	CHECK_TEXT(snapshot->host, "web1");
	CHECK_TEXT(snapshot->kernel_release, "6.1.0-1");
	CHECK_UINT(snapshot->processes.count, 1);
	const struct snapshot_process *process = &snapshot->processes.items[0];
	CHECK_TEXT(process->comm, "app");
	CHECK(!process->has_uid);
	CHECK_UINT(process->mapping_count, 2);
	const struct snapshot_mapping *app = snapshot_locate(snapshot, process, 0x20010);
	const struct snapshot_mapping *library = snapshot_locate(snapshot, process, 0x30010);
	REQUIRE(app && library);
	CHECK_TEXT(snapshot->images.items[app->image].path, "/bin/app");
	CHECK_TEXT(snapshot->images.items[app->image].identity, "map-time");
	CHECK_UINT(app->offset, 0x3000);
	CHECK_TEXT(snapshot->images.items[library->image].path, "/lib/new.so");
	CHECK_TEXT(snapshot->images.items[library->image].identity, "none");
	CHECK_TEXT(snapshot_image_identity(&snapshot->images.items[library->image]).text, "");
	CHECK(!snapshot_locate(snapshot, process, 0x10010));
}

static const struct snapshot_image *image_of(const struct snapshot *snapshot, const char *path)
{
	for (size_t i = 0; i < snapshot->images.count; i++)
		if (!strcmp(snapshot->images.items[i].path, path))
			return &snapshot->images.items[i];
	return NULL;
}

TEST(what_was_mapped_for_a_while_only_is_described_too)
{
	struct recording_builder *builder = begin();
	map(builder, 5, 0x30000, "/lib/old.so (deleted)", 0xcc);
	map(builder, 6, 0x30000, "/lib/new.so", 0xdd);
	_cleanup_snapshot_ struct snapshot *snapshot = snapshot_of(builder);
	REQUIRE(snapshot);
	const struct snapshot_image *old = image_of(snapshot, "/lib/old.so");
	REQUIRE(old);
	CHECK(old->is_deleted);
	CHECK_UINT(old->id.bytes[0], 0xcc);
	CHECK_UINT(snapshot->mappings.count, 1);
}

TEST(code_without_a_file_is_named_as_what_it_is)
{
	struct recording_builder *builder = begin();
	map(builder, 1, 0x10000, "/memfd:made up (deleted)", 0xaa);
	map(builder, 2, 0x20000, "//anon", 0);
	map(builder, 3, 0x30000, "/tmp/jit-10.dump", 0);
	map(builder, 4, 0x40000, "[vdso]", 0);
	_cleanup_snapshot_ struct snapshot *snapshot = snapshot_of(builder);
	REQUIRE(snapshot);
	static const enum mapped_kind kinds[] = { MAPPED_MEMFD, MAPPED_ANON, MAPPED_JIT,
						  MAPPED_VDSO };
	const struct snapshot_process *process = &snapshot->processes.items[0];
	for (unsigned i = 0; i < 4; i++) {
		const struct snapshot_mapping *mapping =
			snapshot_locate(snapshot, process, 0x10000 * (i + 1));
		REQUIRE(mapping);
		CHECK_UINT(snapshot->images.items[mapping->image].kind, kinds[i]);
	}
	CHECK(image_of(snapshot, "made up"));
}

TEST(kernel_and_modules_come_with_their_ids)
{
	struct recording_builder *builder = begin();
	struct mmap_record kernel = { .pid = UINT32_MAX,
				      .start = 0xffffffff81000000,
				      .length = 0x1000000,
				      .page_offset = 0xffffffff81000000,
				      .path = "[kernel.kallsyms]_text" };
	struct mmap_record module = { .pid = UINT32_MAX,
				      .start = 0xffffffffc0000000,
				      .length = 0x8000,
				      .path = "/lib/modules/6.1.0-1/kernel/fs/ext4.ko.xz" };
	kernel.id.size = module.id.size = 20;
	memset(kernel.id.bytes, 0x11, 20);
	memset(module.id.bytes, 0x22, 20);
	build_mmap2(builder, built_at(0, 0, 0), MISC_KERNEL, &kernel);
	build_mmap2(builder, built_at(0, 0, 0), MISC_KERNEL, &module);
	_cleanup_snapshot_ struct snapshot *snapshot = snapshot_of(builder);
	REQUIRE(snapshot);
	CHECK_UINT(snapshot->kernel_id.bytes[0], 0x11);
	CHECK_UINT(snapshot->modules.count, 1);
	CHECK_TEXT(snapshot->modules.items[0].name, "ext4");
	CHECK_UINT(snapshot->modules.items[0].address, 0xffffffffc0000000);
	CHECK_UINT(snapshot->modules.items[0].size, 0x8000);
	CHECK_UINT(snapshot->modules.items[0].id.bytes[0], 0x22);
}

TEST(namespaces_are_those_that_the_recording_tells)
{
	struct recording_builder *builder = begin();
	static const uint64_t links[7][2] = { { 4, 100 }, { 4, 101 }, { 4, 102 }, { 4, 103 },
					      { 4, 104 }, { 4, 105 }, { 4, 106 } };
	build_namespaces(builder, built_at(10, 10, 1), 10, 10, links, 7);
	map(builder, 2, 0x10000, "/bin/app", 0xaa);
	_cleanup_snapshot_ struct snapshot *snapshot = snapshot_of(builder);
	REQUIRE(snapshot && snapshot->processes.count == 1);
	CHECK_UINT(snapshot->processes.items[0].pid_namespace, 103);
	CHECK_UINT(snapshot->processes.items[0].mount_namespace, 105);
}
