// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Recordings made in code, of any shape and either byte order, so that a test shows its input:
//
//	struct recording_builder *builder = recording_builder_new();
//	uint64_t id = 7;
//	build_event(builder, &(struct event_attr){ .sample_type = SAMPLE_IP | SAMPLE_TID |
//		SAMPLE_TIME, .flags = BUILT_FLAGS }, "cycles", &id, 1);
//	build_comm(builder, built_at(10, 10, 100), &(struct comm_record){ 10, 10, true, "app" });
//	build_mmap2(builder, built_at(10, 10, 101), MISC_USER, &(struct mmap_record){ … });
//	build_sample(builder, 0, &(struct built_sample){ .ip = 0x401000, .pid = 10, .tid = 10,
//		.time = 102 });
//	struct buffer bytes = recording_builder_finish(builder);
//
// Memory that runs out ends the test program.
#ifndef MAKE_RECORDING_H
#define MAKE_RECORDING_H

#include "base/buffer.h"
#include "perfdata/feature.h"
#include "perfdata/record.h"

// sample_id_all, so that every record has a trailer.
#define BUILT_FLAGS (UINT64_C(1) << ATTR_SAMPLE_ID_ALL)

// What the recording is like; set before anything is added.
struct recording_builder_shape {
	bool is_big_endian;
	bool is_pipe;
	// Magic "PERFFILE".
	bool is_version_1;
	// The header says nothing of the data's size, and no features are written.
	bool is_unfinished;
	// The attrs stand behind the features.
	bool has_attrs_last;
	// Features in a pipe are padded to 8 bytes.
	bool has_aligned_features;
	// Bytes of each attr; 0: 128.
	uint32_t attr_size;
};

struct recording_builder;

struct recording_builder *recording_builder_new(void);
struct recording_builder *recording_builder_new_of(const struct recording_builder_shape *shape);

// The bytes of the recording, the caller's. Frees the builder.
struct buffer recording_builder_finish(struct recording_builder *builder);

// Writes BYTES to a new file in /tmp, and gives its path back: built_file_remove() deletes the file
// and frees the path.
char *built_file(const struct buffer *bytes);
void built_file_remove(char *path);

// All events must be added before the first record. NAME may be NULL.
void build_event(struct recording_builder *builder, const struct event_attr *attr, const char *name,
		 const uint64_t *ids, size_t id_count);

// The trailer's fields; all zero is what perf gives to records it synthesizes.
struct built_stamp {
	uint32_t pid, tid, cpu;
	uint64_t time, id;
};

static inline struct built_stamp built_at(uint32_t pid, uint32_t tid, uint64_t time)
{
	return (struct built_stamp){ .pid = pid, .tid = tid, .time = time };
}

// Trailers are laid out as the first event's attr says. CPUMODE is MISC_USER, MISC_KERNEL, …
void build_mmap(struct recording_builder *builder, struct built_stamp stamp, uint16_t cpumode,
		const struct mmap_record *map);
// In the build-ID form when the map has an ID.
void build_mmap2(struct recording_builder *builder, struct built_stamp stamp, uint16_t cpumode,
		 const struct mmap_record *map);
void build_comm(struct recording_builder *builder, struct built_stamp stamp,
		const struct comm_record *comm);
void build_fork(struct recording_builder *builder, struct built_stamp stamp,
		const struct task_record *task);
void build_exit(struct recording_builder *builder, struct built_stamp stamp,
		const struct task_record *task);
void build_ksymbol(struct recording_builder *builder, struct built_stamp stamp,
		   const struct ksymbol_record *symbol);
void build_cgroup(struct recording_builder *builder, struct built_stamp stamp,
		  const struct cgroup_record *cgroup);
// LINKS are {dev, inode} pairs.
void build_namespaces(struct recording_builder *builder, struct built_stamp stamp, uint32_t pid,
		      uint32_t tid, const uint64_t (*links)[2], size_t count);
void build_lost(struct recording_builder *builder, struct built_stamp stamp, uint64_t id,
		uint64_t lost);
void build_lost_samples(struct recording_builder *builder, struct built_stamp stamp, uint64_t lost);
void build_finished_round(struct recording_builder *builder);

// A HEADER_BUILD_ID record: with the size byte unless is_padded. misc is the cpumode.
void build_build_id(struct recording_builder *builder, const struct build_id_record *entry);

// A sample has those of these that its event's sample_type asks for.
struct built_sample {
	uint16_t misc;
	uint32_t pid, tid, cpu;
	uint64_t ip, time, addr, id, stream_id, period, weight, cgroup;
	const uint64_t *chain;
	uint64_t chain_count;
	const uint8_t *raw;
	uint32_t raw_size;
	// {from, to, flags} triples.
	const uint64_t *branches;
	uint64_t branch_count;
	// With abi, popcount(sample_regs_user) values.
	uint64_t user_abi;
	const uint64_t *user_regs;
	const uint8_t *stack;
	uint64_t stack_size, stack_valid;
};
void build_sample(struct recording_builder *builder, size_t event,
		  const struct built_sample *sample);

// A record of any type: BODY is in the recording's byte order already and is not padded.
void build_record(struct recording_builder *builder, uint32_t type, uint16_t misc, const void *body,
		  size_t size);
// Bytes among the records, as they are: payloads outside of records, damage.
void build_bytes(struct recording_builder *builder, const void *bytes, size_t size);

// Records added between these two are written as compressed records of TYPE (RECORD_COMPRESSED or
// RECORD_COMPRESSED2), each of STEP bytes of records, wherever that cuts one. All are one zstd
// stream.
void build_compressed_begin(struct recording_builder *builder);
void build_compressed_end(struct recording_builder *builder, uint32_t type, size_t step);

// A feature with PAYLOAD in the recording's byte order. Features of a pipe must come first of all.
void build_feature(struct recording_builder *builder, unsigned bit, const void *payload,
		   size_t size);
// Features of common kinds.
void build_string_feature(struct recording_builder *builder, unsigned bit, const char *text);
// EVENT_DESC, of all events so far.
void build_event_desc(struct recording_builder *builder);

// An entry of the BUILD_ID table, which is written when the recording is finished.
void build_table_entry(struct recording_builder *builder, const struct build_id_record *entry);

// Values in the recording's byte order, for bodies made by hand.
void build_put(const struct recording_builder *builder, struct buffer *buffer, uint64_t value,
	       size_t size);

#endif
