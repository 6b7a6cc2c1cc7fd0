// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Writing a profile as text.
#include "render/text_report.h"

#include <stdlib.h>
#include <string.h>

#include "render/graph.h"
#include "render/summary.h"

enum { SHARE_WIDTH = 8, SAMPLES_WIDTH = 12 };

struct writing {
	const struct profile *profile;
	const struct text_report_options *options;
	const struct call_tree *tree;
	struct rows rows;
	struct row_nodes nodes;
	FILE *out;
	// Cells of one row, one behind the other.
	struct buffer cells;
	size_t cell_ends[MOST_COLUMNS];
	size_t widths[MOST_COLUMNS];
};

static void writing_fini(struct writing *writing)
{
	rows_fini(&writing->rows);
	row_nodes_fini(&writing->nodes);
	buffer_fini(&writing->cells);
}

static double share(uint64_t weight, const struct profile_event *event)
{
	return event->weight ? 100 * (double)weight / (double)event->weight : 0;
}

static bool is_shown(const struct writing *writing, const struct row *row)
{
	const struct profile_event *event = &writing->profile->events.items[row->event];
	uint64_t weight = writing->options->with_children ? row->total.weight : row->self.weight;
	return share(weight, event) >= writing->options->percent_limit;
}

static struct imp_error *fill_cells(struct writing *writing, const struct row *row)
{
	const struct column_list *columns = &writing->options->columns;
	struct subject subject = row_subject(&writing->rows, row);
	writing->cells.size = 0;
	for (size_t i = 0; i < columns->count; i++) {
		columns->items[i]->print(&subject, &writing->cells);
		writing->cell_ends[i] = writing->cells.size;
	}
	return writing->cells.failed ? &imp_error_no_memory : NULL;
}

static size_t cell_begin(const struct writing *writing, size_t column)
{
	return column ? writing->cell_ends[column - 1] : 0;
}

// The last column is never padded, so that long names cost no room.
static struct imp_error *measure(struct writing *writing, size_t first, size_t end)
{
	const struct column_list *columns = &writing->options->columns;
	for (size_t i = 0; i < columns->count; i++)
		writing->widths[i] = strlen(columns->items[i]->heading);
	for (size_t row = first; row < end; row++) {
		if (!is_shown(writing, &writing->rows.items.items[row]))
			continue;
		struct imp_error *err = fill_cells(writing, &writing->rows.items.items[row]);
		if (err)
			return err;
		for (size_t i = 0; i < columns->count; i++) {
			size_t width = writing->cell_ends[i] - cell_begin(writing, i);
			if (width > writing->widths[i])
				writing->widths[i] = width;
		}
	}
	return NULL;
}

static void print_heading_separated(const struct writing *writing)
{
	const struct text_report_options *options = writing->options;
	FILE *out = writing->out;
	const char *separator = options->separator;
	if (options->with_children)
		fprintf(out, "# Children%sSelf", separator);
	else
		fputs("# Overhead", out);
	if (options->with_samples)
		fprintf(out, "%sSamples", separator);
	for (size_t i = 0; i < options->columns.count; i++)
		fprintf(out, "%s%s", separator, options->columns.items[i]->heading);
	fputs("\n", out);
}

static void print_dots(size_t count, FILE *out)
{
	while (count--)
		putc('.', out);
}

// Headings over dots, each as wide as its column. The '#' stands in the first column's margin.
static void print_heading(const struct writing *writing)
{
	const struct text_report_options *options = writing->options;
	FILE *out = writing->out;
	fprintf(out, "# %-*s", SHARE_WIDTH, options->with_children ? "Children" : "Overhead");
	if (options->with_children)
		fprintf(out, "  %*s", SHARE_WIDTH, "Self");
	if (options->with_samples)
		fprintf(out, "  %*s", SAMPLES_WIDTH, "Samples");
	for (size_t i = 0; i < options->columns.count; i++) {
		bool is_last = i + 1 == options->columns.count;
		fprintf(out, "  %-*s", is_last ? 0 : (int)writing->widths[i],
			options->columns.items[i]->heading);
	}
	fputs("\n# ", out);
	print_dots(SHARE_WIDTH, out);
	if (options->with_children) {
		fputs("  ", out);
		print_dots(SHARE_WIDTH, out);
	}
	if (options->with_samples) {
		fputs("  ", out);
		print_dots(SAMPLES_WIDTH, out);
	}
	for (size_t i = 0; i < options->columns.count; i++) {
		fputs("  ", out);
		print_dots(writing->widths[i], out);
	}
	fputs("\n#\n", out);
}

static void print_sums(const struct writing *writing, const struct row *row)
{
	const struct text_report_options *options = writing->options;
	const struct profile_event *event = &writing->profile->events.items[row->event];
	FILE *out = writing->out;
	bool is_aligned = !options->separator;
	const char *gap = is_aligned ? "  " : options->separator;
	int width = is_aligned ? SHARE_WIDTH + 1 : 0;
	if (options->with_children)
		fprintf(out, "%*.2f%%%s%*.2f%%", width, share(row->total.weight, event), gap,
			is_aligned ? SHARE_WIDTH - 1 : 0, share(row->self.weight, event));
	else
		fprintf(out, "%*.2f%%", width, share(row->self.weight, event));
	if (options->with_samples)
		fprintf(out, "%s%*llu", gap, is_aligned ? SAMPLES_WIDTH : 0,
			(unsigned long long)row->self.samples);
}

