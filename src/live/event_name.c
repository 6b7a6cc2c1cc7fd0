// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Tables of names, and the grammar around them.
#include "live/event_name.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/buffer.h"
#include "live/event_source.h"
#include "live/perf_event.h"

#define FLAG(bit) (UINT64_C(1) << (bit))

static const struct generic_event {
	const char *name, *alias;
	uint32_t type;
	uint64_t config;
} generic_events[] = {
	{ "cpu-clock", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK },
	{ "task-clock", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK },
	{ "page-faults", "faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS },
	{ "context-switches", "cs", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES },
	{ "cpu-migrations", "migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS },
	{ "minor-faults", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN },
	{ "major-faults", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ },
	{ "alignment-faults", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS },
	{ "emulation-faults", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_EMULATION_FAULTS },
	{ "dummy", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY },
	{ "bpf-output", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_BPF_OUTPUT },
	{ "cgroup-switches", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CGROUP_SWITCHES },
	{ "cycles", "cpu-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	{ "instructions", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS },
	{ "cache-references", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES },
	{ "cache-misses", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES },
	{ "branches", "branch-instructions", PERF_TYPE_HARDWARE,
	  PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
	{ "branch-misses", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES },
	{ "bus-cycles", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES },
	{ "stalled-cycles-frontend", "idle-cycles-frontend", PERF_TYPE_HARDWARE,
	  PERF_COUNT_HW_STALLED_CYCLES_FRONTEND },
	{ "stalled-cycles-backend", "idle-cycles-backend", PERF_TYPE_HARDWARE,
	  PERF_COUNT_HW_STALLED_CYCLES_BACKEND },
	{ "ref-cycles", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES },
};
enum { GENERIC_EVENTS = sizeof generic_events / sizeof *generic_events };

// Cache events are CACHE-OPERATION[-RESULT] in these words, the alternatives separated by spaces.
static const char *const caches[] = { "L1-dcache l1-d l1d L1-data",
				      "L1-icache l1-i l1i",
				      "LLC L2",
				      "dTLB d-tlb Data-TLB",
				      "iTLB i-tlb",
				      "branch bpu btb bpc",
				      "node" };
static const char *const operations[] = { "load loads read", "store stores write",
					  "prefetch prefetches speculative-read" };
static const char *const results[] = { "refs reference ops access", "misses miss" };

void wanted_events_fini(struct wanted_events *events)
{
	for (size_t i = 0; i < events->count; i++) {
		free(events->items[i].name);
		free(events->items[i].filter);
	}
	array_fini(events);
}

// Takes the longest of the words in one of ROWS off *AT, up to '-' or the end. The row's number, or
// -1.
static int take_word(const char **at, const char *const *rows, int count)
{
	int found = -1;
	size_t longest = 0;
	for (int row = 0; row < count; row++) {
		for (const char *word = rows[row]; *word;) {
			size_t length = strcspn(word, " ");
			char next = length > longest && !strncmp(*at, word, length) ? (*at)[length]
										    : 'x';
			if (!next || next == '-') {
				found = row;
				longest = length;
			}
			word += length + (word[length] == ' ');
		}
	}
	if (found >= 0)
		*at += longest + ((*at)[longest] == '-');
	return found;
}

static bool cache_event(const char *name, struct event_attr *attr)
{
	const char *at = name;
	int cache = take_word(&at, caches, sizeof caches / sizeof *caches);
	if (cache < 0 || !*at)
		return false;
	int operation = take_word(&at, operations, 3);
	int result = take_word(&at, results, 2);
	if (operation < 0)
		operation = take_word(&at, operations, 3);
	if (*at || (operation < 0 && result < 0))
		return false;
	attr->type = PERF_TYPE_HW_CACHE;
	attr->config = (uint64_t)cache | (uint64_t)(operation > 0 ? operation : 0) << 8 |
		       (uint64_t)(result > 0 ? result : 0) << 16;
	return true;
}

static bool raw_event(const char *name, struct event_attr *attr)
{
	if (name[0] != 'r' || !name[1] ||
	    strspn(name + 1, "0123456789abcdefABCDEF") + 1 != strlen(name))
		return false;
	attr->type = PERF_TYPE_RAW;
	attr->config = strtoull(name + 1, NULL, 16);
	return strlen(name) <= 17;
}

static bool generic_event(const char *name, struct event_attr *attr)
{
	for (size_t i = 0; i < GENERIC_EVENTS; i++) {
		const struct generic_event *event = &generic_events[i];
		if (strcmp(name, event->name) && (!event->alias || strcmp(name, event->alias)))
			continue;
		attr->type = event->type;
		attr->config = event->config;
		return true;
	}
	return false;
}

// Modifiers are letters that say where to count (u, k, h), how exactly (p, up to three times; P),
// and that the event stays on its counter (D).
static bool apply_modifiers(const char *letters, struct event_attr *attr)
{
	bool user = false, kernel = false, hypervisor = false;
	uint64_t precise = 0;
	if (!*letters)
		return false;
	for (; *letters; letters++) {
		switch (*letters) {
		case 'u':
			user = true;
			break;
		case 'k':
			kernel = true;
			break;
		case 'h':
			hypervisor = true;
			break;
		case 'p':
			precise++;
			break;
		case 'P':
			precise = 3;
			break;
		case 'D':
			attr->flags |= FLAG(ATTR_PINNED);
			break;
		default:
			return false;
		}
	}
	if (precise > 3)
		return false;
	attr->flags |= precise << ATTR_PRECISE_IP;
	if (user || kernel || hypervisor)
		attr->flags |= (user ? 0 : FLAG(ATTR_EXCLUDE_USER)) |
			       (kernel ? 0 : FLAG(ATTR_EXCLUDE_KERNEL)) |
			       (hypervisor ? 0 : FLAG(ATTR_EXCLUDE_HV));
	return true;
}

static struct imp_error *pmu_event(char *name, struct event_attr *attr, bool *is_known)
{
	char *slash = strchr(name, '/');
	char *end = slash ? strrchr(slash + 1, '/') : NULL;
	if (!end || (end[1] && !apply_modifiers(end[1] == ':' ? end + 2 : end + 1, attr)))
		return NULL;
	*slash = *end = 0;
	return event_from_sysfs(NULL, name, slash + 1, attr, is_known);
}

static struct imp_error *tracepoint(char *name, struct wanted_event *event, bool *is_known)
{
	char *colon = strchr(name, ':');
	if (!colon)
		return NULL;
	*colon = 0;
	char *modifiers = strchr(colon + 1, ':');
	if (modifiers)
		*modifiers++ = 0;
	if (modifiers && !apply_modifiers(modifiers, &event->attr))
		return NULL;
	struct imp_error *err = event_from_tracefs(name, colon + 1, &event->attr, is_known);
	event->is_tracepoint = *is_known;
	return err;
}

static bool event_of_tables(const char *name, struct event_attr *attr)
{
	return generic_event(name, attr) || cache_event(name, attr) || raw_event(name, attr);
}

// Whether what stands before the first colon of NAME is an event: then modifiers stand behind it.
static bool has_bad_modifiers(const char *name)
{
	struct event_attr attr = { 0 };
	size_t length = strcspn(name, ":");
	_cleanup_free_ char *event = name[length] ? strndup(name, length) : NULL;
	return event && event_of_tables(event, &attr);
}

// Looks NAME (changed) up everywhere, the tables first.
static struct imp_error *look_up(char *name, struct wanted_event *event, bool *is_known)
{
	struct event_attr *attr = &event->attr;
	if (strchr(name, '/'))
		return pmu_event(name, attr, is_known);
	_cleanup_free_ char *whole = strdup(name);
	if (!whole)
		return &imp_error_no_memory;
	char *colon = strrchr(name, ':');
	if (colon && apply_modifiers(colon + 1, attr))
		*colon = 0;
	*is_known = event_of_tables(name, attr);
	if (*is_known)
		return NULL;
	*attr = (struct event_attr){ 0 };
	struct imp_error *err = event_from_pfm(whole, attr, is_known);
	return err || *is_known || has_bad_modifiers(whole) ? err
							    : tracepoint(whole, event, is_known);
}

static struct imp_error *add_one(const char *name, size_t length, struct wanted_events *ret)
{
	_cleanup_free_ char *scratch = strndup(name, length);
	struct wanted_event event = { .name = strndup(name, length) };
	struct wanted_event *slot = scratch && event.name ? array_add(ret) : NULL;
	if (!slot) {
		free(event.name);
		return &imp_error_no_memory;
	}
	bool is_known = false;
	struct imp_error *err = look_up(scratch, &event, &is_known);
	*slot = event;
	if (err)
		return error_context(err, "event %s", event.name);
	if (!is_known)
		return error_new(IMP_ERR_USAGE,
				 "event '%s' is not known here: expected a generic event (cycles, "
				 "cpu-clock, …), a cache event, rNNN, PMU/TERMS/, or a tracepoint "
				 "SYSTEM:NAME; modifiers are :u :k :h :p",
				 event.name);
	return NULL;
}

// SYSTEM:PATTERN[:MODIFIERS] with wildcards: every tracepoint that fits.
static struct imp_error *add_pattern(const char *pattern, struct wanted_events *ret)
{
	_cleanup_free_ char *system = strdup(pattern);
	if (!system)
		return &imp_error_no_memory;
	char *name = strchr(system, ':');
	*name++ = 0;
	char *modifiers = strchr(name, ':');
	if (modifiers)
		*modifiers++ = 0;
	_cleanup_buffer_ struct buffer found = { 0 };
	struct imp_error *err = event_matches_of_tracefs(system, name, &found);
	if (!err && found.failed)
		err = &imp_error_no_memory;
	for (size_t at = 0; !err && at < found.size;) {
		const char *match = (const char *)found.bytes + at;
		at += strlen(match) + 1;
		_cleanup_buffer_ struct buffer whole = { 0 };
		buffer_format(&whole, modifiers ? "%s:%s" : "%s", match, modifiers);
		err = whole.failed ? &imp_error_no_memory
				   : add_one((const char *)whole.bytes, whole.size, ret);
	}
	if (!err && !found.size)
		err = error_new(IMP_ERR_USAGE, "no tracepoint is called like '%s'", pattern);
	return err;
}

static bool is_pattern(const char *name, size_t length)
{
	// Not all that is asked about ends with a NUL.
	return length && memchr(name, ':', length) && !memchr(name, '/', length) &&
	       (memchr(name, '*', length) || memchr(name, '?', length) ||
		memchr(name, '[', length));
}

static struct imp_error *add_event(const char *name, size_t length, struct wanted_events *ret)
{
	if (!is_pattern(name, length))
		return add_one(name, length, ret);
	_cleanup_free_ char *pattern = strndup(name, length);
	return pattern ? add_pattern(pattern, ret) : &imp_error_no_memory;
}

// Commas separate events, but not within PMU/…/ or {…}.
static size_t name_length(const char *text)
{
	bool is_within = false, is_group = false;
	size_t length = 0;
	for (; text[length] && (is_within || is_group || text[length] != ','); length++) {
		is_within ^= text[length] == '/';
		is_group = text[length] == '{' || (is_group && text[length] != '}');
	}
	return length;
}

// {EVENT,...}[:MODIFIERS]: the first leads the others, the modifiers are everyone's.
static struct imp_error *add_group(const char *text, size_t length, struct wanted_events *ret)
{
	const char *end = memchr(text, '}', length);
	if (!end || (end + 1 != text + length && (end[1] != ':' || end + 2 == text + length)))
		return error_new(IMP_ERR_USAGE, "'%.*s' is not a group of events", (int)length,
				 text);
	int rest = (int)(text + length - end - 1);
	size_t first = ret->count;
	struct imp_error *err = NULL;
	for (const char *at = text + 1; !err && at < end;) {
		size_t size = name_length(at);
		if (size > (size_t)(end - at))
			size = (size_t)(end - at);
		_cleanup_buffer_ struct buffer name = { 0 };
		buffer_format(&name, "%.*s%.*s", (int)size, at, rest, end + 1);
		err = name.failed ? &imp_error_no_memory
				  : add_event((const char *)name.bytes, name.size, ret);
		at += size + (at[size] == ',');
	}
	for (size_t i = first + 1; i < ret->count; i++)
		ret->items[i].leader = first + 1;
	if (!err && ret->count == first)
		err = error_new(IMP_ERR_USAGE, "the group '%.*s' is empty", (int)length, text);
	return err;
}

struct imp_error *event_names_parse(const char *text, struct wanted_events *ret)
{
	for (const char *at = text;; at++) {
		size_t length = name_length(at);
		if (!length)
			return error_new(IMP_ERR_USAGE, "'%s' is not a list of events", text);
		struct imp_error *err = *at == '{' ? add_group(at, length, ret)
						   : add_event(at, length, ret);
		if (err)
			return err;
		at += length;
		if (!*at)
			return NULL;
	}
}

struct imp_error *event_default(struct wanted_events *ret, bool *fell_back)
{
	struct event_attr attr = { .type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_CPU_CYCLES };
	struct perf_place self = { .pid = 0, .cpu = -1 };
	attr.flags = FLAG(ATTR_DISABLED) | FLAG(ATTR_EXCLUDE_KERNEL) | FLAG(ATTR_EXCLUDE_HV);
	int fd = perf_event_open_exactly(&attr, &self);
	if (fd >= 0)
		close(fd);
	*fell_back = fd == -ENOENT || fd == -ENODEV || fd == -EOPNOTSUPP;
	return event_names_parse(*fell_back ? "cpu-clock" : "cycles", ret);
}
