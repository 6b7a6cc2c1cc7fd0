// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Writing a profile as JSON.
#include "render/json_report.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "render/rows.h"
#include "render/summary.h"
#include "render/tree_order.h"

enum { FORMAT_VERSION = 1 };

struct writing {
	const struct profile *profile;
	const struct json_report_options *options;
	struct json json;
};

static void write_origin(struct writing *writing)
{
	const struct profile_origin *origin = &writing->profile->origin;
	struct json *json = &writing->json;
	json_key(json, "recording");
	json_begin_object(json);
	json_member_string(json, "path", origin->path);
	json_member_string(json, "host", origin->host);
	json_member_string(json, "os_release", origin->os_release);
	json_member_string(json, "arch", origin->arch);
	json_member_string(json, "recorder", origin->recorder);
	json_member_string(json, "command", origin->command);
	if (origin->has_times) {
		json_member_uint(json, "first_ns", origin->first_ns);
		json_member_uint(json, "last_ns", origin->last_ns);
	}
	if (origin->note_count) {
		json_key(json, "notes");
		json_begin_array(json);
		for (size_t i = 0; i < origin->note_count; i++)
			json_string(json, origin->notes[i]);
		json_end_array(json);
	}
	json_end_object(json);
}

static void write_counts(struct writing *writing, const struct summary *summary)
{
	const struct profile_origin *origin = &writing->profile->origin;
	struct json *json = &writing->json;
	json_member_uint(json, "samples", summary->samples);
	json_member_uint(json, "left_out", origin->left_out);
	json_key(json, "lost");
	json_begin_object(json);
	json_member_uint(json, "events", origin->lost_events);
	json_member_uint(json, "samples", origin->lost_samples);
	json_member_uint(json, "unreadable_samples", origin->unreadable_samples);
	json_end_object(json);
	json_key(json, "identities");
	json_begin_object(json);
	for (unsigned i = 0; i < IDENTITIES; i++)
		json_member_uint(json, identity_name((enum identity)i), summary->identities[i]);
	json_member_uint(json, "nothing-mapped", summary->without_object);
	json_end_object(json);
	json_key(json, "events");
	json_begin_array(json);
	for (size_t i = 0; i < writing->profile->events.count; i++) {
		const struct profile_event *event = &writing->profile->events.items[i];
		json_begin_object(json);
		json_member_string(json, "name", event->name);
		json_member_uint(json, "samples", event->samples);
		json_member_uint(json, "weight", event->weight);
		json_end_object(json);
	}
	json_end_array(json);
}

// The image's members, all null where there is none.
static void write_object(struct json *json, const struct profile_object *object)
{
	bool has_id = object && !build_id_is_none(&object->image.id) &&
		      identity_is_usable(object->image.identity);
	json_member_string(json, "path", object ? object->image.path : NULL);
	json_member_string(json, "build_id", has_id ? build_id_text(&object->image.id).text : NULL);
	json_member_string(json, "kind", object ? image_kind_name(object->image.kind) : NULL);
	json_member_string(json, "identity",
			   identity_name(object ? object->image.identity : IDENTITY_NONE));
}

static void write_symbol(struct writing *writing, const struct call_tree *tree,
			 const struct call_symbol *symbol)
{
	struct json *json = &writing->json;
	const char *function = profile_string(writing->profile, symbol->function);
	write_object(json, symbol_object(tree, symbol));
	json_member_string(json, "symbol", function);
	bool is_unknown = !function && writing->profile->is_named;
	json_member_string(json, "unknown",
			   is_unknown ? unknown_reason_name(symbol->reason) : NULL);
	if (!function && symbol->object != NO_NUMBER)
		json_member_hex(json, "offset", symbol->offset);
	if (symbol->is_forced)
		json_member_bool(json, "forced", true);
}

