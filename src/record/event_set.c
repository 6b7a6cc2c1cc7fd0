// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Opening events: what is sampled first, then what tells of mappings.
#include "record/event_set.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "perfdata/record_build.h"

// Woken up more seldom, the reader finds less of what it reads in the processor's caches.
enum { SMALLEST_RING = 4096, WAKEUP_MOST_BYTES = 256 << 10 };

#define FLAG(bit) (UINT64_C(1) << (bit))

static void opened_event_fini(struct opened_event *event)
{
	for (size_t i = 0; i < event->fds.count; i++)
		close(event->fds.items[i].fd);
	array_fini(&event->fds);
	array_fini(&event->ids);
	free(event->name);
}

static void rings_fini(struct rings *rings)
{
	for (size_t i = 0; i < rings->count; i++)
		ring_unmap(&rings->items[i]);
	array_fini(rings);
}

void event_set_fini(struct event_set *set)
{
	rings_fini(&set->samples);
	rings_fini(&set->meta);
	for (size_t i = 0; i < set->events.count; i++)
		opened_event_fini(&set->events.items[i]);
	array_fini(&set->events);
}

static struct imp_error *open_error(int errnum, const struct opened_event *event,
				    const struct perf_place *place)
{
	if (errnum == EOPNOTSUPP && event->attr.sample_type & PERF_SAMPLE_BRANCH_STACK)
		return error_system(errnum,
				    "event %s: taken branches are recorded by processors that do "
				    "so (LBR), with a hardware event",
				    event->name);
	switch (errnum) {
	case EACCES:
	case EPERM:
		return error_system(errnum,
				    "event %s: not allowed here (kernel.perf_event_paranoid, "
				    "CAP_PERFMON; 'imprint doctor' tells more)",
				    event->name);
	case ENOENT:
	case ENODEV:
	case EOPNOTSUPP:
		return error_system(errnum, "event %s: this machine does not have it", event->name);
	case EMFILE:
		return error_system(errnum,
				    "event %s: it takes one file for each thread and CPU; raise "
				    "the limit (ulimit -n)",
				    event->name);
	default:
		return error_system(errnum, "event %s: cannot open it (CPU %d, thread %d)",
				    event->name, place->cpu, place->pid);
	}
}

// Sets PLACE's leader to the descriptor of LEADER there. Both are opened in the same order, and
// where the leader found no thread any more EVENT will not either, so the search goes on where it
// ended. False when the leader is not there.
static bool set_leader(const struct opened_event *leader, const struct opened_event *event,
		       struct perf_place *place)
{
	for (size_t i = event->fds.count; i < leader->fds.count; i++) {
		const struct event_fd *at = &leader->fds.items[i];
		if (at->cpu != place->cpu || at->thread != (uint32_t)place->pid)
			continue;
		place->has_leader = true;
		place->leader = at->fd;
		return true;
	}
	return false;
}

// Opens EVENT at PLACE and takes its descriptor and ID down. A thread that has ended is no error.
static struct imp_error *open_one(struct event_set *set, struct opened_event *event,
				  const struct perf_place *place)
{
	struct event_fd *slot = array_add(&event->fds);
	uint64_t *id = slot ? array_add(&event->ids) : NULL;
	if (!id) {
		event->fds.count -= slot != NULL;
		return &imp_error_no_memory;
	}
	int fd = perf_event_open_best(&event->attr, place, &set->refusals);
	if (fd < 0 || !perf_event_id(fd, id)) {
		event->fds.count--;
		event->ids.count--;
	}
	if (fd == -ESRCH)
		return NULL;
	if (fd < 0)
		return open_error(-fd, event, place);
	*slot = (struct event_fd){ .fd = fd, .cpu = place->cpu, .thread = (uint32_t)place->pid };
	return NULL;
}

static struct imp_error *open_everywhere(struct event_set *set, struct opened_event *event,
					 const struct event_plan *plan, bool is_system_wide)
{
	const struct target *target = plan->target;
	size_t places = is_system_wide ? 1 : target->threads.count;
	bool has_cgroups = is_system_wide && target->cgroups.count && !event->is_meta;
	if (has_cgroups)
		places = target->cgroups.count;
	for (size_t i = 0; i < places; i++) {
		for (size_t c = 0; c < target->cpus.count; c++) {
			struct perf_place place = { .pid = -1, .cpu = target->cpus.items[c] };
			if (has_cgroups)
				place = (struct perf_place){ .pid = target->cgroups.items[i],
							     .cpu = place.cpu,
							     .is_cgroup = true };
			else if (!is_system_wide)
				place.pid = (int32_t)target->threads.items[i];
			if (event->leader &&
			    !set_leader(&set->events.items[event->leader - 1], event, &place))
				continue;
			struct imp_error *err = open_one(set, event, &place);
			if (err)
				return err;
		}
	}
	return NULL;
}

