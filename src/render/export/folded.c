// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Writing folded stacks.
#include "render/export/folded.h"

#include <stdlib.h>
#include <string.h>

#include "render/export/frame_text.h"
#include "render/tree_order.h"

struct line {
	const struct call_tree *tree;
	// The stack of the node being looked at; ends[D] is where the text of depth D ends.
	struct buffer text;
	// What each symbol is called, behind a semicolon: that of symbol I from name_ends[I] on.
	struct buffer names;
	size_t *name_ends;
	ARRAY_OF(size_t) ends;
	// Nodes above, root first.
	ARRAY_OF(uint32_t) path;
};

static void line_fini(struct line *line)
{
	buffer_fini(&line->text);
	buffer_fini(&line->names);
	free(line->name_ends);
	array_fini(&line->ends);
	array_fini(&line->path);
}

// Makes a name of what was appended to TEXT from START on.
static void escape_from(struct buffer *text, size_t start)
{
	for (size_t i = start; i < text->size; i++) {
		if (text->bytes[i] == ';')
			text->bytes[i] = ':';
		else if (text->bytes[i] == '\n' || text->bytes[i] == '\r')
			text->bytes[i] = ' ';
	}
}

// Frames are many and symbols few: each is put into words once.
static struct imp_error *name_symbols(struct line *line)
{
	const struct call_tree *tree = line->tree;
	line->name_ends = malloc((tree->symbols.count + 1) * sizeof *line->name_ends);
	if (!line->name_ends)
		return &imp_error_no_memory;
	for (size_t i = 0; i < tree->symbols.count; i++) {
		line->name_ends[i] = line->names.size;
		buffer_text(&line->names, ";");
		size_t start = line->names.size;
		frame_text(tree, &tree->symbols.items[i], &line->names);
		escape_from(&line->names, start);
	}
	line->name_ends[tree->symbols.count] = line->names.size;
	return line->names.failed ? &imp_error_no_memory : NULL;
}

static void append_frame(struct line *line, uint32_t symbol)
{
	size_t start = line->name_ends[symbol];
	buffer_append(&line->text, line->names.bytes + start, line->name_ends[symbol + 1] - start);
}

static void append_comm(struct line *line, uint32_t root)
{
	const struct call_tree *tree = line->tree;
	const char *comm = profile_string(tree->profile, tree->roots.items[root].task.comm);
	size_t start = line->text.size;
	buffer_text(&line->text, comm ? comm : "[unknown]");
	escape_from(&line->text, start);
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
	if (call_node_is_root(node))
		append_comm(line, node->symbol);
	else
		append_frame(line, node->symbol);
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
	struct imp_error *err = ordered_tree(profile, &options, &tree, &order);
	_cleanup_(line_fini) struct line line = { .tree = tree };
	if (!err)
		err = name_symbols(&line);
	for (size_t i = 0; !err && i < tree->nodes.count; i++) {
		const struct call_node *node = &tree->nodes.items[order[i]];
		err = enter(&line, order[i]);
		if (err || !node->samples)
			continue;
		size_t end = line.text.size;
		buffer_format(&line.text, " %llu\n", (unsigned long long)node->samples);
		if (line.text.failed)
			return &imp_error_no_memory;
		fwrite_unlocked(line.text.bytes, 1, line.text.size, out);
		line.text.size = end;
	}
	return err;
}
