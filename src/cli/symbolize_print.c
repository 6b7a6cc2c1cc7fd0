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

// Millions of lines are printed: this is several times faster than printf.
static void put_number(FILE *out, uint64_t number)
{
	char digits[20];
	unsigned count = 0;
	do
		digits[count++] = (char)('0' + number % 10);
	while (number /= 10);
	while (count)
		putc_unlocked(digits[--count], out);
}

static void put(FILE *out, const char *text)
{
	fwrite_unlocked(text, 1, strlen(text), out);
}

static void put_place(const struct symbolize_format *format, const struct frame *frame)
{
	FILE *out = format->out;
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
			    bool is_first)
{
	FILE *out = format->out;
	const char *function = frame && frame->function ? frame->function : "??";
	if (format->is_pretty && !is_first)
		put(out, " (inlined by) ");
	if (format->has_functions) {
		put(out, function);
		put(out, format->is_pretty ? " at " : "\n");
	}
	put_place(format, frame);
	put(out, "\n");
}

static void put_other_address(const struct symbolize_format *format, uint64_t address)
{
	if (!format->has_addresses)
		return;
	if (format->style == STYLE_LLVM)
		fprintf(format->out, "0x%" PRIx64, address);
	else
		fprintf(format->out, "0x%016" PRIx64, address);
	put(format->out, format->is_pretty ? ": " : "\n");
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

static void print_as_others(const struct symbolize_format *format,
			    const struct symbolized *symbolized)
{
	const struct frames *frames = &symbolized->frames;
	put_other_address(format, symbolized->address);
	if (frames->count == 0) {
		put_other_frame(format, frames->has_line ? &frames->items[0] : NULL, true);
	} else if (!format->has_inlines) {
		// addr2line names the inlined call, llvm-symbolizer the function it is in.
		struct frame frame = format->style == STYLE_LLVM ? without_inlines(frames)
								 : frames->items[0];
		put_other_frame(format, &frame, true);
	} else {
		for (uint32_t i = 0; i < frames->count; i++)
			put_other_frame(format, &frames->items[i], i == 0);
	}
	if (format->style == STYLE_LLVM)
		put(format->out, "\n");
}

void symbolize_print_unknown(const struct symbolize_format *format, uint64_t address)
{
	struct symbolized nothing = { .address = address,
				      .frames = { .unknown = UNKNOWN_UNMAPPED } };
	symbolize_print(format, &nothing);
}

static void print_own_unknown(const struct symbolize_format *format,
			      const struct symbolized *symbolized)
{
	FILE *out = format->out;
	const struct image *image = symbolized->image;
	fprintf(out, "0x%" PRIx64, symbolized->address);
	if (image) {
		bool has_id = !build_id_is_none(&image->id);
		fprintf(out, " [%s%s]", has_id ? "buildid:" : "no build ID",
			has_id ? build_id_text(&image->id).text : "");
		if (symbolized->has_offset)
			fprintf(out, "+0x%" PRIx64, symbolized->offset);
		if (image->path[0])
			fprintf(out, " (%s)", image->path);
	}
	fprintf(out, ": %s", unknown_reason_sentence(symbolized->frames.unknown));
	if (symbolized->frames.has_line) {
		put(out, ", at ");
		put_place(format, &symbolized->frames.items[0]);
	}
	put(out, "\n");
}

static void print_aliases(const struct symbolize_format *format,
			  const struct symbolized *symbolized)
{
	for (size_t i = 0; i < symbolized->alias_count; i++) {
		struct symbol alias =
			symbols_item(symbolized->aliases, symbolized->first_alias + i);
		fprintf(format->out, "  %c %s (%s)\n", i == 0 ? '*' : ' ', alias.name,
			symbol_source_name(alias.source));
	}
}

static void print_own(const struct symbolize_format *format, const struct symbolized *symbolized)
{
	FILE *out = format->out;
	const struct frames *frames = &symbolized->frames;
	struct frames single = *frames;
	struct frame frame_alone;
	if (frames->count && !format->has_inlines) {
		frame_alone = without_inlines(frames);
		single.items = &frame_alone;
		single.count = 1;
		frames = &single;
	}
	if (frames->count == 0)
		print_own_unknown(format, symbolized);
	for (uint32_t i = 0; i < frames->count; i++) {
		const struct frame *frame = &frames->items[i];
		if (i == 0)
			fprintf(out, "0x%" PRIx64 " ", symbolized->address);
		else
			put(out, "  in ");
		put(out, frame->function ? frame->function : "??");
		if (!frame->is_inlined)
			fprintf(out, "+0x%" PRIx64, frame->offset);
		if (frame->file) {
			put(out, " at ");
			put_place(format, frame);
		}
		if (frame->is_inlined)
			put(out, " (inlined)");
		if (format->marks_forced && frames->is_forced && !frame->is_inlined)
			put(out, " (of another build, by --force)");
		put(out, "\n");
	}
	if (format->has_aliases)
		print_aliases(format, symbolized);
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

void symbolize_print(const struct symbolize_format *format, const struct symbolized *symbolized)
{
	switch (format->style) {
	case STYLE_IMPRINT:
		print_own(format, symbolized);
		break;
	case STYLE_LLVM:
	case STYLE_ADDR2LINE:
		print_as_others(format, symbolized);
		break;
	case STYLE_JSON:
		print_json(format, symbolized);
		break;
	}
}
