// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
#include "record/ability.h"

#include <unistd.h>

#include "harness/tap.h"

TEST(each_ability_is_tried_and_says_what_would_change_it)
{
	_cleanup_abilities_ struct abilities abilities = { 0 };
	REQUIRE_OK(abilities_try("/tmp", &abilities));
	CHECK(abilities.count >= 10);
	for (size_t i = 0; i < abilities.count; i++) {
		const struct ability *ability = &abilities.items[i];
		CHECK(ability->what && ability->found);
		CHECK(abilities_find(&abilities, ability->name) == ability);
		CHECK(ability->state != ABILITY_YES || !ability->remedy);
	}
	CHECK(!abilities_find(&abilities, "no-such-ability"));
}

TEST(a_store_is_possible_where_its_nearest_folder_may_be_written_to)
{
	_cleanup_abilities_ struct abilities abilities = { 0 };
	REQUIRE_OK(abilities_try("/tmp/not/there/yet", &abilities));
	CHECK(abilities_find(&abilities, "store")->state == ABILITY_YES);
	CHECK(access("/tmp/not", F_OK));
	_cleanup_abilities_ struct abilities nowhere = { 0 };
	REQUIRE_OK(abilities_try(NULL, &nowhere));
	CHECK(abilities_find(&nowhere, "store")->state == ABILITY_NO);
	CHECK(abilities_find(&nowhere, "store")->remedy);
}
