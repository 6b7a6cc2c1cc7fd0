// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// What a request asks for: the words of debuginfod's protocol, read from the target as the client
// sent it.
//
// Everything here is foreign bytes; whatever is not exactly a word of the protocol is no request.
#ifndef SERVE_REQUEST_H
#define SERVE_REQUEST_H

#include <stdbool.h>

#include "model/build_id.h"

enum serve_part {
	// Not a word of the protocol: 404.
	SERVE_NOTHING,
	SERVE_EXECUTABLE,
	SERVE_DEBUGINFO,
	SERVE_SOURCE,
	SERVE_SECTION,
	SERVE_METRICS,
	SERVE_PARTS
};

// "other", "executable", "debuginfo", "source", "section", "metrics".
const char *serve_part_name(enum serve_part part);

enum {
	// The longest target that is looked at, and what a path or a section may have of it.
	REQUEST_MOST_BYTES = 8192,
	REQUEST_NAME_SIZE = 4096,
	REQUEST_SECTION_SIZE = 256,
};

struct request {
	enum serve_part part;
	// None for SERVE_METRICS and SERVE_NOTHING.
	struct build_id id;
	// Of a section its name; of a source its absolute path, without ".", ".." and empty parts.
	// "" otherwise.
	char name[REQUEST_NAME_SIZE];
};

// Reads TARGET, percent-encoded and without a query.
void request_parse(const char *target, struct request *ret);

// Takes ".", ".." and empty parts out of the absolute PATH, in place. False when it is not absolute
// or leads above the root.
bool path_flatten(char *path);

#endif
