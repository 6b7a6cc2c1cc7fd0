// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// speedscope's JSON, verbatim.
#include "render/export/speedscope.h"

#include <stdlib.h>

#include "harness/tap.h"
#include "make/profile.h"
#include "unit/render/scene.h"

static char *speedscope(const struct profile *profile)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	CHECK(out);
	CHECK_OK(speedscope_write(profile, out));
	fclose(out);
	return text;
}

TEST(an_event_is_a_profile_of_stacks_root_first)
{
	for (unsigned is_reversed = 0; is_reversed < 2; is_reversed++) {
		_cleanup_profile_ struct profile *profile = make_scene(is_reversed);
		_cleanup_free_ char *text = speedscope(profile);
		CHECK_TEXT(
			text,
			"{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
			"\"exporter\":\"imprint\",\"name\":\"perf record -g app\","
			"\"shared\":{\"frames\":[{\"name\":\"appA\"},{\"name\":\"main\"},"
			"{\"name\":\"[unmapped]\"},{\"name\":\"/lib/libfoo.so+0x20\"},"
			"{\"name\":\"appB\"},{\"name\":\"crypt\"},{\"name\":\"zip\"},{\"name\":\"copy\"},"
			"{\"name\":\"swapper\"},{\"name\":\"[buildid:abcd]+0x40\"},{\"name\":\"appA\"}]},"
			"\"profiles\":[{\"type\":\"sampled\",\"name\":\"cycles\",\"unit\":\"none\","
			"\"startValue\":0,\"endValue\":1000,\"samples\":[[0,1,2],[0,1,3],[4,1],[4,1,5],"
			"[4,1,6,7],[8,9]],\"weights\":[10,400,40,200,300,50]},{\"type\":\"sampled\","
			"\"name\":\"faults\",\"unit\":\"none\",\"startValue\":0,\"endValue\":30,"
			"\"samples\":[[10,1]],\"weights\":[30]}]}\n");
	}
}

TEST(clocks_weigh_nanoseconds)
{
	static const char *const events[] = { "cpu-clock:u", NULL };
	_cleanup_profile_ struct profile *profile = make_profile(events);
	uint32_t object = make_object(profile, IMAGE_USER, "/a", "", IDENTITY_NONE);
	uint32_t spot = make_spot(profile, object, 1);
	make_samples(profile, 0, "a", 1, 2, STACK(spot));
	make_settled(profile);
	make_name(profile, spot, "main");
	_cleanup_free_ char *text = speedscope(profile);
	CHECK_TEXT(text, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
			 "\"exporter\":\"imprint\",\"shared\":{\"frames\":[{\"name\":\"a\"},"
			 "{\"name\":\"main\"}]},\"profiles\":[{\"type\":\"sampled\","
			 "\"name\":\"cpu-clock:u\",\"unit\":\"nanoseconds\",\"startValue\":0,"
			 "\"endValue\":20,\"samples\":[[0,1]],\"weights\":[20]}]}\n");
}
