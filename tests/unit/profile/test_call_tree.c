// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Stacks of functions out of stacks of spots.
#include "profile/call_tree.h"

#include <stdlib.h>

#include "base/buffer.h"
#include "harness/tap.h"
#include "make/profile.h"

static const char *const events[] = { "cycles", "faults", NULL };
static const char id_1[] = "1111111111111111111111111111111111111111";

// "event comm: outer>inner samples; …" for every node with samples, in the tree's order.
static char *tree_text(const struct call_tree *tree)
{
	struct buffer text = { 0 };
	for (uint32_t i = 0; i < tree->nodes.count; i++) {
		if (!tree->nodes.items[i].samples)
			continue;
		uint32_t path[16], depth = 0, at = i;
		for (; !call_node_is_root(&tree->nodes.items[at]);
		     at = tree->nodes.items[at].parent)
			path[depth++] = tree->nodes.items[at].symbol;
		const struct call_root *root = &tree->roots.items[tree->nodes.items[at].symbol];
		const char *comm = profile_string(tree->profile, root->task.comm);
		buffer_format(&text, "%u %s:", root->event, comm ? comm : "*");
		while (depth) {
			const struct call_symbol *symbol = &tree->symbols.items[path[--depth]];
			const char *name = profile_string(tree->profile, symbol->function);
			if (name)
				buffer_format(&text, " %s%s", name, symbol->is_inlined ? "!" : "");
			else
				buffer_format(&text, " +0x%llx",
					      (unsigned long long)symbol->offset);
		}
		buffer_format(&text, " %llu\n", (unsigned long long)tree->nodes.items[i].samples);
	}
	buffer_append(&text, "", 1);
	return (char *)text.bytes;
}

static void check_tree(const struct profile *profile, struct call_tree_options options,
		       const char *expected)
{
	_cleanup_call_tree_ struct call_tree *tree = NULL;
	REQUIRE_OK(call_tree_new(profile, &options, &tree));
	_cleanup_free_ char *text = tree_text(tree);
	CHECK_TEXT(text, expected);
}

// main calls work at two places; work at 0x20 has step inlined.
static struct profile *make_program(void)
{
	struct profile *profile = make_profile(events);
	uint32_t object = make_object(profile, IMAGE_USER, "/bin/a", id_1, IDENTITY_MAP_TIME);
	uint32_t main_1 = make_spot(profile, object, 0x10),
		 main_2 = make_spot(profile, object, 0x14);
	uint32_t work = make_spot(profile, object, 0x20), odd = make_spot(profile, object, 0x99);
	make_samples(profile, 0, "a", 1, 1, STACK(main_1, work));
	make_samples(profile, 0, "a", 2, 2, STACK(main_2, work));
	make_samples(profile, 0, "b", 3, 4, STACK(main_1, odd));
	make_samples(profile, 1, "a", 1, 8, STACK(main_1));
	make_settled(profile);
	make_name(profile, main_1, "main");
	make_name(profile, main_2, "main");
	make_name(profile, work, "step work");
	make_unknown(profile, odd, UNKNOWN_NO_SYMBOL_AT_ADDRESS);
	return profile;
}

TEST(spots_of_one_function_are_one_frame_and_inlines_are_frames)
{
	_cleanup_profile_ struct profile *profile = make_program();
	check_tree(profile, (struct call_tree_options){ .by_comm = true },
		   "0 a: main work step! 3\n"
		   "0 b: main +0x99 4\n"
		   "1 a: main 8\n");
}

TEST(tasks_that_need_not_be_told_apart_are_one)
{
	_cleanup_profile_ struct profile *profile = make_program();
	check_tree(profile, (struct call_tree_options){ .no_inlined = true },
		   "0 *: main work 3\n"
		   "0 *: main +0x99 4\n"
		   "1 *: main 8\n");
	check_tree(profile, (struct call_tree_options){ .by_pid = true, .no_inlined = true },
		   "0 *: main work 1\n"
		   "0 *: main work 2\n"
		   "0 *: main +0x99 4\n"
		   "1 *: main 8\n");
}

TEST(leaves_alone_stand_below_their_roots)
{
	_cleanup_profile_ struct profile *profile = make_program();
	check_tree(profile, (struct call_tree_options){ .leaves_only = true, .no_inlined = true },
		   "0 *: work 3\n"
		   "0 *: +0x99 4\n"
		   "1 *: main 8\n");
}

TEST(events_are_summed_up)
{
	_cleanup_profile_ struct profile *profile = make_program();
	CHECK_UINT(profile->events.items[0].samples, 7);
	CHECK_UINT(profile->events.items[0].weight, 70);
	CHECK_UINT(profile->events.items[1].samples, 8);
}

TEST(a_sample_without_any_place_stays_at_its_root)
{
	_cleanup_profile_ struct profile *profile = make_profile(events);
	make_samples(profile, 0, "a", 1, 5, STACK(NO_NUMBER));
	make_settled(profile);
	check_tree(profile, (struct call_tree_options){ .by_comm = true }, "0 a: 5\n");
	check_tree(profile, (struct call_tree_options){ .leaves_only = true }, "0 *: 5\n");
}
