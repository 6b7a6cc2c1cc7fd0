// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The bodies of records in made recordings.
#include <stdlib.h>
#include <string.h>

#include "make/recording_builder.h"

// Ends BODY with the trailer of the first event and adds it as a record.
static void build_kernel_record(struct recording_builder *builder, uint32_t type, uint16_t misc,
				struct buffer *body, struct built_stamp stamp)
{
	const struct event_attr *attr = builder->events.count ? &builder->events.items[0].attr
							      : &(struct event_attr){ 0 };
	uint64_t bits = attr->flags >> ATTR_SAMPLE_ID_ALL & 1 ? attr->sample_type : 0;
	if (bits & SAMPLE_TID) {
		build_put(builder, body, stamp.pid, 4);
		build_put(builder, body, stamp.tid, 4);
	}
	if (bits & SAMPLE_TIME)
		build_put(builder, body, stamp.time, 8);
	if (bits & SAMPLE_ID)
		build_put(builder, body, stamp.id, 8);
	if (bits & SAMPLE_STREAM_ID)
		build_put(builder, body, stamp.id, 8);
	if (bits & SAMPLE_CPU) {
		build_put(builder, body, stamp.cpu, 4);
		build_put(builder, body, 0, 4);
	}
	if (bits & SAMPLE_IDENTIFIER)
		build_put(builder, body, stamp.id, 8);
	build_record(builder, type, misc, body->bytes, body->size);
	buffer_fini(body);
}

static void put_mapping(struct recording_builder *builder, struct buffer *body,
			const struct mmap_record *map)
{
	build_put(builder, body, map->pid, 4);
	build_put(builder, body, map->tid, 4);
	build_put(builder, body, map->start, 8);
	build_put(builder, body, map->length, 8);
	build_put(builder, body, map->page_offset, 8);
}

void build_mmap(struct recording_builder *builder, struct built_stamp stamp, uint16_t cpumode,
		const struct mmap_record *map)
{
	struct buffer body = { 0 };
	put_mapping(builder, &body, map);
	put_text(&body, map->path, 8);
	uint16_t misc = (uint16_t)(cpumode | (map->is_data ? MISC_MMAP_DATA : 0));
	build_kernel_record(builder, RECORD_MMAP, misc, &body, stamp);
}

void build_mmap2(struct recording_builder *builder, struct built_stamp stamp, uint16_t cpumode,
		 const struct mmap_record *map)
{
	struct buffer body = { 0 };
	put_mapping(builder, &body, map);
	uint16_t misc = (uint16_t)(cpumode | (map->is_data ? MISC_MMAP_DATA : 0));
	if (map->id.size) {
		misc = (uint16_t)(misc | MISC_MMAP_BUILD_ID);
		build_put(builder, &body, map->id.size, 1);
		put_zeros(&body, 3);
		put_bytes(&body, map->id.bytes, 20);
	} else {
		build_put(builder, &body, map->major, 4);
		build_put(builder, &body, map->minor, 4);
		build_put(builder, &body, map->inode, 8);
		build_put(builder, &body, map->generation, 8);
	}
	build_put(builder, &body, map->prot, 4);
	build_put(builder, &body, map->flags, 4);
	put_text(&body, map->path, 8);
	build_kernel_record(builder, RECORD_MMAP2, misc, &body, stamp);
}

void build_comm(struct recording_builder *builder, struct built_stamp stamp,
		const struct comm_record *comm)
{
	struct buffer body = { 0 };
	build_put(builder, &body, comm->pid, 4);
	build_put(builder, &body, comm->tid, 4);
	put_text(&body, comm->comm, 8);
	build_kernel_record(builder, RECORD_COMM, comm->is_exec ? MISC_COMM_EXEC : 0, &body, stamp);
}

static void build_task(struct recording_builder *builder, uint32_t type, struct built_stamp stamp,
		       const struct task_record *task)
{
	struct buffer body = { 0 };
	build_put(builder, &body, task->pid, 4);
	build_put(builder, &body, task->parent_pid, 4);
	build_put(builder, &body, task->tid, 4);
	build_put(builder, &body, task->parent_tid, 4);
	build_put(builder, &body, task->time, 8);
	build_kernel_record(builder, type, 0, &body, stamp);
}

void build_fork(struct recording_builder *builder, struct built_stamp stamp,
		const struct task_record *task)
{
	build_task(builder, RECORD_FORK, stamp, task);
}

void build_exit(struct recording_builder *builder, struct built_stamp stamp,
		const struct task_record *task)
{
	build_task(builder, RECORD_EXIT, stamp, task);
}

void build_ksymbol(struct recording_builder *builder, struct built_stamp stamp,
		   const struct ksymbol_record *symbol)
{
	struct buffer body = { 0 };
	build_put(builder, &body, symbol->start, 8);
	build_put(builder, &body, symbol->length, 4);
	build_put(builder, &body, symbol->type, 2);
	build_put(builder, &body, symbol->is_unregister, 2);
	put_text(&body, symbol->name, 8);
	build_kernel_record(builder, RECORD_KSYMBOL, 0, &body, stamp);
}

void build_cgroup(struct recording_builder *builder, struct built_stamp stamp,
		  const struct cgroup_record *cgroup)
{
	struct buffer body = { 0 };
	build_put(builder, &body, cgroup->id, 8);
	put_text(&body, cgroup->path, 8);
	build_kernel_record(builder, RECORD_CGROUP, 0, &body, stamp);
}

