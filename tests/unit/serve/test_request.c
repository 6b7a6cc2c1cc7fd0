// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
#include "serve/request.h"

#include <string.h>

#include "harness/tap.h"

static struct request ask(const char *target)
{
	struct request request;
	request_parse(target, &request);
	return request;
}

TEST(the_words_of_the_protocol_are_read)
{
	struct request request = ask("/buildid/00ffAB/executable");
	CHECK_TEXT(serve_part_name(request.part), "executable");
	CHECK_TEXT(build_id_text(&request.id).text, "00ffab");
	CHECK_TEXT(request.name, "");
	CHECK_TEXT(serve_part_name(ask("/buildid/12/debuginfo").part), "debuginfo");
	CHECK_TEXT(serve_part_name(ask("/metrics").part), "metrics");
	request = ask("/buildid/12/section/.debug_info");
	CHECK_TEXT(serve_part_name(request.part), "section");
	CHECK_TEXT(request.name, ".debug_info");
	request = ask("/buildid/12/source/usr/src/a%20b%2fc.c");
	CHECK_TEXT(serve_part_name(request.part), "source");
	CHECK_TEXT(request.name, "/usr/src/a b/c.c");
}

TEST(ids_of_1_to_64_bytes_are_ids)
{
	char target[256] = "/buildid/";
	for (size_t digits = 1; digits <= 132; digits++) {
		memset(target + 9, 'a', digits);
		strcpy(target + 9 + digits, "/executable");
		bool is_id = digits % 2 == 0 && digits <= 128;
		CHECK((ask(target).part == SERVE_EXECUTABLE) == is_id);
	}
	CHECK(ask("/buildid/0000/executable").part == SERVE_NOTHING);
}

TEST(whatever_is_not_a_word_is_nothing)
{
	static const char *const targets[] = {
		"",
		"*",
		"/",
		"//",
		"metrics",
		"/metrics/",
		"/Metrics",
		"/buildid",
		"/buildid/",
		"/buildid/12",
		"/buildid/12/",
		"/buildid/12/exec",
		"/buildid/12/executable/",
		"/buildid/12/executable/x",
		"/buildid/12/executable%00",
		"/buildid/12%00/executable",
		"/buildid/1/executable",
		"/buildid/1g/executable",
		"/buildid/0x12/executable",
		"/buildid/12/source",
		"/buildid/12/source/",
		"/buildid/12/source//",
		"/buildid/12/source/%",
		"/buildid/12/source/%2",
		"/buildid/12/source/%zz",
		"/buildid/12/source/a%00b",
		"/buildid/12/section",
		"/buildid/12/section/",
		"/buildid/12/section/a/b",
		"/buildid/12/section/a%2fb",
		"/buildid/../12/executable",
		"/buildid/../../etc/passwd",
		"/../../etc/passwd",
		"/buildid/12/other/metrics",
		"/buildid/12/metrics",
		"/buildid/12/other",
		"http://host/buildid/12/executable",
	};
	for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
		struct request request = ask(targets[i]);
		if (request.part != SERVE_NOTHING)
			printf("# %s\n", targets[i]);
		CHECK(request.part == SERVE_NOTHING);
		CHECK(build_id_is_none(&request.id) && !request.name[0]);
	}
}

TEST(paths_never_lead_above_the_root)
{
	static const struct {
		const char *target, *name;
	} cases[] = {
		{ "/buildid/12/source/a/../b", "/b" },
		{ "/buildid/12/source/a/b/../../c/./d//e", "/c/d/e" },
		{ "/buildid/12/source/../etc/passwd", NULL },
		{ "/buildid/12/source/a/../../etc/passwd", NULL },
		{ "/buildid/12/source/%2e%2e/etc/passwd", NULL },
		{ "/buildid/12/source/a%2f..%2f..%2fetc/passwd", NULL },
		{ "/buildid/12/source/..a/b..", "/..a/b.." },
		{ "/buildid/12/source/a/..", NULL },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct request request = ask(cases[i].target);
		CHECK_TEXT(request.name, cases[i].name ? cases[i].name : "");
		CHECK((request.part == SERVE_SOURCE) == (cases[i].name != NULL));
	}
}

TEST(what_is_too_long_is_nothing)
{
	char target[2 * REQUEST_MOST_BYTES];
	memset(target, 'a', sizeof target);
	memcpy(target, "/buildid/12/section/", 20);
	target[20 + REQUEST_SECTION_SIZE] = 0;
	CHECK(ask(target).part == SERVE_NOTHING);
	target[20 + REQUEST_SECTION_SIZE - 1] = 0;
	CHECK(ask(target).part == SERVE_SECTION);
	memset(target, 'a', sizeof target);
	memcpy(target, "/buildid/12/source/", 19);
	target[sizeof target - 1] = 0;
	CHECK(ask(target).part == SERVE_NOTHING);
	target[REQUEST_MOST_BYTES - 1] = 0;
	CHECK(ask(target).part == SERVE_NOTHING);
	target[REQUEST_NAME_SIZE] = 0;
	CHECK(ask(target).part == SERVE_SOURCE);
}
