// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The report as text, verbatim.
#include "render/text_report.h"

#include <stdlib.h>
#include <string.h>

#include "harness/tap.h"
#include "unit/render/scene.h"

static char *report(const struct profile *profile, const struct text_report_options *options,
		    const char *columns)
{
	struct text_report_options all = *options;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	CHECK(out);
	CHECK_OK(columns_parse(columns, &all.columns));
	CHECK_OK(text_report(profile, &all, out));
	fclose(out);
	return text;
}

static void check_report(struct text_report_options options, const char *columns,
			 const char *expected)
{
	_cleanup_profile_ struct profile *profile = make_scene(false);
	_cleanup_free_ char *text = report(profile, &options, columns);
	CHECK_TEXT(text, expected);
}

TEST(flat_rows_stand_between_what_was_recorded_and_what_has_no_name)
{
	check_report(
		(struct text_report_options){ .percent_limit = 0 }, "comm,dso,sym",
		"# Recorded on vm61, Linux 6.1.0\n"
		"# Command: perf record -g app\n"
		"# 103 samples over 2.500 s; lost: 7 events\n"
		"# Identity of the sampled code: map-time 55.34%, synthesized 4.85%, none 38.83%, "
		"nothing mapped 0.97%\n"
		"#\n"
		"# Samples: 100 of event 'cycles'\n"
		"# Event count (approx.): 1000\n"
		"#\n"
		"# Overhead  Command  Shared Object         Symbol\n"
		"# ........  .......  ....................  ...........................................\n"
		"#\n"
		"    40.00%  appA     libfoo.so [no ID]     [.] /lib/libfoo.so+0x20\n"
		"    30.00%  appB     libfoo.so [22222222]  [.] zip\n"
		"    20.00%  appB     libfoo.so [22222222]  [.] crypt\n"
		"     5.00%  swapper  [kernel.kallsyms]     [k] [buildid:abcd]+0x40 "
		"([kernel.kallsyms])\n"
		"     4.00%  appB     app                   [.] main\n"
		"     1.00%  appA     [unknown]             [.] [unmapped]\n"
		"\n"
		"# Samples: 3 of event 'faults'\n"
		"# Event count (approx.): 30\n"
		"#\n"
		"# Overhead  Command  Shared Object  Symbol\n"
		"# ........  .......  .............  ........\n"
		"#\n"
		"   100.00%  appA     app            [.] main\n"
		"\n"
		"# Without a name: 46 of 103 samples (44.66%)\n"
		"#\n"
		"#  Samples    Share  Object             Reason\n"
		"#       40   38.83%  libfoo.so [no ID]  the recording does not say which build was "
		"mapped; next: record with 'imprint record' or 'perf record --buildid-mmap'\n"
		"#        5    4.85%  [kernel.kallsyms]  no file with this build ID was found; next: "
		"give its folder with --images, or 'imprint fetch abcd'\n"
		"#        1    0.97%  [unknown]          nothing was mapped at the address at that "
		"time; next: record with larger buffers (-m): events were lost\n"
		"#\n"
		"# Debuginfod servers may have the build for 4.85% of the samples; nothing was asked "
		"of them.\n"
		"# To ask: 'imprint fetch', or --debuginfod here\n");
}

TEST(fields_may_be_separated_instead_of_aligned)
{
	check_report((struct text_report_options){ .separator = "|",
						   .with_samples = true,
						   .is_bare = true },
		     "pid,build_id,kind,identity",
		     "# Samples: 100 of event 'cycles'\n"
		     "# Event count (approx.): 1000\n"
		     "#\n"
		     "# Overhead|Samples|Pid|Build ID|Kind|Identity\n"
		     "40.00%|40|136|-|user|none\n"
		     "30.00%|30|140|2222222222222222222222222222222222222222|user|map-time\n"
		     "20.00%|20|141|2222222222222222222222222222222222222222|user|map-time\n"
		     "5.00%|5|0|abcd|kernel|synthesized\n"
		     "4.00%|4|140|1111111111111111111111111111111111111111|user|map-time\n"
		     "1.00%|1|136|-|-|none\n"
		     "\n"
		     "# Samples: 3 of event 'faults'\n"
		     "# Event count (approx.): 30\n"
		     "#\n"
		     "# Overhead|Samples|Pid|Build ID|Kind|Identity\n"
		     "100.00%|3|136|1111111111111111111111111111111111111111|user|map-time\n"
		     "\n");
}

TEST(light_rows_may_be_left_out)
{
	check_report((struct text_report_options){ .percent_limit = 30, .is_bare = true }, "sym",
		     "# Samples: 100 of event 'cycles'\n"
		     "# Event count (approx.): 1000\n"
		     "#\n"
		     "# Overhead  Symbol\n"
		     "# ........  .......................\n"
		     "#\n"
		     "    40.00%  [.] /lib/libfoo.so+0x20\n"
		     "    30.00%  [.] zip\n"
		     "\n"
		     "# Samples: 3 of event 'faults'\n"
		     "# Event count (approx.): 30\n"
		     "#\n"
		     "# Overhead  Symbol\n"
		     "# ........  ........\n"
		     "#\n"
		     "   100.00%  [.] main\n"
		     "\n");
}