// The members of a task that the tree tells apart.
static void write_task(struct writing *writing, const struct task *task)
{
	struct json *json = &writing->json;
	json_member_string(json, "comm", profile_string(writing->profile, task->comm));
	const struct {
		const char *name;
		int32_t value;
	} numbers[] = { { "pid", task->pid }, { "tid", task->tid }, { "cpu", task->cpu } };
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
		if (numbers[i].value == TASK_ANY)
			continue;
		json_key(json, numbers[i].name);
		json_int(json, numbers[i].value);
	}
	const char *cgroup = profile_string(writing->profile, task->cgroup);
	const char *cgroup_id = profile_string(writing->profile, task->cgroup_id);
	if (cgroup)
		json_member_string(json, "cgroup", cgroup);
	if (cgroup_id)
		json_member_string(json, "cgroup_id", cgroup_id);
}

static void write_row(struct writing *writing, const struct rows *rows, const struct row *row)
{
	struct json *json = &writing->json;
	const struct profile *profile = writing->profile;
	json_begin_object(json);
	json_member_uint(json, "samples", row->self.samples);
	json_member_uint(json, "weight", row->self.weight);
	if (rows->has_totals) {
		json_member_uint(json, "total_samples", row->total.samples);
		json_member_uint(json, "total_weight", row->total.weight);
	}
	json_member_string(json, "event", profile->events.items[row->event].name);
	write_task(writing, row->task);
	write_symbol(writing, rows->tree, row->symbol);
	const char *file = profile_string(profile, row->symbol->file);
	if (file) {
		json_member_string(json, "file", file);
		json_member_uint(json, "line", row->symbol->line);
	}
	json_end_object(json);
}

static struct imp_error *write_rows(struct writing *writing, const struct call_tree *tree)
{
	struct column_list columns = writing->options->columns;
	struct imp_error *err = columns_parse("comm,dso,sym", &columns);
	for (size_t i = 0; i < writing->options->columns.count; i++) {
		const struct column *column = writing->options->columns.items[i];
		if (column->need && columns.count < MOST_COLUMNS)
			columns.items[columns.count++] = column;
	}
	_cleanup_(rows_fini) struct rows rows = { 0 };
	if (!err)
		err = rows_make(tree, &columns, writing->options->with_children, &rows);
	if (err)
		return err;
	json_key(&writing->json, "rows");
	json_begin_array(&writing->json);
	for (size_t i = 0; i < rows.items.count; i++)
		write_row(writing, &rows, &rows.items.items[i]);
	json_end_array(&writing->json);
	return NULL;
}

static void write_stack(struct writing *writing, const struct call_tree *tree, uint32_t number)
{
	struct json *json = &writing->json;
	const struct call_node *nodes = tree->nodes.items;
	uint32_t root = number;
	while (!call_node_is_root(&nodes[root]))
		root = nodes[root].parent;
	const struct call_root *from = &tree->roots.items[nodes[root].symbol];
	json_begin_object(json);
	json_member_uint(json, "samples", nodes[number].samples);
	json_member_uint(json, "weight", nodes[number].weight);
	json_member_string(json, "event", writing->profile->events.items[from->event].name);
	write_task(writing, &from->task);
	json_key(json, "frames");
	json_begin_array(json);
	for (uint32_t at = number; at != root; at = nodes[at].parent) {
		const struct call_symbol *symbol = &tree->symbols.items[nodes[at].symbol];
		json_begin_object(json);
		write_symbol(writing, tree, symbol);
		json_member_bool(json, "inlined", symbol->is_inlined);
		json_end_object(json);
	}
	json_end_array(json);
	json_end_object(json);
}

static struct imp_error *write_stacks(struct writing *writing, const struct call_tree *tree)
{
	_cleanup_free_ uint32_t *order = NULL;
	struct imp_error *err = tree_order(tree, &order);
	if (err)
		return err;
	json_key(&writing->json, "stacks");
	json_begin_array(&writing->json);
	for (size_t i = 0; i < tree->nodes.count; i++) {
		const struct call_node *node = &tree->nodes.items[order[i]];
		if ((node->samples || node->weight) && !call_node_is_root(node))
			write_stack(writing, tree, order[i]);
	}
	json_end_array(&writing->json);
	return NULL;
}

