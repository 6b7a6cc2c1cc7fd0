// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Bodies and trailers of records: 8 bytes that shape the event, then one record with its header.
#include "fuzz.h"
#include "perfdata/chunk.h"
#include "perfdata/sample.h"

static void read_body(const struct record *record)
{
	union {
		struct mmap_record map;
		struct comm_record comm;
		struct task_record task;
		struct ksymbol_record symbol;
		struct namespaces_record namespaces;
		struct cgroup_record cgroup;
		struct lost_record lost;
		struct switch_record change;
		struct build_id_record id;
		struct deferred_chain chain;
	} body;
	uint64_t device, inode;
	imp_error_free(mmap_record_read(record, &body.map));
	imp_error_free(comm_record_read(record, &body.comm));
	imp_error_free(task_record_read(record, &body.task));
	imp_error_free(ksymbol_record_read(record, &body.symbol));
	imp_error_free(cgroup_record_read(record, &body.cgroup));
	imp_error_free(lost_record_read(record, &body.lost));
	imp_error_free(switch_record_read(record, &body.change));
	imp_error_free(build_id_record_read(record, &body.id));
	imp_error_free(deferred_chain_read(record, &body.chain));
	struct imp_error *err = namespaces_record_read(record, &body.namespaces);
	for (uint64_t i = 0; !err && i < body.namespaces.count; i++)
		FUZZ_CHECK(namespaces_record_at(&body.namespaces, i, &device, &inode));
	imp_error_free(err);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	enum { SHAPE_SIZE = 8 };
	if (size < SHAPE_SIZE + RECORD_HEADER_SIZE || size > SHAPE_SIZE + RECORD_MOST_BYTES)
		return 0;
	struct cursor shape = cursor_over(bytes, SHAPE_SIZE);
	bool swap = cursor_u8(&shape) & 1;
	cursor_skip(&shape, 3);
	struct event event = { .attr = { .flags = UINT64_C(1) << ATTR_SAMPLE_ID_ALL,
					 .sample_type = cursor_u32(&shape) } };
	struct events events = { .items = &event, .count = 1 };
	struct imp_error *err = events_index(&events);
	FUZZ_CHECK(!err);
	struct chunk chunk = { .bytes = bytes + SHAPE_SIZE,
			       .size = size - SHAPE_SIZE,
			       .limit = size - SHAPE_SIZE,
			       .swap = swap,
			       .is_inflated = true };
	struct record record;
	while (chunk_next(&chunk, &record)) {
		struct sample_id id;
		read_body(&record);
		sample_id_read(&events, &record, &id);
		record_type_name(record.type);
	}
	free(events.by_id);
	return 0;
}