TEST(children_count_each_row_once_a_stack)
{
	check_report((struct text_report_options){ .with_children = true, .is_bare = true },
		     "comm,sym",
		     "# Samples: 100 of event 'cycles'\n"
		     "# Event count (approx.): 1000\n"
		     "#\n"
		     "# Children      Self  Command  Symbol\n"
		     "# ........  ........  .......  ...........................................\n"
		     "#\n"
		     "    54.00%     4.00%  appB     [.] main\n"
		     "    41.00%     0.00%  appA     [.] main\n"
		     "    40.00%    40.00%  appA     [.] /lib/libfoo.so+0x20\n"
		     "    30.00%    30.00%  appB     [.] zip\n"
		     "    30.00%     0.00%  appB     [.] copy\n"
		     "    20.00%    20.00%  appB     [.] crypt\n"
		     "     5.00%     5.00%  swapper  [k] [buildid:abcd]+0x40 ([kernel.kallsyms])\n"
		     "     1.00%     1.00%  appA     [.] [unmapped]\n"
		     "\n"
		     "# Samples: 3 of event 'faults'\n"
		     "# Event count (approx.): 30\n"
		     "#\n"
		     "# Children      Self  Command  Symbol\n"
		     "# ........  ........  .......  ........\n"
		     "#\n"
		     "   100.00%   100.00%  appA     [.] main\n"
		     "\n");
}

TEST(callers_are_drawn_from_the_function_up)
{
	check_report(
		(struct text_report_options){ .with_chains = true,
					      .order = BRANCH_CALLEE,
					      .chain_limit = 0.5,
					      .is_bare = true },
		"dso,sym",
		"# Samples: 100 of event 'cycles'\n"
		"# Event count (approx.): 1000\n"
		"#\n"
		"# Overhead  Shared Object         Symbol\n"
		"# ........  ....................  ...........................................\n"
		"#\n"
		"    40.00%  libfoo.so [no ID]     [.] /lib/libfoo.so+0x20\n"
		"            |\n"
		"            ---/lib/libfoo.so+0x20\n"
		"               main\n"
		"\n"
		"    30.00%  libfoo.so [22222222]  [.] zip\n"
		"            |\n"
		"            ---copy (inlined)\n"
		"               zip\n"
		"               main\n"
		"\n"
		"    20.00%  libfoo.so [22222222]  [.] crypt\n"
		"            |\n"
		"            ---crypt\n"
		"               main\n"
		"\n"
		"     5.00%  [kernel.kallsyms]     [k] [buildid:abcd]+0x40 ([kernel.kallsyms])\n"
		"            |\n"
		"            ---[buildid:abcd]+0x40 ([kernel.kallsyms])\n"
		"\n"
		"     4.00%  app                   [.] main\n"
		"            |\n"
		"            ---main\n"
		"\n"
		"     1.00%  [unknown]             [.] [unmapped]\n"
		"            |\n"
		"            ---[unmapped]\n"
		"               main\n"
		"\n"
		"\n"
		"# Samples: 3 of event 'faults'\n"
		"# Event count (approx.): 30\n"
		"#\n"
		"# Overhead  Shared Object  Symbol\n"
		"# ........  .............  ........\n"
		"#\n"
		"   100.00%  app            [.] main\n"
		"            |\n"
		"            ---main\n"
		"\n"
		"\n");
}

TEST(chains_are_drawn_from_the_outermost_caller_down)
{
	check_report((struct text_report_options){ .with_chains = true,
						   .order = BRANCH_CALLER,
						   .chain_limit = 5,
						   .is_bare = true },
		     "comm",
		     "# Samples: 100 of event 'cycles'\n"
		     "# Event count (approx.): 1000\n"
		     "#\n"
		     "# Overhead  Command\n"
		     "# ........  .......\n"
		     "#\n"
		     "    54.00%  appB\n"
		     "            |\n"
		     "            ---main\n"
		     "               |\n"
		     "               |--30.00%--zip\n"
		     "               |          copy (inlined)\n"
		     "               |\n"
		     "                --20.00%--crypt\n"
		     "\n"
		     "    41.00%  appA\n"
		     "            |\n"
		     "            ---main\n"
		     "               |\n"
		     "                --40.00%--/lib/libfoo.so+0x20\n"
		     "\n"
		     "     5.00%  swapper\n"
		     "            |\n"
		     "            ---[buildid:abcd]+0x40 ([kernel.kallsyms])\n"
		     "\n"
		     "\n"
		     "# Samples: 3 of event 'faults'\n"
		     "# Event count (approx.): 30\n"
		     "#\n"
		     "# Overhead  Command\n"
		     "# ........  .......\n"
		     "#\n"
		     "   100.00%  appA\n"
		     "            |\n"
		     "            ---main\n"
		     "\n"
		     "\n");
}

