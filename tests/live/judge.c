// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Holds what `imprint report --json` says of a scene beside what really ran: judge
// [changed|modules]
//
// Samples of processes named buildN in user code must have names vN_… or names that belong to no
// build; code of system libraries is left out (they have few symbols, and no second build). What is
// named "changed" runs build 2 in the file of build 1. With "changed", that happened under the
// recorder's eyes, and these samples must have no name. With "modules", code of kernel modules
// counts, and nothing else.
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { ENOUGH = 100 };

struct verdict {
	bool is_of_modules;
	long long right, wrong, unknown, changed_unknown, changed_named;
	char reasons[512];
};

static const char *text_of(json_t *row, const char *member)
{
	const char *text = json_string_value(json_object_get(row, member));
	return text ? text : "";
}

static int is_system(const char *path)
{
	return !strncmp(path, "/usr/", 5) || !strncmp(path, "/lib", 4) || !strcmp(path, "[vdso]");
}

static void judge_row(json_t *row, struct verdict *verdict)
{
	const char *comm = text_of(row, "comm"), *kind = text_of(row, "kind");
	const char *symbol = text_of(row, "symbol"), *path = text_of(row, "path");
	long long samples = json_integer_value(json_object_get(row, "samples"));
	int build = !strcmp(comm, "build1") ? 1 : !strcmp(comm, "build2") ? 2 : 0;
	int is_changed = !strcmp(comm, "changed");
	bool is_module = !strcmp(kind, "module");
	if ((!build && !is_changed) || is_system(path) || !strcmp(kind, "kernel") ||
	    is_module != verdict->is_of_modules)
		return;
	int named = symbol[0] == 'v' && symbol[2] == '_' ? symbol[1] - '0' : 0;
	if (is_changed && !*symbol) {
		verdict->changed_unknown += samples;
	} else if (is_changed && named) {
		verdict->changed_named += samples;
		verdict->right += named == 1 ? 0 : samples;
		verdict->wrong += named == 1 ? samples : 0;
	} else if (!*symbol) {
		verdict->unknown += samples;
		if (!strstr(verdict->reasons, text_of(row, "unknown")))
			snprintf(verdict->reasons + strlen(verdict->reasons),
				 sizeof verdict->reasons - strlen(verdict->reasons), " %s",
				 text_of(row, "unknown"));
	} else if (named && !is_changed && named != build) {
		verdict->wrong += samples;
	} else {
		verdict->right += samples;
	}
}

int main(int argc, char **argv)
{
	int is_changing = argc > 1 && !strcmp(argv[1], "changed");
	struct verdict verdict = { .is_of_modules = argc > 1 && !strcmp(argv[1], "modules") };
	json_error_t error;
	json_t *report = json_loadf(stdin, 0, &error);
	if (!report) {
		fprintf(stderr, "judge: no report: %s\n", error.text);
		return 2;
	}
	size_t index;
	json_t *row;
	json_array_foreach(json_object_get(report, "rows"), index, row) judge_row(row, &verdict);
	json_decref(report);
	printf("right %lld wrong %lld unknown %lld changed %lld/%lld%s\n", verdict.right,
	       verdict.wrong, verdict.unknown, verdict.changed_unknown, verdict.changed_named,
	       verdict.reasons);
	if (verdict.wrong)
		return 1;
	if (is_changing)
		return verdict.changed_named || verdict.changed_unknown < ENOUGH;
	// 99.5 % of at least so many.
	return verdict.right < ENOUGH || verdict.unknown * 200 > verdict.right + verdict.unknown;
}
