// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The table of symbols: order, choice among aliases, ranges.
#include "elf/symbols.h"

#include <string.h>

#include "elf/symbols_build.h"

static const char *const source_names[SYMBOL_SOURCES] = {
	[SYMBOL_SYMTAB] = ".symtab",	[SYMBOL_DEBUGDATA] = ".gnu_debugdata",
	[SYMBOL_DYNSYM] = ".dynsym",	[SYMBOL_PLT] = "plt",
	[SYMBOL_KALLSYMS] = "kallsyms",
};

const char *symbol_source_name(enum symbol_source source)
{
	return source_names[source];
}

struct symbols *symbols_alloc(void)
{
	struct symbols *symbols = calloc(1, sizeof *symbols);
	uint64_t *nowhere = symbols ? array_add(&symbols->ends) : NULL;
	if (nowhere)
		*nowhere = UINT64_MAX;
	if (symbols && !nowhere) {
		free(symbols);
		return NULL;
	}
	return symbols;
}

void symbols_free(struct symbols *symbols)
{
	if (!symbols)
		return;
	for (size_t i = 0; i < symbols->names.count; i++)
		free(symbols->names.items[i]);
	for (size_t i = 0; i < symbols->images.count; i++)
		elf_image_free(symbols->images.items[i]);
	array_fini(&symbols->items);
	array_fini(&symbols->ends);
	array_fini(&symbols->boundaries);
	array_fini(&symbols->starts);
	array_fini(&symbols->range_items);
	array_fini(&symbols->names);
	array_fini(&symbols->images);
	free(symbols);
}

uint32_t symbols_add_end(struct symbols *symbols, uint64_t end)
{
	uint64_t *slot = array_add(&symbols->ends);
	if (!slot)
		return 0;
	*slot = end;
	return (uint32_t)symbols->ends.count - 1;
}

const char *symbols_keep_name(struct symbols *symbols, const char *text, size_t length)
{
	char *copy = strndup(text, length);
	char **slot = copy ? array_add(&symbols->names) : NULL;
	if (!slot) {
		free(copy);
		return NULL;
	}
	*slot = copy;
	return copy;
}