// A separator within a cell becomes '.', so that fields can be counted; perf does the same.
static void print_cell_separated(const struct writing *writing, const char *cell, size_t size)
{
	const char *separator = writing->options->separator;
	bool is_one = separator[0] && !separator[1];
	for (size_t i = 0; i < size; i++)
		putc(is_one && cell[i] == separator[0] ? '.' : cell[i], writing->out);
}

static void print_spaces(size_t count, FILE *out)
{
	while (count--)
		putc_unlocked(' ', out);
}

static void print_cells(const struct writing *writing)
{
	const struct column_list *columns = &writing->options->columns;
	for (size_t i = 0; i < columns->count; i++) {
		const char *cell = (const char *)writing->cells.bytes + cell_begin(writing, i);
		size_t size = writing->cell_ends[i] - cell_begin(writing, i);
		bool is_last = i + 1 == columns->count;
		if (writing->options->separator) {
			fputs(writing->options->separator, writing->out);
			print_cell_separated(writing, cell, size);
			continue;
		}
		bool is_number = columns->items[i]->is_number;
		size_t padding = is_last && !is_number ? 0 : writing->widths[i] - size;
		print_spaces(is_number ? 2 + padding : 2, writing->out);
		fwrite_unlocked(cell, 1, size, writing->out);
		print_spaces(is_number ? 0 : padding, writing->out);
	}
	putc('\n', writing->out);
}

static struct imp_error *print_chains(struct writing *writing, size_t row)
{
	const struct text_report_options *options = writing->options;
	if (writing->nodes.first[row] == writing->nodes.first[row + 1])
		return NULL;
	_cleanup_(branches_fini) struct branches branches = { 0 };
	struct imp_error *err = branches_make(&writing->nodes, row, options->order, &branches);
	if (err)
		return err;
	uint32_t event = writing->rows.items.items[row].event;
	struct graph_options graph = { .whole = writing->profile->events.items[event].weight,
				       .limit = options->chain_limit,
				       .is_relative = options->is_relative };
	return graph_print(&branches, &graph, writing->out);
}

static struct imp_error *print_row(struct writing *writing, size_t row)
{
	const struct row *at = &writing->rows.items.items[row];
	if (!is_shown(writing, at))
		return NULL;
	struct imp_error *err = fill_cells(writing, at);
	if (err)
		return err;
	print_sums(writing, at);
	print_cells(writing);
	return writing->options->with_chains ? print_chains(writing, row) : NULL;
}

static struct imp_error *print_event(struct writing *writing, uint32_t number)
{
	const struct profile_event *event = &writing->profile->events.items[number];
	size_t first = rows_begin(&writing->rows, number), end = writing->rows.ends[number];
	if (first == end && writing->profile->events.count > 1)
		return NULL;
	fprintf(writing->out, "# Samples: %llu of event '%s'\n# Event count (approx.): %llu\n#\n",
		(unsigned long long)event->samples, event->name, (unsigned long long)event->weight);
	struct imp_error *err = NULL;
	if (writing->options->separator) {
		print_heading_separated(writing);
	} else {
		err = measure(writing, first, end);
		print_heading(writing);
	}
	for (size_t row = first; row < end && !err; row++)
		err = print_row(writing, row);
	putc('\n', writing->out);
	return err;
}

// Chains lighter than the limit are not drawn, so rows below it need none.
static struct imp_error *prepare_chains(struct writing *writing)
{
	size_t events = writing->profile->events.count;
	_cleanup_free_ uint64_t *least = calloc(events + 1, sizeof *least);
	if (!least)
		return &imp_error_no_memory;
	for (size_t i = 0; i < events && !writing->options->is_relative; i++)
		least[i] = (uint64_t)(writing->options->chain_limit / 100 *
				      (double)writing->profile->events.items[i].weight);
	return row_nodes_make(&writing->rows, least, &writing->nodes);
}

static struct imp_error *print_all(struct writing *writing, const struct summary *summary)
{
	bool is_bare = writing->options->is_bare;
	if (!is_bare)
		summary_print_head(summary, writing->out);
	struct imp_error *err = NULL;
	for (uint32_t i = 0; i < writing->profile->events.count && !err; i++)
		err = print_event(writing, i);
	if (!err && !is_bare) {
		summary_print_chains(summary, writing->out);
		summary_print_unknowns(summary, writing->out);
	}
	return err;
}

struct imp_error *text_report(const struct profile *profile,
			      const struct text_report_options *options, FILE *out)
{
	struct call_tree_options tree_options = {
		.leaves_only = !options->with_chains && !options->with_children,
		.no_inlined = !options->with_chains && !options->with_children,
	};
	for (size_t i = 0; i < options->columns.count; i++)
		if (options->columns.items[i]->need)
			options->columns.items[i]->need(&tree_options);
	_cleanup_call_tree_ struct call_tree *tree = NULL;
	_cleanup_(summary_fini) struct summary summary = { 0 };
	_cleanup_(writing_fini) struct writing writing = {
		.profile = profile,
		.options = options,
		.out = out,
	};
	struct imp_error *err = call_tree_new(profile, &tree_options, &tree);
	writing.tree = tree;
	if (!err)
		err = rows_make(tree, &options->columns, options->with_children, &writing.rows);
	if (!err && options->with_chains)
		err = prepare_chains(&writing);
	if (!err)
		err = summary_make(profile, &summary);
	return err ? err : print_all(&writing, &summary);
}
