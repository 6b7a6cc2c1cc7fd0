// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
#include "remote/listing.h"

#include <string.h>

#include "harness/tap.h"

static const char whole[] =
	"<?xml version=\"1.0\"?>\n<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
	"<IsTruncated>true</IsTruncated>"
	"<Contents><Key>a/.build-id/01/02</Key><LastModified>x</LastModified><Size>12</Size></Contents>"
	"<Contents><Size>0</Size><Key>b_c-D.9</Key></Contents>"
	"<Contents><Key>with space</Key><Size>1</Size></Contents>"
	"<NextContinuationToken>1&amp;/+&lt;=</NextContinuationToken></ListBucketResult>";

static struct imp_error *parse(const char *text, size_t size, struct listing *ret)
{
	char *copy = malloc(size + 1);
	if (!copy)
		abort();
	memcpy(copy, text, size);
	struct imp_error *err = listing_parse(copy, size, ret);
	free(copy);
	return err;
}

TEST(keys_sizes_and_the_token_are_read)
{
	_cleanup_listing_ struct listing listing = { 0 };
	REQUIRE_OK(parse(whole, sizeof whole - 1, &listing));
	REQUIRE(listing.count == 2);
	CHECK_TEXT(listing.items[0].key, "a/.build-id/01/02");
	CHECK_UINT(listing.items[0].size_bytes, 12);
	CHECK_TEXT(listing.items[1].key, "b_c-D.9");
	CHECK_TEXT(listing.next, "1&/+<=");
}

TEST(every_truncation_is_refused)
{
	for (size_t size = 0; size < sizeof whole - 1; size++) {
		_cleanup_listing_ struct listing listing = { 0 };
		CHECK_ERROR(parse(whole, size, &listing), IMP_ERR_BAD_DATA);
	}
}

TEST(what_is_no_listing_is_refused)
{
#define AROUND(text) "<ListBucketResult><IsTruncated>false</IsTruncated>" text "</ListBucketResult>"
	static const char *const texts[] = {
		"",
		"<Error><Code>AccessDenied</Code></Error>",
		"<ListBucketResult></ListBucketResult>",
		AROUND("<Contents><Key>a</Key></Contents>"),
		AROUND("<Contents><Size>1</Size></Contents>"),
		AROUND("<Contents><Key>a</Key><Size>x</Size></Contents>"),
		AROUND("<Contents><Key>a</Key><Size>-1</Size></Contents>"),
		AROUND("<Contents><Key>a</Key><Size>9999999999999999999</Size></Contents>"),
		"<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>",
	};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		_cleanup_listing_ struct listing listing = { 0 };
		CHECK_ERROR(parse(texts[i], strlen(texts[i]), &listing), IMP_ERR_BAD_DATA);
	}
	_cleanup_listing_ struct listing empty = { 0 };
	const char *text = AROUND("");
	CHECK_OK(parse(text, strlen(text), &empty));
	CHECK(!empty.count && !empty.next);
}
