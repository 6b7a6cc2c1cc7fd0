// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Header features: the table of those known, and the reading of what is kept of them.
#include "perfdata/feature.h"

#include <stdio.h>

typedef void feature_reader(struct cursor *payload, struct features *features);

static void read_cpus(struct cursor *payload, struct features *features)
{
	// The documentation in the kernel tree lists them the other way round; this is the code's
	// order.
	features->cpus_available = cursor_u32(payload);
	features->cpus_online = cursor_u32(payload);
}

static void read_total_memory(struct cursor *payload, struct features *features)
{
	features->total_memory_kb = cursor_u64(payload);
}

static void read_strings(struct cursor *payload, char ***strings, size_t *read)
{
	uint32_t count = cursor_u32(payload);
	// Each string has at least its length.
	if (*strings || count > cursor_left(payload) / 4)
		return;
	*strings = calloc(count + 1, sizeof **strings);
	for (uint32_t i = 0; *strings && i < count; i++) {
		char *string = feature_string(payload);
		if (!string)
			break;
		(*strings)[(*read)++] = string;
	}
}

static void read_command_line(struct cursor *payload, struct features *features)
{
	read_strings(payload, &features->command_line, &features->command_line_count);
}

static void read_notes(struct cursor *payload, struct features *features)
{
	read_strings(payload, &features->notes, &features->note_count);
}

static void read_sample_time(struct cursor *payload, struct features *features)
{
	features->first_sample_ns = cursor_u64(payload);
	features->last_sample_ns = cursor_u64(payload);
	features->has_sample_time = !payload->failed;
}

static void read_clockid(struct cursor *payload, struct features *features)
{
	features->clockid_resolution_ns = cursor_u64(payload);
}

static void read_clock_data(struct cursor *payload, struct features *features)
{
	cursor_u32(payload);
	features->clockid = cursor_u32(payload);
	features->clock_wall_ns = cursor_u64(payload);
	features->clock_ns = cursor_u64(payload);
	features->has_clock_data = !payload->failed;
}

static void read_machine(struct cursor *payload, struct features *features)
{
	features->e_machine = cursor_u32(payload);
}

#define TEXT(field) offsetof(struct features, field)
enum { NO_TEXT = 0 };