static struct opened_event *add_event(struct event_set *set, const struct event_attr *attr,
				      const char *name)
{
	struct opened_event *event = array_add(&set->events);
	if (!event)
		return NULL;
	event->attr = *attr;
	event->name = strdup(name);
	return event->name ? event : NULL;
}

// The part of attr that all events have, so that all trailers are alike.
static void prepare_attr(struct event_attr *attr, const struct event_plan *plan)
{
	attr->sample_type |= WRITTEN_TRAILER;
	attr->read_format = PERF_FORMAT_ID | PERF_FORMAT_LOST;
	attr->flags |= FLAG(ATTR_SAMPLE_ID_ALL) | FLAG(ATTR_USE_CLOCKID) | FLAG(ATTR_WATERMARK);
	if (plan->inherits && !plan->target->is_system_wide)
		attr->flags |= FLAG(ATTR_INHERIT);
	attr->clockid = CLOCK_MONOTONIC;
}

static struct imp_error *open_sampled(struct event_set *set, const struct event_plan *plan,
				      const struct wanted_event *wanted)
{
	struct event_attr attr = wanted->attr;
	prepare_attr(&attr, plan);
	attr.flags |= FLAG(ATTR_DISABLED);
	if (plan->starts_on_exec)
		attr.flags |= FLAG(ATTR_ENABLE_ON_EXEC);
	if (plan->is_backward)
		attr.flags |= FLAG(ATTR_WRITE_BACKWARD);
	attr.wakeup = (uint32_t)(plan->ring_bytes / 4 < WAKEUP_MOST_BYTES ? plan->ring_bytes / 4
									  : WAKEUP_MOST_BYTES);
	struct opened_event *event = add_event(set, &attr, wanted->name);
	if (!event)
		return &imp_error_no_memory;
	event->leader = wanted->leader;
	struct imp_error *err = open_everywhere(set, event, plan, plan->target->is_system_wide);
	for (size_t i = 0; !err && wanted->filter && i < event->fds.count; i++)
		if (!perf_event_set_filter(event->fds.items[i].fd, wanted->filter))
			err = error_system(errno, "event %s: cannot set the filter '%s'",
					   event->name, wanted->filter);
	return err;
}

static struct event_attr meta_attr(const struct event_plan *plan)
{
	struct event_attr attr = { .type = PERF_TYPE_SOFTWARE,
				   .config = PERF_COUNT_SW_DUMMY,
				   .sample_period = 1,
				   .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_PERIOD };
	prepare_attr(&attr, plan);
	// Nothing is counted, so the permission to look into the kernel is not needed.
	attr.flags |= FLAG(ATTR_EXCLUDE_KERNEL) | FLAG(ATTR_EXCLUDE_HV);
	// Each record wakes the reader: images must be seen while they are there.
	attr.wakeup = 1;
	return attr;
}

static const uint64_t process_flags = FLAG(ATTR_MMAP) | FLAG(ATTR_MMAP2) | FLAG(ATTR_BUILD_ID) |
				      FLAG(ATTR_COMM) | FLAG(ATTR_COMM_EXEC) | FLAG(ATTR_TASK) |
				      FLAG(ATTR_NAMESPACES);
static const uint64_t kernel_flags = FLAG(ATTR_KSYMBOL) | FLAG(ATTR_BPF_EVENT) |
				     FLAG(ATTR_TEXT_POKE);

static uint64_t wanted_flags(const struct event_plan *plan)
{
	uint64_t flags = 0;
	if (plan->with_data)
		flags |= FLAG(ATTR_MMAP_DATA);
	if (plan->with_switches)
		flags |= FLAG(ATTR_CONTEXT_SWITCH);
	if (plan->with_cgroups || plan->target->cgroups.count)
		flags |= FLAG(ATTR_CGROUP);
	return flags;
}

// What belongs to no process (generated kernel code) is told only to events that see the whole
// machine: beside events of threads one more is opened for it, if that is allowed.
static struct imp_error *open_kernel_meta(struct event_set *set, const struct event_plan *plan)
{
	struct event_attr attr = meta_attr(plan);
	attr.flags |= kernel_flags;
	attr.flags &= ~FLAG(ATTR_INHERIT);
	struct opened_event *event = add_event(set, &attr, "dummy:k");
	if (!event)
		return &imp_error_no_memory;
	event->is_meta = true;
	struct perf_refusals before = set->refusals;
	struct imp_error *err = open_everywhere(set, event, plan, true);
	if (!err)
		return NULL;
	imp_error_free(err);
	opened_event_fini(event);
	set->events.count--;
	set->refusals = before;
	set->refusals.bits |= 1U << REFUSED_KERNEL_EVENTS;
	return NULL;
}

