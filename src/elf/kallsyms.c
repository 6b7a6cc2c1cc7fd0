// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Reading kallsyms: "ADDRESS TYPE NAME", and for a module a tab and "[MODULE]".
#include "elf/kallsyms.h"

#include <string.h>

#include "base/file.h"
#include "base/hex.h"
#include "base/strings.h"
#include "elf/symbols_build.h"
#include "elf/unpack.h"

enum { TEXT_MOST = 1 << 30, NO_MODULE = UINT32_MAX };

struct kallsyms_line {
	uint64_t address;
	// Where the name stands in the text.
	uint32_t name;
	uint32_t module : 24;
	uint32_t type : 8;
};

enum { KERNEL_ITSELF = (1 << 24) - 1 };

struct kallsyms {
	// Every name ends with NUL.
	struct buffer text;
	ARRAY_OF(struct kallsyms_line) lines;
	struct strings modules;
	bool has_addresses;
};

void kallsyms_free(struct kallsyms *kallsyms)
{
	if (!kallsyms)
		return;
	buffer_fini(&kallsyms->text);
	array_fini(&kallsyms->lines);
	strings_fini(&kallsyms->modules);
	free(kallsyms);
}

// The number of the module in "[NAME]", of LENGTH bytes.
static struct imp_error *read_module(struct kallsyms *kallsyms, const char *text, size_t length,
				     uint32_t *ret)
{
	*ret = KERNEL_ITSELF;
	if (length < 3 || text[0] != '[' || text[length - 1] != ']')
		return NULL;
	struct imp_error *err = strings_intern(&kallsyms->modules, text + 1, length - 2, ret);
	if (!err && *ret >= KERNEL_ITSELF)
		return error_new(IMP_ERR_BAD_DATA, "more than 16 million modules");
	return err;
}

// Reads the line of LENGTH bytes at START; the byte behind it may be written to.
static struct imp_error *read_line(struct kallsyms *kallsyms, size_t start, size_t length)
{
	char *line = (char *)kallsyms->text.bytes + start;
	struct kallsyms_line ours = { 0 };
	size_t at = 0;
	for (; at < length && at < 16 && hex_digit(line[at]) >= 0; at++)
		ours.address = ours.address << 4 | (uint64_t)hex_digit(line[at]);
	if (!at || length < at + 4 || line[at] != ' ' || line[at + 2] != ' ')
		return NULL;
	ours.type = (uint8_t)line[at + 1];
	size_t name = at + 3;
	const char *tab = memchr(line + name, '\t', length - name);
	size_t end = tab ? (size_t)(tab - line) : length;
	uint32_t module = KERNEL_ITSELF;
	if (tab) {
		struct imp_error *err = read_module(kallsyms, tab + 1, length - end - 1, &module);
		if (err)
			return err;
	}
	line[end] = 0;
	ours.module = module & KERNEL_ITSELF;
	ours.name = (uint32_t)(start + name);
	kallsyms->has_addresses |= ours.address != 0;
	struct kallsyms_line *slot = array_add(&kallsyms->lines);
	if (!slot)
		return &imp_error_no_memory;
	*slot = ours;
	return NULL;
}

struct imp_error *kallsyms_parse(struct buffer *text, struct kallsyms **ret)
{
	_cleanup_kallsyms_ struct kallsyms *kallsyms = calloc(1, sizeof *kallsyms);
	// So that the last line has a byte behind it, too.
	buffer_append(text, "\n", 1);
	if (!kallsyms || text->failed) {
		buffer_fini(text);
		return &imp_error_no_memory;
	}
	kallsyms->text = *text;
	*text = (struct buffer){ 0 };
	if (kallsyms->text.size > TEXT_MOST)
		return error_new(IMP_ERR_BAD_DATA, "kallsyms of more than %d bytes", TEXT_MOST);
	for (size_t start = 0; start < kallsyms->text.size;) {
		const uint8_t *line = kallsyms->text.bytes + start;
		const uint8_t *end = memchr(line, '\n', kallsyms->text.size - start);
		size_t length = (size_t)(end - line);
		struct imp_error *err = read_line(kallsyms, start, length);
		if (err)
			return err;
		start += length + 1;
	}
	*ret = steal(kallsyms);
	return NULL;
}

struct imp_error *kallsyms_open(const char *path, struct kallsyms **ret)
{
	_cleanup_buffer_ struct buffer file = { 0 };
	_cleanup_buffer_ struct buffer whole = { 0 };
	struct imp_error *err = file_slurp_path(path, TEXT_MOST, &file);
	if (err)
		return err;
	bool is_packed = unpack_knows(file.bytes, file.size);
	if (is_packed)
		err = unpack(file.bytes, file.size, TEXT_MOST, &whole);
	if (!err)
		err = kallsyms_parse(is_packed ? &whole : &file, ret);
	return err ? error_context(err, "%s", path) : NULL;
}

bool kallsyms_is_hidden(const struct kallsyms *kallsyms)
{
	return !kallsyms->has_addresses;
}

static const char *name_of(const struct kallsyms *kallsyms, const struct kallsyms_line *line)
{
	return (const char *)kallsyms->text.bytes + line->name;
}

bool kallsyms_address(const struct kallsyms *kallsyms, const char *name, uint64_t *ret)
{
	for (size_t i = 0; i < kallsyms->lines.count; i++) {
		const struct kallsyms_line *line = &kallsyms->lines.items[i];
		if (line->module != KERNEL_ITSELF || strcmp(name_of(kallsyms, line), name) != 0)
			continue;
		*ret = line->address;
		return true;
	}
	return false;
}

static uint32_t module_number(const struct kallsyms *kallsyms, const char *module)
{
	if (!module)
		return KERNEL_ITSELF;
	for (uint32_t i = 0; i < kallsyms->modules.all.count; i++)
		if (!strcmp(strings_at(&kallsyms->modules, i), module))
			return i;
	return NO_MODULE;
}

// Functions become items; whatever else has an address ends the function before it, for kallsyms
// tells no sizes. Absolute symbols (per-CPU offsets) are no places.
static bool add_line(struct symbols *symbols, const struct kallsyms *kallsyms,
		     const struct kallsyms_line *line)
{
	if (strchr("aA", (char)line->type))
		return true;
	if (!strchr("tTwW", (char)line->type)) {
		uint64_t *boundary = array_add(&symbols->boundaries);
		if (boundary)
			*boundary = line->address;
		return boundary;
	}
	struct symbol_item *item = array_add(&symbols->items);
	if (!item)
		return false;
	uint8_t binding = line->type == 'T' ? STB_GLOBAL : line->type == 't' ? STB_LOCAL : STB_WEAK;
	*item = (struct symbol_item){ .address = line->address,
				      .name = name_of(kallsyms, line),
				      .type = STT_FUNC,
				      .binding = binding,
				      .source = SYMBOL_KALLSYMS };
	return true;
}

struct imp_error *kallsyms_symbols(const struct kallsyms *kallsyms, const char *module,
				   struct symbols **ret)
{
	_cleanup_symbols_ struct symbols *symbols = symbols_alloc();
	if (!symbols)
		return &imp_error_no_memory;
	uint32_t number = module_number(kallsyms, module);
	for (size_t i = 0; i < kallsyms->lines.count && kallsyms->has_addresses; i++) {
		const struct kallsyms_line *line = &kallsyms->lines.items[i];
		if (line->module == number && !add_line(symbols, kallsyms, line))
			return &imp_error_no_memory;
	}
	struct imp_error *err = symbols_index(symbols);
	if (!err)
		*ret = steal(symbols);
	return err;
}
