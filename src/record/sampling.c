// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Frequencies, call graphs, branches.
#include "record/sampling.h"

#include <linux/perf_event.h>
#include <string.h>

#define FLAG(bit) (UINT64_C(1) << (bit))

enum { DEFAULT_HZ = 4000, STACK_MOST_BYTES = 65528 };

// The general registers that unwinding needs, as bits of the architecture's asm/perf_regs.h.
#if defined(__x86_64__)
#define USER_REGISTERS UINT64_C(0xff0fff)
#elif defined(__aarch64__)
#define USER_REGISTERS UINT64_C(0x1ffffffff)
#else
#define USER_REGISTERS UINT64_C(0)
#endif

static struct imp_error *read_stack_size(const char *text, struct sampling *sampling)
{
	char *end;
	unsigned long size = strtoul(text, &end, 0);
	if (end == text || *end || !size || size > STACK_MOST_BYTES)
		return error_new(IMP_ERR_USAGE,
				 "'%s' is not a size of stack: expected 8 to %d bytes", text,
				 STACK_MOST_BYTES);
	sampling->stack_bytes = (uint32_t)((size + 7) & ~7UL);
	return NULL;
}

struct imp_error *sampling_read_call_graph(const char *text, struct sampling *sampling)
{
	const char *comma = strchr(text, ',');
	size_t length = comma ? (size_t)(comma - text) : strlen(text);
	sampling->stack_bytes = SAMPLING_STACK_BYTES;
	if (length == 5 && !strncmp(text, "dwarf", 5)) {
		sampling->call_graph = CALL_GRAPH_DWARF;
		return comma ? read_stack_size(comma + 1, sampling) : NULL;
	}
	if (!comma && !strcmp(text, "fp"))
		sampling->call_graph = CALL_GRAPH_FP;
	else if (!comma && !strcmp(text, "lbr"))
		sampling->call_graph = CALL_GRAPH_LBR;
	else if (!comma && !strcmp(text, "no"))
		sampling->call_graph = CALL_GRAPH_NONE;
	else
		return error_new(IMP_ERR_USAGE,
				 "'%s' is not a call graph: expected fp, dwarf[,SIZE] or lbr",
				 text);
	return NULL;
}

static const struct branch_filter {
	const char *name;
	uint64_t bit;
} branch_filters[] = {
	{ "any", PERF_SAMPLE_BRANCH_ANY },
	{ "any_call", PERF_SAMPLE_BRANCH_ANY_CALL },
	{ "any_ret", PERF_SAMPLE_BRANCH_ANY_RETURN },
	{ "ind_call", PERF_SAMPLE_BRANCH_IND_CALL },
	{ "ind_jmp", PERF_SAMPLE_BRANCH_IND_JUMP },
	{ "call", PERF_SAMPLE_BRANCH_CALL },
	{ "cond", PERF_SAMPLE_BRANCH_COND },
	{ "abort_tx", PERF_SAMPLE_BRANCH_ABORT_TX },
	{ "in_tx", PERF_SAMPLE_BRANCH_IN_TX },
	{ "no_tx", PERF_SAMPLE_BRANCH_NO_TX },
	{ "u", PERF_SAMPLE_BRANCH_USER },
	{ "k", PERF_SAMPLE_BRANCH_KERNEL },
	{ "hv", PERF_SAMPLE_BRANCH_HV },
	{ "save_type", PERF_SAMPLE_BRANCH_TYPE_SAVE },
};

struct imp_error *sampling_read_branches(const char *text, struct sampling *sampling)
{
	const uint64_t levels = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_KERNEL |
				PERF_SAMPLE_BRANCH_HV;
	uint64_t bits = 0;
	for (const char *at = text; *at;) {
		size_t length = strcspn(at, ",");
		uint64_t bit = 0;
		for (size_t i = 0; i < sizeof branch_filters / sizeof *branch_filters; i++)
			if (strlen(branch_filters[i].name) == length &&
			    !strncmp(at, branch_filters[i].name, length))
				bit = branch_filters[i].bit;
		if (!bit)
			return error_new(IMP_ERR_USAGE, "'%.*s' is not a kind of branch",
					 (int)length, at);
		bits |= bit;
		at += length + (at[length] == ',');
	}
	if (!(bits & ~levels))
		bits |= PERF_SAMPLE_BRANCH_ANY;
	sampling->branches = bits;
	return NULL;
}

