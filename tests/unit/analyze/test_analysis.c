// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Both passes: what samples become, whoever reads which part.
#include "analyze/analysis.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "harness/tap.h"
#include "make/recording.h"
#include "perfdata/sample.h"
#include "render/export/folded.h"
#include "render/json_report.h"

enum { BASE = 0x10000, SIZE = 0x10000 };

static struct recording_builder *begin(uint64_t sample_type)
{
	struct recording_builder *builder = recording_builder_new();
	struct event_attr attr = { .sample_type = sample_type, .flags = BUILT_FLAGS };
	uint64_t id = 7;
	build_event(builder, &attr, "cycles", &id, 1);
	return builder;
}

static void map(struct recording_builder *builder, uint32_t pid, uint64_t time, const char *path)
{
	struct mmap_record mmap = {
		.pid = pid, .tid = pid, .start = BASE, .length = SIZE, .path = path
	};
	build_mmap2(builder, built_at(pid, pid, time), MISC_USER, &mmap);
}

static void comm(struct recording_builder *builder, uint32_t pid, uint64_t time, bool is_exec,
		 const char *name)
{
	struct comm_record record = { .pid = pid, .tid = pid, .is_exec = is_exec, .comm = name };
	build_comm(builder, built_at(pid, pid, time), &record);
}

// A sample with user frames at these addresses, innermost first.
#define SAMPLE(builder, pid_, time_, ...)                                                \
	do {                                                                             \
		const uint64_t words[] = { CHAIN_CONTEXT_USER, __VA_ARGS__ };            \
		build_sample(builder, 0,                                                 \
			     &(struct built_sample){ .misc = MISC_USER,                  \
						     .ip = words[1],                     \
						     .pid = (pid_),                      \
						     .tid = (pid_),                      \
						     .time = (time_),                    \
						     .period = 1,                        \
						     .chain = words,                     \
						     .chain_count = sizeof words / 8 }); \
	} while (0)

enum {
	WITH_CHAINS = SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME | SAMPLE_CALLCHAIN,
};

static char *folded(const struct profile *profile)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	CHECK_OK(folded_write(profile, out));
	fclose(out);
	return text;
}

// Analyzes what BUILDER has built.
static struct profile *analyzed(struct recording_builder *builder,
				const struct analysis_options *options)
{
	struct buffer bytes = recording_builder_finish(builder);
	char *path = built_file(&bytes);
	struct profile *profile = NULL;
	CHECK_OK(analyze(path, options, &profile));
	buffer_fini(&bytes);
	built_file_remove(path);
	return profile;
}

static void check_folded(struct recording_builder *builder, const char *expected)
{
	struct analysis_options options = { .with_chains = true, .workers = 1 };
	_cleanup_profile_ struct profile *profile = analyzed(builder, &options);
	_cleanup_free_ char *text = profile ? folded(profile) : NULL;
	CHECK_TEXT(text, expected);
}

TEST(frames_are_offsets_in_what_was_mapped)
{
	struct recording_builder *builder = begin(WITH_CHAINS);
	comm(builder, 1, 1, true, "a");
	map(builder, 1, 2, "/bin/a");
	SAMPLE(builder, 1, 10, BASE + 0x30, BASE + 0x20, BASE + 0x10);
	SAMPLE(builder, 1, 11, BASE + 0x31, BASE + 0x20, BASE + 0x10);
	check_folded(builder, "a;/bin/a+0x10;/bin/a+0x20;/bin/a+0x30 1\n"
			      "a;/bin/a+0x10;/bin/a+0x20;/bin/a+0x31 1\n");
}

TEST(equal_words_mean_something_else_after_an_exec)
{
	struct recording_builder *builder = begin(WITH_CHAINS);
	comm(builder, 1, 1, true, "a");
	map(builder, 1, 2, "/bin/a");
	SAMPLE(builder, 1, 10, BASE + 0x30, BASE + 0x20);
	comm(builder, 1, 20, true, "a");
	map(builder, 1, 21, "/bin/b");
	SAMPLE(builder, 1, 30, BASE + 0x30, BASE + 0x20);
	SAMPLE(builder, 1, 11, BASE + 0x30, BASE + 0x20);
	check_folded(builder, "a;/bin/a+0x20;/bin/a+0x30 2\n"
			      "a;/bin/b+0x20;/bin/b+0x30 1\n");
}

