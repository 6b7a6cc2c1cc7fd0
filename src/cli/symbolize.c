// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// imprint symbolize: addresses to functions, source lines and inlined calls.
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/naming.h"
#include "cli/places.h"
#include "cli/process_places.h"
#include "cli/symbolize_input.h"
#include "cli/symbolize_print.h"
#include "cli/symbolize_targets.h"
#include "cli/terminal.h"

enum { SYMBOLIZE_JSON_VERSION = 1 };

struct symbolize_options {
	struct naming naming;
	const char *image, *style, *snapshot;
	uint64_t pid;
	bool json, is_return, aliases, no_inlines;
	bool functions, inlines, pretty, addresses, basenames, demangle;
	bool is_quiet;
	unsigned verbose;
};

#define ROW(kind_, letter_, name_, argument_, field, help_)                             \
	{                                                                               \
		.kind = kind_, .letter = letter_, .name = name_, .argument = argument_, \
		.help = help_, .offset = offsetof(struct symbolize_options, field)      \
	}
// Another tool's word for the same.
#define ALIAS(letter_, name_, argument_, field)                                               \
	{                                                                                     \
		.kind = OPTION_TEXT, .letter = letter_, .name = name_, .argument = argument_, \
		.offset = offsetof(struct symbolize_options, field), .is_hidden = true        \
	}
#define NAMING(kind, name, argument, field, help) \
	NAMING_ROW(struct symbolize_options, naming, kind, 0, name, argument, field, help)

static const struct option symbolize_rows[] = {
	ROW(OPTION_TEXT, 'e', "image", "FILE|ID", image,
	    "the file the addresses are of, or its build ID"),
	ALIAS(0, "exe", "FILE", image),
	ALIAS(0, "obj", "FILE", image),
	ROW(OPTION_NUMBER, 0, "pid", "PID", pid, "the addresses are of the running process PID"),
	ROW(OPTION_TEXT, 0, "snapshot", "FILE", snapshot,
	    "the addresses are of a process (--pid) in this snapshot or core file"),
	ROW(OPTION_FLAG, 0, "return", NULL, is_return,
	    "they are return addresses: name the calls before them"),
	ROW(OPTION_FLAG, 0, "aliases", NULL, aliases,
	    "all symbols at the function's start, the chosen one first"),
	ROW(OPTION_TEXT, 0, "output-style", "STYLE", style, "imprint, llvm or addr2line"),
	ROW(OPTION_FLAG, 0, "json", NULL, json, "as JSON"),
	{ .kind = OPTION_HEADING, .help = "For the styles llvm and addr2line:" },
	ROW(OPTION_FLAG, 'f', "functions", NULL, functions, "function names (addr2line)"),
	ROW(OPTION_FLAG, 'i', "inlines", NULL, inlines, "inlined calls (addr2line)"),
	ROW(OPTION_FLAG, 'C', "demangle", NULL, demangle, "demangle names (addr2line)"),
	ROW(OPTION_FLAG, 'p', "pretty-print", NULL, pretty, "a line for each frame"),
	ROW(OPTION_FLAG, 'a', "addresses", NULL, addresses, "the address before its names"),
	ROW(OPTION_FLAG, 's', "basenames", NULL, basenames, "file names without directories"),
	{ .kind = OPTION_HEADING, .help = "Names:" },
	NAMING(OPTION_FLAG, "no-demangle", NULL, no_demangle,
	       "names as they stand in the symbol table"),
	ROW(OPTION_FLAG, 0, "no-inlines", NULL, no_inlines,
	    "the function that the code was inlined into, alone"),
	{ .kind = OPTION_HEADING, .help = "Files (each is used only if its own build ID fits):" },
	NAMING(OPTION_LIST, "images", "DIR", image_dirs,
	       "search DIR, or an archive of images, by build ID, whatever its "
	       "layout (may be repeated)"),
	NAMING(OPTION_TEXT, "store", "DIR", store_dir, "imprint's store ($IMPRINT_STORE)"),
	NAMING(OPTION_FLAG, "no-index", NULL, no_index,
	       "neither use nor keep indexes of source lines in the store"),
	NAMING(OPTION_TEXT, "buildid-dir", "DIR", buildid_dir, "perf's cache (~/.debug)"),
	NAMING(OPTION_LIST, "debug-file-directory", "DIR", debug_dirs,
	       "where a .build-id tree stands (/usr/lib/debug)"),
	NAMING(OPTION_TEXT, "sysroot", "DIR", sysroot,
	       "look for paths and debug trees below DIR, too"),
	NAMING(OPTION_FLAG, "force", NULL, force,
	       "use the file at the path although its build ID differs; what it names is marked"),
	ROW(OPTION_FLAG, 'q', "quiet", NULL, is_quiet, "no warnings and no progress"),
	ROW(OPTION_COUNT, 'v', "verbose", NULL, verbose, "say more (-vv: for debugging)"),
	{ .kind = OPTION_END },
};