void build_namespaces(struct recording_builder *builder, struct built_stamp stamp, uint32_t pid,
		      uint32_t tid, const uint64_t (*links)[2], size_t count)
{
	struct buffer body = { 0 };
	build_put(builder, &body, pid, 4);
	build_put(builder, &body, tid, 4);
	build_put(builder, &body, count, 8);
	for (size_t i = 0; i < count; i++) {
		build_put(builder, &body, links[i][0], 8);
		build_put(builder, &body, links[i][1], 8);
	}
	build_kernel_record(builder, RECORD_NAMESPACES, 0, &body, stamp);
}

void build_lost(struct recording_builder *builder, struct built_stamp stamp, uint64_t id,
		uint64_t lost)
{
	struct buffer body = { 0 };
	build_put(builder, &body, id, 8);
	build_put(builder, &body, lost, 8);
	build_kernel_record(builder, RECORD_LOST, 0, &body, stamp);
}

void build_lost_samples(struct recording_builder *builder, struct built_stamp stamp, uint64_t lost)
{
	struct buffer body = { 0 };
	build_put(builder, &body, lost, 8);
	build_kernel_record(builder, RECORD_LOST_SAMPLES, 0, &body, stamp);
}

void build_finished_round(struct recording_builder *builder)
{
	build_record(builder, RECORD_FINISHED_ROUND, 0, NULL, 0);
}

static void put_fixed_fields(const struct recording_builder *builder, struct buffer *body,
			     uint64_t bits, const struct built_sample *sample)
{
	const struct {
		uint64_t bit, value;
		uint32_t second;
		bool is_pair;
	} fields[] = {
		{ SAMPLE_IDENTIFIER, sample->id, 0, false },
		{ SAMPLE_IP, sample->ip, 0, false },
		{ SAMPLE_TID, sample->pid, sample->tid, true },
		{ SAMPLE_TIME, sample->time, 0, false },
		{ SAMPLE_ADDR, sample->addr, 0, false },
		{ SAMPLE_ID, sample->id, 0, false },
		{ SAMPLE_STREAM_ID, sample->stream_id, 0, false },
		{ SAMPLE_CPU, sample->cpu, 0, true },
		{ SAMPLE_PERIOD, sample->period, 0, false },
	};
	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
		if (!(bits & fields[i].bit))
			continue;
		build_put(builder, body, fields[i].value, fields[i].is_pair ? 4 : 8);
		if (fields[i].is_pair)
			build_put(builder, body, fields[i].second, 4);
	}
}

static void put_user_side(const struct recording_builder *builder, struct buffer *body,
			  const struct event_attr *attr, const struct built_sample *sample)
{
	if (attr->sample_type & SAMPLE_REGS_USER) {
		build_put(builder, body, sample->user_abi, 8);
		if (sample->user_abi)
			put_words(builder, body, sample->user_regs,
				  (uint64_t)__builtin_popcountll(attr->sample_regs_user));
	}
	if (attr->sample_type & SAMPLE_STACK_USER) {
		build_put(builder, body, sample->stack_size, 8);
		put_bytes(body, sample->stack, sample->stack_size);
		if (sample->stack_size)
			build_put(builder, body, sample->stack_valid, 8);
	}
}

void build_sample(struct recording_builder *builder, size_t event,
		  const struct built_sample *sample)
{
	const struct event_attr *attr = &builder->events.items[event].attr;
	uint64_t bits = attr->sample_type;
	struct buffer body = { 0 };
	put_fixed_fields(builder, &body, bits, sample);
	if (bits & SAMPLE_CALLCHAIN) {
		build_put(builder, &body, sample->chain_count, 8);
		put_words(builder, &body, sample->chain, sample->chain_count);
	}
	if (bits & SAMPLE_RAW) {
		build_put(builder, &body, sample->raw_size, 4);
		put_bytes(&body, sample->raw, sample->raw_size);
	}
	if (bits & SAMPLE_BRANCH_STACK) {
		build_put(builder, &body, sample->branch_count, 8);
		put_words(builder, &body, sample->branches, 3 * sample->branch_count);
	}
	put_user_side(builder, &body, attr, sample);
	if (bits & SAMPLE_WEIGHT)
		build_put(builder, &body, sample->weight, 8);
	if (bits & SAMPLE_CGROUP)
		build_put(builder, &body, sample->cgroup, 8);
	build_record(builder, RECORD_SAMPLE, sample->misc, body.bytes, body.size);
	buffer_fini(&body);
}

// The body of a build-ID entry, behind its header.
static void put_build_id(const struct recording_builder *builder, struct buffer *body,
			 const struct build_id_record *entry)
{
	build_put(builder, body, (uint32_t)entry->pid, 4);
	put_bytes(body, entry->id.bytes, 20);
	build_put(builder, body, entry->is_padded ? 0 : entry->id.size, 1);
	put_zeros(body, 3);
	put_text(body, entry->path, 4);
	put_zeros(body, (8 - (8 + body->size) % 8) % 8);
}

static uint16_t build_id_misc(const struct build_id_record *entry)
{
	return (uint16_t)(entry->misc | (entry->is_padded ? 0 : MISC_BUILD_ID_SIZE));
}

void build_build_id(struct recording_builder *builder, const struct build_id_record *entry)
{
	struct buffer body = { 0 };
	put_build_id(builder, &body, entry);
	build_record(builder, RECORD_HEADER_BUILD_ID, build_id_misc(entry), body.bytes, body.size);
	buffer_fini(&body);
}

void build_table_entry(struct recording_builder *builder, const struct build_id_record *entry)
{
	struct buffer *table = &builder->features[FEATURE_BUILD_ID];
	struct buffer body = { 0 };
	put_build_id(builder, &body, entry);
	build_put(builder, table, 0, 4);
	build_put(builder, table, build_id_misc(entry), 2);
	build_put(builder, table, 8 + body.size, 2);
	put_bytes(table, body.bytes, body.size);
	builder->has_feature[FEATURE_BUILD_ID] = true;
	buffer_fini(&body);
}
