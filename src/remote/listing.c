// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// A reader for the few elements of a listing. Objects whose key has anything but what stands in
// names of a store are others' and are passed over.
#include "remote/listing.h"

#include <stdlib.h>
#include <string.h>

// A piece of the text.
struct piece {
	char *at;
	size_t size;
};

void listing_fini(struct listing *listing)
{
	for (size_t i = 0; i < listing->count; i++)
		free(listing->items[i].key);
	array_fini(listing);
	free(listing->next);
	listing->next = NULL;
}

static char *find(struct piece piece, const char *word)
{
	return memmem(piece.at, piece.size, word, strlen(word));
}

// The content of the first element NAME ("<Key>") in *REST, which is then what follows it. False
// without one.
static bool take_element(struct piece *rest, const char *name, struct piece *ret)
{
	char end[32] = "</";
	strncat(end, name + 1, sizeof end - 3);
	char *begin = find(*rest, name);
	if (!begin)
		return false;
	char *content = begin + strlen(name);
	struct piece after = { content, rest->size - (size_t)(content - rest->at) };
	char *close = find(after, end);
	if (!close)
		return false;
	*ret = (struct piece){ content, (size_t)(close - content) };
	char *next = close + strlen(end);
	rest->size -= (size_t)(next - rest->at);
	rest->at = next;
	return true;
}

static bool is_plain_key(struct piece key)
{
	for (size_t i = 0; i < key.size; i++) {
		char byte = key.at[i];
		bool is_plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
				(byte >= '-' && byte <= '9') || byte == '_';
		if (!is_plain)
			return false;
	}
	return key.size > 0;
}

static bool parse_number(struct piece digits, uint64_t *ret)
{
	enum { MOST_DIGITS = 18 };
	*ret = 0;
	for (size_t i = 0; i < digits.size; i++) {
		if (digits.at[i] < '0' || digits.at[i] > '9')
			return false;
		*ret = *ret * 10 + (uint64_t)(digits.at[i] - '0');
	}
	return digits.size && digits.size <= MOST_DIGITS;
}

static struct imp_error *bad_listing(const char *what)
{
	return error_new(IMP_ERR_BAD_DATA, "not a listing of objects: %s", what);
}

static struct imp_error *take_object(struct piece contents, struct listing *ret)
{
	struct piece key, size, again = contents;
	uint64_t size_bytes;
	if (!take_element(&contents, "<Key>", &key) || !take_element(&again, "<Size>", &size) ||
	    !parse_number(size, &size_bytes))
		return bad_listing("an object without key or size");
	if (!is_plain_key(key))
		return NULL;
	char *copy = strndup(key.at, key.size);
	struct listed *listed = copy ? array_add(ret) : NULL;
	if (!listed) {
		free(copy);
		return &imp_error_no_memory;
	}
	*listed = (struct listed){ copy, size_bytes };
	return NULL;
}

// Takes the five entities of XML out, in place.
static void decode(struct piece *text)
{
	static const struct {
		const char *name;
		char byte;
	} entities[] = { { "&amp;", '&' },
			 { "&lt;", '<' },
			 { "&gt;", '>' },
			 { "&quot;", '"' },
			 { "&apos;", '\'' } };
	size_t out = 0;
	for (size_t in = 0; in < text->size;) {
		char byte = text->at[in];
		size_t length = 1;
		for (size_t i = 0; byte == '&' && i < sizeof entities / sizeof *entities; i++) {
			size_t name = strlen(entities[i].name);
			if (text->size - in >= name &&
			    !memcmp(text->at + in, entities[i].name, name)) {
				byte = entities[i].byte;
				length = name;
				break;
			}
		}
		text->at[out++] = byte;
		in += length;
	}
	text->size = out;
}

// The token to go on with, when there is more.
static struct imp_error *take_next(struct piece xml, struct listing *ret)
{
	struct piece truncated, token, again = xml;
	if (!take_element(&xml, "<IsTruncated>", &truncated))
		return bad_listing("no word whether it is whole");
	if (truncated.size != 4 || memcmp(truncated.at, "true", 4) != 0)
		return NULL;
	if (!take_element(&again, "<NextContinuationToken>", &token) || !token.size)
		return bad_listing("cut short without a token");
	decode(&token);
	ret->next = strndup(token.at, token.size);
	return ret->next ? NULL : &imp_error_no_memory;
}

struct imp_error *listing_parse(char *xml, size_t size, struct listing *ret)
{
	struct piece all = { xml, size };
	struct piece result, contents;
	free(ret->next);
	ret->next = NULL;
	char *begin = find(all, "<ListBucketResult");
	if (!begin)
		return bad_listing("no ListBucketResult");
	result = (struct piece){ begin, size - (size_t)(begin - xml) };
	if (!find(result, "</ListBucketResult>"))
		return bad_listing("no end");
	struct imp_error *err = NULL;
	for (struct piece rest = result; !err && take_element(&rest, "<Contents>", &contents);)
		err = take_object(contents, ret);
	return err ? err : take_next(result, ret);
}
