// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// What all records have in common: their type's name, their body, their trailer.
#include "perfdata/record.h"

static const char *const kernel_names[] = {
	[RECORD_MMAP] = "MMAP",
	[RECORD_LOST] = "LOST",
	[RECORD_COMM] = "COMM",
	[RECORD_EXIT] = "EXIT",
	[RECORD_THROTTLE] = "THROTTLE",
	[RECORD_UNTHROTTLE] = "UNTHROTTLE",
	[RECORD_FORK] = "FORK",
	[RECORD_READ] = "READ",
	[RECORD_SAMPLE] = "SAMPLE",
	[RECORD_MMAP2] = "MMAP2",
	[RECORD_AUX] = "AUX",
	[RECORD_ITRACE_START] = "ITRACE_START",
	[RECORD_LOST_SAMPLES] = "LOST_SAMPLES",
	[RECORD_SWITCH] = "SWITCH",
	[RECORD_SWITCH_CPU_WIDE] = "SWITCH_CPU_WIDE",
	[RECORD_NAMESPACES] = "NAMESPACES",
	[RECORD_KSYMBOL] = "KSYMBOL",
	[RECORD_BPF_EVENT] = "BPF_EVENT",
	[RECORD_CGROUP] = "CGROUP",
	[RECORD_TEXT_POKE] = "TEXT_POKE",
	[RECORD_AUX_OUTPUT_HW_ID] = "AUX_OUTPUT_HW_ID",
	[RECORD_CALLCHAIN_DEFERRED] = "CALLCHAIN_DEFERRED",
};

static const char *const synthetic_names[] = {
	[RECORD_HEADER_ATTR - RECORD_FIRST_SYNTHETIC] = "HEADER_ATTR",
	[RECORD_HEADER_EVENT_TYPE - RECORD_FIRST_SYNTHETIC] = "HEADER_EVENT_TYPE",
	[RECORD_HEADER_TRACING_DATA - RECORD_FIRST_SYNTHETIC] = "HEADER_TRACING_DATA",
	[RECORD_HEADER_BUILD_ID - RECORD_FIRST_SYNTHETIC] = "HEADER_BUILD_ID",
	[RECORD_FINISHED_ROUND - RECORD_FIRST_SYNTHETIC] = "FINISHED_ROUND",
	[RECORD_ID_INDEX - RECORD_FIRST_SYNTHETIC] = "ID_INDEX",
	[RECORD_AUXTRACE_INFO - RECORD_FIRST_SYNTHETIC] = "AUXTRACE_INFO",
	[RECORD_AUXTRACE - RECORD_FIRST_SYNTHETIC] = "AUXTRACE",
	[RECORD_AUXTRACE_ERROR - RECORD_FIRST_SYNTHETIC] = "AUXTRACE_ERROR",
	[RECORD_THREAD_MAP - RECORD_FIRST_SYNTHETIC] = "THREAD_MAP",
	[RECORD_CPU_MAP - RECORD_FIRST_SYNTHETIC] = "CPU_MAP",
	[RECORD_STAT_CONFIG - RECORD_FIRST_SYNTHETIC] = "STAT_CONFIG",
	[RECORD_STAT - RECORD_FIRST_SYNTHETIC] = "STAT",
	[RECORD_STAT_ROUND - RECORD_FIRST_SYNTHETIC] = "STAT_ROUND",
	[RECORD_EVENT_UPDATE - RECORD_FIRST_SYNTHETIC] = "EVENT_UPDATE",
	[RECORD_TIME_CONV - RECORD_FIRST_SYNTHETIC] = "TIME_CONV",
	[RECORD_HEADER_FEATURE - RECORD_FIRST_SYNTHETIC] = "HEADER_FEATURE",
	[RECORD_COMPRESSED - RECORD_FIRST_SYNTHETIC] = "COMPRESSED",
	[RECORD_FINISHED_INIT - RECORD_FIRST_SYNTHETIC] = "FINISHED_INIT",
	[RECORD_COMPRESSED2 - RECORD_FIRST_SYNTHETIC] = "COMPRESSED2",
	[RECORD_BPF_METADATA - RECORD_FIRST_SYNTHETIC] = "BPF_METADATA",
	[RECORD_SCHEDSTAT_CPU - RECORD_FIRST_SYNTHETIC] = "SCHEDSTAT_CPU",
	[RECORD_SCHEDSTAT_DOMAIN - RECORD_FIRST_SYNTHETIC] = "SCHEDSTAT_DOMAIN",
};