TEST(with_children_a_row_shows_what_it_calls)
{
	check_report((struct text_report_options){ .with_chains = true,
						   .with_children = true,
						   .order = BRANCH_CALLER,
						   .chain_limit = 0.5,
						   .percent_limit = 25,
						   .is_bare = true },
		     "sym",
		     "# Samples: 100 of event 'cycles'\n"
		     "# Event count (approx.): 1000\n"
		     "#\n"
		     "# Children      Self  Symbol\n"
		     "# ........  ........  .......................\n"
		     "#\n"
		     "    95.00%     4.00%  [.] main\n"
		     "            |\n"
		     "            ---main\n"
		     "               |\n"
		     "               |--40.00%--/lib/libfoo.so+0x20\n"
		     "               |\n"
		     "               |--30.00%--zip\n"
		     "               |          copy (inlined)\n"
		     "               |\n"
		     "               |--20.00%--crypt\n"
		     "               |\n"
		     "                --1.00%--[unmapped]\n"
		     "\n"
		     "    40.00%    40.00%  [.] /lib/libfoo.so+0x20\n"
		     "            |\n"
		     "            ---/lib/libfoo.so+0x20\n"
		     "\n"
		     "    30.00%    30.00%  [.] zip\n"
		     "            |\n"
		     "            ---zip\n"
		     "               copy (inlined)\n"
		     "\n"
		     "    30.00%     0.00%  [.] copy\n"
		     "            |\n"
		     "            ---copy (inlined)\n"
		     "\n"
		     "\n"
		     "# Samples: 3 of event 'faults'\n"
		     "# Event count (approx.): 30\n"
		     "#\n"
		     "# Children      Self  Symbol\n"
		     "# ........  ........  ........\n"
		     "#\n"
		     "   100.00%   100.00%  [.] main\n"
		     "            |\n"
		     "            ---main\n"
		     "\n"
		     "\n");
}

TEST(shares_may_be_of_the_parent)
{
	check_report((struct text_report_options){ .with_chains = true,
						   .with_children = true,
						   .order = BRANCH_CALLER,
						   .is_relative = true,
						   .chain_limit = 25,
						   .percent_limit = 90,
						   .is_bare = true },
		     "sym",
		     "# Samples: 100 of event 'cycles'\n"
		     "# Event count (approx.): 1000\n"
		     "#\n"
		     "# Children      Self  Symbol\n"
		     "# ........  ........  ........\n"
		     "#\n"
		     "    95.00%     4.00%  [.] main\n"
		     "            |\n"
		     "            ---main\n"
		     "               |\n"
		     "               |--42.11%--/lib/libfoo.so+0x20\n"
		     "               |\n"
		     "                --31.58%--zip\n"
		     "                          copy (inlined)\n"
		     "\n"
		     "\n"
		     "# Samples: 3 of event 'faults'\n"
		     "# Event count (approx.): 30\n"
		     "#\n"
		     "# Children      Self  Symbol\n"
		     "# ........  ........  ........\n"
		     "#\n"
		     "   100.00%   100.00%  [.] main\n"
		     "            |\n"
		     "            ---main\n"
		     "\n"
		     "\n");
}

TEST(chains_that_are_not_whole_are_told_of_with_their_reasons)
{
	_cleanup_profile_ struct profile *profile = make_scene(false);
	struct text_report_options options = { .percent_limit = 100 };
	profile->origin.chain_ends[UNWIND_OUTERMOST] = 70;
	profile->origin.chain_ends[UNWIND_STACK_SHORT] = 25;
	profile->origin.chain_ends[UNWIND_IMAGE_NOT_FOUND] = 5;
	profile->origin.chains_by_frame_pointer = 2;
	profile->objects.items[0].ended_chains = 1;
	profile->objects.items[1].ended_chains = 4;
	_cleanup_free_ char *text = report(profile, &options, "comm");
	const char *part = text ? strstr(text, "# Call chains") : NULL;
	const char *end = part ? strstr(part, "# Without") : NULL;
	REQUIRE(end);
	_cleanup_free_ char *found = strndup(part, (size_t)(end - part));
	CHECK_TEXT(
		found,
		"# Call chains from copied stacks: 70 of 100 whole (70.00%)\n"
		"#       25   25.00%  the copied part of the stack ends; copy more of it: "
		"--call-graph dwarf,65528\n"
		"#        5    5.00%  the image that describes the frame was not found\n"
		"#   most often in libfoo.so [no ID] (4), app (1)\n"
		"#   2 go through frames that nothing describes, by their frame pointer: callers "
		"may be missing there\n"
		"#\n");
}
