// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Lists that a sample must be on.
#include "analyze/sample_choice.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SECOND_NS UINT64_C(1000000000)

void sample_choice_fini(struct sample_choice *choice)
{
	array_fini(&choice->pids);
	array_fini(&choice->tids);
	array_fini(&choice->cpus);
	array_fini(&choice->comms);
}

// Reads a number off *AT. False when there is none that fits.
static bool take_number(const char **at, uint32_t *ret)
{
	if (**at < '0' || **at > '9')
		return false;
	char *end;
	errno = 0;
	unsigned long long value = strtoull(*at, &end, 10);
	*at = end;
	*ret = (uint32_t)value;
	return !errno && value <= UINT32_MAX;
}

struct imp_error *sample_choice_read_numbers(const char *text, struct number_list *ret)
{
	const char *at = text;
	do {
		struct number_range range;
		bool is_good = take_number(&at, &range.first);
		range.last = range.first;
		if (is_good && *at == '-') {
			at++;
			is_good = take_number(&at, &range.last);
		}
		if (!is_good || (*at && *at != ',') || range.last < range.first)
			return error_new(IMP_ERR_USAGE, "'%s' is not a list of numbers", text);
		struct number_range *item = array_add(ret);
		if (!item)
			return &imp_error_no_memory;
		*item = range;
	} while (*at++ == ',');
	return NULL;
}

struct imp_error *sample_choice_read_comms(char *text, struct sample_choice *ret)
{
	char *rest = text;
	for (char *name; (name = strsep(&rest, ","));) {
		if (!*name)
			return error_new(IMP_ERR_USAGE, "the name of a command is missing");
		const char **item = array_add(&ret->comms);
		if (!item)
			return &imp_error_no_memory;
		*item = name;
	}
	return NULL;
}

// Reads "12.345" as nanoseconds, digit by digit: a double has too few of them. False for anything
// else.
static bool read_time(const char *text, size_t length, uint64_t *ret)
{
	uint64_t seconds = 0, fraction = 0, unit = SECOND_NS;
	bool is_behind = false;
	for (size_t i = 0; i < length; i++) {
		if (text[i] == '.' && !is_behind && length > 1) {
			is_behind = true;
			continue;
		}
		if (text[i] < '0' || text[i] > '9' || seconds > UINT64_MAX / SECOND_NS / 100)
			return false;
		if (is_behind && (unit /= 10))
			fraction += unit * (uint64_t)(text[i] - '0');
		else if (!is_behind)
			seconds = seconds * 10 + (uint64_t)(text[i] - '0');
	}
	*ret = seconds * SECOND_NS + fraction;
	return length;
}

static bool read_shares(const char *text, struct sample_choice *ret)
{
	char *end;
	ret->from_share = strtod(text, &end) / 100;
	if (end == text || strncmp(end, "%-", 2) != 0)
		return false;
	const char *second = end + 2;
	ret->to_share = strtod(second, &end) / 100;
	ret->has_shares = end != second && !strcmp(end, "%") && ret->from_share >= 0 &&
			  ret->to_share > ret->from_share && ret->to_share <= 1;
	return ret->has_shares;
}

struct imp_error *sample_choice_read_times(const char *text, struct sample_choice *ret)
{
	const char *comma = strchr(text, ',');
	if (strchr(text, '%') ? read_shares(text, ret) : comma && strlen(text) > 1) {
		if (ret->has_shares)
			return NULL;
		size_t length = (size_t)(comma - text);
		bool is_good = !length || read_time(text, length, &ret->from_ns);
		is_good &= !comma[1] || read_time(comma + 1, strlen(comma + 1), &ret->to_ns);
		if (is_good && (!comma[1] || ret->to_ns >= ret->from_ns))
			return NULL;
	}
	return error_new(IMP_ERR_USAGE,
			 "'%s' is not a stretch of time: expected START,STOP in seconds, as "
			 "'imprint script' prints them, or 10%%-20%%",
			 text);
}

struct imp_error *sample_choice_settle(struct sample_choice *choice,
				       const struct features *features)
{
	if (!choice->has_shares)
		return NULL;
	uint64_t first = features->first_sample_ns, last = features->last_sample_ns;
	if (!features->has_sample_time || last < first)
		return error_new(IMP_ERR_BAD_DATA,
				 "the recording does not say when its samples begin and end: give "
				 "times in seconds");
	double span = (double)(last - first);
	choice->from_ns = first + (uint64_t)(choice->from_share * span);
	choice->to_ns = choice->to_share < 1 ? first + (uint64_t)(choice->to_share * span) : last;
	return NULL;
}

static bool has_number(const struct number_list *list, uint32_t number)
{
	for (size_t i = 0; i < list->count; i++)
		if (number >= list->items[i].first && number <= list->items[i].last)
			return true;
	return !list->count;
}

static bool has_comm(const struct sample_choice *choice, const char *comm)
{
	for (size_t i = 0; comm && i < choice->comms.count; i++)
		if (!strcmp(choice->comms.items[i], comm))
			return true;
	return !choice->comms.count;
}

bool sample_choice_takes(const struct sample_choice *choice, const struct timeline *timeline,
			 const struct sample *sample, uint64_t time)
{
	if (!choice)
		return true;
	bool is_timed = choice->from_ns || choice->to_ns;
	if (is_timed && (!sample->has_time || sample->time < choice->from_ns ||
			 (choice->to_ns && sample->time > choice->to_ns)))
		return false;
	uint32_t pid = sample->has_tid ? sample->pid : UINT32_MAX;
	uint32_t tid = sample->has_tid ? sample->tid : UINT32_MAX;
	if (!has_number(&choice->pids, pid) || !has_number(&choice->tids, tid))
		return false;
	if (choice->cpus.count && (!sample->has_cpu || !has_number(&choice->cpus, sample->cpu)))
		return false;
	if (!choice->comms.count)
		return true;
	const char *comm = sample->has_tid ? timeline_comm(timeline, pid, tid, time) : NULL;
	return has_comm(choice, comm ? comm : !tid ? "swapper" : NULL);
}
