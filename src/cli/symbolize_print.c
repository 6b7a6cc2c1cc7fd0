// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The output styles of `imprint symbolize`.
#include "cli/symbolize_print.h"

#include <inttypes.h>
#include <string.h>

static const char *shown_file(const struct symbolize_format *format, const char *file)
{
	const char *slash = format->has_basenames && file ? strrchr(file, '/') : NULL;
	return slash ? slash + 1 : file;
}

// Millions of lines are printed: these are several times faster than printf.
static void put_number(struct buffer *out, uint64_t number)
{
	char digits[20];
	size_t first = sizeof digits;
	do
		digits[--first] = (char)('0' + number % 10);
	while (number /= 10);
	buffer_append(out, digits + first, sizeof digits - first);
}

static void put(struct buffer *out, const char *text)
{
	buffer_text(out, text);
}

static void put_place(const struct symbolize_format *format, const struct frame *frame,
		      struct buffer *out)
{
	const char *file = frame ? shown_file(format, frame->file) : NULL;
	put(out, file ? file : "??");
	put(out, ":");
	if (format->style == STYLE_ADDR2LINE) {
		if (file && !frame->line)
			put(out, "?");
		else
			put_number(out, file ? frame->line : 0);
		return;
	}
	put_number(out, file ? frame->line : 0);
	put(out, ":");
	put_number(out, file ? frame->column : 0);
}

static void put_other_frame(const struct symbolize_format *format, const struct frame *frame,
			    bool is_first, struct buffer *out)
{
	const char *function = frame && frame->function ? frame->function : "??";
	if (format->is_pretty && !is_first)
		put(out, " (inlined by) ");
	if (format->has_functions) {
		put(out, function);
		put(out, format->is_pretty ? " at " : "\n");
	}
	put_place(format, frame, out);
	put(out, "\n");
}

static void print_other_address(const struct symbolize_format *format, uint64_t address)
{
	if (!format->has_addresses)
		return;
	if (format->style == STYLE_LLVM)
		fprintf(format->out, "0x%" PRIx64, address);
	else
		fprintf(format->out, "0x%016" PRIx64, address);
	fputs(format->is_pretty ? ": " : "\n", format->out);
}

static struct frame without_inlines(const struct frames *frames)
{
	// The function is the outermost's, the line the innermost's.
	struct frame frame = frames->items[frames->count - 1];
	frame.file = frames->items[0].file;
	frame.line = frames->items[0].line;
	frame.column = frames->items[0].column;
	return frame;
}

static void put_as_others(const struct symbolize_format *format, const struct frames *frames,
			  struct buffer *out)
{
	if (frames->count == 0) {
		put_other_frame(format, frames->has_line ? &frames->items[0] : NULL, true, out);
	} else if (!format->has_inlines) {
		// addr2line names the inlined call, llvm-symbolizer the function it is in.
		struct frame frame = format->style == STYLE_LLVM ? without_inlines(frames)
								 : frames->items[0];
		put_other_frame(format, &frame, true, out);
	} else {
		for (uint32_t i = 0; i < frames->count; i++)
			put_other_frame(format, &frames->items[i], i == 0, out);
	}
	if (format->style == STYLE_LLVM)
		put(out, "\n");
}

// What the other tools' styles show of A and B is the same.
static bool looks_same(const struct frame *a, const struct frame *b)
{
	return a->function == b->function && a->file == b->file && a->line == b->line &&
	       a->column == b->column;
}

static bool is_shown(const struct symbolize_text *shown, const struct frames *frames)
{
	if (!frames->count || frames->count != shown->frames.count)
		return false;
	for (uint32_t i = 0; i < frames->count; i++)
		if (!looks_same(&frames->items[i], &shown->frames.items[i]))
			return false;
	return true;
}

static struct imp_error *show(struct symbolize_text *shown, const struct frames *frames)
{
	shown->frames.count = 0;
	if (!array_reserve(&shown->frames, frames->count))
		return &imp_error_no_memory;
	if (frames->count)
		memcpy(shown->frames.items, frames->items, frames->count * sizeof *frames->items);
	shown->frames.count = frames->count;
	return NULL;
}

static struct imp_error *print_as_others(const struct symbolize_format *format,
					 const struct symbolized *symbolized)
{
	struct symbolize_text *shown = format->shown;
	const struct frames *frames = &symbolized->frames;
	print_other_address(format, symbolized->address);
	if (!is_shown(shown, frames)) {
		shown->text.size = 0;
		put_as_others(format, frames, &shown->text);
		struct imp_error *err = show(shown, frames);
		if (err || shown->text.failed)
			return &imp_error_no_memory;
	}
	fwrite_unlocked(shown->text.bytes, 1, shown->text.size, format->out);
	return NULL;
}

void symbolize_text_fini(struct symbolize_text *text)
{
	array_fini(&text->frames);
	buffer_fini(&text->text);
}

struct imp_error *symbolize_print_unknown(const struct symbolize_format *format, uint64_t address)
{
	struct symbolized nothing = { .address = address,
				      .frames = { .unknown = UNKNOWN_UNMAPPED } };
	return symbolize_print(format, &nothing);
}

