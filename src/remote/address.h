// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Where a store elsewhere is: a directory, or a bucket that speaks the S3 protocol.
#ifndef REMOTE_ADDRESS_H
#define REMOTE_ADDRESS_H

#include <stdbool.h>

#include "base/error.h"

enum { REMOTE_URL_SIZE = 1024, REMOTE_PREFIX_SIZE = 512 };

// Who asks, and whom. Strings are lent.
struct remote_credentials {
	// NULL: nothing is signed, as for a public bucket.
	const char *access_key, *secret_key;
	// Of a temporary key; NULL: none.
	const char *session_token;
	// NULL: "us-east-1".
	const char *region;
	// "https://HOST[:PORT]": where "s3://" leads; NULL: to Amazon.
	const char *endpoint;
};

struct remote_address {
	// A directory, whose path is url.
	bool is_directory;
	// "https://HOST/BUCKET", or that of a bucket's own host; no slash at its end.
	char url[REMOTE_URL_SIZE];
	// In front of every key: "" or "A/B/".
	char prefix[REMOTE_PREFIX_SIZE];
};

// Whether TEXT is meant as a URL, not as a directory: "WORD://…".
bool remote_is_url(const char *text);

// Reads "s3://BUCKET[/PREFIX]", "http[s]://HOST[:PORT]/BUCKET[/PREFIX]", "file:///DIR" or a
// directory. IMP_ERR_USAGE for anything else.
struct imp_error *remote_address_parse(const char *text,
				       const struct remote_credentials *credentials,
				       struct remote_address *ret) MUST_CHECK;

#endif