// Records that Android's simpleperf adds (SIMPLE_PERF_RECORD_TYPE_START is 32768).
enum { FIRST_SIMPLEPERF = 32769 };
static const char *const simpleperf_names[] = {
	"simpleperf:KERNEL_SYMBOL", "simpleperf:DSO",
	"simpleperf:SYMBOL",	    "simpleperf:SPLIT",
	"simpleperf:SPLIT_END",	    "simpleperf:EVENT_ID",
	"simpleperf:CALLCHAIN",	    "simpleperf:UNWINDING_RESULT",
	"simpleperf:TRACING_DATA",
};

#define NAME_IN(names, index) ((index) < sizeof(names) / sizeof *(names) ? (names)[index] : NULL)

const char *record_type_name(uint32_t type)
{
	if (type < RECORD_FIRST_SYNTHETIC)
		return NAME_IN(kernel_names, type);
	if (type < FIRST_SIMPLEPERF)
		return NAME_IN(synthetic_names, type - RECORD_FIRST_SYNTHETIC);
	return NAME_IN(simpleperf_names, type - FIRST_SIMPLEPERF);
}

struct cursor record_body(const struct record *record)
{
	struct cursor body =
		cursor_over(record->bytes + RECORD_HEADER_SIZE, record->size - RECORD_HEADER_SIZE);
	body.origin = record->offset + RECORD_HEADER_SIZE;
	body.swap = record->swap;
	return body;
}

static uint32_t u32_at(const struct record *record, size_t at)
{
	uint32_t value;
	memcpy(&value, record->bytes + at, sizeof value);
	return record->swap ? __builtin_bswap32(value) : value;
}

static uint64_t u64_at(const struct record *record, size_t at)
{
	uint64_t value;
	memcpy(&value, record->bytes + at, sizeof value);
	return record->swap ? __builtin_bswap64(value) : value;
}

static const struct event *event_of_trailer(const struct events *events,
					    const struct record *record, uint64_t *id)
{
	if (!events->count)
		return NULL;
	uint16_t at = events->trailer_id_at;
	if (at == NO_FIELD || record->size < (uint32_t)at + RECORD_HEADER_SIZE)
		return &events->items[0];
	*id = u64_at(record, record->size - at);
	const struct event *event = *id ? events_by_id(events, *id) : NULL;
	return event ? event : &events->items[0];
}

// `perf inject` may end a HEADER_BUILD_ID with a trailer, and nothing says whether it did: it did
// when the record is longer by just that than its name, padded to 8 or to 64 bytes.
static bool build_id_has_trailer(const struct record *record, uint16_t trailer_size)
{
	enum { NAME_AT = 36 };
	if (!trailer_size || record->size < (uint32_t)NAME_AT + trailer_size)
		return false;
	size_t room = record->size - NAME_AT - trailer_size;
	size_t length = strnlen((const char *)record->bytes + NAME_AT, room) + 1;
	return room == ((length + 7) & ~(size_t)7) || room == ((length + 63) & ~(size_t)63);
}

static bool has_trailer(const struct event *event, const struct record *record)
{
	uint16_t size = event->layout.trailer_size;
	if (record->type == RECORD_HEADER_BUILD_ID)
		return build_id_has_trailer(record, size);
	return record->type < RECORD_FIRST_SYNTHETIC && size &&
	       record->size >= (uint32_t)RECORD_HEADER_SIZE + size;
}

void sample_id_read(const struct events *events, const struct record *record, struct sample_id *ret)
{
	*ret = (struct sample_id){ 0 };
	ret->event = event_of_trailer(events, record, &ret->id);
	if (!ret->event || !has_trailer(ret->event, record))
		return;
	const struct sample_layout *layout = &ret->event->layout;
	if (layout->trailer_tid != NO_FIELD) {
		ret->has_tid = true;
		ret->pid = u32_at(record, record->size - layout->trailer_tid);
		ret->tid = u32_at(record, record->size - layout->trailer_tid + 4);
	}
	if (layout->trailer_time != NO_FIELD) {
		ret->has_time = true;
		ret->time = u64_at(record, record->size - layout->trailer_time);
	}
	if (layout->trailer_cpu != NO_FIELD) {
		ret->has_cpu = true;
		ret->cpu = u32_at(record, record->size - layout->trailer_cpu);
	}
}
