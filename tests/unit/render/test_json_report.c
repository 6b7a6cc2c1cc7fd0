// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The report as JSON: what it says, that it parses, and that its totals add up.
#include "render/json_report.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "harness/tap.h"
#include "render/summary.h"
#include "unit/render/scene.h"

static char *report_text(const struct json_report_options *options, bool is_reversed)
{
	_cleanup_profile_ struct profile *profile = make_scene(is_reversed);
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	CHECK(out);
	CHECK_OK(json_report(profile, options, out));
	fclose(out);
	return text;
}

static json_t *report(const struct json_report_options *options)
{
	_cleanup_free_ char *text = report_text(options, false);
	json_error_t error = { .line = 0 };
	json_t *json = text ? json_loads(text, JSON_REJECT_DUPLICATES, &error) : NULL;
	if (!json)
		tap_fail(__FILE__, __LINE__, "line %d: %s", error.line, error.text);
	return json;
}

static uint64_t number(const json_t *object, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(object, key));
}

// The string of KEY; NULL where it is null.
static const char *text(const json_t *object, const char *key)
{
	CHECK(json_object_get(object, key));
	return json_string_value(json_object_get(object, key));
}

// The only row with these samples of EVENT.
static const json_t *row_with(const json_t *json, const char *event, uint64_t samples)
{
	const json_t *rows = json_object_get(json, "rows"), *found = NULL;
	for (size_t i = 0; i < json_array_size(rows); i++) {
		const json_t *row = json_array_get(rows, i);
		if (number(row, "samples") != samples || strcmp(text(row, "event"), event) != 0)
			continue;
		CHECK(!found);
		found = row;
	}
	CHECK(found);
	return found;
}

TEST(says_what_it_is_and_of_what)
{
	json_t *json = report(&(struct json_report_options){ .with_stacks = false });
	CHECK_TEXT(text(json, "format"), "imprint-report");
	CHECK_UINT(number(json, "version"), 1);
	CHECK_TEXT(text(json_object_get(json, "recording"), "host"), "vm61");
	CHECK_UINT(number(json_object_get(json, "lost"), "events"), 7);
	CHECK_UINT(number(json_object_get(json, "identities"), "map-time"), 57);
	CHECK(!json_object_get(json, "stacks"));
	json_decref(json);
}

TEST(a_row_has_the_image_its_identity_and_a_name_or_a_reason)
{
	json_t *json = report(&(struct json_report_options){ .with_stacks = false });
	const json_t *named = row_with(json, "cycles", 30);
	CHECK_TEXT(text(named, "comm"), "appB");
	CHECK_TEXT(text(named, "path"), "/lib/libfoo.so");
	CHECK_TEXT(text(named, "build_id"), "2222222222222222222222222222222222222222");
	CHECK_TEXT(text(named, "kind"), "user");
	CHECK_TEXT(text(named, "identity"), "map-time");
	CHECK_TEXT(text(named, "symbol"), "zip");
	CHECK_TEXT(text(named, "unknown"), NULL);
	CHECK_UINT(number(named, "weight"), 300);
	const json_t *unnamed = row_with(json, "cycles", 40);
	CHECK_TEXT(text(unnamed, "build_id"), NULL);
	CHECK_TEXT(text(unnamed, "identity"), "none");
	CHECK_TEXT(text(unnamed, "symbol"), NULL);
	CHECK_TEXT(text(unnamed, "unknown"), "no-identity");
	CHECK_TEXT(text(unnamed, "offset"), "0x20");
	const json_t *unmapped = row_with(json, "cycles", 1);
	CHECK_TEXT(text(unmapped, "path"), NULL);
	CHECK_TEXT(text(unmapped, "kind"), NULL);
	CHECK_TEXT(text(unmapped, "unknown"), "unmapped");
	json_decref(json);
}

static void check_totals(const json_t *json, const char *member)
{
	uint64_t samples[2] = { 0 }, weight[2] = { 0 };
	const json_t *items = json_object_get(json, member);
	for (size_t i = 0; i < json_array_size(items); i++) {
		const json_t *item = json_array_get(items, i);
		bool is_second = !strcmp(text(item, "event"), "faults");
		samples[is_second] += number(item, "samples");
		weight[is_second] += number(item, "weight");
	}
	const json_t *events = json_object_get(json, "events");
	uint64_t all = 0;
	CHECK_UINT(json_array_size(events), 2);
	for (size_t i = 0; i < 2; i++) {
		CHECK_UINT(samples[i], number(json_array_get(events, i), "samples"));
		CHECK_UINT(weight[i], number(json_array_get(events, i), "weight"));
		all += samples[i];
	}
	CHECK_UINT(all, number(json, "samples"));
	CHECK_UINT(all, 103);
}

TEST(rows_and_stacks_add_up_to_the_events)
{
	json_t *json = report(&(struct json_report_options){ .with_stacks = true });
	check_totals(json, "rows");
	check_totals(json, "stacks");
	json_decref(json);
	json = report(&(struct json_report_options){ .with_children = true });
	check_totals(json, "rows");
	json_decref(json);
}

TEST(stacks_have_their_frames_innermost_first)
{
	json_t *json = report(&(struct json_report_options){ .with_stacks = true });
	const json_t *stacks = json_object_get(json, "stacks");
	const json_t *frames = NULL;
	for (size_t i = 0; i < json_array_size(stacks); i++)
		if (number(json_array_get(stacks, i), "samples") == 30)
			frames = json_object_get(json_array_get(stacks, i), "frames");
	CHECK_UINT(json_array_size(frames), 3);
	CHECK_TEXT(text(json_array_get(frames, 0), "symbol"), "copy");
	CHECK(json_is_true(json_object_get(json_array_get(frames, 0), "inlined")));
	CHECK_TEXT(text(json_array_get(frames, 1), "symbol"), "zip");
	CHECK_TEXT(text(json_array_get(frames, 2), "symbol"), "main");
	json_decref(json);
}

TEST(what_cannot_be_named_is_listed_with_the_next_step)
{
	json_t *json = report(&(struct json_report_options){ .with_stacks = false });
	const json_t *unknowns = json_object_get(json, "unknowns");
	CHECK_UINT(json_array_size(unknowns), 3);
	CHECK_TEXT(text(json_array_get(unknowns, 1), "unknown"), "image-not-found");
	CHECK_TEXT(text(json_array_get(unknowns, 1), "next"),
		   "give its folder with --images, or 'imprint fetch abcd'");
	json_decref(json);
}

TEST(servers_that_were_asked_are_no_next_step)
{
	_cleanup_profile_ struct profile *profile = make_scene(false);
	profile->origin.asked_servers = true;
	struct summary summary;
	REQUIRE_OK(summary_make(profile, &summary));
	for (size_t i = 0; i < summary.unknowns.count; i++) {
		_cleanup_buffer_ struct buffer step = { 0 };
		next_step_print(profile, &summary.unknowns.items[i], &step);
		buffer_append(&step, "", 1);
		CHECK(!strstr((const char *)step.bytes, "fetch"));
		if (summary.unknowns.items[i].reason == UNKNOWN_IMAGE_NOT_FOUND)
			CHECK_TEXT((const char *)step.bytes, "give its folder with --images");
	}
	summary_fini(&summary);
}

TEST(the_text_does_not_depend_on_the_order_of_the_samples)
{
	struct json_report_options options = { .with_stacks = true, .with_children = true };
	_cleanup_free_ char *first = report_text(&options, false);
	_cleanup_free_ char *second = report_text(&options, true);
	CHECK_TEXT(second, first);
}
