// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The columns of a report.
#include "render/columns.h"

#include <string.h>

static const char no_value[] = "-";

const struct profile_object *symbol_object(const struct call_tree *tree,
					   const struct call_symbol *symbol)
{
	return symbol->object == NO_NUMBER ? NULL : &tree->profile->objects.items[symbol->object];
}

// PERF_RECORD_MISC_CPUMODE_MASK values as `perf report` marks them.
static char level_of_cpumode(uint8_t cpumode)
{
	static const char levels[] = { '.', 'k', '.', 'h', 'g', 'u' };
	return cpumode < sizeof levels ? levels[cpumode] : '.';
}

char symbol_level(const struct call_tree *tree, const struct call_symbol *symbol)
{
	const struct profile_object *object = symbol_object(tree, symbol);
	if (!object)
		return level_of_cpumode(symbol->cpumode);
	switch (object->image.kind) {
	case IMAGE_KERNEL:
	case IMAGE_MODULE:
		return 'k';
	case IMAGE_GUEST_KERNEL:
	case IMAGE_GUEST_MODULE:
		return 'g';
	case IMAGE_USER:
	case IMAGE_VDSO:
	case IMAGE_JIT:
	case IMAGE_ANON:
	case IMAGE_SPECIAL:
	case IMAGE_KINDS:
	default:
		return '.';
	}
}

static const char *text_of(const struct call_tree *tree, uint32_t number)
{
	const char *text = profile_string(tree->profile, number);
	return text ? text : no_value;
}

// Rows and frames without names are many: this is several times faster than a format.
static void hex_print(uint64_t number, struct buffer *out)
{
	char digits[16];
	size_t first = sizeof digits;
	do
		digits[--first] = "0123456789abcdef"[number % 16];
	while (number /= 16);
	buffer_append(out, digits + first, sizeof digits - first);
}

static void unnamed_print(const struct call_tree *tree, const struct call_symbol *symbol,
			  struct buffer *out)
{
	const struct profile_object *object = symbol_object(tree, symbol);
	if (!object || object->image.kind == IMAGE_ANON) {
		buffer_format(out, "[%s]", unknown_reason_name(symbol->reason));
		return;
	}
	const struct image *image = &object->image;
	bool has_id = identity_is_usable(image->identity) && !build_id_is_none(&image->id);
	if (has_id) {
		buffer_text(out, "[buildid:");
		buffer_text(out, build_id_text(&image->id).text);
		buffer_text(out, "]+0x");
	} else {
		buffer_text(out, image->path);
		buffer_text(out, "+0x");
	}
	hex_print(symbol->offset, out);
	if (has_id) {
		buffer_text(out, " (");
		buffer_text(out, image->path);
		buffer_text(out, ")");
	}
}

void symbol_print(const struct call_tree *tree, const struct call_symbol *symbol,
		  bool marks_inlined, struct buffer *out)
{
	const char *function = profile_string(tree->profile, symbol->function);
	if (function)
		buffer_text(out, function);
	else
		unnamed_print(tree, symbol, out);
	if (symbol->is_inlined && marks_inlined)
		buffer_text(out, " (inlined)");
	if (symbol->is_forced)
		buffer_text(out, " (forced)");
}

static int compare_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

// Strings by their text, what is not there first.
static int compare_strings(const struct call_tree *tree, uint32_t a, uint32_t b)
{
	if (a == b)
		return 0;
	if (a == NO_NUMBER || b == NO_NUMBER)
		return a == NO_NUMBER ? -1 : 1;
	return strcmp(profile_string(tree->profile, a), profile_string(tree->profile, b));
}

static int compare_objects(const struct call_tree *tree, const struct call_symbol *a,
			   const struct call_symbol *b)
{
	if (a->object == b->object)
		return 0;
	const struct profile_object *a_object = symbol_object(tree, a);
	const struct profile_object *b_object = symbol_object(tree, b);
	if (!a_object || !b_object)
		return a_object ? 1 : -1;
	int by_label = compare_strings(tree, a_object->label, b_object->label);
	return by_label ? by_label : compare_numbers(a->object, b->object);
}

int symbol_compare(const struct call_tree *tree, const struct call_symbol *a,
		   const struct call_symbol *b)
{
	int order = compare_strings(tree, a->function, b->function);
	if (!order)
		order = compare_objects(tree, a, b);
	if (!order)
		order = compare_numbers(a->offset, b->offset);
	if (!order)
		order = compare_strings(tree, a->file, b->file);
	if (!order)
		order = compare_numbers(a->line, b->line);
	if (!order)
		order = compare_numbers(a->reason, b->reason);
	if (!order)
		order = compare_numbers(a->cpumode, b->cpumode);
	return order ? order : a->is_inlined - b->is_inlined;
}

