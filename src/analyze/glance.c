// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Finding out where a sample's fields stand, and reading those that have no fixed place.
#include "analyze/glance.h"

#include "base/cleanup.h"

struct glance_layout glance_layout_of(const struct survey *survey)
{
	struct glance_layout none = { 0 };
	const struct events *events = survey->events;
	if (!events->count || (events->count > 1 && !events->are_alike))
		return none;
	const struct event *event = &events->items[0];
	const struct sample_layout *layout = &event->layout;
	bool has_time = layout->time != NO_FIELD;
	if (event->is_opaque || layout->ip == NO_FIELD || layout->tid == NO_FIELD ||
	    event->attr.sample_type & SAMPLE_READ || (!has_time && !survey->uses_positions))
		return none;
	bool has_chain = event->attr.sample_type & SAMPLE_CALLCHAIN;
	return (struct glance_layout){
		.ip = layout->ip,
		.tid = layout->tid,
		.time = has_time ? layout->time : 0u,
		.chain = layout->variable,
		.least = layout->variable + (has_chain ? sizeof(uint64_t) : 0u),
		.has_chain = has_chain,
		.uses_positions = survey->uses_positions,
		.is_valid = true,
	};
}

static bool read_deferred(const struct survey *survey, const struct record *record,
			  struct glance *ret)
{
	struct deferred_chain deferred;
	struct imp_error *err = deferred_chain_read(record, &deferred);
	if (err) {
		imp_error_free(err);
		return false;
	}
	struct sample_id id;
	sample_id_read(survey->events, record, &id);
	*ret = (struct glance){ .pid = id.has_tid ? id.pid : UINT32_MAX,
				.cpumode = MISC_USER,
				.time = survey_time(survey, record, id.time),
				.chain = deferred.chain };
	return true;
}

bool glance_read_slowly(const struct survey *survey, const struct record *record,
			struct glance *ret)
{
	if (record->type == RECORD_CALLCHAIN_DEFERRED)
		return read_deferred(survey, record, ret);
	struct sample sample;
	struct imp_error *err = sample_read(survey->events, record, &sample);
	if (err) {
		imp_error_free(err);
		return false;
	}
	*ret = (struct glance){ .pid = sample.has_tid ? sample.pid : UINT32_MAX,
				.cpumode = sample.cpumode,
				.time = survey_time(survey, record, sample.time),
				.ip = sample.ip,
				.has_ip = sample.has_ip,
				.chain = sample.chain };
	return true;
}
