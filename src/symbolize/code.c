// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// From an image's kind to the arithmetic of its addresses and the source of its names.
#include "symbolize/code.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "elf/kallsyms.h"
#include "symbolize/perf_map.h"

struct code {
	struct image image;
	char *path;
	const struct finding *finding;
	const struct symbols *symbols;
	struct dwarf *dwarf;
	// The file by whose segments offsets become addresses; NULL when `base` does it.
	const struct elf_image *layout;
	// Added to an offset where there is no layout.
	uint64_t base;
	// A kernel whose names come from its own list.
	struct kallsyms *kallsyms;
	struct symbols *kallsyms_symbols;
	// Generated code.
	struct perf_map *map;
	// Why nothing here can be named; KNOWN when something can.
	enum unknown_reason reason;
};

static struct imp_error *open_object(struct code *code, const struct code_options *options)
{
	struct object *object;
	struct imp_error *err = objects_get(options->objects, code->finding, &object);
	if (!err)
		err = object_symbols(object, &code->symbols);
	if (!err && options->wants_lines)
		err = object_dwarf(object, &code->dwarf);
	if (!err && symbols_count(code->symbols) == 0 && !code->dwarf)
		code->reason = UNKNOWN_NO_SYMBOLS;
	return err;
}

static bool image_has_layout(const struct elf_image *image)
{
	return image && elf_image_has_layout(image);
}

// Offsets of mapped files become addresses by the segments of whichever file tells them.
static void choose_layout(struct code *code)
{
	const struct finding *finding = code->finding;
	code->layout = image_has_layout(finding->image)	  ? finding->image
		       : image_has_layout(finding->debug) ? finding->debug
							  : NULL;
	if (!code->layout && code->reason == KNOWN)
		code->reason = UNKNOWN_OUTSIDE_IMAGE;
}

// The symbol from which a kernel's offsets count.
static bool find_reference(const struct code *code, const struct symbols *symbols, uint64_t *ret)
{
	const char *const names[] = { code->image.reference_symbol, "_text", "_stext" };
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct symbol symbol;
		if (names[i] && symbols_named(symbols, names[i], &symbol)) {
			*ret = symbol.address.value;
			return true;
		}
		// The recorded one, or none.
		if (i == 0 && names[i])
			return false;
	}
	return false;
}

static struct imp_error *open_kallsyms(struct code *code, const struct code_options *options)
{
	const char *reference = code->image.reference_symbol;
	struct imp_error *err = kallsyms_open(code->finding->kallsyms, &code->kallsyms);
	if (err && imp_error_code(err) != IMP_ERR_NO_MEMORY) {
		log_message(options->log, LOG_WARNING, "%s", imp_error_message(err));
		imp_error_free(err);
		code->reason = UNKNOWN_UNREADABLE;
		return NULL;
	}
	if (err)
		return err;
	if (kallsyms_is_hidden(code->kallsyms) ||
	    !kallsyms_address(code->kallsyms, reference ? reference : "_text", &code->base)) {
		code->reason = UNKNOWN_KERNEL_HIDDEN;
		return NULL;
	}
	err = kallsyms_symbols(code->kallsyms, NULL, &code->kallsyms_symbols);
	code->symbols = code->kallsyms_symbols;
	return err;
}

static struct imp_error *open_kernel(struct code *code, const struct code_options *options)
{
	if (!code->finding->image && !code->finding->debug)
		return open_kallsyms(code, options);
	struct imp_error *err = open_object(code, options);
	if (!err && code->reason == KNOWN && !find_reference(code, code->symbols, &code->base))
		code->reason = UNKNOWN_NO_SYMBOLS;
	return err;
}

static struct imp_error *open_map(struct code *code, const struct code_options *options)
{
	code->reason = UNKNOWN_ANONYMOUS;
	if (!options->map_dir || !code->image.pid)
		return NULL;
	_cleanup_buffer_ struct buffer path = { 0 };
	buffer_format(&path, "%s/perf-%u.map", options->map_dir, code->image.pid);
	buffer_append(&path, "", 1);
	if (path.failed)
		return &imp_error_no_memory;
	struct imp_error *err = perf_map_open((const char *)path.bytes, &code->map);
	if (err && imp_error_code(err) != IMP_ERR_NO_MEMORY) {
		log_message(options->log, LOG_WARNING, "%s", imp_error_message(err));
		imp_error_free(steal(err));
	}
	if (code->map)
		code->reason = KNOWN;
	return err;
}

static bool is_generated(const struct image *image)
{
	return image->kind == IMAGE_JIT || image->kind == IMAGE_ANON;
}

