// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// A store elsewhere, in a bucket or a directory, in the layout of store/layout.h: what this one has
// is pushed there, what this one lacks is pulled from there.
//
// An object's name tells its hash, so that what is there needs no question but a list, and what
// comes is compared with its name before it is kept. Only images and debug files travel; what a
// running kernel tells of its addresses stays at home.
#ifndef REMOTE_REMOTE_H
#define REMOTE_REMOTE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/log.h"
#include "model/build_id.h"
#include "remote/address.h"

struct store;
struct remote;

struct remote_options {
	// Lent until remote_free(); may be NULL.
	const struct log *log;
	// As remote_address_parse() takes it; copied, as the credentials.
	const char *url;
	struct remote_credentials credentials;
	// For everything together, from the first question on; 0: no end.
	double timeout_s;
	// How many exchanges at once; 0: 8.
	unsigned parallel;
	// Asked now and then; NULL: never stop.
	bool (*is_stopped)(void *arg);
	void *arg;
};

// Asks nothing yet. IMP_ERR_USAGE for a URL that is none, IMP_ERR_UNSUPPORTED for a bucket in a
// build without libcurl.
struct imp_error *remote_new(const struct remote_options *options, struct remote **ret) MUST_CHECK;
void remote_free(struct remote *remote);
DEFINE_CLEANUP(struct remote *, remote, remote_free)
#define _cleanup_remote_ __attribute__((cleanup(cleanup_remote)))

// The URL as it was given, lent.
const char *remote_url(const struct remote *remote);

enum remote_outcome {
	// Something came, and is in the store.
	REMOTE_PULLED,
	// Nothing of it that the store has not.
	REMOTE_ABSENT,
	// It did not answer, or not as it should; told to the log once, and not asked again.
	REMOTE_FAILED,
	// It gave other bytes than their name says, or those of another build.
	REMOTE_WRONG
};

// Pulls what there is of ID's programs (with WANTS_IMAGE) and the file that tells most of its names
// (with WANTS_DEBUG) into STORE. What is wrong, or does not answer, is an outcome. Safe from many
// threads.
struct imp_error *remote_pull(struct remote *remote, const struct build_id *id, bool wants_image,
			      bool wants_debug, struct store *store,
			      enum remote_outcome *ret) MUST_CHECK;

struct remote_push_counts {
	size_t pushed, known, failed;
	uint64_t pushed_bytes;
};

// Pushes the objects of STORE that REMOTE has not: those of the COUNT entries in IDS, or all (also
// those without an ID) when COUNT is 0. What was pushed before an interruption is not pushed again.
// An object that cannot be pushed is counted and told to the log.
struct imp_error *remote_push(struct remote *remote, struct store *store,
			      const struct build_id *ids, size_t count,
			      struct remote_push_counts *ret) MUST_CHECK;

// False in a build without libcurl: directories only.
bool remote_is_built_in(void);

#endif