#define TASK_TEXT_COLUMN(field)                                                      \
	static void field##_print(const struct subject *subject, struct buffer *out) \
	{                                                                            \
		buffer_text(out, text_of(subject->tree, subject->task->field));      \
	}                                                                            \
	static int field##_compare(const struct subject *a, const struct subject *b) \
	{                                                                            \
		return compare_strings(a->tree, a->task->field, b->task->field);     \
	}                                                                            \
	static uint64_t field##_key(const struct subject *subject)                   \
	{                                                                            \
		return subject->task->field;                                         \
	}                                                                            \
	static void field##_need(struct call_tree_options *options)                  \
	{                                                                            \
		options->by_##field = true;                                          \
	}

TASK_TEXT_COLUMN(comm)
TASK_TEXT_COLUMN(cgroup)
TASK_TEXT_COLUMN(cgroup_id)

#define TASK_NUMBER_COLUMN(field)                                                             \
	static void field##_print(const struct subject *subject, struct buffer *out)          \
	{                                                                                     \
		buffer_format(out, "%d", subject->task->field);                               \
	}                                                                                     \
	static int field##_compare(const struct subject *a, const struct subject *b)          \
	{                                                                                     \
		return (a->task->field > b->task->field) - (a->task->field < b->task->field); \
	}                                                                                     \
	static uint64_t field##_key(const struct subject *subject)                            \
	{                                                                                     \
		return (uint32_t)subject->task->field;                                        \
	}                                                                                     \
	static void field##_need(struct call_tree_options *options)                           \
	{                                                                                     \
		options->by_##field = true;                                                   \
	}

TASK_NUMBER_COLUMN(pid)
TASK_NUMBER_COLUMN(tid)
TASK_NUMBER_COLUMN(cpu)

static void dso_print(const struct subject *subject, struct buffer *out)
{
	const struct profile_object *object = symbol_object(subject->tree, subject->symbol);
	buffer_text(out, object ? text_of(subject->tree, object->label) : "[unknown]");
}

static int dso_compare(const struct subject *a, const struct subject *b)
{
	return compare_objects(a->tree, a->symbol, b->symbol);
}

static uint64_t dso_key(const struct subject *subject)
{
	return subject->symbol->object;
}

static void path_print(const struct subject *subject, struct buffer *out)
{
	const struct profile_object *object = symbol_object(subject->tree, subject->symbol);
	buffer_text(out, object ? object->image.path : "[unknown]");
}

static void build_id_print(const struct subject *subject, struct buffer *out)
{
	const struct profile_object *object = symbol_object(subject->tree, subject->symbol);
	bool has_id = object && !build_id_is_none(&object->image.id) &&
		      identity_is_usable(object->image.identity);
	buffer_text(out, has_id ? build_id_text(&object->image.id).text : no_value);
}

static void kind_print(const struct subject *subject, struct buffer *out)
{
	const struct profile_object *object = symbol_object(subject->tree, subject->symbol);
	buffer_text(out, object ? image_kind_name(object->image.kind) : no_value);
}

static uint64_t kind_key(const struct subject *subject)
{
	const struct profile_object *object = symbol_object(subject->tree, subject->symbol);
	return object ? object->image.kind : IMAGE_KINDS;
}

static int kind_compare(const struct subject *a, const struct subject *b)
{
	return compare_numbers(kind_key(a), kind_key(b));
}

static uint64_t identity_key(const struct subject *subject)
{
	const struct profile_object *object = symbol_object(subject->tree, subject->symbol);
	return object ? object->image.identity : IDENTITY_NONE;
}

static void identity_print(const struct subject *subject, struct buffer *out)
{
	buffer_text(out, identity_name((enum identity)identity_key(subject)));
}

static int identity_compare(const struct subject *a, const struct subject *b)
{
	return compare_numbers(identity_key(a), identity_key(b));
}

static void identity_need(struct call_tree_options *options)
{
	options->keep_objects = true;
}

static void sym_print(const struct subject *subject, struct buffer *out)
{
	const char level[] = { '[', symbol_level(subject->tree, subject->symbol), ']', ' ' };
	buffer_append(out, level, sizeof level);
	symbol_print(subject->tree, subject->symbol, false, out);
}

static int sym_compare(const struct subject *a, const struct subject *b)
{
	return symbol_compare(a->tree, a->symbol, b->symbol);
}

// A named function is told apart by its object and name, whatever else the tree tells apart.
static uint64_t sym_key(const struct subject *subject)
{
	const struct call_symbol *symbol = subject->symbol;
	if (symbol->function == NO_NUMBER)
		return UINT64_C(1) << 63 | (uint64_t)(symbol - subject->tree->symbols.items);
	return (uint64_t)(symbol->object & INT32_MAX) << 32 | symbol->function;
}

static void srcline_print(const struct subject *subject, struct buffer *out)
{
	const char *file = profile_string(subject->tree->profile, subject->symbol->file);
	if (!file)
		buffer_text(out, "??:0");
	else
		buffer_format(out, "%s:%u", image_short_name(file), subject->symbol->line);
}

static int srcline_compare(const struct subject *a, const struct subject *b)
{
	int order = compare_strings(a->tree, a->symbol->file, b->symbol->file);
	return order ? order : compare_numbers(a->symbol->line, b->symbol->line);
}