static uint64_t highest_frequency(void)
{
	uint64_t highest = 0;
	_cleanup_file_ FILE *file = fopen("/proc/sys/kernel/perf_event_max_sample_rate", "re");
	unsigned long long value;
	if (file && fscanf(file, "%llu", &value) == 1)
		highest = value;
	return highest;
}

static uint64_t frequency_of(const struct sampling *sampling, const struct log *log)
{
	uint64_t wanted = sampling->frequency ? sampling->frequency : DEFAULT_HZ;
	uint64_t highest = highest_frequency();
	if (sampling->is_fastest && highest)
		return highest;
	if (!highest || wanted <= highest)
		return wanted;
	log_message(log, LOG_WARNING, "%llu Hz lowered to %llu (kernel.perf_event_max_sample_rate)",
		    (unsigned long long)wanted, (unsigned long long)highest);
	return highest;
}

static void add_call_graph(const struct sampling *sampling, struct event_attr *attr)
{
	if (sampling->call_graph == CALL_GRAPH_NONE)
		return;
	attr->sample_type |= PERF_SAMPLE_CALLCHAIN;
	if (sampling->call_graph == CALL_GRAPH_DWARF) {
		attr->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
		attr->sample_regs_user = USER_REGISTERS;
		attr->sample_stack_user = sampling->stack_bytes;
		attr->flags |= FLAG(ATTR_EXCLUDE_CALLCHAIN_USER);
	}
	if (sampling->call_graph == CALL_GRAPH_LBR) {
		attr->sample_type |= PERF_SAMPLE_BRANCH_STACK;
		attr->branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK |
					   PERF_SAMPLE_BRANCH_NO_CYCLES |
					   PERF_SAMPLE_BRANCH_NO_FLAGS;
		attr->flags |= FLAG(ATTR_EXCLUDE_CALLCHAIN_USER);
	}
}

static void choose_levels(const struct sampling *sampling, struct event_attr *attr)
{
	const uint64_t levels = FLAG(ATTR_EXCLUDE_USER) | FLAG(ATTR_EXCLUDE_KERNEL) |
				FLAG(ATTR_EXCLUDE_HV);
	if (sampling->is_user_only)
		attr->flags |= levels & ~FLAG(ATTR_EXCLUDE_USER);
	if (sampling->is_kernel_only)
		attr->flags |= levels & ~FLAG(ATTR_EXCLUDE_KERNEL);
	if (sampling->has_user_chain_only)
		attr->flags |= FLAG(ATTR_EXCLUDE_CALLCHAIN_KERNEL);
	if (sampling->has_kernel_chain_only)
		attr->flags |= FLAG(ATTR_EXCLUDE_CALLCHAIN_USER);
}

struct imp_error *sampling_apply(const struct sampling *sampling, struct wanted_events *events,
				 const struct log *log)
{
	if (sampling->call_graph == CALL_GRAPH_DWARF && !USER_REGISTERS)
		return error_new(IMP_ERR_UNSUPPORTED,
				 "call graphs by DWARF are not known on this architecture");
	uint64_t frequency = sampling->period ? 0 : frequency_of(sampling, log);
	bool has_tracepoint = false;
	for (size_t i = 0; i < events->count; i++)
		has_tracepoint |= events->items[i].is_tracepoint;
	for (size_t i = 0; i < events->count; i++) {
		struct wanted_event *event = &events->items[i];
		struct event_attr *attr = &event->attr;
		attr->sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
				    PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD;
		if (sampling->with_addresses)
			attr->sample_type |= PERF_SAMPLE_ADDR;
		// perf reads one layout for all events of a recording.
		if (has_tracepoint)
			attr->sample_type |= PERF_SAMPLE_RAW;
		add_call_graph(sampling, attr);
		choose_levels(sampling, attr);
		if (sampling->branches) {
			attr->sample_type |= PERF_SAMPLE_BRANCH_STACK;
			attr->branch_sample_type |= sampling->branches;
		}
		if (sampling->period)
			attr->sample_period = sampling->period;
		else if (event->is_tracepoint && !sampling->frequency)
			attr->sample_period = 1;
		if (attr->sample_period)
			continue;
		attr->sample_period = frequency;
		attr->flags |= FLAG(ATTR_FREQ);
	}
	return NULL;
}