struct session {
	const struct symbolize_options *options;
	const struct log *log;
	struct symbolize_format format;
	struct symbolize_text shown;
	struct json json;
	struct finder *finder;
	struct symbolizer *symbolizer;
	struct process_places *process;
	struct symbolize_targets targets;
};

static void session_close(struct session *session)
{
	symbolizer_free(session->symbolizer);
	finder_free(session->finder);
	process_places_close(session->process);
	symbolize_targets_fini(&session->targets);
	symbolize_text_fini(&session->shown);
}

static struct imp_error *choose_style(struct session *session)
{
	const struct symbolize_options *options = session->options;
	const char *style = options->style ? options->style : "imprint";
	struct symbolize_format *format = &session->format;
	if (strcmp(style, "imprint") == 0)
		format->style = STYLE_IMPRINT;
	else if (strcasecmp(style, "llvm") == 0)
		format->style = STYLE_LLVM;
	// llvm-symbolizer calls it GNU.
	else if (strcmp(style, "addr2line") == 0 || strcasecmp(style, "gnu") == 0)
		format->style = STYLE_ADDR2LINE;
	else
		return error_new(IMP_ERR_USAGE,
				 "--output-style is imprint, llvm or addr2line, not '%s'", style);
	bool is_addr2line = format->style == STYLE_ADDR2LINE;
	if (options->json)
		format->style = STYLE_JSON;
	format->has_functions = options->functions || !is_addr2line;
	format->has_inlines = (options->inlines || !is_addr2line) && !options->no_inlines;
	format->is_pretty = options->pretty;
	format->has_addresses = options->addresses;
	format->has_basenames = options->basenames;
	format->has_aliases = options->aliases;
	format->marks_forced = options->naming.force;
	format->out = stdout;
	format->shown = &session->shown;
	format->json = &session->json;
	session->json.out = stdout;
	return NULL;
}

static bool wants_mangled(const struct session *session)
{
	const struct symbolize_options *options = session->options;
	bool is_addr2line = session->format.style == STYLE_ADDR2LINE;
	return options->naming.no_demangle || (is_addr2line && !options->demangle);
}

static struct imp_error *open_symbolizer(struct session *session)
{
	const struct symbolize_options *options = session->options;
	struct naming naming = options->naming;
	// A file that the user named is the one that is meant, though it may have no build ID.
	naming.is_path_named = !session->process;
	naming.force |= !session->process;
	struct imp_error *err = naming_finder(&naming, session->log, &session->finder);
	_cleanup_free_ char *store = naming_own_store(&naming);
	struct symbolizer_options wanted = {
		.log = session->log,
		.index_dir = naming.no_index ? NULL : store,
		.no_demangle = wants_mangled(session),
		.map_dir = session->process ? process_places_map_dir(session->process) : NULL,
	};
	return err ? err : symbolizer_new(session->finder, &wanted, &session->symbolizer);
}

static struct imp_error *add_aliases(struct session *session, struct symbolized *symbolized)
{
	if (!session->format.has_aliases || !symbolized->image || !symbolized->frames.has_address)
		return NULL;
	elf_addr address = symbolized->frames.address;
	address.value -= session->options->is_return;
	return symbolizer_aliases(session->symbolizer, symbolized->image, address,
				  &symbolized->aliases, &symbolized->first_alias,
				  &symbolized->alias_count);
}

static struct imp_error *symbolize_in_target(struct session *session, const struct target *target,
					     uint64_t address)
{
	struct symbolized symbolized = { .address = address, .image = &target->image };
	struct imp_error *err = symbolize_address(session->symbolizer, &target->image,
						  elf_addr_of(address), session->options->is_return,
						  &symbolized.frames);
	if (!err)
		err = add_aliases(session, &symbolized);
	return err ? err : symbolize_print(&session->format, &symbolized);
}

static bool file_was_not_found(const struct frames *frames)
{
	return frames->unknown == UNKNOWN_IMAGE_NOT_FOUND ||
	       frames->unknown == UNKNOWN_OTHER_BUILD || frames->unknown == UNKNOWN_NO_IDENTITY;
}

