// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Writing folded stacks.
#include "render/export/folded.h"

#include <string.h>

#include "render/export/frame_text.h"
#include "render/tree_order.h"

struct line {
	const struct call_tree *tree;
	// The stack of the node being looked at; ends[D] is where the text of depth D ends.
	struct buffer text;
	// Of the frame being added.
	struct buffer name;
	ARRAY_OF(size_t) ends;
	// Nodes above, root first.
	ARRAY_OF(uint32_t) path;
};

static void line_fini(struct line *line)
{
	buffer_fini(&line->text);
	buffer_fini(&line->name);
	array_fini(&line->ends);
	array_fini(&line->path);
}

static void append_escaped(struct buffer *text, const char *name)
{
	for (; *name; name++) {
		char letter = *name == ';' ? ':' : *name == '\n' || *name == '\r' ? ' ' : *name;
		buffer_append(text, &letter, 1);
	}
}

static void append_frame(struct line *line, const struct call_symbol *symbol)
{
	line->name.size = 0;
	frame_text(line->tree, symbol, &line->name);
	buffer_append(&line->name, "", 1);
	buffer_text(&line->text, ";");
	if (line->name.failed)
		line->text.failed = true;
	else
		append_escaped(&line->text, (const char *)line->name.bytes);
}

// Goes to NODE, whose parent is on the path.
static struct imp_error *enter(struct line *line, uint32_t number)
{
	const struct call_tree *tree = line->tree;
	const struct call_node *node = &tree->nodes.items[number];
	while (line->path.count && line->path.items[line->path.count - 1] != node->parent) {
		line->path.count--;
		line->ends.count--;
	}
	line->text.size = line->ends.count ? line->ends.items[line->ends.count - 1] : 0;
	if (call_node_is_root(node)) {
		const struct task *task = &tree->roots.items[node->symbol].task;
		const char *comm = profile_string(tree->profile, task->comm);
		append_escaped(&line->text, comm ? comm : "[unknown]");
	} else {
		append_frame(line, &tree->symbols.items[node->symbol]);
	}
	uint32_t *step = array_add(&line->path);
	size_t *end = array_add(&line->ends);
	if (!step || !end || line->text.failed)
		return &imp_error_no_memory;
	*step = number;
	*end = line->text.size;
	return NULL;
}

struct imp_error *folded_write(const struct profile *profile, FILE *out)
{
	struct call_tree_options options = { .by_comm = true,
					     .by_name_only = true,
					     .any_event = true };
	_cleanup_call_tree_ struct call_tree *tree = NULL;
	_cleanup_free_ uint32_t *order = NULL;
	struct imp_error *err = call_tree_new(profile, &options, &tree);
	if (!err)
		err = tree_order(tree, &order);
	_cleanup_(line_fini) struct line line = { .tree = tree };
	for (size_t i = 0; !err && i < tree->nodes.count; i++) {
		const struct call_node *node = &tree->nodes.items[order[i]];
		err = enter(&line, order[i]);
		if (err || !node->samples)
			continue;
		fwrite(line.text.bytes, 1, line.text.size, out);
		fprintf(out, " %llu\n", (unsigned long long)node->samples);
	}
	return err;
}
