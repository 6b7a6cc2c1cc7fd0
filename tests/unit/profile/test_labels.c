// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// What images are called when names and builds get into each other's way.
#include "profile/labels.h"

#include <stdlib.h>

#include "harness/tap.h"
#include "make/profile.h"

static const char *const events[] = { "cycles", NULL };
static const char id_1[] = "1111111111111111111111111111111111111111";
static const char id_2[] = "2222222222222222222222222222222222222222";

// Gives every object a sample and settles.
static void settle_hit(struct profile *profile)
{
	for (uint32_t i = 0; i < profile->objects.count; i++)
		make_samples(profile, 0, "a", 1, 1, STACK(make_spot(profile, i, i)));
	make_settled(profile);
}

static const char *label(const struct profile *profile, uint32_t object)
{
	return profile_string(profile, profile->objects.items[object].label);
}

TEST(one_image_has_its_short_name)
{
	_cleanup_profile_ struct profile *profile = make_profile(events);
	make_object(profile, IMAGE_USER, "/usr/lib/liba.so", id_1, IDENTITY_MAP_TIME);
	make_object(profile, IMAGE_KERNEL, "[kernel.kallsyms]", id_2, IDENTITY_MAP_TIME);
	make_object(profile, IMAGE_MODULE, "/lib/modules/6.1/snd-pcm.ko.xz", "", IDENTITY_NONE);
	settle_hit(profile);
	CHECK_TEXT(label(profile, 0), "liba.so");
	CHECK_TEXT(label(profile, 1), "[kernel.kallsyms]");
	CHECK_TEXT(label(profile, 2), "[snd_pcm]");
}

TEST(builds_under_one_path_are_told_apart_by_their_ids)
{
	_cleanup_profile_ struct profile *profile = make_profile(events);
	make_object(profile, IMAGE_USER, "/usr/lib/liba.so", id_1, IDENTITY_MAP_TIME);
	make_object(profile, IMAGE_USER, "/usr/lib/liba.so", id_2, IDENTITY_MAP_TIME);
	make_object(profile, IMAGE_USER, "/usr/lib/liba.so", "", IDENTITY_NONE);
	settle_hit(profile);
	CHECK_TEXT(label(profile, 0), "liba.so [11111111]");
	CHECK_TEXT(label(profile, 1), "liba.so [22222222]");
	CHECK_TEXT(label(profile, 2), "liba.so [no ID]");
}

TEST(equal_names_of_other_paths_are_told_apart_by_the_path)
{
	_cleanup_profile_ struct profile *profile = make_profile(events);
	make_object(profile, IMAGE_USER, "/a/liba.so", id_1, IDENTITY_MAP_TIME);
	make_object(profile, IMAGE_USER, "/b/liba.so", id_2, IDENTITY_MAP_TIME);
	make_object(profile, IMAGE_USER, "/b/libb.so", "", IDENTITY_NONE);
	settle_hit(profile);
	CHECK_TEXT(label(profile, 0), "/a/liba.so");
	CHECK_TEXT(label(profile, 1), "/b/liba.so");
	CHECK_TEXT(label(profile, 2), "libb.so");
}

TEST(an_image_under_two_paths_is_one)
{
	_cleanup_profile_ struct profile *profile = make_profile(events);
	make_object(profile, IMAGE_USER, "/a/liba.so", id_1, IDENTITY_MAP_TIME);
	make_object(profile, IMAGE_USER, "/b/copy.so", id_1, IDENTITY_SYNTHESIZED);
	settle_hit(profile);
	CHECK_UINT(profile->objects.items[1].same, 0);
	CHECK_TEXT(label(profile, 1), "liba.so");
}

TEST(an_identity_that_cannot_be_right_makes_nothing_the_same)
{
	_cleanup_profile_ struct profile *profile = make_profile(events);
	make_object(profile, IMAGE_USER, "/a/liba.so", id_1, IDENTITY_AMBIGUOUS);
	make_object(profile, IMAGE_USER, "/a/liba.so", id_1, IDENTITY_AMBIGUOUS);
	profile->objects.items[1].image.file = (struct file_key){ .inode = 42, .is_known = true };
	settle_hit(profile);
	CHECK_UINT(profile->objects.items[1].same, 1);
	CHECK_TEXT(label(profile, 0), "liba.so [no ID]");
	CHECK_TEXT(label(profile, 1), "liba.so [inode 42]");
}

TEST(modules_that_were_given_one_id_stay_apart)
{
	_cleanup_profile_ struct profile *profile = make_profile(events);
	make_object(profile, IMAGE_MODULE, "/lib/a.ko", id_1, IDENTITY_SYNTHESIZED);
	make_object(profile, IMAGE_MODULE, "/lib/b.ko", id_1, IDENTITY_SYNTHESIZED);
	make_object(profile, IMAGE_MODULE, "[a]", id_1, IDENTITY_AFTER_THE_FACT);
	settle_hit(profile);
	CHECK_UINT(profile->objects.items[1].same, 1);
	CHECK_UINT(profile->objects.items[2].same, 0);
	CHECK_TEXT(label(profile, 0), "[a]");
	CHECK_TEXT(label(profile, 1), "[b]");
}

TEST(a_module_loaded_as_two_builds_is_two)
{
	_cleanup_profile_ struct profile *profile = make_profile(events);
	make_object(profile, IMAGE_MODULE, "/lib/a.ko", id_1, IDENTITY_SYNTHESIZED);
	make_object(profile, IMAGE_MODULE, "[a]", id_2, IDENTITY_SYNTHESIZED);
	settle_hit(profile);
	CHECK_TEXT(label(profile, 0), "[a] [11111111]");
	CHECK_TEXT(label(profile, 1), "[a] [22222222]");
}

TEST(what_was_never_hit_makes_no_name_longer)
{
	_cleanup_profile_ struct profile *profile = make_profile(events);
	make_object(profile, IMAGE_USER, "/a/liba.so", id_1, IDENTITY_MAP_TIME);
	make_object(profile, IMAGE_USER, "/a/liba.so", id_2, IDENTITY_MAP_TIME);
	make_samples(profile, 0, "a", 1, 1, STACK(make_spot(profile, 0, 0)));
	make_settled(profile);
	CHECK_TEXT(label(profile, 0), "liba.so");
}

TEST(anonymous_code_of_all_processes_is_one_object)
{
	_cleanup_profile_ struct profile *profile = make_profile(events);
	make_object(profile, IMAGE_ANON, "//anon", "", IDENTITY_NONE);
	make_object(profile, IMAGE_ANON, "//anon", "", IDENTITY_NONE);
	profile->objects.items[0].image.pid = 1;
	profile->objects.items[1].image.pid = 2;
	settle_hit(profile);
	CHECK_UINT(profile->objects.items[1].same, 0);
	CHECK_TEXT(label(profile, 1), "//anon");
}
