// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Comparing lists of modules.
#include "record/module_watch.h"

#include <linux/perf_event.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "live/event_source.h"
#include "live/perf_event.h"
#include "perfdata/record_build.h"
#include "record/synthesize.h"

enum { RING_BYTES = 4096, TIME_AT = 8, SAMPLE_BYTES = 16 };

#define FLAG(bit) (UINT64_C(1) << (bit))

static struct imp_error *open_tracepoint(struct module_watch *watch, const int *cpus, size_t count)
{
	struct event_attr attr = { 0 };
	bool is_known = false;
	struct imp_error *err = event_from_tracefs("module", "module_load", &attr, &is_known);
	if (err || !is_known) {
		imp_error_free(err);
		return NULL;
	}
	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_TIME;
	attr.flags = FLAG(ATTR_USE_CLOCKID);
	attr.clockid = CLOCK_MONOTONIC;
	watch->rings = calloc(count, sizeof *watch->rings);
	if (!watch->rings)
		return &imp_error_no_memory;
	for (size_t i = 0; i < count; i++) {
		struct perf_place place = { .pid = -1, .cpu = cpus[i] };
		int fd = perf_event_open_exactly(&attr, &place);
		struct ring *ring = &watch->rings[watch->ring_count];
		if (fd >= 0 && !ring_map(fd, RING_BYTES, false, ring))
			watch->ring_count++;
		else if (fd >= 0)
			close(fd);
	}
	return NULL;
}

struct imp_error *module_watch_begin(struct module_watch *watch, const struct proc *proc,
				     struct kernel_modules *known, const int *cpus,
				     size_t cpu_count)
{
	watch->proc = proc;
	watch->known = *known;
	*known = (struct kernel_modules){ 0 };
	return open_tracepoint(watch, cpus, cpu_count);
}

void module_watch_end(struct module_watch *watch)
{
	for (size_t i = 0; i < watch->ring_count; i++) {
		int fd = watch->rings[i].fd;
		ring_unmap(&watch->rings[i]);
		close(fd);
	}
	free(watch->rings);
	kernel_modules_fini(&watch->known);
}

// The time of the first event in the rings, which are emptied; 0 without one.
static uint64_t first_event(struct module_watch *watch)
{
	uint64_t first = 0;
	for (size_t i = 0; i < watch->ring_count; i++) {
		struct iovec parts[2];
		int count;
		uint64_t time;
		size_t size = ring_waiting(&watch->rings[i], parts, &count);
		if (size && parts[0].iov_len >= SAMPLE_BYTES) {
			memcpy(&time, (const uint8_t *)parts[0].iov_base + TIME_AT, sizeof time);
			if (!first || time < first)
				first = time;
		}
		if (size)
			ring_consume(&watch->rings[i], size);
	}
	return first;
}

static bool is_known(const struct kernel_modules *known, const struct kernel_module *module)
{
	for (size_t i = 0; i < known->count; i++) {
		const struct kernel_module *other = &known->items[i];
		if (other->address == module->address && !strcmp(other->name, module->name) &&
		    (build_id_equal(&other->id, &module->id) ||
		     (build_id_is_none(&other->id) && build_id_is_none(&module->id))))
			return true;
	}
	return false;
}

// Takes modules out that are being loaded and have no ID yet; true when there were any. They are
// looked at again the next time, and count from the time of this look.
static bool drop_loading(struct kernel_modules *modules)
{
	size_t kept = 0, count = modules->count;
	for (size_t i = 0; i < count; i++) {
		const struct kernel_module *module = &modules->items[i];
		if (!module->is_loading || !build_id_is_none(&module->id))
			modules->items[kept++] = *module;
	}
	modules->count = kept;
	return kept < count;
}

struct imp_error *module_watch_look(struct module_watch *watch, bool is_due, uint64_t now_ns,
				    module_see *see, void *arg, struct buffer *ret)
{
	uint64_t time = first_event(watch);
	if (!time && !is_due)
		return NULL;
	struct kernel_modules modules = { 0 };
	struct imp_error *err = kernel_modules_read(watch->proc, NULL, &modules);
	struct stamp stamp = { .time = time ? time : watch->read_ns };
	bool is_early = drop_loading(&modules);
	for (size_t i = 0; !err && i < modules.count; i++) {
		if (is_known(&watch->known, &modules.items[i]))
			continue;
		synthesize_module(&modules.items[i], &stamp, ret);
		see(arg, &modules.items[i]);
	}
	if (err) {
		kernel_modules_fini(&modules);
		return err;
	}
	kernel_modules_fini(&watch->known);
	watch->known = modules;
	watch->read_ns = is_early ? stamp.time : now_ns;
	return ret->failed ? &imp_error_no_memory : NULL;
}