// Why call chains made from copied stacks end; nothing where there are none.
static void write_chain_ends(struct writing *writing)
{
	const struct profile *profile = writing->profile;
	const struct profile_origin *origin = &profile->origin;
	struct json *json = &writing->json;
	bool has_any = false;
	for (unsigned i = 0; i < UNWIND_ENDS; i++)
		has_any |= origin->chain_ends[i] > 0;
	if (!has_any)
		return;
	json_key(json, "chain_ends");
	json_begin_object(json);
	for (unsigned i = 0; i < UNWIND_ENDS; i++) {
		if (!origin->chain_ends[i])
			continue;
		json_key(json, unwind_end_name((enum unwind_end)i));
		json_begin_object(json);
		json_member_uint(json, "samples", origin->chain_ends[i]);
		json_member_uint(json, "weight", origin->chain_end_weights[i]);
		json_member_string(json, "reason", unwind_end_sentence((enum unwind_end)i));
		json_end_object(json);
	}
	json_end_object(json);
	json_member_uint(json, "chains_by_frame_pointer", origin->chains_by_frame_pointer);
}

static struct imp_error *write_unknowns(struct writing *writing, const struct summary *summary)
{
	struct json *json = &writing->json;
	const struct profile *profile = writing->profile;
	json_key(json, "unknowns");
	json_begin_array(json);
	for (size_t i = 0; i < summary->unknowns.count && profile->is_named; i++) {
		const struct unknown_sum *unknown = &summary->unknowns.items[i];
		_cleanup_buffer_ struct buffer step = { 0 };
		next_step_print(profile, unknown, &step);
		buffer_append(&step, "", 1);
		if (step.failed)
			return &imp_error_no_memory;
		json_begin_object(json);
		json_member_uint(json, "samples", unknown->samples);
		json_member_uint(json, "weight", unknown->weight);
		json_member_string(json, "unknown", unknown_reason_name(unknown->reason));
		json_member_string(json, "reason", unknown_reason_sentence(unknown->reason));
		json_member_string(json, "next", *step.bytes ? (const char *)step.bytes : NULL);
		write_object(json, unknown->object == NO_NUMBER
					   ? NULL
					   : &profile->objects.items[unknown->object]);
		json_end_object(json);
	}
	json_end_array(json);
	return NULL;
}

struct imp_error *json_report(const struct profile *profile,
			      const struct json_report_options *options, FILE *out)
{
	struct writing writing = { .profile = profile, .options = options, .json = { .out = out } };
	bool has_chains = options->with_stacks || options->with_children;
	struct call_tree_options tree_options = {
		.by_comm = true,
		.keep_objects = true,
		.leaves_only = !has_chains,
		.no_inlined = !has_chains,
	};
	for (size_t i = 0; i < options->columns.count; i++)
		if (options->columns.items[i]->need)
			options->columns.items[i]->need(&tree_options);
	_cleanup_call_tree_ struct call_tree *tree = NULL;
	_cleanup_(summary_fini) struct summary summary = { 0 };
	struct imp_error *err = call_tree_new(profile, &tree_options, &tree);
	if (!err)
		err = summary_make(profile, &summary);
	if (err)
		return err;
	struct json *json = &writing.json;
	json_begin_object(json);
	json_member_string(json, "format", "imprint-report");
	json_member_uint(json, "version", FORMAT_VERSION);
	write_origin(&writing);
	write_counts(&writing, &summary);
	err = write_rows(&writing, tree);
	if (!err && options->with_stacks)
		err = write_stacks(&writing, tree);
	write_chain_ends(&writing);
	if (!err)
		err = write_unknowns(&writing, &summary);
	json_end_object(json);
	return err;
}
