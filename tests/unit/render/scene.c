// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The profile of all renderers' tests.
#include "unit/render/scene.h"

#include <stdlib.h>
#include <string.h>

#include "make/profile.h"

static const char *const events[] = { "cycles", "faults", NULL };
static const char app_id[] = "1111111111111111111111111111111111111111";
static const char foo_id[] = "2222222222222222222222222222222222222222";

// A stack of the scene, root first.
struct line {
	uint32_t event;
	const char *comm;
	int32_t pid;
	uint64_t samples;
	uint32_t spots[3];
};

struct profile *make_scene(bool is_reversed)
{
	struct profile *profile = make_profile(events);
	uint32_t app = make_object(profile, IMAGE_USER, "/bin/app", app_id, IDENTITY_MAP_TIME);
	uint32_t old = make_object(profile, IMAGE_USER, "/lib/libfoo.so", "", IDENTITY_NONE);
	uint32_t new =
		make_object(profile, IMAGE_USER, "/lib/libfoo.so", foo_id, IDENTITY_MAP_TIME);
	uint32_t kernel = make_object(profile, IMAGE_KERNEL, "[kernel.kallsyms]", "abcd",
				      IDENTITY_SYNTHESIZED);
	if (is_reversed)
		make_spot(profile, kernel, 0x40);
	uint32_t main_ = make_spot(profile, app, 0x10), zip = make_spot(profile, old, 0x20);
	uint32_t new_zip = make_spot(profile, new, 0x20), crypt = make_spot(profile, new, 0x30);
	uint32_t idle = make_spot(profile, kernel, 0x40);
	uint32_t hole = make_lost_spot(profile, UNKNOWN_UNMAPPED, 2);
	const struct line lines[] = {
		{ 0, "appA", 136, 40, { main_, zip, NO_NUMBER } },
		{ 0, "appB", 140, 30, { main_, new_zip, NO_NUMBER } },
		{ 0, "appB", 141, 20, { main_, crypt, NO_NUMBER } },
		{ 0, "appB", 140, 4, { main_, NO_NUMBER } },
		{ 0, "swapper", 0, 5, { idle, NO_NUMBER } },
		{ 0, "appA", 136, 1, { main_, hole, NO_NUMBER } },
		{ 1, "appA", 136, 3, { main_, NO_NUMBER } },
	};
	size_t count = sizeof lines / sizeof *lines;
	for (size_t i = 0; i < count; i++) {
		const struct line *line = &lines[is_reversed ? count - 1 - i : i];
		make_samples(profile, line->event, line->comm, line->pid, line->samples,
			     line->spots);
	}
	profile->origin = (struct profile_origin){
		.host = strdup("vm61"),
		.os_release = strdup("6.1.0"),
		.command = strdup("perf record -g app"),
		.has_times = true,
		.first_ns = 1000000000,
		.last_ns = 3500000000,
		.lost_events = 7,
	};
	make_settled(profile);
	make_name(profile, main_, "main");
	make_unknown(profile, zip, UNKNOWN_NO_IDENTITY);
	make_name(profile, new_zip, "copy zip");
	make_name(profile, crypt, "crypt");
	make_unknown(profile, idle, UNKNOWN_IMAGE_NOT_FOUND);
	return profile;
}
