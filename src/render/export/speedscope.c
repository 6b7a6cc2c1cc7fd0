// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Writing speedscope's JSON.
//
// Source: https://www.speedscope.app/file-format-schema.json.
#include "render/export/speedscope.h"

#include <stdlib.h>

#include "base/json.h"
#include "render/export/frame_text.h"
#include "render/tree_order.h"

struct speedscope {
	struct json json;
	const struct call_tree *tree;
	const uint32_t *order;
	// By number of a symbol and of a root, the number of its frame + 1; 0 for what has none
	// yet.
	uint32_t *symbol_frames, *root_frames;
	uint32_t frame_count;
	ARRAY_OF(uint32_t) path;
};

static void speedscope_fini(struct speedscope *speedscope)
{
	free(speedscope->symbol_frames);
	free(speedscope->root_frames);
	array_fini(&speedscope->path);
}

static uint32_t *frame_of(const struct speedscope *speedscope, const struct call_node *node)
{
	return call_node_is_root(node) ? &speedscope->root_frames[node->symbol]
				       : &speedscope->symbol_frames[node->symbol];
}

static struct imp_error *put_frame(struct speedscope *speedscope, const struct call_node *node)
{
	const struct call_tree *tree = speedscope->tree;
	struct json *json = &speedscope->json;
	const struct call_symbol *symbol = &tree->symbols.items[node->symbol];
	_cleanup_buffer_ struct buffer text = { 0 };
	const char *file = NULL;
	if (call_node_is_root(node)) {
		const struct task *task = &tree->roots.items[node->symbol].task;
		const char *comm = profile_string(tree->profile, task->comm);
		buffer_text(&text, comm ? comm : "[unknown]");
	} else {
		frame_text(tree, symbol, &text);
		file = profile_string(tree->profile, symbol->file);
	}
	buffer_append(&text, "", 1);
	if (text.failed)
		return &imp_error_no_memory;
	json_begin_object(json);
	json_member_string(json, "name", (const char *)text.bytes);
	if (file)
		json_member_string(json, "file", file);
	if (file && symbol->line && symbol->line != NO_NUMBER)
		json_member_uint(json, "line", symbol->line);
	json_end_object(json);
	return NULL;
}

// All frames, in the order of first sight.
static struct imp_error *put_frames(struct speedscope *speedscope)
{
	struct imp_error *err = NULL;
	json_key(&speedscope->json, "shared");
	json_begin_object(&speedscope->json);
	json_key(&speedscope->json, "frames");
	json_begin_array(&speedscope->json);
	for (size_t i = 0; !err && i < speedscope->tree->nodes.count; i++) {
		const struct call_node *node = &speedscope->tree->nodes.items[speedscope->order[i]];
		uint32_t *frame = frame_of(speedscope, node);
		if (*frame)
			continue;
		*frame = ++speedscope->frame_count;
		err = put_frame(speedscope, node);
	}
	json_end_array(&speedscope->json);
	json_end_object(&speedscope->json);
	return err;
}

static const struct call_root *root_of(const struct call_tree *tree, const struct call_node *node)
{
	while (!call_node_is_root(node))
		node = &tree->nodes.items[node->parent];
	return &tree->roots.items[node->symbol];
}

static bool is_of_event(const struct speedscope *speedscope, size_t index, uint32_t event)
{
	const struct call_node *node = &speedscope->tree->nodes.items[speedscope->order[index]];
	return (node->samples || node->weight) && root_of(speedscope->tree, node)->event == event;
}

static struct imp_error *put_stack(struct speedscope *speedscope, const struct call_node *node)
{
	speedscope->path.count = 0;
	for (;; node = &speedscope->tree->nodes.items[node->parent]) {
		uint32_t *step = array_add(&speedscope->path);
		if (!step)
			return &imp_error_no_memory;
		*step = *frame_of(speedscope, node) - 1;
		if (call_node_is_root(node))
			break;
	}
	json_begin_array(&speedscope->json);
	for (size_t i = speedscope->path.count; i-- > 0;)
		json_uint(&speedscope->json, speedscope->path.items[i]);
	json_end_array(&speedscope->json);
	return NULL;
}

static struct imp_error *put_event(struct speedscope *speedscope, uint32_t number)
{
	struct json *json = &speedscope->json;
	const struct call_tree *tree = speedscope->tree;
	const struct profile_event *event = &tree->profile->events.items[number];
	struct imp_error *err = NULL;
	bool is_time = event_unit(event)[0] == 'n';
	json_begin_object(json);
	json_member_string(json, "type", "sampled");
	json_member_string(json, "name", event->name ? event->name : "event");
	json_member_string(json, "unit", is_time ? "nanoseconds" : "none");
	json_member_uint(json, "startValue", 0);
	json_member_uint(json, "endValue", event->weight);
	json_key(json, "samples");
	json_begin_array(json);
	for (size_t i = 0; !err && i < tree->nodes.count; i++)
		if (is_of_event(speedscope, i, number))
			err = put_stack(speedscope, &tree->nodes.items[speedscope->order[i]]);
	json_end_array(json);
	json_key(json, "weights");
	json_begin_array(json);
	for (size_t i = 0; i < tree->nodes.count; i++)
		if (is_of_event(speedscope, i, number))
			json_uint(json, tree->nodes.items[speedscope->order[i]].weight);
	json_end_array(json);
	json_end_object(json);
	return err;
}

static struct imp_error *put_all(struct speedscope *speedscope)
{
	struct json *json = &speedscope->json;
	const struct profile *profile = speedscope->tree->profile;
	json_begin_object(json);
	json_member_string(json, "$schema", "https://www.speedscope.app/file-format-schema.json");
	json_member_string(json, "exporter", "imprint");
	if (profile->origin.command)
		json_member_string(json, "name", profile->origin.command);
	struct imp_error *err = put_frames(speedscope);
	json_key(json, "profiles");
	json_begin_array(json);
	for (uint32_t i = 0; !err && i < profile->events.count; i++)
		if (profile->events.items[i].samples)
			err = put_event(speedscope, i);
	json_end_array(json);
	json_end_object(json);
	return err;
}

struct imp_error *speedscope_write(const struct profile *profile, FILE *out)
{
	struct call_tree_options options = { .by_comm = true, .by_line = true };
	_cleanup_call_tree_ struct call_tree *tree = NULL;
	_cleanup_free_ uint32_t *order = NULL;
	struct imp_error *err = ordered_tree(profile, &options, &tree, &order);
	if (err)
		return err;
	_cleanup_(speedscope_fini) struct speedscope speedscope = {
		.json = { .out = out, .lines = true },
		.tree = tree,
		.order = order,
		.symbol_frames = calloc(tree->symbols.count + 1, sizeof(uint32_t)),
		.root_frames = calloc(tree->roots.count + 1, sizeof(uint32_t)),
	};
	if (!speedscope.symbol_frames || !speedscope.root_frames)
		return &imp_error_no_memory;
	return put_all(&speedscope);
}
