// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Parsing the command line by a table of rows.
#include "cli/options.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const struct option help_option = { .kind = OPTION_FLAG, .letter = 'h', .name = "help" };

struct parse {
	const struct option *options;
	void *values;
	char **words;
	size_t count;
	size_t at;
	bool *wants_help;
};

static struct imp_error *number_parse(const char *text, uint64_t *ret)
{
	char *end;
	errno = 0;
	uint64_t value = strtoull(text, &end, 0);
	unsigned shift = 0;
	if (*end && strchr("kK", *end))
		shift = 10;
	else if (*end && strchr("mM", *end))
		shift = 20;
	else if (*end && strchr("gG", *end))
		shift = 30;
	end += shift > 0;
	if (shift && (*end == 'B' || *end == 'b'))
		end++;
	if (errno || end == text || *end || text[0] == '-' || value > UINT64_MAX >> shift)
		return error_new(IMP_ERR_USAGE, "'%s' is not a number", text);
	*ret = value << shift;
	return NULL;
}

static struct imp_error *threads_parse(const char *text, uint64_t *ret)
{
	enum { MOST = 256 };
	uint64_t value;
	struct imp_error *err = number_parse(text, &value);
	if (!err && value > MOST)
		err = error_new(IMP_ERR_USAGE, "'%s' is too many: at most %d", text, MOST);
	if (!err)
		*ret = value;
	return err;
}

static struct imp_error *real_parse(const char *text, double *ret)
{
	char *end;
	double value = strtod(text, &end);
	if (end == text || *end)
		return error_new(IMP_ERR_USAGE, "'%s' is not a number", text);
	*ret = value;
	return NULL;
}

static struct imp_error *list_add(struct option_list *list, const char *text)
{
	const char **item = array_add(list);
	if (!item)
		return &imp_error_no_memory;
	*item = text;
	return NULL;
}

static bool takes_argument(const struct option *option)
{
	return option->kind >= OPTION_TEXT;
}

// Stores ARGUMENT (NULL where the option has none).
static struct imp_error *option_store(struct parse *parse, const struct option *option,
				      const char *argument)
{
	if (option == &help_option) {
		*parse->wants_help = true;
		return NULL;
	}
	void *value = (char *)parse->values + option->offset;
	switch (option->kind) {
	case OPTION_FLAG:
		*(bool *)value = true;
		return NULL;
	case OPTION_CLEAR:
		*(bool *)value = false;
		return NULL;
	case OPTION_COUNT:
		++*(unsigned *)value;
		return NULL;
	case OPTION_TEXT:
		*(const char **)value = argument;
		return NULL;
	case OPTION_OPTIONAL_TEXT:
		*(const char **)value = argument ? argument : option->fallback;
		return NULL;
	case OPTION_NUMBER:
		return number_parse(argument, value);
	case OPTION_THREADS:
		return threads_parse(argument, value);
	case OPTION_REAL:
		return real_parse(argument, value);
	case OPTION_LIST:
		return list_add(value, argument);
	case OPTION_END:
	case OPTION_HEADING:
	default:
		return NULL;
	}
}

static bool is_optional_word(const struct option *option, const char *word)
{
	for (const char *const *known = option->words; known && *known; known++)
		if (!strncmp(word, *known, strlen(*known)))
			return true;
	return false;
}

// The argument of OPTION when it is not written together with it: the next word, or NULL.
static const char *next_argument(struct parse *parse, const struct option *option)
{
	if (parse->at + 1 >= parse->count)
		return NULL;
	const char *word = parse->words[parse->at + 1];
	if (option->kind == OPTION_OPTIONAL_TEXT && !is_optional_word(option, word))
		return NULL;
	parse->at++;
	return word;
}

static struct imp_error *option_take(struct parse *parse, const struct option *option,
				     const char *shown, const char *attached)
{
	const char *argument = attached;
	if (!takes_argument(option) && attached)
		return error_new(IMP_ERR_USAGE, "option '%s' takes no argument", shown);
	if (takes_argument(option) && !attached)
		argument = next_argument(parse, option);
	if (takes_argument(option) && !argument && option->kind != OPTION_OPTIONAL_TEXT)
		return error_new(IMP_ERR_USAGE, "option '%s' needs an argument", shown);
	struct imp_error *err = option_store(parse, option, argument);
	return err ? error_context(err, "option '%s'", shown) : NULL;
}

static const struct option *find_letter(const struct option *options, char letter)
{
	for (const struct option *option = options; option->kind; option++)
		if (option->letter == letter)
			return option;
	return letter == help_option.letter ? &help_option : NULL;
}

