// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Files of tracefs, one behind the other.
#include "record/tracing_data.h"

#include <linux/perf_event.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "perfdata/feature_encode.h"

enum { FORMAT_MOST = 1 << 20, PRINTK_MOST = 1 << 26, NAME_ROOM = 256 };

static const char *tracefs_root(void)
{
	static const char *const roots[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };
	for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
		char path[64];
		snprintf(path, sizeof path, "%s/events", roots[i]);
		if (!access(path, R_OK | X_OK))
			return roots[i];
	}
	return NULL;
}

// The file NAME below the root; empty when it cannot be read.
static struct buffer slurp(const char *root, const char *name, size_t most)
{
	struct buffer text = { 0 };
	char path[NAME_ROOM + 128];
	snprintf(path, sizeof path, "%s/%s", root, name);
	struct imp_error *err = file_slurp_path(path, most, &text);
	if (err)
		text.size = 0;
	imp_error_free(err);
	return text;
}

// Its size in 64 bits and its content.
static void put_file(struct buffer *out, const char *root, const char *name, size_t most)
{
	_cleanup_buffer_ struct buffer text = slurp(root, name, most);
	feature_put_u64(out, text.size);
	buffer_append(out, text.bytes, text.size);
}

static void put_header(struct buffer *out, const char *root)
{
	static const char magic[] = "\x17\x08\x44"
				    "tracing"
				    "0.6";
	const uint16_t one = 1;
	uint8_t bytes[] = { !*(const uint8_t *)&one, sizeof(long) };
	buffer_append(out, magic, sizeof magic);
	buffer_append(out, bytes, sizeof bytes);
	feature_put_u32(out, (uint32_t)sysconf(_SC_PAGESIZE));
	buffer_append(out, "header_page", sizeof "header_page");
	put_file(out, root, "events/header_page", FORMAT_MOST);
	buffer_append(out, "header_event", sizeof "header_event");
	put_file(out, root, "events/header_event", FORMAT_MOST);
}

// Splits "sched:sched_switch" or "sched:sched_switch:u". False when NAME is something else.
static bool split_name(const char *name, char system[NAME_ROOM], char event[NAME_ROOM])
{
	const char *colon = strchr(name, ':');
	if (!colon || (size_t)(colon - name) >= NAME_ROOM)
		return false;
	snprintf(system, NAME_ROOM, "%.*s", (int)(colon - name), name);
	snprintf(event, NAME_ROOM, "%.*s", (int)strcspn(colon + 1, ":"), colon + 1);
	return true;
}

static bool is_tracepoint(const struct opened_event *event)
{
	return event->attr.type == PERF_TYPE_TRACEPOINT;
}

// Each event as a system of its own: readers do not mind that one comes twice.
static void put_events(struct buffer *out, const char *root, const struct event_set *set,
		       uint32_t count)
{
	feature_put_u32(out, count);
	for (size_t i = 0; i < set->events.count; i++) {
		char system[NAME_ROOM], event[NAME_ROOM], path[3 * NAME_ROOM];
		if (!is_tracepoint(&set->events.items[i]))
			continue;
		if (!split_name(set->events.items[i].name, system, event))
			*system = *event = 0;
		snprintf(path, sizeof path, "events/%.200s/%.200s/format", system, event);
		buffer_append(out, system, strlen(system) + 1);
		feature_put_u32(out, 1);
		put_file(out, root, path, FORMAT_MOST);
	}
}

struct imp_error *tracing_data_read(const struct event_set *set, struct buffer *ret)
{
	const char *root = tracefs_root();
	uint32_t count = 0;
	for (size_t i = 0; i < set->events.count; i++)
		count += is_tracepoint(&set->events.items[i]);
	if (!count || !root)
		return NULL;
	put_header(ret, root);
	// No events of the function tracer.
	feature_put_u32(ret, 0);
	put_events(ret, root, set, count);
	// Symbols of the kernel are elsewhere.
	feature_put_u32(ret, 0);
	_cleanup_buffer_ struct buffer printk = slurp(root, "printk_formats", PRINTK_MOST);
	feature_put_u32(ret, (uint32_t)printk.size);
	buffer_append(ret, printk.bytes, printk.size);
	put_file(ret, root, "saved_cmdlines", PRINTK_MOST);
	return ret->failed || printk.failed ? &imp_error_no_memory : NULL;
}
