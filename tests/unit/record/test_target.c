// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
#include "record/target.h"

#include <stdio.h>
#include <unistd.h>

#include "harness/tap.h"

TEST(all_threads_of_a_process_are_taken)
{
	struct target target = { 0 };
	char list[16];
	snprintf(list, sizeof list, "%d", getpid());
	CHECK_OK(target_add_processes(&target, list));
	REQUIRE(target.threads.count == 1);
	CHECK_UINT(target.threads.items[0], getpid());
	target_fini(&target);
}

TEST(lists_of_threads_are_numbers_and_commas_and_nothing_else)
{
	static const char *const wrong[] = { "", "x", "1,", "1,,2", "-1", "1 2", "99999999999" };
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct target target = { 0 };
		CHECK_ERROR(target_add_threads(&target, wrong[i]), IMP_ERR_USAGE);
		target_fini(&target);
	}
	struct target target = { 0 };
	CHECK_OK(target_add_threads(&target, "1,22"));
	CHECK_UINT(target.threads.count, 2);
	target_fini(&target);
}

TEST(cpus_are_ranges_of_those_that_are_online)
{
	static const char *const wrong[] = { "x", "0-", "1-0", "0,,0", "65535" };
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct target target = { 0 };
		CHECK_ERROR(target_set_cpus(&target, wrong[i]), IMP_ERR_USAGE);
		target_fini(&target);
	}
	struct target target = { 0 };
	CHECK_OK(target_set_cpus(&target, "0"));
	CHECK_UINT(target.cpus.count, 1);
	CHECK_OK(target_set_cpus(&target, NULL));
	CHECK(target.cpus.count >= 1);
	target_fini(&target);
}

TEST(a_process_that_is_not_there_is_an_error)
{
	struct target target = { 0 };
	CHECK_ERROR(target_add_processes(&target, "2147483646"), IMP_ERR_SYSTEM);
	target_fini(&target);
}