// The option whose long name is NAME, or begins with it and no other does.
static struct imp_error *find_name(const struct option *options, const char *name, size_t length,
				   const struct option **ret)
{
	const struct option *found = NULL;
	for (const struct option *option = options;; option++) {
		const struct option *row = option->kind ? option : &help_option;
		if (row->name && !strncmp(row->name, name, length)) {
			if (!row->name[length]) {
				*ret = row;
				return NULL;
			}
			if (found && !row->is_hidden)
				return error_new(IMP_ERR_USAGE,
						 "option '--%.*s' is ambiguous: --%s or --%s",
						 (int)length, name, found->name, row->name);
			if (!row->is_hidden)
				found = row;
		}
		if (!option->kind)
			break;
	}
	if (!found)
		return error_new(IMP_ERR_USAGE, "unknown option '--%.*s'", (int)length, name);
	*ret = found;
	return NULL;
}

static struct imp_error *parse_long(struct parse *parse, const char *word)
{
	size_t length = strcspn(word + 2, "=");
	const struct option *option;
	struct imp_error *err = find_name(parse->options, word + 2, length, &option);
	if (err)
		return err;
	return option_take(parse, option, word, word[2 + length] ? word + 2 + length + 1 : NULL);
}

static struct imp_error *parse_letters(struct parse *parse, const char *word)
{
	for (const char *letter = word + 1; *letter; letter++) {
		const struct option *option = find_letter(parse->options, *letter);
		char shown[] = { '-', *letter, 0 };
		if (!option)
			return error_new(IMP_ERR_USAGE, "unknown option '%s'", shown);
		bool has_rest = takes_argument(option) && letter[1];
		struct imp_error *err =
			option_take(parse, option, shown, has_rest ? letter + 1 : NULL);
		if (err || has_rest)
			return err;
	}
	return NULL;
}

struct imp_error *options_parse(const struct option *options, bool stops_at_operand, void *values,
				struct operands *operands, bool *wants_help)
{
	struct parse parse = { options, values, operands->items, operands->count, 0, wants_help };
	size_t kept = 0;
	for (; parse.at < parse.count; parse.at++) {
		char *word = parse.words[parse.at];
		struct imp_error *err = NULL;
		bool is_operand = word[0] != '-' || !word[1];
		if (!strcmp(word, "--") || (is_operand && stops_at_operand)) {
			parse.at += !is_operand;
			break;
		}
		if (is_operand)
			parse.words[kept++] = word;
		else
			err = word[1] == '-' ? parse_long(&parse, word)
					     : parse_letters(&parse, word);
		if (err)
			return err;
	}
	for (; parse.at < parse.count; parse.at++)
		parse.words[kept++] = parse.words[parse.at];
	operands->count = kept;
	return NULL;
}

enum { HELP_COLUMN = 28, HELP_WIDTH = 79 };

// Prints TEXT wrapped between HELP_COLUMN and HELP_WIDTH; the cursor stands at COLUMN.
static void print_wrapped(const char *text, size_t column, FILE *out)
{
	if (column >= HELP_COLUMN) {
		putc('\n', out);
		column = 0;
	}
	fprintf(out, "%*s", (int)(HELP_COLUMN - column), "");
	column = HELP_COLUMN;
	while (*text) {
		size_t length = strcspn(text, " ");
		if (column + length > HELP_WIDTH && column > HELP_COLUMN) {
			fprintf(out, "\n%*s", HELP_COLUMN, "");
			column = HELP_COLUMN;
		}
		fwrite(text, 1, length, out);
		column += length;
		text += length;
		if (*text == ' ') {
			if (column < HELP_WIDTH && text[1] &&
			    column + 1 + strcspn(text + 1, " ") <= HELP_WIDTH) {
				putc(' ', out);
				column++;
			} else {
				column = HELP_WIDTH + 1;
			}
			text++;
		}
	}
	putc('\n', out);
}

static void option_print(const struct option *option, FILE *out)
{
	char left[128];
	char letter[8] = "    ";
	if (option->letter)
		snprintf(letter, sizeof letter, option->name ? "-%c, " : "-%c", option->letter);
	bool is_optional = option->kind == OPTION_OPTIONAL_TEXT;
	const char *joint = !option->argument ? "" : is_optional ? "[=" : option->name ? "=" : " ";
	int length = snprintf(left, sizeof left, "  %s%s%s%s%s%s", letter, option->name ? "--" : "",
			      option->name ? option->name : "", joint,
			      option->argument ? option->argument : "",
			      is_optional && option->argument ? "]" : "");
	fputs(left, out);
	print_wrapped(option->help ? option->help : "", (size_t)length, out);
}

void options_print(const struct option *options, FILE *out)
{
	for (const struct option *option = options; option->kind; option++) {
		if (option->is_hidden)
			continue;
		if (option->kind == OPTION_HEADING)
			fprintf(out, "\n%s\n", option->help);
		else
			option_print(option, out);
	}
	option_print(&(struct option){ .kind = OPTION_FLAG,
				       .letter = 'h',
				       .name = "help",
				       .help = "show this help" },
		     out);
}

void options_fini(const struct option *options, void *values)
{
	for (const struct option *option = options; option->kind; option++) {
		struct option_list *list = (void *)((char *)values + option->offset);
		if (option->kind == OPTION_LIST)
			array_fini(list);
	}
}
