// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Profiles of some samples only.
#include "profile/narrow.h"

#include "harness/tap.h"
#include "make/profile.h"

static const char *const events[] = { "cycles", "faults", NULL };
static const char id_1[] = "1111111111111111111111111111111111111111";
static const char id_2[] = "2222222222222222222222222222222222222222";

// Four samples in work of /bin/a, two in main of it, one in /lib/libb.so, one nowhere.
static struct profile *make_program(void)
{
	struct profile *profile = make_profile(events);
	uint32_t a = make_object(profile, IMAGE_USER, "/bin/a", id_1, IDENTITY_MAP_TIME);
	uint32_t b = make_object(profile, IMAGE_USER, "/lib/libb.so", id_2, IDENTITY_MAP_TIME);
	uint32_t outer = make_spot(profile, a, 0x10), work = make_spot(profile, a, 0x20),
		 other = make_spot(profile, b, 0x20);
	make_samples(profile, 0, "a", 1, 4, STACK(outer, work));
	make_samples(profile, 1, "a", 1, 2, STACK(outer));
	make_samples(profile, 0, "a", 1, 1, STACK(outer, other));
	make_samples(profile, 0, "a", 1, 1, STACK(NO_NUMBER));
	make_settled(profile);
	make_name(profile, outer, "main");
	make_name(profile, work, "step work");
	return profile;
}

static void check_narrow(const char *object, const char *function, uint64_t cycles, uint64_t faults)
{
	_cleanup_profile_ struct profile *profile = make_program();
	const char *const objects[] = { object, NULL }, *const functions[] = { function, NULL };
	struct narrowing narrowing = { .objects = object ? objects : NULL,
				       .functions = function ? functions : NULL };
	CHECK_OK(profile_narrow(profile, &narrowing));
	CHECK_UINT(profile->events.items[0].samples, cycles);
	CHECK_UINT(profile->events.items[0].weight, cycles * 10);
	CHECK_UINT(profile->events.items[1].samples, faults);
	CHECK_UINT(profile->origin.left_out, 8 - cycles - faults);
	uint64_t left = 0;
	for (size_t i = 0; i < profile->tally.nodes.count; i++)
		left += profile->tally.nodes.items[i].samples;
	CHECK_UINT(left, cycles + faults);
}

TEST(objects_are_named_by_path_last_part_label_or_build_id)
{
	check_narrow("/bin/a", NULL, 4, 2);
	check_narrow("libb.so", NULL, 1, 0);
	check_narrow("222222", NULL, 1, 0);
	check_narrow("22222", NULL, 0, 0);
	check_narrow("lib", NULL, 0, 0);
}

TEST(functions_are_the_innermost_of_inlined_ones)
{
	check_narrow(NULL, "step", 4, 0);
	check_narrow(NULL, "work", 0, 0);
	check_narrow(NULL, "main", 0, 2);
	check_narrow("libb.so", "main", 0, 0);
}
