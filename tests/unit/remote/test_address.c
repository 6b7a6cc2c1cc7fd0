// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
#include "remote/address.h"

#include <string.h>

#include "harness/tap.h"

// "URL PREFIX", "DIRECTORY" with a "d:" in front, or "" when it is refused.
static const char *parse(const char *text, const char *endpoint)
{
	static char shown[REMOTE_URL_SIZE + REMOTE_PREFIX_SIZE + 4];
	const struct remote_credentials credentials = { .endpoint = endpoint,
							.region = "eu-north-1" };
	struct remote_address address;
	_cleanup_error_ struct imp_error *err = remote_address_parse(text, &credentials, &address);
	if (err) {
		CHECK(imp_error_code(err) == IMP_ERR_USAGE);
		return "";
	}
	if (address.is_directory)
		snprintf(shown, sizeof shown, "d:%s", address.url);
	else
		snprintf(shown, sizeof shown, "%s %s", address.url, address.prefix);
	return shown;
}

TEST(buckets_and_directories_are_told_apart)
{
	CHECK_TEXT(parse("s3://builds", NULL), "https://builds.s3.eu-north-1.amazonaws.com ");
	CHECK_TEXT(parse("s3://builds/a/b", NULL),
		   "https://builds.s3.eu-north-1.amazonaws.com a/b/");
	CHECK_TEXT(parse("s3://builds/a/b/", "http://127.0.0.1:9"),
		   "http://127.0.0.1:9/builds a/b/");
	CHECK_TEXT(parse("http://host:80/builds", NULL), "http://host:80/builds ");
	CHECK_TEXT(parse("https://[::1]:80/builds/x", NULL), "https://[::1]:80/builds x/");
	CHECK_TEXT(parse("file:///srv/builds", NULL), "d:/srv/builds");
	CHECK_TEXT(parse("srv/builds", NULL), "d:srv/builds");
	CHECK(remote_is_url("s3://a") && !remote_is_url("/a://b") && !remote_is_url("a:b"));
}

TEST(what_does_not_fit_into_a_url_as_it_is_is_refused)
{
	static const char *const urls[] = {
		"s3://",
		"s3:///a",
		"s3://a//b",
		"s3://a/../b",
		"s3://a/.",
		"s3://a/b?x=1",
		"s3://a b",
		"s3://user@a",
		"http://",
		"http://host",
		"http://host/",
		"http://host:x/a",
		"http://u:p@h/a",
		"http://host/a/%2e",
		"ftp://host/a",
		"file://host/a",
		"http://host\r\nX: y/a",
		"http://ho st/a",
		"http://host/a\n",
		"file://",
	};
	for (size_t i = 0; i < sizeof urls / sizeof *urls; i++)
		CHECK_TEXT(parse(urls[i], NULL), "");
	CHECK_TEXT(parse("s3://a", "host:80"), "");
	CHECK_TEXT(parse("s3://a", "http://host/path"), "");
}

TEST(what_is_too_long_is_refused)
{
	char url[2 * REMOTE_URL_SIZE] = "s3://";
	memset(url + 5, 'a', sizeof url - 6);
	CHECK_TEXT(parse(url, NULL), "");
	memcpy(url, "s3://a/", 7);
	CHECK_TEXT(parse(url, NULL), "");
	memcpy(url, "aaaaaaa", 7);
	CHECK_TEXT(parse(url, NULL), "");
}
