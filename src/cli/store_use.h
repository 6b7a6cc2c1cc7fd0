// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// What the verbs of the store share: which store, and which of its entries is meant.
#ifndef CLI_STORE_USE_H
#define CLI_STORE_USE_H

#include "cli/options.h"
#include "store/store.h"

// The row of --store; FIELD is a const char * of the options struct TYPE.
#define STORE_OPTION(type, field)                                                     \
	{                                                                             \
		.kind = OPTION_TEXT, .name = "store", .argument = "DIR",              \
		.help = "the store ($IMPRINT_STORE)", .offset = offsetof(type, field) \
	}

// Opens the store at DIR, or where the environment says when DIR is NULL. No store to read is an
// error here.
struct imp_error *store_use(const char *dir, enum store_mode mode, const struct log *log,
			    struct store **ret) MUST_CHECK;

// The same for reading, but open for writing where that is possible, so that the store hears what
// is used.
struct imp_error *store_use_readable(const char *dir, const struct log *log,
				     struct store **ret) MUST_CHECK;

// One entry: its ID, or the hash when the image has none.
struct store_ref {
	struct build_id id;
	struct store_hash hash;
};

// The entry that WORD names: an ID, six or more of its first digits, "sha256-" and a hash, or a
// path where it was seen. IMP_ERR_USAGE when several fit or none does.
struct imp_error *store_use_entry(struct store *store, const char *word,
				  struct store_ref *ret) MUST_CHECK;

// The entry's name as the verbs print it and take it: hex digits, "sha256-" in front for a hash.
struct store_ref_text {
	char text[BUILD_ID_TEXT_SIZE + 8];
};
struct store_ref_text store_ref_text(const struct store_ref *ref);

#endif
