// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Stores elsewhere, with the user's credentials: from the environment, else from the files that
// other S3 clients read.
#ifndef CLI_REMOTE_USE_H
#define CLI_REMOTE_USE_H

#include "find/finder.h"
#include "remote/remote.h"

// AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_REGION (AWS_DEFAULT_REGION),
// AWS_ENDPOINT_URL_S3 (AWS_ENDPOINT_URL); what is not there, of AWS_PROFILE ("default") in
// AWS_SHARED_CREDENTIALS_FILE (~/.aws/credentials) and AWS_CONFIG_FILE (~/.aws/config).
struct credentials {
	struct remote_credentials remote;
	// Owns the strings.
	char *strings[5];
};

struct imp_error *credentials_read(struct credentials *ret) MUST_CHECK;
void credentials_fini(struct credentials *credentials);
#define _cleanup_credentials_ __attribute__((cleanup(credentials_fini)))

// Opens the store at URL for a finder, which takes it. 90 seconds for everything, or
// $IMPRINT_STORE_TIMEOUT.
struct imp_error *remote_use_finder(const char *url, const struct log *log,
				    struct finder_remote *ret) MUST_CHECK;

#endif