// What the kernel told of by a record of its own has no process, and its name is the image's.
static bool is_kernel_symbol(const struct image *image)
{
	return image->kind == IMAGE_JIT && !image->pid && build_id_is_none(&image->id);
}

static struct imp_error *open_found(struct code *code, const struct code_options *options)
{
	struct imp_error *err = finder_find(options->finder, &code->image, &code->finding);
	if (err)
		return err;
	code->reason = code->finding->reason;
	bool is_found = code->finding->image || code->finding->debug || code->finding->kallsyms;
	if (!is_found)
		return is_generated(&code->image) ? open_map(code, options) : NULL;
	code->reason = KNOWN;
	if (code->image.kind == IMAGE_KERNEL || code->image.kind == IMAGE_GUEST_KERNEL)
		return open_kernel(code, options);
	if (!code->finding->image && !code->finding->debug) {
		code->reason = UNKNOWN_IMAGE_NOT_FOUND;
		return NULL;
	}
	err = open_object(code, options);
	// A module's offsets are the addresses of its sections as the loader lays them out.
	if (!err && code->image.kind != IMAGE_MODULE && code->image.kind != IMAGE_GUEST_MODULE)
		choose_layout(code);
	return err;
}

struct imp_error *code_new(const struct image *image, const struct code_options *options,
			   struct code **ret)
{
	struct code *code = calloc(1, sizeof *code);
	if (!code)
		return &imp_error_no_memory;
	code->image = *image;
	code->path = strdup(image->path ? image->path : "");
	code->image.path = code->path;
	struct imp_error *err = code->path ? NULL : &imp_error_no_memory;
	if (!err)
		err = open_found(code, options);
	if (!err && is_kernel_symbol(&code->image))
		code->reason = KNOWN;
	if (err)
		code_free(code);
	else
		*ret = code;
	return err;
}

void code_free(struct code *code)
{
	if (!code)
		return;
	symbols_free(code->kallsyms_symbols);
	kallsyms_free(code->kallsyms);
	perf_map_free(code->map);
	free(code->path);
	free(code);
}

const struct finding *code_finding(const struct code *code)
{
	return code->finding;
}

static void name_by_map(const struct code *code, file_off offset, struct code_place *place)
{
	struct perf_map_entry entry;
	place->has_symbol = perf_map_at(code->map, offset.value, &entry);
	if (place->has_symbol) {
		place->symbol_name = entry.name;
		place->symbol_offset = offset.value - entry.start;
	} else {
		place->unknown = UNKNOWN_NO_SYMBOL_AT_ADDRESS;
	}
}

static struct imp_error *name_by_tables(const struct code *code, struct code_place *place)
{
	struct symbol symbol;
	if (code->symbols && symbols_at(code->symbols, place->address, &symbol)) {
		place->has_symbol = true;
		place->symbol_name = symbol.name;
		place->symbol_offset = place->address.value - symbol.address.value;
	}
	struct imp_error *err = NULL;
	if (code->dwarf)
		err = dwarf_find(code->dwarf, place->address, place->frames, &place->frame_count);
	bool is_named = place->has_symbol || (place->frame_count && place->frames[0].name);
	if (!is_named)
		place->unknown = UNKNOWN_NO_SYMBOL_AT_ADDRESS;
	return err;
}

struct imp_error *code_look_up(const struct code *code, file_off offset, struct code_place *place)
{
	place->has_address = place->has_symbol = false;
	place->frame_count = 0;
	place->unknown = KNOWN;
	if (is_kernel_symbol(&code->image)) {
		place->has_symbol = true;
		place->symbol_name = code->path;
		place->symbol_offset = 0;
		return NULL;
	}
	if (code->map) {
		name_by_map(code, offset, place);
		return NULL;
	}
	if (code->layout)
		place->has_address = elf_image_address(code->layout, offset, &place->address);
	else if (code->symbols)
		place->has_address = true, place->address = elf_addr_of(code->base + offset.value);
	if (code->reason != KNOWN || !place->has_address) {
		place->unknown = code->reason != KNOWN ? code->reason : UNKNOWN_OUTSIDE_IMAGE;
		return NULL;
	}
	return name_by_tables(code, place);
}

const struct symbols *code_aliases(const struct code *code, elf_addr address, size_t *first,
				   size_t *count)
{
	struct symbol symbol;
	*count = 0;
	if (!code->symbols || !symbols_at(code->symbols, address, &symbol))
		return NULL;
	*count = symbols_aliases(code->symbols, symbol.address, first);
	return code->symbols;
}
