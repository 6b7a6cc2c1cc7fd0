// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// What the store has for a request: the bytes as a part of an open, verified file.
//
// The objects served last stay open, so that neither their hash nor their place has to be asked for
// again; which objects there are is looked up each time. Safe from many threads.
#ifndef SERVE_HOLDINGS_H
#define SERVE_HOLDINGS_H

#include "serve/request.h"
#include "store/store.h"

struct holdings;

// STORE and LOG (may be NULL) are lent until holdings_free().
struct imp_error *holdings_new(struct store *store, const struct log *log,
			       struct holdings **ret) MUST_CHECK;
void holdings_free(struct holdings *holdings);

enum {
	// Quotes, a hash, "-" and a section's name.
	HOLDING_TAG_SIZE = 1024,
	HOLDING_FILE_SIZE = 512
};

struct holding {
	// The caller's.
	int fd;
	uint64_t offset, size_bytes;
	// An entity tag with its quotes: the content hash, and which part.
	char tag[HOLDING_TAG_SIZE];
	// What the file was called where it was seen last, without its directory; printable ASCII
	// only, other bytes as %XX.
	char file[HOLDING_FILE_SIZE];
	// Has DWARF: nobody can have a better debuginfo.
	bool has_dwarf;
};

// Looks for what REQUEST (an executable, a debuginfo, a section) asks for. *found tells whether RET
// is set. Objects that are damaged or of another build are passed over.
struct imp_error *holdings_find(struct holdings *holdings, const struct request *request,
				struct holding *ret, bool *found) MUST_CHECK;

#endif
