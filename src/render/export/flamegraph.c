// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The page's data, put between the two halves of the page.
#include "render/export/flamegraph.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "render/columns.h"
#include "render/export/frame_text.h"
#include "render/export/page.h"
#include "render/summary.h"
#include "render/tree_order.h"

enum { LEAST_PART = 5000 };

// What the page knows of a frame beside its name and its image.
enum frame_flag { FRAME_INLINED = 1, FRAME_UNNAMED = 2, FRAME_KERNEL = 4, FRAME_COMMAND = 8 };

struct flamegraph {
	struct json json;
	const struct call_tree *tree;
	const uint32_t *order;
	// By number of a node: the weight of it and of all it calls, the event, and how deep it is.
	uint64_t *totals;
	uint32_t *events, *depths;
	// By number of a symbol and of a root, the number of its frame + 1; 0 for what has none
	// yet.
	uint32_t *symbol_frames, *root_frames;
	uint32_t frame_count;
};

static void flamegraph_fini(struct flamegraph *graph)
{
	free(graph->totals);
	free(graph->events);
	free(graph->depths);
	free(graph->symbol_frames);
	free(graph->root_frames);
}

// A parent stands before its children.
static void sum_up(struct flamegraph *graph)
{
	const struct call_tree *tree = graph->tree;
	for (size_t i = 0; i < tree->nodes.count; i++) {
		const struct call_node *node = &tree->nodes.items[i];
		bool is_root = call_node_is_root(node);
		graph->totals[i] = node->weight;
		graph->events[i] = is_root ? tree->roots.items[node->symbol].event
					   : graph->events[node->parent];
		graph->depths[i] = is_root ? 0 : graph->depths[node->parent] + 1;
	}
	for (size_t i = tree->nodes.count; i-- > 0;)
		if (!call_node_is_root(&tree->nodes.items[i]))
			graph->totals[tree->nodes.items[i].parent] += graph->totals[i];
}

static bool is_seen(const struct flamegraph *graph, uint32_t node)
{
	uint64_t weight = graph->tree->profile->events.items[graph->events[node]].weight;
	return graph->totals[node] && graph->totals[node] >= weight / LEAST_PART;
}

static uint32_t *frame_of(const struct flamegraph *graph, const struct call_node *node)
{
	return call_node_is_root(node) ? &graph->root_frames[node->symbol]
				       : &graph->symbol_frames[node->symbol];
}

static void put_command(struct flamegraph *graph, const struct call_node *node)
{
	const struct task *task = &graph->tree->roots.items[node->symbol].task;
	const char *comm = profile_string(graph->tree->profile, task->comm);
	json_begin_array(&graph->json);
	json_string(&graph->json, comm ? comm : "[unknown]");
	json_int(&graph->json, -1);
	json_uint(&graph->json, FRAME_COMMAND);
	json_end_array(&graph->json);
}

static struct imp_error *put_symbol(struct flamegraph *graph, const struct call_symbol *symbol)
{
	const struct call_tree *tree = graph->tree;
	const struct profile_object *object = symbol_object(tree, symbol);
	_cleanup_buffer_ struct buffer text = { 0 };
	frame_text(tree, symbol, &text);
	buffer_append(&text, "", 1);
	if (text.failed)
		return &imp_error_no_memory;
	unsigned flags = symbol->is_inlined ? FRAME_INLINED : 0;
	if (symbol->function == NO_NUMBER)
		flags |= FRAME_UNNAMED;
	if (object && (object->image.kind == IMAGE_KERNEL || object->image.kind == IMAGE_MODULE))
		flags |= FRAME_KERNEL;
	json_begin_array(&graph->json);
	json_string(&graph->json, (const char *)text.bytes);
	json_int(&graph->json, object ? (int64_t)symbol->object : -1);
	json_uint(&graph->json, flags);
	if (symbol->function == NO_NUMBER)
		json_string(&graph->json, unknown_reason_sentence(symbol->reason));
	json_end_array(&graph->json);
	return NULL;
}

// All frames that are seen, in the order of first sight.
static struct imp_error *put_frames(struct flamegraph *graph)
{
	struct imp_error *err = NULL;
	json_key(&graph->json, "frames");
	json_begin_array(&graph->json);
	for (size_t i = 0; !err && i < graph->tree->nodes.count; i++) {
		const struct call_node *node = &graph->tree->nodes.items[graph->order[i]];
		uint32_t *frame = frame_of(graph, node);
		if (*frame || !is_seen(graph, graph->order[i]))
			continue;
		*frame = ++graph->frame_count;
		if (call_node_is_root(node))
			put_command(graph, node);
		else
			err = put_symbol(graph, &graph->tree->symbols.items[node->symbol]);
	}
	json_end_array(&graph->json);
	return err;
}

static void put_images(struct flamegraph *graph)
{
	const struct profile *profile = graph->tree->profile;
	struct json *json = &graph->json;
	json_key(json, "images");
	json_begin_array(json);
	for (size_t i = 0; i < profile->objects.count; i++) {
		const struct image *image = &profile->objects.items[i].image;
		bool has_id = !build_id_is_none(&image->id) && identity_is_usable(image->identity);
		json_begin_array(json);
		json_string(json, profile_string(profile, profile->objects.items[i].label));
		json_string(json, image->path);
		json_string(json, has_id ? build_id_text(&image->id).text : NULL);
		json_string(json, identity_name(image->identity));
		json_end_array(json);
	}
	json_end_array(json);
}