static struct imp_error *symbolize_in_process(struct session *session, uint64_t address)
{
	struct symbolized symbolized = { .address = address };
	struct process_place place, mapped;
	bool is_return = session->options->is_return;
	struct imp_error *err = NULL;
	symbolized.frames.unknown = UNKNOWN_UNMAPPED;
	if (process_places_at(session->process, address - is_return, &place)) {
		place.offset.value += is_return;
		symbolized.image = &place.image;
		symbolized.offset = place.offset.value;
		symbolized.has_offset = true;
		err = symbolize(session->symbolizer, &place.image, place.offset, is_return,
				&symbolized.frames);
	}
	// What was mapped is not at its path any more: the kernel still leads to it.
	if (!err && file_was_not_found(&symbolized.frames) &&
	    process_places_by_mapping(session->process, address - is_return, &mapped)) {
		struct frames frames;
		err = symbolize(session->symbolizer, &mapped.image, place.offset, is_return,
				&frames);
		if (!err && frames.count) {
			symbolized.frames = frames;
			symbolized.image = &mapped.image;
		}
	}
	if (!err)
		err = add_aliases(session, &symbolized);
	symbolized.image = symbolized.has_offset ? &place.image : NULL;
	return err ? err : symbolize_print(&session->format, &symbolized);
}

// addr2line reads all numbers as hexadecimal, llvm-symbolizer only those that begin with 0x.
static bool parse_address(const struct session *session, const char *text, uint64_t *ret)
{
	return symbolize_address_parse(text, session->format.style == STYLE_LLVM, ret);
}

// What the other tools do with a line they cannot read.
static struct imp_error *echo_line(struct session *session, const char *line)
{
	if (session->format.style == STYLE_ADDR2LINE)
		return symbolize_print_unknown(&session->format, 0);
	if (session->format.style == STYLE_LLVM)
		printf("%s\n", line);
	else
		log_message(session->log, LOG_WARNING, "not an address: %s", line);
	return NULL;
}

static struct imp_error *symbolize_named(struct session *session, const char *name,
					 uint64_t address)
{
	struct target *target;
	struct imp_error *err = symbolize_targets_find(&session->targets, name, &target);
	if (err && imp_error_code(err) != IMP_ERR_NO_MEMORY) {
		log_message(session->log, LOG_WARNING, "%s", imp_error_message(err));
		imp_error_free(steal(err));
		return symbolize_print_unknown(&session->format, address);
	}
	if (err)
		return err;
	if (target->is_missing)
		return symbolize_print_unknown(&session->format, address);
	return symbolize_in_target(session, target, address);
}

static struct imp_error *symbolize_one(struct session *session, const char *name, uint64_t address)
{
	return session->process ? symbolize_in_process(session, address)
				: symbolize_named(session, name, address);
}

// "[CODE|DATA] [FILE] ADDRESS"; the file only when no image was named.
static struct imp_error *symbolize_line(void *arg, char *line)
{
	struct session *session = arg;
	uint64_t address;
	bool is_named = session->options->image || session->process;
	// Most lines are an address and nothing else.
	if (is_named && parse_address(session, line, &address))
		return symbolize_one(session, session->options->image, address);
	_cleanup_free_ char *whole = strdup(line);
	if (!whole)
		return &imp_error_no_memory;
	char *at = line;
	const char *name = session->options->image;
	char *word = symbolize_word(&at);
	bool is_data = word && strcmp(word, "DATA") == 0;
	if (word && (is_data || strcmp(word, "CODE") == 0))
		word = symbolize_word(&at);
	if (!name && !session->process) {
		name = word;
		word = symbolize_word(&at);
	}
	if (!name && !session->process)
		return NULL;
	if (!word || !parse_address(session, word, &address))
		return echo_line(session, whole);
	if (is_data) {
		// Variables are not looked for: no function is at their place.
		printf("??\n0 0\n\n");
		return NULL;
	}
	return symbolize_one(session, name, address);
}