// How many of the sorted VALUES are at most LIMIT.
static size_t values_up_to(const uint64_t *values, size_t count, uint64_t limit)
{
	size_t low = 0, high = count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (values[middle] <= limit)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int order(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_values(const void *left, const void *right)
{
	return order(*(const uint64_t *)left, *(const uint64_t *)right);
}

static unsigned type_rank(uint8_t type)
{
	return type == STT_FUNC ? 0 : type == STT_GNU_IFUNC ? 1 : 2;
}

static unsigned binding_rank(uint8_t binding)
{
	return binding == STB_WEAK ? 1 : binding == STB_LOCAL ? 2 : 0;
}

// The order of items: by address, and among those of one address the preferred one first. The rules
// are told in docs/names.md.
static int compare_items(const void *left, const void *right)
{
	const struct symbol_item *a = left, *b = right;
	int by = order(a->address, b->address);
	if (by)
		return by;
	by = order(a->size == 0, b->size == 0);
	if (!by)
		by = order(type_rank(a->type), type_rank(b->type));
	if (!by)
		by = order(binding_rank(a->binding), binding_rank(b->binding));
	if (!by)
		by = order(strspn(a->name, "_"), strspn(b->name, "_"));
	if (!by)
		by = order(strlen(a->name), strlen(b->name));
	if (!by)
		by = strcmp(a->name, b->name);
	if (!by)
		by = order(a->source, b->source);
	return by ? by : order(a->size, b->size);
}

// An item before INDEX has the same address and name.
static bool is_double(const struct symbols *symbols, size_t kept, const struct symbol_item *item)
{
	enum { LOOK_BACK = 8 };
	for (size_t i = kept; i > 0 && kept - i < LOOK_BACK; i--) {
		const struct symbol_item *before = &symbols->items.items[i - 1];
		if (before->address != item->address)
			return false;
		if (!strcmp(before->name, item->name))
			return true;
	}
	return false;
}

static void drop_doubles(struct symbols *symbols)
{
	size_t kept = 0;
	for (size_t i = 0; i < symbols->items.count; i++) {
		struct symbol_item item = symbols->items.items[i];
		if (!is_double(symbols, kept, &item))
			symbols->items.items[kept++] = item;
	}
	symbols->items.count = kept;
}

// The walk over the sorted items: those that are open, and how far ranges are made.
struct sweep {
	struct symbols *symbols;
	ARRAY_OF(struct open_item {
		uint64_t end;
		uint32_t item;
	})
	open;
	uint64_t at;
	// No sized symbol seen so far reaches beyond this.
	uint64_t sized_end;
	bool failed;
};

static void add_range(struct sweep *sweep, uint64_t start, uint32_t item)
{
	struct symbols *symbols = sweep->symbols;
	size_t count = symbols->starts.count;
	if (count && symbols->range_items.items[count - 1] == item)
		return;
	uint64_t *slot = array_add(&symbols->starts);
	uint32_t *number = array_add(&symbols->range_items);
	if (!slot || !number) {
		sweep->failed = true;
		return;
	}
	*slot = start;
	*number = item;
}

// Makes the ranges from sweep->at up to LIMIT out of the open items, the last opened first.
static void close_until(struct sweep *sweep, uint64_t limit)
{
	while (sweep->open.count && sweep->at < limit) {
		const struct open_item *top = &sweep->open.items[sweep->open.count - 1];
		if (top->end <= sweep->at) {
			sweep->open.count--;
			continue;
		}
		add_range(sweep, sweep->at, top->item);
		sweep->at = top->end < limit ? top->end : limit;
	}
	if (sweep->at < limit) {
		add_range(sweep, sweep->at, NO_ITEM);
		sweep->at = limit;
	}
}

// Where item INDEX, which has no size, ends: at the next item that begins later, or with its
// section. Kernels' last symbols, of which neither is known, end with their page.
static uint64_t sizeless_end(const struct symbols *symbols, size_t index)
{
	enum { PAGE = 4096 };
	const struct symbol_item *item = &symbols->items.items[index];
	uint64_t end = symbols->ends.items[item->section];
	size_t next = index + 1;
	while (next < symbols->items.count && symbols->items.items[next].address == item->address)
		next++;
	if (next < symbols->items.count && symbols->items.items[next].address < end)
		end = symbols->items.items[next].address;
	size_t boundary =
		values_up_to(symbols->boundaries.items, symbols->boundaries.count, item->address);
	if (boundary < symbols->boundaries.count && symbols->boundaries.items[boundary] < end)
		end = symbols->boundaries.items[boundary];
	return end == UINT64_MAX ? (item->address | (PAGE - 1)) + 1 : end;
}

static void open_item(struct sweep *sweep, size_t index)
{
	const struct symbol_item *item = &sweep->symbols->items.items[index];
	uint64_t end;
	if (item->size) {
		if (__builtin_add_overflow(item->address, item->size, &end))
			end = UINT64_MAX;
		if (end > sweep->sized_end)
			sweep->sized_end = end;
	} else {
		// A label inside a function does not take the rest of it away.
		if (sweep->sized_end > item->address)
			return;
		end = sizeless_end(sweep->symbols, index);
	}
	if (end <= item->address)
		return;
	struct open_item *slot = array_add(&sweep->open);
	if (slot)
		*slot = (struct open_item){ end, (uint32_t)index };
	else
		sweep->failed = true;
}

// Opens the items of one address, FIRST up to (not with) END: sized ones before labels, which look
// at what is sized; then the preferred one must be the last, to be on top.
static void open_group(struct sweep *sweep, size_t first, size_t end)
{
	size_t labels = first;
	while (labels < end && sweep->symbols->items.items[labels].size)
		labels++;
	for (size_t i = labels; i > first; i--)
		open_item(sweep, i - 1);
	for (size_t i = end; i > labels; i--)
		open_item(sweep, i - 1);
}

static struct imp_error *cut_ranges(struct symbols *symbols)
{
	struct sweep sweep = { .symbols = symbols };
	for (size_t first = 0; first < symbols->items.count;) {
		uint64_t address = symbols->items.items[first].address;
		size_t end = first + 1;
		while (end < symbols->items.count && symbols->items.items[end].address == address)
			end++;
		close_until(&sweep, address);
		sweep.at = address;
		open_group(&sweep, first, end);
		first = end;
	}
	close_until(&sweep, UINT64_MAX);
	array_fini(&sweep.open);
	return sweep.failed ? &imp_error_no_memory : NULL;
}

struct imp_error *symbols_index(struct symbols *symbols)
{
	if (symbols->items.count >= NO_ITEM)
		return error_new(IMP_ERR_BAD_DATA, "more than 4 billion symbols");
	if (symbols->items.count)
		qsort(symbols->items.items, symbols->items.count, sizeof *symbols->items.items,
		      compare_items);
	if (symbols->boundaries.count)
		qsort(symbols->boundaries.items, symbols->boundaries.count, sizeof(uint64_t),
		      compare_values);
	drop_doubles(symbols);
	symbols->starts.count = symbols->range_items.count = 0;
	return cut_ranges(symbols);
}

size_t symbols_count(const struct symbols *symbols)
{
	return symbols->items.count;
}

struct symbol symbols_item(const struct symbols *symbols, size_t index)
{
	const struct symbol_item *item = &symbols->items.items[index];
	return (struct symbol){ .address = elf_addr_of(item->address),
				.size = item->size,
				.name = item->name,
				.type = item->type,
				.binding = item->binding,
				.source = item->source };
}

bool symbols_at(const struct symbols *symbols, elf_addr address, struct symbol *ret)
{
	size_t before = values_up_to(symbols->starts.items, symbols->starts.count, address.value);
	if (!before || symbols->range_items.items[before - 1] == NO_ITEM)
		return false;
	*ret = symbols_item(symbols, symbols->range_items.items[before - 1]);
	return true;
}

size_t symbols_aliases(const struct symbols *symbols, elf_addr address, size_t *first)
{
	size_t low = 0, high = symbols->items.count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (symbols->items.items[middle].address < address.value)
			low = middle + 1;
		else
			high = middle;
	}
	*first = low;
	size_t end = low;
	while (end < symbols->items.count && symbols->items.items[end].address == address.value)
		end++;
	return end - low;
}

bool symbols_named(const struct symbols *symbols, const char *name, struct symbol *ret)
{
	for (size_t i = 0; i < symbols->items.count; i++) {
		const struct symbol_item *item = &symbols->items.items[i];
		if (strcmp(item->name, name) != 0)
			continue;
		*ret = symbols_item(symbols, i);
		return true;
	}
	return false;
}