TEST(equal_words_mean_something_else_in_another_process)
{
	struct recording_builder *builder = begin(WITH_CHAINS);
	comm(builder, 1, 1, true, "a");
	comm(builder, 2, 1, true, "a");
	map(builder, 1, 2, "/bin/a");
	map(builder, 2, 2, "/bin/b");
	SAMPLE(builder, 1, 10, BASE + 0x30, BASE + 0x20);
	SAMPLE(builder, 2, 10, BASE + 0x30, BASE + 0x20);
	check_folded(builder, "a;/bin/a+0x20;/bin/a+0x30 1\n"
			      "a;/bin/b+0x20;/bin/b+0x30 1\n");
}

TEST(a_call_at_the_end_of_a_mapping_returns_behind_it)
{
	struct recording_builder *builder = begin(WITH_CHAINS);
	comm(builder, 1, 1, true, "a");
	map(builder, 1, 2, "/bin/a");
	SAMPLE(builder, 1, 10, BASE + 0x30, BASE + SIZE);
	check_folded(builder, "a;/bin/a+0x10000;/bin/a+0x30 1\n");
}

TEST(what_was_not_mapped_has_a_reason_and_no_address)
{
	struct recording_builder *builder = begin(WITH_CHAINS);
	comm(builder, 1, 1, true, "a");
	map(builder, 1, 2, "/bin/a");
	SAMPLE(builder, 1, 10, 0x999999, BASE + 0x20);
	SAMPLE(builder, 1, 11, 0x888888, BASE + 0x20);
	check_folded(builder, "a;/bin/a+0x20;[unmapped] 2\n");
}

TEST(a_thread_without_a_name_is_called_by_its_number)
{
	struct recording_builder *builder = begin(WITH_CHAINS);
	map(builder, 5, 2, "/bin/a");
	SAMPLE(builder, 5, 10, BASE + 0x30);
	SAMPLE(builder, 0, 10, BASE + 0x30);
	check_folded(builder, ":5;/bin/a+0x30 1\n"
			      "swapper;[no-process] 1\n");
}

TEST(a_sample_without_an_address_counts)
{
	struct recording_builder *builder = begin(SAMPLE_TID | SAMPLE_TIME);
	comm(builder, 1, 1, true, "a");
	build_sample(builder, 0, &(struct built_sample){ .pid = 1, .tid = 1, .time = 3 });
	check_folded(builder, "a;[no-address] 1\n");
}

TEST(tasks_are_told_apart_as_asked)
{
	struct analysis_options options = { .by_pid = true, .by_cpu = true };
	struct recording_builder *builder =
		begin(SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME | SAMPLE_CPU);
	comm(builder, 1, 1, true, "a");
	comm(builder, 2, 1, true, "a");
	for (uint32_t i = 0; i < 8; i++)
		build_sample(builder, 0,
			     &(struct built_sample){
				     .pid = 1 + i % 2, .tid = 10 + i, .cpu = i / 4, .time = 3 });
	_cleanup_profile_ struct profile *profile = analyzed(builder, &options);
	REQUIRE(profile);
	CHECK_UINT(profile->tally.tasks.count, 4);
	CHECK_UINT(profile->events.items[0].samples, 8);
	CHECK(profile->tally.tasks.items[0].tid == TASK_ANY);
}

// The cgroup of the task with most samples in PROFILE.
static const char *cgroup_of_most(const struct profile *profile)
{
	const struct tally *tally = &profile->tally;
	uint64_t most = 0;
	const char *path = NULL;
	for (size_t i = 0; i < tally->nodes.count; i++) {
		const struct stack_node *node = &tally->nodes.items[i];
		if (stack_node_is_root(node) || node->samples <= most)
			continue;
		most = node->samples;
		uint32_t root = tally->nodes.items[node->parent].spot;
		path = profile_string(profile,
				      tally->tasks.items[tally->roots.items[root].task].cgroup);
	}
	return path;
}