static uint64_t srcline_key(const struct subject *subject)
{
	return (uint64_t)subject->symbol->file << 32 | subject->symbol->line;
}

static void srcline_need(struct call_tree_options *options)
{
	options->by_line = true;
}

const struct column columns_all[] = {
	{ .name = "comm",
	  .heading = "Command",
	  .is_of_task = true,
	  .print = comm_print,
	  .compare = comm_compare,
	  .key = comm_key,
	  .need = comm_need,
	  .help = "name of the thread" },
	{ .name = "pid",
	  .heading = "Pid",
	  .is_of_task = true,
	  .print = pid_print,
	  .compare = pid_compare,
	  .key = pid_key,
	  .need = pid_need,
	  .is_number = true,
	  .help = "process" },
	{ .name = "tid",
	  .heading = "Tid",
	  .is_of_task = true,
	  .print = tid_print,
	  .compare = tid_compare,
	  .key = tid_key,
	  .need = tid_need,
	  .is_number = true,
	  .help = "thread" },
	{ .name = "cpu",
	  .heading = "CPU",
	  .is_of_task = true,
	  .print = cpu_print,
	  .compare = cpu_compare,
	  .key = cpu_key,
	  .need = cpu_need,
	  .is_number = true,
	  .help = "processor" },
	{ .name = "cgroup",
	  .heading = "Cgroup",
	  .is_of_task = true,
	  .print = cgroup_print,
	  .compare = cgroup_compare,
	  .key = cgroup_key,
	  .need = cgroup_need,
	  .help = "path of the cgroup, when recorded with --all-cgroups" },
	{ .name = "cgroup_id",
	  .heading = "Cgroup Id (dev/inode)",
	  .is_of_task = true,
	  .print = cgroup_id_print,
	  .compare = cgroup_id_compare,
	  .key = cgroup_id_key,
	  .need = cgroup_id_need,
	  .help = "cgroup namespace, when recorded with --namespaces" },
	{ .name = "dso",
	  .heading = "Shared Object",
	  .print = dso_print,
	  .compare = dso_compare,
	  .key = dso_key,
	  .help = "image, with its build where a path had several" },
	{ .name = "sym",
	  .alias = "symbol",
	  .heading = "Symbol",
	  .print = sym_print,
	  .compare = sym_compare,
	  .key = sym_key,
	  .help = "function" },
	{ .name = "srcline",
	  .heading = "Source:Line",
	  .print = srcline_print,
	  .compare = srcline_compare,
	  .key = srcline_key,
	  .need = srcline_need,
	  .help = "source line" },
	{ .name = "build_id",
	  .heading = "Build ID",
	  .print = build_id_print,
	  .compare = dso_compare,
	  .key = dso_key,
	  .help = "build ID of the image" },
	{ .name = "path",
	  .alias = "dso_path",
	  .heading = "Path",
	  .print = path_print,
	  .compare = dso_compare,
	  .key = dso_key,
	  .help = "path of the image as it was mapped" },
	{ .name = "kind",
	  .heading = "Kind",
	  .print = kind_print,
	  .compare = kind_compare,
	  .key = kind_key,
	  .help = "kernel, module, user, vdso, jit, anon, special" },
	{ .name = "identity",
	  .heading = "Identity",
	  .print = identity_print,
	  .compare = identity_compare,
	  .key = identity_key,
	  .need = identity_need,
	  .help = "where the build ID comes from" },
	{ .name = NULL },
};

static const struct column *column_find(const char *name, size_t length)
{
	for (const struct column *column = columns_all; column->name; column++) {
		bool is_name = strlen(column->name) == length &&
			       !memcmp(column->name, name, length);
		bool is_alias = column->alias && strlen(column->alias) == length &&
				!memcmp(column->alias, name, length);
		if (is_name || is_alias)
			return column;
	}
	return NULL;
}

static struct imp_error *no_such_column(const char *name, size_t length)
{
	_cleanup_buffer_ struct buffer all = { 0 };
	for (const struct column *column = columns_all; column->name; column++)
		buffer_format(&all, "%s%s", column == columns_all ? "" : ", ", column->name);
	buffer_append(&all, "", 1);
	if (all.failed)
		return &imp_error_no_memory;
	return error_new(IMP_ERR_USAGE, "'%.*s' is not a sort key; there are %s", (int)length, name,
			 (const char *)all.bytes);
}

struct imp_error *columns_parse(const char *text, struct column_list *ret)
{
	struct column_list list = { .count = 0 };
	while (true) {
		size_t length = strcspn(text, ", ");
		const struct column *column = column_find(text, length);
		if (!column)
			return no_such_column(text, length);
		if (list.count == MOST_COLUMNS)
			return error_new(IMP_ERR_USAGE, "more than %d sort keys", MOST_COLUMNS);
		list.items[list.count++] = column;
		text += length;
		if (!*text)
			break;
		text += strspn(text, ", ");
	}
	*ret = list;
	return NULL;
}
