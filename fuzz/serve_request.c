// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// What a client sends that is parsed here: lines of a target, a Range, a list of tags, an address
// to listen on.
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "serve/conditions.h"
#include "serve/listener.h"
#include "serve/request.h"

static void check_request(const char *target)
{
	struct request request;
	request_parse(target, &request);
	FUZZ_CHECK(request.part < SERVE_PARTS && serve_part_name(request.part));
	bool has_id = request.part != SERVE_NOTHING && request.part != SERVE_METRICS;
	FUZZ_CHECK(has_id == !build_id_is_none(&request.id));
	if (request.part == SERVE_SOURCE) {
		// Flat already: nothing in it leads anywhere else.
		char again[REQUEST_NAME_SIZE];
		memcpy(again, request.name, sizeof again);
		FUZZ_CHECK(path_flatten(again) && !strcmp(again, request.name));
		FUZZ_CHECK(!strstr(request.name, "/../") && !strstr(request.name, "//"));
	} else if (request.part == SERVE_SECTION) {
		FUZZ_CHECK(request.name[0] && !strchr(request.name, '/'));
	} else {
		FUZZ_CHECK(!request.name[0]);
	}
}

static void check_conditions(const char *header)
{
	uint64_t first, count, value;
	for (uint64_t size = 0; size < 4096; size = size * 7 + 1)
		if (range_parse(header, size, &first, &count) == RANGE_PART)
			FUZZ_CHECK(count && first < size && count <= size - first);
	bool is_strong = tag_is_listed(header, "\"ab\"", false);
	FUZZ_CHECK(!is_strong || tag_is_listed(header, "\"ab\"", true));
	(void)forwarded_hops(header);
	(void)decimal_parse(header, &value);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	char *text = malloc(size + 1);
	FUZZ_CHECK(text);
	memcpy(text, bytes, size);
	text[size] = 0;
	char *rest = text;
	for (char *line; (line = strsep(&rest, "\n"));) {
		struct listener_words words;
		check_request(line);
		check_conditions(line);
		imp_error_free(listener_parse(line, &words));
	}
	free(text);
	return 0;
}
