// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
#include "serve/listener.h"

#include <stdio.h>
#include <string.h>

#include "harness/tap.h"

// "HOST PORT", or "" when it is no address.
static const char *words_of(const char *text)
{
	static char words[LISTENER_HOST_SIZE + LISTENER_PORT_SIZE + 2];
	struct listener_words parsed;
	_cleanup_error_ struct imp_error *err = listener_parse(text, &parsed);
	if (err)
		return "";
	snprintf(words, sizeof words, "%s %s", parsed.host, parsed.port);
	return words;
}

TEST(what_is_not_said_is_the_loopback_address_and_port_8002)
{
	CHECK_TEXT(words_of(NULL), "127.0.0.1 8002");
	CHECK_TEXT(words_of("9000"), "127.0.0.1 9000");
	CHECK_TEXT(words_of(":9000"), "127.0.0.1 9000");
	CHECK_TEXT(words_of("0"), "127.0.0.1 0");
	CHECK_TEXT(words_of("10.1.2.3"), "10.1.2.3 8002");
	CHECK_TEXT(words_of("10.1.2.3:80"), "10.1.2.3 80");
	CHECK_TEXT(words_of("localhost:80"), "localhost 80");
	CHECK_TEXT(words_of("::1"), "::1 8002");
	CHECK_TEXT(words_of("[::1]"), "::1 8002");
	CHECK_TEXT(words_of("[::]:65535"), ":: 65535");
}

TEST(other_words_are_refused)
{
	static const char *const words[] = { "a:b",	  "a:",		"1.2.3.4:65536",
					     "[::1",	  "[::1]x",	"[::1]:",
					     "[::1]:80x", "1.2.3.4:-1", "70000" };
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		CHECK_TEXT(words_of(words[i]), "");
}

static void check_listener(const char *text, const char *url_begin, bool is_loopback)
{
	struct listener_words words;
	struct listener listener;
	REQUIRE_OK(listener_parse(text, &words));
	struct imp_error *err = listener_open(&words, &listener);
	if (err) {
		imp_error_free(err);
		tap_skip("no %s here", text);
		return;
	}
	CHECK(!strncmp(listener.url, url_begin, strlen(url_begin)));
	CHECK(atoi(listener.url + strlen(url_begin)) > 0);
	CHECK(listener.is_loopback == is_loopback);
	close(listener.fd);
}

TEST(the_url_tells_the_port_that_was_free)
{
	check_listener("0", "http://127.0.0.1:", true);
}

TEST(an_address_for_all_is_told_as_one_that_can_be_asked)
{
	check_listener("0.0.0.0:0", "http://127.0.0.1:", false);
}

TEST(ipv6_stands_in_brackets)
{
	check_listener("[::1]:0", "http://[::1]:", true);
}
