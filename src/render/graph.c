// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Drawing call chains.
#include "render/graph.h"

#include <stdlib.h>
#include <string.h>

enum { MARGIN = 12, ROOT_INDENT = 3, STEP_INDENT = 10 };

// Children of one branch that are being drawn.
struct level {
	uint32_t *children;
	size_t count, at;
	size_t prefix_size;
	uint64_t whole;
};

struct drawing {
	const struct branches *branches;
	const struct graph_options *options;
	FILE *out;
	// What stands left of the branches: lines of the levels above.
	struct buffer prefix;
	ARRAY_OF(struct level) levels;
	struct buffer name;
};

static void drawing_fini(struct drawing *drawing)
{
	for (size_t i = 0; i < drawing->levels.count; i++)
		free(drawing->levels.items[i].children);
	array_fini(&drawing->levels);
	buffer_fini(&drawing->prefix);
	buffer_fini(&drawing->name);
}

static const struct branch *branch_at(const struct drawing *drawing, uint32_t number)
{
	return &drawing->branches->items.items[number];
}

static void prefix_print(const struct drawing *drawing, size_t size)
{
	fwrite(drawing->prefix.bytes, 1, size, drawing->out);
}

static void name_print(struct drawing *drawing, uint32_t branch)
{
	const struct call_tree *tree = drawing->branches->tree;
	drawing->name.size = 0;
	symbol_print(tree, &tree->symbols.items[branch_at(drawing, branch)->symbol], true,
		     &drawing->name);
	fwrite(drawing->name.bytes, 1, drawing->name.size, drawing->out);
	putc('\n', drawing->out);
}

static uint64_t least_weight(const struct drawing *drawing, uint64_t whole)
{
	uint64_t base = drawing->options->is_relative ? whole : drawing->options->whole;
	double least = drawing->options->limit / 100 * (double)base;
	return least < 1 ? 1 : (uint64_t)least;
}

// The only child of BRANCH, when all of its weight comes from there; else NO_NUMBER.
static uint32_t only_child(const struct drawing *drawing, uint32_t branch)
{
	const struct branch *at = branch_at(drawing, branch);
	uint32_t child = at->first_child;
	if (child == NO_NUMBER || branch_at(drawing, child)->next_sibling != NO_NUMBER)
		return NO_NUMBER;
	return branch_at(drawing, child)->total.weight == at->total.weight ? child : NO_NUMBER;
}

static void spaces_append(struct buffer *buffer, unsigned count)
{
	buffer_format(buffer, "%*s", (int)count, "");
}

// Prints what follows BRANCH without a fork, a line each, and gives the last of it.
static uint32_t run_print(struct drawing *drawing, uint32_t branch)
{
	uint32_t next;
	while ((next = only_child(drawing, branch)) != NO_NUMBER) {
		prefix_print(drawing, drawing->prefix.size);
		name_print(drawing, next);
		branch = next;
	}
	return branch;
}

// Begins drawing the children of BRANCH right of the prefix as it is.
static struct imp_error *level_open(struct drawing *drawing, uint32_t branch)
{
	struct level *level = array_add(&drawing->levels);
	if (!level)
		return &imp_error_no_memory;
	level->prefix_size = drawing->prefix.size;
	level->whole = branch_at(drawing, branch)->total.weight;
	return branch_children(drawing->branches, branch, least_weight(drawing, level->whole),
			       &level->children, &level->count);
}

// Draws the next child of the innermost level, and opens a level for its own children.
static struct imp_error *child_draw(struct drawing *drawing)
{
	struct level *level = &drawing->levels.items[drawing->levels.count - 1];
	uint32_t child = level->children[level->at++];
	bool is_last = level->at == level->count;
	drawing->prefix.size = level->prefix_size;
	prefix_print(drawing, level->prefix_size);
	fputs("|\n", drawing->out);
	prefix_print(drawing, level->prefix_size);
	uint64_t base = drawing->options->is_relative ? level->whole : drawing->options->whole;
	fprintf(drawing->out, "%s--%.2f%%--", is_last ? " " : "|",
		100 * (double)branch_at(drawing, child)->total.weight / (double)base);
	name_print(drawing, child);
	buffer_text(&drawing->prefix, is_last ? " " : "|");
	spaces_append(&drawing->prefix, STEP_INDENT);
	if (drawing->prefix.failed)
		return &imp_error_no_memory;
	return level_open(drawing, run_print(drawing, child));
}

static struct imp_error *levels_draw(struct drawing *drawing)
{
	struct imp_error *err = NULL;
	while (drawing->levels.count && !err) {
		struct level *level = &drawing->levels.items[drawing->levels.count - 1];
		if (level->at < level->count) {
			err = child_draw(drawing);
		} else {
			free(level->children);
			drawing->levels.count--;
		}
	}
	return err;
}

struct imp_error *graph_print(const struct branches *branches, const struct graph_options *options,
			      FILE *out)
{
	_cleanup_(drawing_fini) struct drawing drawing = {
		.branches = branches,
		.options = options,
		.out = out,
	};
	spaces_append(&drawing.prefix, MARGIN);
	uint32_t top = 0, first = only_child(&drawing, top);
	if (first != NO_NUMBER) {
		prefix_print(&drawing, MARGIN);
		fputs("|\n", out);
		prefix_print(&drawing, MARGIN);
		fputs("---", out);
		name_print(&drawing, first);
		spaces_append(&drawing.prefix, ROOT_INDENT);
		top = run_print(&drawing, first);
	}
	if (drawing.prefix.failed)
		return &imp_error_no_memory;
	struct imp_error *err = level_open(&drawing, top);
	if (!err)
		err = levels_draw(&drawing);
	putc('\n', out);
	return err;
}
