// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Folded stacks, verbatim.
#include "render/export/folded.h"

#include <stdlib.h>

#include "harness/tap.h"
#include "make/profile.h"
#include "unit/render/scene.h"

static char *folded(const struct profile *profile)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	CHECK(out);
	CHECK_OK(folded_write(profile, out));
	fclose(out);
	return text;
}

TEST(a_line_is_a_stack_root_first)
{
	for (unsigned is_reversed = 0; is_reversed < 2; is_reversed++) {
		_cleanup_profile_ struct profile *profile = make_scene(is_reversed);
		_cleanup_free_ char *text = folded(profile);
		CHECK_TEXT(text, "appA;main 3\n"
				 "appA;main;[unmapped] 1\n"
				 "appA;main;/lib/libfoo.so+0x20 40\n"
				 "appB;main 4\n"
				 "appB;main;crypt 20\n"
				 "appB;main;zip;copy 30\n"
				 "swapper;[buildid:abcd]+0x40 5\n");
	}
}

TEST(nothing_in_a_name_breaks_a_line)
{
	static const char *const events[] = { "cycles", NULL };
	_cleanup_profile_ struct profile *profile = make_profile(events);
	uint32_t object = make_object(profile, IMAGE_USER, "/a;b\nc", "", IDENTITY_NONE);
	uint32_t spot = make_spot(profile, object, 1), named = make_spot(profile, object, 2);
	make_samples(profile, 0, "co;mm", 1, 2, STACK(named, spot));
	make_settled(profile);
	make_name(profile, named, "fn(a;b)");
	_cleanup_free_ char *text = folded(profile);
	CHECK_TEXT(text, "co:mm;fn(a:b);/a:b c+0x1 2\n");
}
