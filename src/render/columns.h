// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// What rows of a report may be told apart by: one table of columns serves sorting, headings and
// help.
#ifndef RENDER_COLUMNS_H
#define RENDER_COLUMNS_H

#include "base/buffer.h"
#include "profile/call_tree.h"

// A row of a report stands for all samples of equal tasks and symbols.
struct subject {
	const struct call_tree *tree;
	const struct task *task;
	const struct call_symbol *symbol;
};

struct column {
	// As -s names it; `alias` is perf's other name for it, or NULL.
	const char *name, *alias;
	const char *heading, *help;
	// Tells tasks apart, and no symbols.
	bool is_of_task;
	// Appends what the row shows, and compares two rows for a fixed order.
	void (*print)(const struct subject *subject, struct buffer *out);
	int (*compare)(const struct subject *a, const struct subject *b);
	// Equal keys are equal rows.
	uint64_t (*key)(const struct subject *subject);
	// Numbers stand on the right.
	bool is_number;
	// Sets what the tree must tell apart for this column; NULL when nothing more is needed.
	void (*need)(struct call_tree_options *options);
};

enum { MOST_COLUMNS = 8 };

struct column_list {
	const struct column *items[MOST_COLUMNS];
	size_t count;
};

// Parses "comm,dso,sym". IMP_ERR_USAGE names the word that is no column and what there is.
struct imp_error *columns_parse(const char *text, struct column_list *ret) MUST_CHECK;

// All columns; ends with one whose name is NULL.
extern const struct column columns_all[];

// 'k' for the kernel's side, 'g' and 'u' for a guest's, '.' for the rest.
char symbol_level(const struct call_tree *tree, const struct call_symbol *symbol);

// The function, or "[buildid:HEX]+0xOFF (path)", "path+0xOFF", "[unmapped]" for what has no name;
// inlined frames are marked when MARKS_INLINED.
void symbol_print(const struct call_tree *tree, const struct call_symbol *symbol,
		  bool marks_inlined, struct buffer *out);

// By names, then places: the same for every order in which they were seen.
int symbol_compare(const struct call_tree *tree, const struct call_symbol *a,
		   const struct call_symbol *b);

const struct profile_object *symbol_object(const struct call_tree *tree,
					   const struct call_symbol *symbol);

#endif