// TEXT_AT: the char * that keeps the payload's one string. present[] stands first, so 0 is none.
static const struct feature_def {
	const char *name;
	size_t text_at;
	feature_reader *read;
} feature_defs[] = {
	[FEATURE_TRACING_DATA] = { "TRACING_DATA", NO_TEXT, NULL },
	[FEATURE_BUILD_ID] = { "BUILD_ID", NO_TEXT, NULL },
	[FEATURE_HOSTNAME] = { "HOSTNAME", TEXT(hostname), NULL },
	[FEATURE_OSRELEASE] = { "OSRELEASE", TEXT(os_release), NULL },
	[FEATURE_VERSION] = { "VERSION", TEXT(version), NULL },
	[FEATURE_ARCH] = { "ARCH", TEXT(arch), NULL },
	[FEATURE_NRCPUS] = { "NRCPUS", NO_TEXT, read_cpus },
	[FEATURE_CPUDESC] = { "CPUDESC", TEXT(cpu_description), NULL },
	[FEATURE_CPUID] = { "CPUID", TEXT(cpuid), NULL },
	[FEATURE_TOTAL_MEM] = { "TOTAL_MEM", NO_TEXT, read_total_memory },
	[FEATURE_CMDLINE] = { "CMDLINE", NO_TEXT, read_command_line },
	[FEATURE_EVENT_DESC] = { "EVENT_DESC", NO_TEXT, NULL },
	[FEATURE_CPU_TOPOLOGY] = { "CPU_TOPOLOGY", NO_TEXT, NULL },
	[FEATURE_NUMA_TOPOLOGY] = { "NUMA_TOPOLOGY", NO_TEXT, NULL },
	[FEATURE_BRANCH_STACK] = { "BRANCH_STACK", NO_TEXT, NULL },
	[FEATURE_PMU_MAPPINGS] = { "PMU_MAPPINGS", NO_TEXT, NULL },
	[FEATURE_GROUP_DESC] = { "GROUP_DESC", NO_TEXT, NULL },
	[FEATURE_AUXTRACE] = { "AUXTRACE", NO_TEXT, NULL },
	[FEATURE_STAT] = { "STAT", NO_TEXT, NULL },
	[FEATURE_CACHE] = { "CACHE", NO_TEXT, NULL },
	[FEATURE_SAMPLE_TIME] = { "SAMPLE_TIME", NO_TEXT, read_sample_time },
	[FEATURE_MEM_TOPOLOGY] = { "MEM_TOPOLOGY", NO_TEXT, NULL },
	[FEATURE_CLOCKID] = { "CLOCKID", NO_TEXT, read_clockid },
	[FEATURE_DIR_FORMAT] = { "DIR_FORMAT", NO_TEXT, NULL },
	[FEATURE_BPF_PROG_INFO] = { "BPF_PROG_INFO", NO_TEXT, NULL },
	[FEATURE_BPF_BTF] = { "BPF_BTF", NO_TEXT, NULL },
	[FEATURE_COMPRESSED] = { "COMPRESSED", NO_TEXT, NULL },
	[FEATURE_CPU_PMU_CAPS] = { "CPU_PMU_CAPS", NO_TEXT, NULL },
	[FEATURE_CLOCK_DATA] = { "CLOCK_DATA", NO_TEXT, read_clock_data },
	[FEATURE_HYBRID_TOPOLOGY] = { "HYBRID_TOPOLOGY", NO_TEXT, NULL },
	[FEATURE_PMU_CAPS] = { "PMU_CAPS", NO_TEXT, NULL },
	[FEATURE_CPU_DOMAIN_INFO] = { "CPU_DOMAIN_INFO", NO_TEXT, NULL },
	[FEATURE_E_MACHINE] = { "E_MACHINE", NO_TEXT, read_machine },
	[FEATURE_CLN_SIZE] = { "CLN_SIZE", NO_TEXT, NULL },
	[FEATURE_SIMPLEPERF_FILE] = { "SIMPLEPERF_FILE", NO_TEXT, NULL },
	[FEATURE_SIMPLEPERF_META_INFO] = { "SIMPLEPERF_META_INFO", NO_TEXT, NULL },
	[FEATURE_SIMPLEPERF_DEBUG_UNWIND] = { "SIMPLEPERF_DEBUG_UNWIND", NO_TEXT, NULL },
	[FEATURE_SIMPLEPERF_DEBUG_UNWIND_FILE] = { "SIMPLEPERF_DEBUG_UNWIND_FILE", NO_TEXT, NULL },
	[FEATURE_IMPRINT_NOTES] = { "IMPRINT_NOTES", NO_TEXT, read_notes },
	[FEATURE_SIMPLEPERF_FILE2] = { "SIMPLEPERF_FILE2", NO_TEXT, NULL },
};

static const struct feature_def *find_def(unsigned bit)
{
	bool is_known = bit < sizeof feature_defs / sizeof *feature_defs && feature_defs[bit].name;
	return is_known ? &feature_defs[bit] : NULL;
}

const char *feature_name(unsigned bit)
{
	const struct feature_def *def = find_def(bit);
	return def ? def->name : NULL;
}

bool feature_is_kept(unsigned bit)
{
	const struct feature_def *def = find_def(bit);
	return def && (def->text_at || def->read || bit == FEATURE_EVENT_DESC ||
		       bit == FEATURE_BUILD_ID || bit == FEATURE_SIMPLEPERF_META_INFO);
}

char *feature_string(struct cursor *payload)
{
	uint32_t size = cursor_u32(payload);
	struct cursor text = cursor_part(payload, size);
	if (payload->failed)
		return NULL;
	return size ? strndup((const char *)text.start, size) : strdup("");
}