static void put_own_unknown(const struct symbolize_format *format,
			    const struct symbolized *symbolized, struct buffer *out)
{
	const struct image *image = symbolized->image;
	buffer_format(out, "0x%" PRIx64, symbolized->address);
	if (image) {
		bool has_id = !build_id_is_none(&image->id);
		buffer_format(out, " [%s%s]", has_id ? "buildid:" : "no build ID",
			      has_id ? build_id_text(&image->id).text : "");
		if (symbolized->has_offset)
			buffer_format(out, "+0x%" PRIx64, symbolized->offset);
		if (image->path[0])
			buffer_format(out, " (%s)", image->path);
	}
	buffer_format(out, ": %s", unknown_reason_sentence(symbolized->frames.unknown));
	if (symbolized->frames.has_line) {
		put(out, ", at ");
		put_place(format, &symbolized->frames.items[0], out);
	}
	put(out, "\n");
}

static void put_aliases(const struct symbolized *symbolized, struct buffer *out)
{
	for (size_t i = 0; i < symbolized->alias_count; i++) {
		struct symbol alias =
			symbols_item(symbolized->aliases, symbolized->first_alias + i);
		buffer_format(out, "  %c %s (%s)\n", i == 0 ? '*' : ' ', alias.name,
			      symbol_source_name(alias.source));
	}
}

static void put_own_frame(const struct symbolize_format *format, const struct frame *frame,
			  bool is_forced, struct buffer *out)
{
	put(out, frame->function ? frame->function : "??");
	if (!frame->is_inlined)
		buffer_format(out, "+0x%" PRIx64, frame->offset);
	if (frame->file) {
		put(out, " at ");
		put_place(format, frame, out);
	}
	if (frame->is_inlined)
		put(out, " (inlined)");
	if (format->marks_forced && is_forced && !frame->is_inlined)
		put(out, " (of another build, by --force)");
	put(out, "\n");
}

static struct imp_error *print_own(const struct symbolize_format *format,
				   const struct symbolized *symbolized)
{
	const struct frames *frames = &symbolized->frames;
	struct frames single = *frames;
	struct frame frame_alone;
	struct buffer *out = &format->shown->text;
	out->size = 0;
	if (frames->count && !format->has_inlines) {
		frame_alone = without_inlines(frames);
		single.items = &frame_alone;
		single.count = 1;
		frames = &single;
	}
	if (frames->count == 0)
		put_own_unknown(format, symbolized, out);
	for (uint32_t i = 0; i < frames->count; i++) {
		if (i == 0)
			buffer_format(out, "0x%" PRIx64 " ", symbolized->address);
		else
			put(out, "  in ");
		put_own_frame(format, &frames->items[i], frames->is_forced, out);
	}
	if (format->has_aliases)
		put_aliases(symbolized, out);
	if (out->failed)
		return &imp_error_no_memory;
	fwrite_unlocked(out->bytes, 1, out->size, format->out);
	return NULL;
}

static void print_json_frame(struct json *json, const struct symbolize_format *format,
			     const struct frame *frame)
{
	json_begin_object(json);
	json_member_string(json, "function", frame->function);
	json_member_string(json, "linkage_name", frame->linkage_name);
	json_member_string(json, "file", shown_file(format, frame->file));
	json_member_uint(json, "line", frame->line);
	json_member_uint(json, "column", frame->column);
	json_member_uint(json, "offset", frame->offset);
	json_member_bool(json, "is_inlined", frame->is_inlined);
	json_end_object(json);
}

static void print_json_aliases(struct json *json, const struct symbolized *symbolized)
{
	json_key(json, "aliases");
	json_begin_array(json);
	for (size_t i = 0; i < symbolized->alias_count; i++) {
		struct symbol alias =
			symbols_item(symbolized->aliases, symbolized->first_alias + i);
		json_begin_object(json);
		json_member_string(json, "name", alias.name);
		json_member_string(json, "source", symbol_source_name(alias.source));
		json_end_object(json);
	}
	json_end_array(json);
}

static void print_json(const struct symbolize_format *format, const struct symbolized *symbolized)
{
	struct json *json = format->json;
	const struct frames *frames = &symbolized->frames;
	const struct image *image = symbolized->image;
	json_begin_object(json);
	json_member_hex(json, "address", symbolized->address);
	json_member_string(json, "path", image && image->path[0] ? image->path : NULL);
	bool has_id = image && !build_id_is_none(&image->id);
	json_member_string(json, "build_id", has_id ? build_id_text(&image->id).text : NULL);
	if (symbolized->has_offset)
		json_member_hex(json, "offset", symbolized->offset);
	if (frames->has_address)
		json_member_hex(json, "elf_address", frames->address.value);
	json_member_string(json, "unknown",
			   frames->count ? NULL : unknown_reason_name(frames->unknown));
	json_member_bool(json, "is_forced", format->marks_forced && frames->is_forced);
	json_key(json, "frames");
	json_begin_array(json);
	for (uint32_t i = 0; i < frames->count; i++)
		print_json_frame(json, format, &frames->items[i]);
	json_end_array(json);
	if (format->has_aliases)
		print_json_aliases(json, symbolized);
	json_end_object(json);
}

struct imp_error *symbolize_print(const struct symbolize_format *format,
				  const struct symbolized *symbolized)
{
	switch (format->style) {
	case STYLE_IMPRINT:
		return print_own(format, symbolized);
	case STYLE_LLVM:
	case STYLE_ADDR2LINE:
		return print_as_others(format, symbolized);
	case STYLE_JSON:
		print_json(format, symbolized);
		break;
	}
	return NULL;
}
