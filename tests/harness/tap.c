// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Runs the registered tests in the order of the source and prints TAP. Arguments select tests by
// name.
#include "harness/tap.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct tap_test *first, **last = &first;
static bool failed;
static char skipped[256];

void tap_register(struct tap_test *test)
{
	*last = test;
	last = &test->next;
}

bool tap_passing(void)
{
	return !failed;
}

void tap_fail(const char *file, int line, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	printf("# %s:%d: ", file, line);
	vprintf(format, args);
	putchar('\n');
	va_end(args);
	failed = true;
}

void tap_skip(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	vsnprintf(skipped, sizeof skipped, format, args);
	va_end(args);
}

const char *tap_shared(void)
{
	const char *shared = getenv("SHARED");
	if (!shared)
		shared = "../shared";
	if (!access(shared, R_OK))
		return shared;
	tap_skip("no shared folder beside the project");
	return NULL;
}

void tap_check_uint(const char *file, int line, const char *what, uint64_t actual,
		    uint64_t expected)
{
	if (actual != expected)
		tap_fail(file, line, "%s is %llu (0x%llx), expected %llu (0x%llx)", what,
			 (unsigned long long)actual, (unsigned long long)actual,
			 (unsigned long long)expected, (unsigned long long)expected);
}

void tap_check_text(const char *file, int line, const char *what, const char *actual,
		    const char *expected)
{
	if (!actual || !expected ? actual != expected : strcmp(actual, expected) != 0)
		tap_fail(file, line, "%s is \"%s\", expected \"%s\"", what,
			 actual ? actual : "(null)", expected ? expected : "(null)");
}

bool tap_check_ok(const char *file, int line, const char *what, struct imp_error *error)
{
	if (!error)
		return true;
	tap_fail(file, line, "%s: %s", what, imp_error_message(error));
	imp_error_free(error);
	return false;
}

void tap_check_error(const char *file, int line, const char *what, struct imp_error *error,
		     enum imp_error_code code)
{
	if (!error)
		tap_fail(file, line, "%s gave no error", what);
	else if (imp_error_code(error) != code)
		tap_fail(file, line, "%s: error code %d, expected %d: %s", what,
			 imp_error_code(error), code, imp_error_message(error));
	imp_error_free(error);
}

static bool is_selected(const char *name, int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (strstr(name, argv[i]))
			return true;
	return argc < 2;
}

int main(int argc, char **argv)
{
	int count = 0, number = 0, failures = 0;
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (struct tap_test *test = first; test; test = test->next)
		count += is_selected(test->name, argc, argv);
	printf("1..%d\n", count);
	for (struct tap_test *test = first; test; test = test->next) {
		if (!is_selected(test->name, argc, argv))
			continue;
		failed = false;
		skipped[0] = 0;
		test->run();
		printf("%s %d - %s%s%s\n", failed ? "not ok" : "ok", ++number, test->name,
		       skipped[0] && !failed ? " # SKIP " : "",
		       skipped[0] && !failed ? skipped : "");
		failures += failed;
	}
	return failures > 0;
}
