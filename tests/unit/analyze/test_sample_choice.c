// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Which samples are meant.
#include "analyze/sample_choice.h"

#include "harness/tap.h"

static struct sample taken(uint32_t pid, uint32_t tid, uint32_t cpu, uint64_t time)
{
	return (struct sample){ .pid = pid,
				.tid = tid,
				.cpu = cpu,
				.time = time,
				.has_tid = true,
				.has_cpu = true,
				.has_time = true };
}

static bool takes(const struct sample_choice *choice, uint32_t pid, uint32_t tid, uint32_t cpu,
		  uint64_t time)
{
	struct sample sample = taken(pid, tid, cpu, time);
	return sample_choice_takes(choice, NULL, &sample, time);
}

TEST(numbers_are_lists_and_ranges)
{
	struct sample_choice choice = { .from_ns = 0 };
	REQUIRE_OK(sample_choice_read_numbers("7,10-12", &choice.pids));
	REQUIRE_OK(sample_choice_read_numbers("0", &choice.cpus));
	CHECK(takes(&choice, 7, 1, 0, 5) && takes(&choice, 10, 1, 0, 5) &&
	      takes(&choice, 12, 1, 0, 5));
	CHECK(!takes(&choice, 8, 1, 0, 5) && !takes(&choice, 13, 1, 0, 5) &&
	      !takes(&choice, 7, 1, 1, 5));
	struct sample nobody = { .has_tid = false };
	CHECK(!sample_choice_takes(&choice, NULL, &nobody, 0));
	CHECK(sample_choice_takes(NULL, NULL, &nobody, 0));
	sample_choice_fini(&choice);
}

TEST(what_is_no_list_of_numbers_is_a_usage_error)
{
	static const char *const wrong[] = { "",   ",",	 "1,",	       "x",  "3-1",
					     "-1", "1-", "4294967296", "1 2" };
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct number_list list = { .count = 0 };
		_cleanup_error_ struct imp_error *err = sample_choice_read_numbers(wrong[i], &list);
		if (!err || imp_error_code(err) != IMP_ERR_USAGE)
			tap_fail(__FILE__, __LINE__, "'%s' was taken for numbers", wrong[i]);
		array_fini(&list);
	}
}

TEST(times_are_read_to_the_nanosecond)
{
	struct sample_choice choice = { .from_ns = 0 };
	REQUIRE_OK(sample_choice_read_times("12.000000001,13.5", &choice));
	CHECK_UINT(choice.from_ns, UINT64_C(12000000001));
	CHECK_UINT(choice.to_ns, UINT64_C(13500000000));
	CHECK(takes(&choice, 1, 1, 0, UINT64_C(12000000001)));
	CHECK(!takes(&choice, 1, 1, 0, UINT64_C(12000000000)));
	CHECK(takes(&choice, 1, 1, 0, UINT64_C(13500000000)));
	CHECK(!takes(&choice, 1, 1, 0, UINT64_C(13500000001)));
	struct sample_choice open = { .from_ns = 0 };
	REQUIRE_OK(sample_choice_read_times("2,", &open));
	CHECK(takes(&open, 1, 1, 0, UINT64_MAX) && !takes(&open, 1, 1, 0, 1));
}

TEST(shares_of_the_time_need_what_the_recording_says_of_it)
{
	struct sample_choice choice = { .from_ns = 0 };
	struct features features = { .first_sample_ns = 1000, .last_sample_ns = 2000 };
	REQUIRE_OK(sample_choice_read_times("10%-100%", &choice));
	_cleanup_error_ struct imp_error *err = sample_choice_settle(&choice, &features);
	CHECK(err && imp_error_code(err) == IMP_ERR_BAD_DATA);
	features.has_sample_time = true;
	REQUIRE_OK(sample_choice_settle(&choice, &features));
	CHECK_UINT(choice.from_ns, 1100);
	CHECK_UINT(choice.to_ns, 2000);
}

TEST(what_is_no_stretch_of_time_is_a_usage_error)
{
	static const char *const wrong[] = {
		"",	"5",	   ",",	      "5,3",  "a,b", "1.2.3,4", "10%",
		"10%-", "20%-10%", "0%-101%", "-1,2", "1-2", "10%-20",	"99999999999999999999,"
	};
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct sample_choice choice = { .from_ns = 0 };
		_cleanup_error_ struct imp_error *err = sample_choice_read_times(wrong[i], &choice);
		if (!err || imp_error_code(err) != IMP_ERR_USAGE)
			tap_fail(__FILE__, __LINE__, "'%s' was taken for times", wrong[i]);
	}
}