TEST(cgroups_are_told_apart_and_one_without_a_name_by_its_number)
{
	struct analysis_options options = { .by_cgroup = true, .by_cgroup_id = true };
	struct recording_builder *builder =
		begin(SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME | SAMPLE_CGROUP);
	const uint64_t links[7][2] = { { 4, 1 }, { 4, 2 }, { 4, 3 }, { 4, 4 },
				       { 4, 5 }, { 4, 6 }, { 4, 7 } };
	comm(builder, 1, 1, true, "a");
	build_cgroup(builder, built_at(0, 0, 0), &(struct cgroup_record){ 30, "/a.service" });
	build_namespaces(builder, built_at(2, 2, 4), 2, 2, links, 7);
	for (uint32_t i = 0; i < 8; i++)
		build_sample(builder, 0,
			     &(struct built_sample){ .pid = i < 5 ? 1 : 2,
						     .tid = i < 5 ? 1 : 2,
						     .time = 5,
						     .cgroup = i < 4 ? 30 : 31 });
	_cleanup_profile_ struct profile *profile = analyzed(builder, &options);
	REQUIRE(profile);
	const struct tally *tally = &profile->tally;
	REQUIRE(tally->tasks.count == 3);
	CHECK_TEXT(cgroup_of_most(profile), "/a.service");
	CHECK_TEXT(profile_string(profile, tally->tasks.items[1].cgroup), "[cgroup 31]");
	CHECK(profile_string(profile, tally->tasks.items[1].cgroup_id) == NULL);
	CHECK_TEXT(profile_string(profile, tally->tasks.items[2].cgroup), "[cgroup 31]");
	CHECK_TEXT(profile_string(profile, tally->tasks.items[2].cgroup_id), "4/0x7");
}

static char *json_of(const char *path, unsigned workers)
{
	struct analysis_options options = { .with_chains = true, .workers = workers };
	struct json_report_options json_options = { .with_stacks = true, .with_children = true };
	_cleanup_profile_ struct profile *profile = NULL;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	if (CHECK_OK(analyze(path, &options, &profile)))
		CHECK_OK(json_report(profile, &json_options, out));
	fclose(out);
	return text;
}

TEST(the_answer_does_not_depend_on_the_number_of_threads)
{
	const char *shared = tap_shared();
	if (!shared)
		return;
	static const char *const names[] = {
		"recordings/vm-6.1-user/scen/exec_replace.plain/perf.data",
		"recordings/vm-6.1-kernel/sys-bmmap/perf.data",
		"recordings/vm-6.1-kernel/sys-zstd/perf.data",
		"recordings/vm-6.1-kernel/sys-tp/perf.data",
	};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		_cleanup_free_ char *path = NULL;
		REQUIRE(asprintf(&path, "%s/%s", shared, names[i]) > 0);
		_cleanup_free_ char *one = json_of(path, 1);
		_cleanup_free_ char *two = json_of(path, 2);
		_cleanup_free_ char *eight = json_of(path, 8);
		REQUIRE(one && two && eight);
		CHECK(strlen(one) > 1000);
		CHECK(!strcmp(one, two));
		CHECK(!strcmp(one, eight));
	}
}

// The tally of TIMES times two stacks.
static struct profile *repeated(unsigned times)
{
	struct analysis_options options = { .with_chains = true, .workers = 1 };
	struct recording_builder *builder = begin(WITH_CHAINS);
	comm(builder, 1, 1, true, "a");
	map(builder, 1, 2, "/bin/a");
	for (unsigned i = 0; i < times; i++) {
		SAMPLE(builder, 1, 10 + i, BASE + 0x30, BASE + 0x20, BASE + 0x10);
		SAMPLE(builder, 1, 10 + i, BASE + 0x40, BASE + 0x20, BASE + 0x10);
	}
	return analyzed(builder, &options);
}

TEST(memory_is_that_of_the_stacks_and_not_of_the_samples)
{
	_cleanup_profile_ struct profile *few = repeated(1);
	_cleanup_profile_ struct profile *many = repeated(3000);
	CHECK(few && many);
	CHECK_UINT(many->events.items[0].samples, 6000);
	// A root, two callers, two leaves.
	CHECK_UINT(few->tally.nodes.count, 5);
	CHECK_UINT(many->tally.nodes.count, 5);
	CHECK_UINT(many->tally.nodes.room, few->tally.nodes.room);
	CHECK_UINT(many->tally.spots.room, few->tally.spots.room);
	CHECK_UINT(many->tally.node_table.mask, few->tally.node_table.mask);
}
