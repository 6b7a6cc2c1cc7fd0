// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// From an image's kind to the arithmetic of its addresses and the source of its names.
#include "symbolize/code.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "perfdata/jit_dump.h"
#include "symbolize/perf_map.h"

struct code {
	struct image image;
	char *path;
	const struct finding *finding;
	// Lent by the finding or the object.
	const struct symbols *symbols;
	// NULL when it has no lines, or none are wanted.
	struct object *lines;
	// Generated code.
	struct perf_map *map;
	struct jit_dump *dump;
	// Only exported symbols are left in the file.
	bool is_stripped;
	// Why nothing here can be named; KNOWN when something can.
	enum unknown_reason reason;
};

// The kernel's vdso never has more than it exports.
static bool is_stripped(const struct code *code)
{
	const struct elf_image *files[] = { code->finding->image, code->finding->debug };
	enum find_rank best = RANK_NOTHING;
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		enum find_rank rank = files[i] ? find_rank_of(files[i]) : RANK_NOTHING;
		best = rank > best ? rank : best;
	}
	return best <= RANK_DYNSYM && code->image.kind != IMAGE_VDSO;
}

static struct imp_error *open_object(struct code *code, const struct code_options *options)
{
	struct object *object;
	struct imp_error *err = objects_get(options->objects, code->finding, &object);
	if (!err)
		err = object_symbols(object, &code->symbols);
	bool has_lines = false;
	if (!err && options->wants_lines)
		err = object_has_lines(object, &has_lines);
	code->lines = has_lines ? object : NULL;
	code->is_stripped = is_stripped(code);
	if (!err && symbols_count(code->symbols) == 0 && !has_lines)
		code->reason = UNKNOWN_NO_SYMBOLS;
	return err;
}

// What the process that still runs has in its own namespaces.
static struct imp_error *open_own_map(struct code *code, const struct code_options *options)
{
	int fd;
	_cleanup_free_ char *place = NULL;
	struct imp_error *err = finder_open_perf_map(options->finder, code->image.pid, &fd, &place);
	return err || fd < 0 ? err : perf_map_open_fd(fd, place, &code->map);
}

static struct imp_error *open_map_by_number(struct code *code, const struct code_options *options)
{
	_cleanup_buffer_ struct buffer path = { 0 };
	buffer_format(&path, "%s/perf-%u.map", options->map_dir, code->image.pid);
	buffer_append(&path, "", 1);
	return path.failed ? &imp_error_no_memory
			   : perf_map_open((const char *)path.bytes, &code->map);
}

static struct imp_error *open_map(struct code *code, const struct code_options *options)
{
	if (!options->map_dir || !code->image.pid)
		return NULL;
	struct imp_error *err = open_own_map(code, options);
	if (!err && !code->map)
		err = open_map_by_number(code, options);
	if (err && imp_error_code(err) != IMP_ERR_NO_MEMORY) {
		log_message(options->log, LOG_WARNING, "%s", imp_error_message(err));
		imp_error_free(steal(err));
	}
	if (code->map)
		code->reason = KNOWN;
	return err;
}

// Code that a jit-PID.dump tells of.
static bool is_dumped(const struct image *image)
{
	return image->kind == IMAGE_JIT && image->pid;
}

static struct imp_error *open_dump(struct code *code, const struct code_options *options)
{
	struct imp_error *err = jit_dump_open(code->path, &code->dump);
	if (err && imp_error_code(err) != IMP_ERR_NO_MEMORY) {
		log_message(options->log, LOG_WARNING, "%s", imp_error_message(err));
		imp_error_free(steal(err));
	}
	if (code->dump)
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
	const struct finding *finding = code->finding;
	code->reason = finding->reason;
	if (finding->kallsyms) {
		code->symbols = finding->kallsyms;
		return NULL;
	}
	if (finding->image || finding->debug)
		return open_object(code, options);
	if (is_dumped(&code->image))
		return open_dump(code, options);
	return is_generated(&code->image) ? open_map(code, options) : NULL;
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
	perf_map_free(code->map);
	jit_dump_free(code->dump);
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

static void name_by_dump(const struct code *code, file_off offset, struct code_place *place)
{
	struct jit_function function;
	place->has_symbol = jit_dump_function_at(code->dump, offset.value, &function);
	if (place->has_symbol) {
		place->symbol_name = function.name;
		place->symbol_offset = offset.value - function.offset;
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
	if (code->lines)
		err = object_lines(code->lines, place->address, place->frames, &place->frame_count);
	bool is_named = place->has_symbol || place->frame_count > 1 ||
			(place->frame_count && place->frames[0].name);
	if (!is_named)
		place->unknown = code->is_stripped ? UNKNOWN_STRIPPED
						   : UNKNOWN_NO_SYMBOL_AT_ADDRESS;
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
	if (code->dump) {
		name_by_dump(code, offset, place);
		return NULL;
	}
	place->unknown = finding_address(code->finding, &code->image, offset, &place->address);
	place->has_address = place->unknown == KNOWN;
	if (code->reason != KNOWN)
		place->unknown = code->reason;
	if (place->unknown != KNOWN)
		return NULL;
	return name_by_tables(code, place);
}

struct imp_error *code_look_up_address(const struct code *code, elf_addr address,
				       struct code_place *place)
{
	place->has_address = true;
	place->has_symbol = false;
	place->frame_count = 0;
	place->address = address;
	place->unknown = code->reason;
	return code->reason == KNOWN ? name_by_tables(code, place) : NULL;
}

struct imp_error *code_prepare(const struct code *code, const elf_addr *addresses, size_t count,
			       unsigned workers)
{
	return code->lines ? object_prepare(code->lines, addresses, count, workers) : NULL;
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
