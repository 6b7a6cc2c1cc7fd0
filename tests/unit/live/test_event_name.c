// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
#include "live/event_name.h"

#include <linux/perf_event.h>
#include <string.h>

#include "harness/tap.h"

static struct event_attr attr_of(const char *text)
{
	_cleanup_wanted_events_ struct wanted_events events = { 0 };
	struct event_attr none = { .type = UINT32_MAX };
	CHECK_OK(event_names_parse(text, &events));
	CHECK_UINT(events.count, 1);
	return events.count == 1 ? events.items[0].attr : none;
}

TEST(generic_events_are_known_by_both_their_names)
{
	CHECK_UINT(attr_of("cycles").type, PERF_TYPE_HARDWARE);
	CHECK_UINT(attr_of("cpu-cycles").config, PERF_COUNT_HW_CPU_CYCLES);
	CHECK_UINT(attr_of("cs").config, PERF_COUNT_SW_CONTEXT_SWITCHES);
	CHECK_UINT(attr_of("cs").type, PERF_TYPE_SOFTWARE);
}

TEST(modifiers_leave_out_the_other_levels)
{
	struct event_attr user = attr_of("cycles:u"), both = attr_of("cycles:uk");
	CHECK(!attr_has(&user, ATTR_EXCLUDE_USER) && attr_has(&user, ATTR_EXCLUDE_KERNEL));
	CHECK(attr_has(&user, ATTR_EXCLUDE_HV));
	CHECK(!attr_has(&both, ATTR_EXCLUDE_USER) && !attr_has(&both, ATTR_EXCLUDE_KERNEL));
	CHECK_UINT(attr_of("cycles:ppp").flags, UINT64_C(3) << ATTR_PRECISE_IP);
}

TEST(cache_events_are_read_with_operation_and_result_in_any_of_their_words)
{
	CHECK_UINT(attr_of("L1-dcache-load-misses").config, 0x10000);
	CHECK_UINT(attr_of("L1-dcache-loads").config, 0);
	CHECK_UINT(attr_of("LLC-stores").config, 0x102);
	CHECK_UINT(attr_of("dTLB-prefetch-misses").config, 0x10203);
	CHECK_UINT(attr_of("branch-load-misses").config, 0x10005);
	CHECK_UINT(attr_of("branch-misses").type, PERF_TYPE_HARDWARE);
}

TEST(raw_events_are_hexadecimal)
{
	struct event_attr raw = attr_of("r1a8:k");
	CHECK_UINT(raw.type, PERF_TYPE_RAW);
	CHECK_UINT(raw.config, 0x1a8);
	CHECK(attr_has(&raw, ATTR_EXCLUDE_USER));
}

TEST(commas_separate_events_and_names_stay_as_written)
{
	_cleanup_wanted_events_ struct wanted_events events = { 0 };
	REQUIRE_OK(event_names_parse("cpu-clock:u,faults", &events));
	REQUIRE(events.count == 2);
	CHECK_TEXT(events.items[0].name, "cpu-clock:u");
	CHECK_TEXT(events.items[1].name, "faults");
}

TEST(a_group_has_a_leader_and_modifiers_for_all)
{
	_cleanup_wanted_events_ struct wanted_events events = { 0 };
	REQUIRE_OK(event_names_parse("faults,{cycles,instructions}:u,cs", &events));
	REQUIRE(events.count == 4);
	CHECK_UINT(events.items[0].leader, 0);
	CHECK_UINT(events.items[1].leader, 0);
	CHECK_UINT(events.items[2].leader, 2);
	CHECK_UINT(events.items[3].leader, 0);
	CHECK_TEXT(events.items[2].name, "instructions:u");
	CHECK(attr_has(&events.items[1].attr, ATTR_EXCLUDE_KERNEL));
	CHECK(!attr_has(&events.items[3].attr, ATTR_EXCLUDE_KERNEL));
}

TEST(what_is_no_event_is_a_usage_error)
{
	static const char *const wrong[] = { "",	  ",",	       "cycles,",  "no-such-event",
					     "r",	  "rxyz",      "cycles:x", "nopmu/event=1/",
					     "cpu/event", "L1-dcache", "{}",	   "{cycles",
					     "{cycles}x", "{cycles}:", "{,}" };
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		_cleanup_wanted_events_ struct wanted_events events = { 0 };
		_cleanup_error_ struct imp_error *err = event_names_parse(wrong[i], &events);
		if (!err || imp_error_code(err) != IMP_ERR_USAGE)
			tap_fail(__FILE__, __LINE__, "'%s' was taken for an event", wrong[i]);
	}
}