// Reads what the addresses on LINES ask for with all processors, when there are many.
static struct imp_error *prepare(void *arg, const char *lines, size_t size)
{
	enum { LEAST = 64 };
	struct session *session = arg;
	ARRAY_OF(elf_addr) addresses = { 0 };
	struct target *target;
	struct imp_error *err =
		symbolize_targets_find(&session->targets, session->options->image, &target);
	for (const char *line = lines; line < lines + size && !err; line += strlen(line) + 1) {
		uint64_t address;
		if (!parse_address(session, line, &address))
			continue;
		elf_addr *added = array_add(&addresses);
		if (added)
			*added = elf_addr_of(address - session->options->is_return);
		else
			err = &imp_error_no_memory;
	}
	if (!err && addresses.count >= LEAST)
		err = symbolizer_prepare(session->symbolizer, &target->image, addresses.items,
					 addresses.count, 0);
	array_fini(&addresses);
	return err;
}

static struct imp_error *symbolize_input(struct session *session)
{
	const struct symbolize_visitor visitor = {
		.arg = session,
		.begin = session->options->image ? prepare : NULL,
		.visit = symbolize_line,
	};
	return symbolize_input_read(&visitor);
}

static struct imp_error *symbolize_operands(struct session *session,
					    const struct operands *operands)
{
	struct imp_error *err = NULL;
	for (size_t i = 0; i < operands->count && !err; i++) {
		uint64_t address;
		if (!parse_address(session, operands->items[i], &address))
			return error_new(IMP_ERR_USAGE, "'%s' is not an address",
					 operands->items[i]);
		err = symbolize_one(session, session->options->image, address);
	}
	return err;
}

static struct imp_error *check_target(struct session *session)
{
	struct target *target;
	return session->options->image
		       ? symbolize_targets_find(&session->targets, session->options->image, &target)
		       : NULL;
}

static struct imp_error *check_whose(const struct symbolize_options *options,
				     const struct operands *operands)
{
	bool is_process = options->pid || options->snapshot;
	if (options->image && is_process)
		return error_new(IMP_ERR_USAGE, "addresses are of --image or of %s, not both",
				 options->snapshot ? "--snapshot" : "--pid");
	if (operands->count && !options->image && !is_process)
		return error_new(IMP_ERR_USAGE,
				 "whose addresses? name a file or build ID with --image, or a "
				 "process with --pid");
	if (options->pid > INT32_MAX)
		return error_new(IMP_ERR_USAGE, "--pid: no process");
	return NULL;
}

static struct imp_error *run_session(struct session *session, const struct operands *operands)
{
	const struct symbolize_options *options = session->options;
	struct imp_error *err = check_whose(options, operands);
	if (!err)
		err = choose_style(session);
	if (!err && options->snapshot)
		err = process_places_open_snapshot(options->snapshot, (uint32_t)options->pid,
						   &session->process);
	else if (!err && options->pid)
		err = process_places_open((uint32_t)options->pid, &session->process);
	if (!err)
		err = open_symbolizer(session);
	if (!err)
		err = check_target(session);
	if (err)
		return err;
	if (options->json) {
		json_begin_object(&session->json);
		json_member_uint(&session->json, "version", SYMBOLIZE_JSON_VERSION);
		json_key(&session->json, "addresses");
		json_begin_array(&session->json);
	}
	err = operands->count ? symbolize_operands(session, operands) : symbolize_input(session);
	if (options->json) {
		json_end_array(&session->json);
		json_end_object(&session->json);
	}
	return err;
}

static int symbolize_run(const struct invocation *invocation, struct imp_error **err)
{
	struct symbolize_options *options = invocation->options;
	struct session session = {
		.options = options,
		.log = invocation->log,
		.targets = { .log = invocation->log, .naming = &options->naming },
	};
	// Many lines are printed, most often into a pipe or a file.
	enum { OUTPUT_BYTES = 1 << 18 };
	static char output[OUTPUT_BYTES];
	setvbuf(stdout, output, _IOFBF, sizeof output);
	terminal_set_level(options->is_quiet, options->verbose);
	*err = run_session(&session, &invocation->operands);
	if (!*err)
		*err = symbolizer_save_indexes(session.symbolizer, 0);
	session_close(&session);
	naming_fini(&options->naming);
	return EXIT_DONE;
}

const struct command command_symbolize = {
	.name = "symbolize",
	.summary = "Name addresses: functions, source lines, inlined calls",
	.usage = "symbolize --image FILE|ID | --pid PID | --snapshot FILE [--pid PID] [OPTIONS] "
		 "[ADDRESS...]",
	.description =
		"Without addresses they are read from standard input, one a line, \"FILE "
		"ADDRESS\"\nwhere neither --image nor --pid is given. Addresses of files are "
		"those of their\nsymbol tables. Numbers are hexadecimal.",
	.options = symbolize_rows,
	.options_size = sizeof(struct symbolize_options),
	.run = symbolize_run,
};
