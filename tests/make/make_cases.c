// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// What the cases of the command line read: make-cases writes it to the folder it runs in.
//
// images/app1, app2, libwork.so: libraries of two functions each. app.perf: two processes that run
// /bin/app, which was replaced between them; app.pipe: the same through a pipe, of the other byte
// order.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "make/elf.h"
#include "make/recording.h"
#include "perfdata/sample.h"

enum { APP = 0x400000, CODE = 0x1000, BEFORE = 10, BEHIND = 11 };
#define LIBRARY UINT64_C(0x7f0000000000)
#define KERNEL UINT64_C(0xffffffff80000000)

static struct build_id id_of(uint8_t digit)
{
	uint8_t bytes[20];
	memset(bytes, digit, sizeof bytes);
	return build_id_of(bytes, sizeof bytes);
}

static void write_image(const char *path, uint8_t digit, const char *prefix)
{
	struct build_id id = id_of(digit);
	_cleanup_buffer_ struct buffer bytes = { 0 };
	make_library(id.bytes, id.size, prefix, &bytes);
	make_file(path, bytes.bytes, bytes.size);
}

static struct built_stamp at(uint32_t pid, uint64_t time)
{
	struct built_stamp stamp = built_at(pid, pid, time);
	stamp.id = time ? 7 : 0;
	return stamp;
}

static void add_map(struct recording_builder *builder, uint32_t pid, uint64_t time, uint64_t start,
		    const char *path, uint8_t digit)
{
	struct mmap_record map = { .pid = pid,
				   .tid = pid,
				   .start = start,
				   .length = 0x1000,
				   .page_offset = CODE,
				   .id = id_of(digit),
				   .prot = 5,
				   .flags = 2,
				   .path = path };
	build_mmap2(builder, at(pid, time), MISC_USER, &map);
}

static void add_processes(struct recording_builder *builder)
{
	struct mmap_record kernel = { .pid = UINT32_MAX,
				      .start = KERNEL,
				      .length = 0x100000,
				      .page_offset = KERNEL,
				      .path = "[kernel.kallsyms]_text" };
	build_mmap(builder, at(0, 0), MISC_KERNEL, &kernel);
	build_comm(builder, at(BEFORE, 1000), &(struct comm_record){ BEFORE, BEFORE, true, "app" });
	add_map(builder, BEFORE, 1001, APP, "/bin/app", 0xa1);
	add_map(builder, BEFORE, 1002, LIBRARY, "/lib/libwork.so", 0xb2);
	build_fork(builder, at(BEFORE, 1003),
		   &(struct task_record){ BEHIND, BEFORE, BEHIND, BEFORE, 1003 });
	build_comm(builder, at(BEHIND, 2000), &(struct comm_record){ BEHIND, BEHIND, true, "app" });
	add_map(builder, BEHIND, 2001, APP, "/bin/app", 0xc3);
}

static void add_samples(struct recording_builder *builder, size_t event, uint32_t pid,
			unsigned count, const uint64_t *chain, size_t length)
{
	bool is_kernel = chain[0] == CHAIN_CONTEXT_KERNEL;
	for (unsigned i = 0; i < count; i++)
		build_sample(builder, event,
			     &(struct built_sample){ .misc = is_kernel ? MISC_KERNEL : MISC_USER,
						     .ip = chain[1],
						     .pid = pid,
						     .tid = pid,
						     .time = (pid == BEFORE ? 1010 : 2010) +
							     10 * chain[1] % 97 + i,
						     .id = event ? 8 : 7,
						     .cpu = pid % 2,
						     .period = event ? 1 : 1000,
						     .chain = chain,
						     .chain_count = length });
}

#define SAMPLES(builder, event, pid, count, ...)                                              \
	do {                                                                                  \
		const uint64_t words[] = { __VA_ARGS__ };                                     \
		add_samples(builder, event, pid, count, words, sizeof words / sizeof *words); \
	} while (0)

static void add_all_samples(struct recording_builder *builder)
{
	// "first" is at 0 of the code, "second" at 16.
	SAMPLES(builder, 0, BEFORE, 3, CHAIN_CONTEXT_USER, APP + 4, LIBRARY + 0x15, APP + 0x19);
	SAMPLES(builder, 0, BEFORE, 2, CHAIN_CONTEXT_USER, LIBRARY + 4, APP + 0x19);
	SAMPLES(builder, 0, BEFORE, 1, CHAIN_CONTEXT_KERNEL, KERNEL + 0x10, CHAIN_CONTEXT_USER,
		APP + 8);
	SAMPLES(builder, 0, BEHIND, 2, CHAIN_CONTEXT_USER, APP + 4);
	SAMPLES(builder, 0, BEHIND, 1, CHAIN_CONTEXT_USER, APP + 0x18);
	SAMPLES(builder, 0, BEHIND, 1, CHAIN_CONTEXT_USER, 0x999000);
	SAMPLES(builder, 1, BEFORE, 2, CHAIN_CONTEXT_USER, APP + 4);
	build_lost(builder, at(BEFORE, 1900), 7, 3);
}

static void write_recording(const char *path, const struct recording_builder_shape *shape)
{
	struct recording_builder *builder = recording_builder_new_of(shape);
	struct event_attr attr = { .type = 0,
				   .sample_type = SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME | SAMPLE_ID |
						  SAMPLE_CPU | SAMPLE_PERIOD | SAMPLE_CALLCHAIN,
				   .flags = BUILT_FLAGS | UINT64_C(1) << ATTR_FREQ,
				   .sample_period = 1000 };
	uint64_t ids[] = { 7, 8 };
	if (shape->is_pipe)
		build_string_feature(builder, FEATURE_HOSTNAME, "host");
	build_event(builder, &attr, "cycles", &ids[0], 1);
	attr.type = 1;
	attr.config = 2;
	build_event(builder, &attr, "page-faults", &ids[1], 1);
	build_event_desc(builder);
	if (!shape->is_pipe)
		build_string_feature(builder, FEATURE_HOSTNAME, "host");
	add_processes(builder);
	add_all_samples(builder);
	struct buffer bytes = recording_builder_finish(builder);
	make_file(path, bytes.bytes, bytes.size);
	buffer_fini(&bytes);
}

int main(void)
{
	mkdir("images", 0777);
	write_image("images/app1", 0xa1, "old_");
	write_image("images/app2", 0xc3, "new_");
	write_image("images/libwork.so", 0xb2, "work_");
	write_recording("app.perf", &(struct recording_builder_shape){ .is_big_endian = false });
	write_recording("app.pipe", &(struct recording_builder_shape){ .is_big_endian = true,
								       .is_pipe = true });
	return 0;
}
