// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The page's data; what the page makes of them is for a browser to show (tests/oracle/flamegraph).
#include "render/export/flamegraph.h"

#include <stdlib.h>
#include <string.h>

#include "harness/tap.h"
#include "make/profile.h"

static const char *const events[] = { "cycles", "faults", NULL };
static const char id_1[] = "1111111111111111111111111111111111111111";

static char *page_of(const struct profile *profile)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	CHECK_OK(flamegraph_write(profile, out));
	fclose(out);
	return text;
}

static bool has(const char *page, const char *text)
{
	if (strstr(page, text))
		return true;
	tap_fail(__FILE__, __LINE__, "the page does not have '%s'", text);
	return false;
}

TEST(nodes_have_depth_frame_and_the_weight_of_all_below)
{
	_cleanup_profile_ struct profile *profile = make_profile(events);
	uint32_t object = make_object(profile, IMAGE_USER, "/bin/a", id_1, IDENTITY_MAP_TIME);
	uint32_t outer = make_spot(profile, object, 0x10), inner = make_spot(profile, object, 0x20);
	make_samples(profile, 0, "a", 1, 3, STACK(outer, inner));
	make_samples(profile, 0, "a", 1, 2, STACK(outer));
	make_samples(profile, 1, "a", 1, 1, STACK(inner));
	make_settled(profile);
	make_name(profile, outer, "main");
	make_name(profile, inner, "work");
	_cleanup_free_ char *page = page_of(profile);
	CHECK(has(page, "[\"a\",-1,8]") && has(page, "[\"main\",0,0]") &&
	      has(page, "[\"work\",0,0]"));
	CHECK(has(page, id_1));
	// The command (one for each event), main below it, work below that; weights are ten times
	// the samples.
	CHECK(has(page, "\"name\":\"cycles\",\"samples\":5,\"weight\":50,\"unit\":\"count\","
			"\"nodes\":[0,0,50,1,1,50,2,2,30],\"narrow\":0"));
	CHECK(has(page, "\"name\":\"faults\",\"samples\":1,\"weight\":10,\"unit\":\"count\","
			"\"nodes\":[0,3,10,1,2,10],\"narrow\":0"));
}

TEST(what_cannot_be_seen_is_left_out_and_summed_up)
{
	_cleanup_profile_ struct profile *profile = make_profile(events);
	uint32_t object = make_object(profile, IMAGE_USER, "/bin/a", id_1, IDENTITY_MAP_TIME);
	uint32_t wide = make_spot(profile, object, 0x10), narrow = make_spot(profile, object, 0x20);
	make_samples(profile, 0, "a", 1, 1000000, STACK(wide));
	make_samples(profile, 0, "a", 1, 7, STACK(narrow, wide));
	make_settled(profile);
	make_name(profile, wide, "wide");
	make_name(profile, narrow, "narrow");
	_cleanup_free_ char *page = page_of(profile);
	CHECK(has(page, "\"narrow\":70"));
	CHECK(!strstr(page, "\"narrow\",0"));
}

TEST(names_cannot_end_the_page_s_data)
{
	_cleanup_profile_ struct profile *profile = make_profile(events);
	uint32_t object =
		make_object(profile, IMAGE_USER, "/bin/</script>", id_1, IDENTITY_MAP_TIME);
	uint32_t spot = make_spot(profile, object, 0x10);
	make_samples(profile, 0, "<!--<script>", 1, 1, STACK(spot));
	make_settled(profile);
	make_name(profile, spot, "</script><img/src=x>&amp;");
	_cleanup_free_ char *page = page_of(profile);
	CHECK(!strstr(page, "</script><img") && !strstr(page, "<!--<script>"));
	CHECK(has(page, "\\u003c/script\\u003e\\u003cimg/src=x\\u003e\\u0026amp;"));
}

TEST(no_samples_make_a_page_too)
{
	_cleanup_profile_ struct profile *profile = make_profile(events);
	make_settled(profile);
	_cleanup_free_ char *page = page_of(profile);
	CHECK(has(page, "\"events\":[]") && has(page, "</html>"));
}