struct imp_error *feature_read(unsigned bit, struct cursor *payload, struct features *ret)
{
	const struct feature_def *def = find_def(bit);
	if (!def)
		return NULL;
	if (def->text_at) {
		char **text = (char **)(void *)((char *)ret + def->text_at);
		free(*text);
		*text = feature_string(payload);
	}
	if (def->read)
		def->read(payload, ret);
	return payload->failed ? cursor_error(payload, def->name) : NULL;
}

void features_fini(struct features *features)
{
	for (size_t bit = 0; bit < sizeof feature_defs / sizeof *feature_defs; bit++)
		if (feature_defs[bit].text_at)
			free(*(char **)(void *)((char *)features + feature_defs[bit].text_at));
	for (size_t i = 0; i < features->command_line_count; i++)
		free(features->command_line[i]);
	free(features->command_line);
	for (size_t i = 0; i < features->note_count; i++)
		free(features->notes[i]);
	free(features->notes);
	*features = (struct features){ 0 };
}

static struct imp_error *read_described_event(struct cursor *payload, uint32_t attr_size,
					      struct events *ret)
{
	struct event event = { 0 };
	struct imp_error *err = attr_read(payload, attr_size, &event.attr);
	if (err)
		return err;
	uint32_t id_count = cursor_u32(payload);
	_cleanup_free_ char *name = feature_string(payload);
	if (id_count > cursor_left(payload) / sizeof(uint64_t))
		cursor_bytes(payload, SIZE_MAX);
	struct cursor ids = cursor_part(payload, (size_t)id_count * sizeof(uint64_t));
	if (payload->failed)
		return cursor_error(payload, "EVENT_DESC");
	_cleanup_free_ uint64_t *copy = calloc((size_t)id_count + 1, sizeof *copy);
	struct event *added = name && copy ? events_add(ret) : NULL;
	if (!added)
		return &imp_error_no_memory;
	for (uint32_t i = 0; i < id_count; i++)
		copy[i] = cursor_u64(&ids);
	event.ids = steal(copy);
	event.id_count = id_count;
	event.name = steal(name);
	*added = event;
	return NULL;
}

struct imp_error *feature_read_event_desc(struct cursor *payload, struct events *ret)
{
	uint32_t count = cursor_u32(payload);
	uint32_t attr_size = cursor_u32(payload);
	if (payload->failed)
		return cursor_error(payload, "EVENT_DESC");
	struct imp_error *err = NULL;
	for (uint32_t i = 0; !err && i < count; i++)
		err = read_described_event(payload, attr_size, ret);
	return err;
}

// One line of event_type_info, which ends at END.
static struct imp_error *name_described_event(const char *line, const char *end,
					      struct events *events)
{
	const char *comma = memchr(line, ',', (size_t)(end - line));
	unsigned long long type = 0, config = 0;
	if (!comma || sscanf(comma, ",%llu,%llu", &type, &config) != 2)
		return NULL;
	for (size_t i = 0; i < events->count; i++) {
		struct event *event = &events->items[i];
		if (event->name || event->attr.type != type || event->attr.config != config)
			continue;
		event->name = strndup(line, (size_t)(comma - line));
		if (!event->name)
			return &imp_error_no_memory;
	}
	return NULL;
}

static struct imp_error *name_described_events(const char *lines, struct events *events)
{
	enum { LINES_MOST = 4096 };
	struct imp_error *err = NULL;
	for (unsigned i = 0; !err && *lines && i < LINES_MOST; i++) {
		const char *end = strchrnul(lines, '\n');
		err = name_described_event(lines, end, events);
		lines = *end ? end + 1 : end;
	}
	return err;
}

struct imp_error *feature_read_meta_info(struct cursor *payload, struct events *events)
{
	while (cursor_left(payload)) {
		const char *key = cursor_string(payload);
		const char *value = cursor_string(payload);
		if (!value)
			return cursor_error(payload, "SIMPLEPERF_META_INFO");
		if (!strcmp(key, "event_type_info"))
			return name_described_events(value, events);
	}
	return NULL;
}
