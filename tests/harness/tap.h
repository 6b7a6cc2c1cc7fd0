// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The smallest harness that prints TAP: TEST(a_sentence_about_behaviour) { CHECK(…); }
#ifndef HARNESS_TAP_H
#define HARNESS_TAP_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"

struct tap_test {
	const char *name;
	const char *file;
	void (*run)(void);
	struct tap_test *next;
};

void tap_register(struct tap_test *test);
void tap_fail(const char *file, int line, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
// Marks the running test as skipped; return after it.
void tap_skip(const char *format, ...) __attribute__((format(printf, 1, 2)));
// True while nothing failed in the running test.
bool tap_passing(void);

// ../shared (or $SHARED) when it is there, else NULL after skipping the running test.
const char *tap_shared(void);

#define TEST(title)                                                                     \
	static void test_##title(void);                                                 \
	__attribute__((constructor)) static void register_##title(void)                 \
	{                                                                               \
		static struct tap_test test = { #title, __FILE__, test_##title, NULL }; \
		tap_register(&test);                                                    \
	}                                                                               \
	static void test_##title(void)

#define CHECK(condition)                                                \
	do {                                                            \
		if (!(condition))                                       \
			tap_fail(__FILE__, __LINE__, "%s", #condition); \
	} while (0)

// As CHECK, and ends the test function when it fails.
#define REQUIRE(condition)                                              \
	do {                                                            \
		if (!(condition)) {                                     \
			tap_fail(__FILE__, __LINE__, "%s", #condition); \
			return;                                         \
		}                                                       \
	} while (0)

#define CHECK_UINT(actual, expected) \
	tap_check_uint(__FILE__, __LINE__, #actual, (uint64_t)(actual), (uint64_t)(expected))
#define CHECK_TEXT(actual, expected) \
	tap_check_text(__FILE__, __LINE__, #actual, (actual), (expected))

// Fails, with the error's message, when CALL gives an error.
#define CHECK_OK(call) tap_check_ok(__FILE__, __LINE__, #call, (call))
#define REQUIRE_OK(call)                                              \
	do {                                                          \
		if (!tap_check_ok(__FILE__, __LINE__, #call, (call))) \
			return;                                       \
	} while (0)

// Fails unless CALL gives an error of CODE.
#define CHECK_ERROR(call, code) tap_check_error(__FILE__, __LINE__, #call, (call), (code))

void tap_check_uint(const char *file, int line, const char *what, uint64_t actual,
		    uint64_t expected);
void tap_check_text(const char *file, int line, const char *what, const char *actual,
		    const char *expected);
bool tap_check_ok(const char *file, int line, const char *what, struct imp_error *error);
void tap_check_error(const char *file, int line, const char *what, struct imp_error *error,
		     enum imp_error_code code);

#endif
