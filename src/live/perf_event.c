// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// perf_event_open(2) and its retreats.
#include "live/perf_event.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "perfdata/attr_encode.h"

enum {
	READ_FORMAT_LOST = 1 << 4,
	BRANCH_HW_INDEX = 1 << 17,
	BRANCH_PRIV_SAVE = 1 << 18,
	BRANCH_TYPE_SAVE = 1 << 16,
	BRANCH_DETAILS = BRANCH_HW_INDEX | BRANCH_PRIV_SAVE | BRANCH_TYPE_SAVE,
};

#define FLAG(bit) (UINT64_C(1) << (bit))

struct retreat {
	const char *text;
	// Bits of attr.flags that are cleared, and the others that go with them.
	uint64_t flags;
	uint64_t read_format;
	uint64_t branches;
	// The errors that mean this refusal: a bit of an older kernel, or a permission.
	bool is_unknown_to_kernel;
	bool is_forbidden;
};

static const struct retreat retreats[PERF_REFUSALS] = {
	[REFUSED_BUILD_ID] = { "build IDs in mmap events (Linux 5.12 has them)",
			       FLAG(ATTR_BUILD_ID), 0, 0, true, false },
	[REFUSED_FORMAT_LOST] = { "counts of lost samples for each event (Linux 6.0 has them)", 0,
				  READ_FORMAT_LOST, 0, true, false },
	[REFUSED_TEXT_POKE] = { "changes of the kernel's code", FLAG(ATTR_TEXT_POKE), 0, 0, true,
				true },
	[REFUSED_CGROUP] = { "names of cgroups (Linux 5.7 has them)", FLAG(ATTR_CGROUP), 0, 0, true,
			     false },
	[REFUSED_BPF] = { "loaded BPF programs (Linux 5.1 has them)", FLAG(ATTR_BPF_EVENT), 0, 0,
			  true, false },
	[REFUSED_KSYMBOL] = { "symbols of generated kernel code (Linux 5.1 has them)",
			      FLAG(ATTR_KSYMBOL), 0, 0, true, false },
	[REFUSED_NAMESPACES] = { "namespaces (they need CAP_PERFMON)", FLAG(ATTR_NAMESPACES), 0, 0,
				 true, true },
	[REFUSED_BRANCH_DETAILS] = { "types and privileges of branches", 0, 0, BRANCH_DETAILS, true,
				     false },
	[REFUSED_CLOCK] = { "a chosen clock (Linux 4.1 has it)", FLAG(ATTR_USE_CLOCKID), 0, 0, true,
			    false },
	[REFUSED_COMM_EXEC] = { "marks of exec (Linux 3.16 has them)", FLAG(ATTR_COMM_EXEC), 0, 0,
				true, false },
	[REFUSED_KERNEL] = { "the kernel (kernel.perf_event_paranoid is above 1, and CAP_PERFMON is missing)",
			     0, 0, 0, false, true },
	[REFUSED_KERNEL_EVENTS] = { "generated kernel code and BPF programs (kernel.perf_event_paranoid is above 0, and CAP_PERFMON is missing)",
				    0, 0, 0, false, false },
};

const char *perf_refusal_text(enum perf_refusal what)
{
	return retreats[what].text;
}

// Takes WHAT out of ATTR; false when it was not in it.
static bool give_up(struct event_attr *attr, enum perf_refusal what)
{
	const struct retreat *retreat = &retreats[what];
	if (what == REFUSED_KERNEL) {
		bool had = !attr_has(attr, ATTR_EXCLUDE_KERNEL);
		attr->flags |= FLAG(ATTR_EXCLUDE_KERNEL) | FLAG(ATTR_EXCLUDE_HV);
		if (attr->sample_type & PERF_SAMPLE_CALLCHAIN)
			attr->flags |= FLAG(ATTR_EXCLUDE_CALLCHAIN_KERNEL);
		return had;
	}
	bool had = attr->flags & retreat->flags || attr->read_format & retreat->read_format ||
		   attr->branch_sample_type & retreat->branches;
	attr->flags &= ~retreat->flags;
	attr->read_format &= ~retreat->read_format;
	attr->branch_sample_type &= ~retreat->branches;
	return had;
}

int perf_event_open_exactly(const struct event_attr *attr, const struct perf_place *place)
{
	uint8_t bytes[ATTR_MOST_BYTES];
	attr_encode(attr, bytes);
	unsigned long flags = PERF_FLAG_FD_CLOEXEC;
	if (place->is_cgroup)
		flags |= PERF_FLAG_PID_CGROUP;
	int leader = place->has_leader ? place->leader : -1;
	long fd = syscall(SYS_perf_event_open, bytes, place->pid, place->cpu, leader, flags);
	return fd < 0 ? -errno : (int)fd;
}

int perf_event_open_best(struct event_attr *attr, const struct perf_place *place,
			 struct perf_refusals *refusals)
{
	for (unsigned what = 0; what < PERF_REFUSALS; what++)
		if (perf_was_refused(refusals, what))
			give_up(attr, what);
	int fd = perf_event_open_exactly(attr, place);
	uint32_t given_up = 0;
	for (unsigned what = 0; fd < 0 && what < PERF_REFUSALS; what++) {
		bool is_unknown = fd == -EINVAL || fd == -E2BIG;
		bool is_forbidden = fd == -EACCES || fd == -EPERM;
		if (!(is_unknown && retreats[what].is_unknown_to_kernel) &&
		    !(is_forbidden && retreats[what].is_forbidden))
			continue;
		if (!give_up(attr, what))
			continue;
		given_up |= UINT32_C(1) << what;
		fd = perf_event_open_exactly(attr, place);
	}
	if (fd >= 0)
		refusals->bits |= given_up;
	return fd;
}

bool perf_event_enable(int fd)
{
	return !ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
}

bool perf_event_disable(int fd)
{
	return !ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
}

bool perf_event_id(int fd, uint64_t *ret)
{
	return !ioctl(fd, PERF_EVENT_IOC_ID, ret);
}

bool perf_event_redirect(int fd, int target)
{
	return !ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, target);
}

bool perf_event_set_filter(int fd, const char *filter)
{
	return !ioctl(fd, PERF_EVENT_IOC_SET_FILTER, filter);
}

bool perf_event_pause(int fd, bool is_paused)
{
	return !ioctl(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, is_paused ? 1 : 0);
}

uint64_t perf_event_lost(int fd, const struct event_attr *attr)
{
	uint64_t words[3] = { 0 };
	if (attr->read_format != (PERF_FORMAT_ID | READ_FORMAT_LOST))
		return 0;
	return read(fd, words, sizeof words) == sizeof words ? words[2] : 0;
}
