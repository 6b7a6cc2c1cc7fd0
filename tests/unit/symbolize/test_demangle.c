// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
#include "symbolize/demangle.h"

#include <stdlib.h>
#include <string.h>

#include "harness/tap.h"

static void check(const char *name, const char *expected)
{
	char *text = NULL;
	REQUIRE_OK(demangle(name, &text));
	CHECK_TEXT(text, expected);
	free(text);
}

TEST(demangles_cxx_with_arguments)
{
	check("_ZN3foo3barEiPKc", "foo::bar(int, char const*)");
	check("_ZNSt6vectorIiSaIiEE9push_backERKi",
	      "std::vector<int, std::allocator<int> >::push_back(int const&)");
}

TEST(keeps_what_stands_behind_a_name)
{
	check("_ZN3foo3barEi.cold", "foo::bar(int) [clone .cold]");
	check("_ZN3foo3barEi@plt", "foo::bar(int)@plt");
	check("_ZN3foo3barEi@GLIBCXX_3.4", "foo::bar(int)@GLIBCXX_3.4");
}

TEST(demangles_both_manglings_of_rust)
{
	check("_ZN4core3fmt9Formatter9write_fmt17h0123456789abcdefE",
	      "core::fmt::Formatter::write_fmt");
	check("_RNvNtCs1234_7mycrate3foo3bar", "mycrate::foo::bar");
}

TEST(demangles_d)
{
	check("_D3std5stdio7writelnFZv", "std.stdio.writeln()");
}

TEST(leaves_alone_what_is_not_mangled)
{
	check("main", NULL);
	check("main.(*Server).Run", NULL);
	check("_start", NULL);
	check("_Znonsense", NULL);
	check("_ZN", NULL);
	check("_", NULL);
	check("", NULL);
}

TEST(a_name_whose_text_doubles_36_times_is_left_alone)
{
	// 1A<int, int>, then each A of the one before it, twice.
	char name[1024] = "_Z1f1AIiiE";
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	for (unsigned i = 0; i < 36; i++) {
		char step[16];
		snprintf(step, sizeof step, "S_IS%c_S%c_E", digits[i], digits[i]);
		strcat(name, step);
	}
	check(name, NULL);
	check("_Z1f1AIiiES_IS0_S0_E", "f(A<int, int>, A<A<int, int>, A<int, int> >)");
}