static struct imp_error *open_meta(struct event_set *set, const struct event_plan *plan)
{
	bool is_system_wide = plan->target->is_system_wide;
	struct event_attr attr = meta_attr(plan);
	attr.flags |= process_flags | wanted_flags(plan) | (is_system_wide ? kernel_flags : 0);
	struct opened_event *event = add_event(set, &attr, "dummy");
	if (!event)
		return &imp_error_no_memory;
	event->is_meta = true;
	struct imp_error *err = open_everywhere(set, event, plan, is_system_wide);
	if (err || is_system_wide)
		return err;
	return open_kernel_meta(set, plan);
}

static struct ring *ring_of_cpu(struct rings *rings, const int *cpus, int cpu)
{
	for (size_t i = 0; i < rings->count; i++)
		if (cpus[i] == cpu)
			return &rings->items[i];
	return NULL;
}

// Maps a ring for FD, a smaller one where so much memory may not be locked.
static struct imp_error *map_ring(struct rings *rings, int fd, size_t *size, bool is_backward)
{
	struct ring *ring = array_add(rings);
	if (!ring)
		return &imp_error_no_memory;
	int status = ring_map(fd, *size, is_backward, ring);
	while (status == -EPERM && *size > SMALLEST_RING) {
		*size /= 2;
		status = ring_map(fd, *size, is_backward, ring);
	}
	if (!status)
		return NULL;
	rings->count--;
	return error_system(-status,
			    "cannot map a ring of %zu bytes (kernel.perf_event_mlock_kb, "
			    "RLIMIT_MEMLOCK)",
			    *size);
}

// One ring a CPU for all events that are meta, or all that are not.
static struct imp_error *map_rings(struct event_set *set, bool is_meta, size_t size,
				   bool is_backward)
{
	struct rings *rings = is_meta ? &set->meta : &set->samples;
	ARRAY_OF(int) cpus = { 0 };
	struct imp_error *err = NULL;
	for (size_t e = 0; !err && e < set->events.count; e++) {
		const struct opened_event *event = &set->events.items[e];
		for (size_t i = 0; !err && i < event->fds.count && event->is_meta == is_meta; i++) {
			const struct event_fd *at = &event->fds.items[i];
			struct ring *ring = ring_of_cpu(rings, cpus.items, at->cpu);
			if (ring && !perf_event_redirect(at->fd, ring->fd))
				err = error_system(errno, "event %s: cannot share a ring",
						   event->name);
			if (ring)
				continue;
			err = map_ring(rings, at->fd, &size, is_backward);
			int *cpu = err ? NULL : array_add(&cpus);
			if (cpu)
				*cpu = at->cpu;
			else if (!err)
				err = &imp_error_no_memory;
		}
	}
	array_fini(&cpus);
	return err;
}

struct imp_error *event_set_open(const struct event_plan *plan, struct event_set *ret)
{
	struct event_set set = { 0 };
	struct imp_error *err = NULL;
	for (size_t i = 0; !err && i < plan->count; i++)
		err = open_sampled(&set, plan, &plan->events[i]);
	if (!err)
		err = open_meta(&set, plan);
	if (!err)
		err = map_rings(&set, true, plan->meta_ring_bytes, false);
	if (!err)
		err = map_rings(&set, false, plan->ring_bytes, plan->is_backward);
	if (err) {
		event_set_fini(&set);
		return err;
	}
	set.is_empty = !set.samples.count;
	*ret = set;
	return NULL;
}

void event_set_enable(const struct event_set *set, bool is_enabled)
{
	for (size_t e = 0; e < set->events.count; e++) {
		const struct opened_event *event = &set->events.items[e];
		for (size_t i = 0; i < event->fds.count && !event->is_meta; i++) {
			int fd = event->fds.items[i].fd;
			// One that cannot be switched belongs to a thread that has ended.
			(void)(is_enabled ? perf_event_enable(fd) : perf_event_disable(fd));
		}
	}
}

struct imp_error *event_set_written(const struct event_set *set, struct written_events *ret)
{
	for (size_t e = 0; e < set->events.count; e++) {
		const struct opened_event *event = &set->events.items[e];
		struct written_event *written = array_add(ret);
		if (!written)
			return &imp_error_no_memory;
		*written = (struct written_event){ .attr = event->attr,
						   .name = event->name,
						   .ids = event->ids.items,
						   .id_count = event->ids.count };
	}
	return NULL;
}

uint64_t event_set_lost(const struct event_set *set)
{
	uint64_t lost = 0;
	for (size_t e = 0; e < set->events.count; e++) {
		const struct opened_event *event = &set->events.items[e];
		for (size_t i = 0; i < event->fds.count && !event->is_meta; i++)
			lost += perf_event_lost(event->fds.items[i].fd, &event->attr);
	}
	return lost;
}