// Depth, frame and weight of each node, before those of what it calls.
static void put_event(struct flamegraph *graph, uint32_t number)
{
	const struct profile_event *event = &graph->tree->profile->events.items[number];
	struct json *json = &graph->json;
	uint64_t narrow = 0;
	json_begin_object(json);
	json_member_string(json, "name", event->name);
	json_member_uint(json, "samples", event->samples);
	json_member_uint(json, "weight", event->weight);
	json_member_string(json, "unit", event_unit(event));
	json_key(json, "nodes");
	json_begin_array(json);
	for (size_t i = 0; i < graph->tree->nodes.count; i++) {
		uint32_t at = graph->order[i];
		const struct call_node *node = &graph->tree->nodes.items[at];
		if (graph->events[at] != number)
			continue;
		if (is_seen(graph, at)) {
			json_uint(json, graph->depths[at]);
			json_uint(json, *frame_of(graph, node) - 1);
			json_uint(json, graph->totals[at]);
		} else if (call_node_is_root(node) || is_seen(graph, node->parent)) {
			narrow += graph->totals[at];
		}
	}
	json_end_array(json);
	json_member_uint(json, "narrow", narrow);
	json_end_object(json);
}

static void put_unknown(struct json *json, const struct profile *profile,
			const struct unknown_sum *unknown, struct buffer *step)
{
	const struct profile_object *object =
		unknown->object == NO_NUMBER ? NULL : &profile->objects.items[unknown->object];
	step->size = 0;
	next_step_print(profile, unknown, step);
	buffer_append(step, "", 1);
	json_begin_array(json);
	json_string(json, object ? profile_string(profile, object->label) : "[unknown]");
	json_string(json, unknown_reason_sentence(unknown->reason));
	json_string(json, step->failed ? "" : (const char *)step->bytes);
	json_uint(json, unknown->samples);
	json_end_array(json);
}

static struct imp_error *put_summary(struct flamegraph *graph)
{
	const struct profile *profile = graph->tree->profile;
	const struct profile_origin *origin = &profile->origin;
	struct json *json = &graph->json;
	struct summary summary;
	_cleanup_buffer_ struct buffer step = { 0 };
	struct imp_error *err = summary_make(profile, &summary);
	if (err)
		return err;
	json_member_string(json, "command", origin->command);
	json_member_string(json, "host", origin->host);
	json_member_uint(json, "samples", summary.samples);
	json_member_uint(json, "lost", origin->lost_events);
	json_member_uint(json, "leftOut", origin->left_out);
	json_key(json, "identities");
	json_begin_array(json);
	for (unsigned i = 0; i < IDENTITIES; i++) {
		if (!summary.identities[i])
			continue;
		json_begin_array(json);
		json_string(json, identity_name((enum identity)i));
		json_uint(json, summary.identities[i]);
		json_end_array(json);
	}
	json_end_array(json);
	json_key(json, "unknowns");
	json_begin_array(json);
	for (size_t i = 0; i < summary.unknowns.count; i++)
		put_unknown(json, profile, &summary.unknowns.items[i], &step);
	json_end_array(json);
	summary_fini(&summary);
	return step.failed ? &imp_error_no_memory : NULL;
}

static struct imp_error *put_all(struct flamegraph *graph)
{
	const struct profile *profile = graph->tree->profile;
	json_begin_object(&graph->json);
	struct imp_error *err = put_summary(graph);
	if (!err)
		err = put_frames(graph);
	put_images(graph);
	json_key(&graph->json, "events");
	json_begin_array(&graph->json);
	for (uint32_t i = 0; !err && i < profile->events.count; i++)
		if (profile->events.items[i].samples)
			put_event(graph, i);
	json_end_array(&graph->json);
	json_end_object(&graph->json);
	return err;
}

static struct imp_error *write_json(const struct profile *profile, FILE *out)
{
	struct call_tree_options options = { .by_comm = true };
	_cleanup_call_tree_ struct call_tree *tree = NULL;
	_cleanup_free_ uint32_t *order = NULL;
	struct imp_error *err = ordered_tree(profile, &options, &tree, &order);
	if (err)
		return err;
	size_t nodes = tree->nodes.count + 1;
	_cleanup_(flamegraph_fini) struct flamegraph graph = {
		.json = { .out = out, .lines = true },
		.tree = tree,
		.order = order,
		.totals = calloc(nodes, sizeof *graph.totals),
		.events = calloc(nodes, sizeof *graph.events),
		.depths = calloc(nodes, sizeof *graph.depths),
		.symbol_frames = calloc(tree->symbols.count + 1, sizeof(uint32_t)),
		.root_frames = calloc(tree->roots.count + 1, sizeof(uint32_t)),
	};
	if (!graph.totals || !graph.events || !graph.depths || !graph.symbol_frames ||
	    !graph.root_frames)
		return &imp_error_no_memory;
	sum_up(&graph);
	return put_all(&graph);
}

// Names come from recordings: what could end the page's script element is written as JSON allows.
static void put_safely(const char *text, size_t size, FILE *out)
{
	for (size_t i = 0; i < size; i++) {
		if (strchr("<>&", text[i]) && text[i])
			fprintf(out, "\\u%04x", (unsigned)text[i]);
		else
			putc(text[i], out);
	}
}

struct imp_error *flamegraph_write(const struct profile *profile, FILE *out)
{
	_cleanup_free_ char *text = NULL;
	size_t size = 0;
	FILE *json = open_memstream(&text, &size);
	if (!json)
		return &imp_error_no_memory;
	struct imp_error *err = write_json(profile, json);
	if (fclose(json) && !err)
		err = &imp_error_no_memory;
	if (err)
		return err;
	static const char mark[] = "@DATA@";
	const char *at = memmem(page_html, page_html_size, mark, sizeof mark - 1);
	size_t before = (size_t)(at - (const char *)page_html);
	fwrite(page_html, 1, before, out);
	put_safely(text, size, out);
	fwrite(at + sizeof mark - 1, 1, page_html_size - before - (sizeof mark - 1), out);
	return NULL;
}
