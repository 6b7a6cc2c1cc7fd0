// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Reading Range, If-None-Match and their kin.
#include "serve/conditions.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

static const char blanks[] = " \t";

// Digits at *TEXT, which is then behind them. False when there are none or too many.
static bool digits_read(const char **text, uint64_t *ret)
{
	enum { MOST_DIGITS = 19 };
	size_t length = strspn(*text, "0123456789");
	if (!length || length > MOST_DIGITS)
		return false;
	*ret = 0;
	for (size_t i = 0; i < length; i++)
		*ret = *ret * 10 + (uint64_t)((*text)[i] - '0');
	*text += length;
	return true;
}

bool decimal_parse(const char *text, uint64_t *ret)
{
	return digits_read(&text, ret) && !*text;
}

static bool is_end(const char *text)
{
	return !text[strspn(text, blanks)];
}

// "-COUNT": the last bytes.
static enum range suffix_parse(const char *text, uint64_t size, uint64_t *first, uint64_t *count)
{
	uint64_t wanted;
	if (!digits_read(&text, &wanted) || !is_end(text))
		return RANGE_WHOLE;
	if (!wanted || !size)
		return RANGE_OUTSIDE;
	*count = wanted < size ? wanted : size;
	*first = size - *count;
	return RANGE_PART;
}

enum range range_parse(const char *header, uint64_t size, uint64_t *first, uint64_t *count)
{
	static const char unit[] = "bytes=";
	if (!header || strncasecmp(header, unit, sizeof unit - 1) != 0)
		return RANGE_WHOLE;
	const char *text = header + sizeof unit - 1;
	text += strspn(text, blanks);
	if (*text == '-')
		return suffix_parse(text + 1, size, first, count);
	uint64_t begin, last = UINT64_MAX;
	if (!digits_read(&text, &begin) || *text++ != '-')
		return RANGE_WHOLE;
	if (!is_end(text) && (!digits_read(&text, &last) || !is_end(text)))
		return RANGE_WHOLE;
	if (last < begin)
		return RANGE_WHOLE;
	if (begin >= size)
		return RANGE_OUTSIDE;
	if (last >= size)
		last = size - 1;
	*first = begin;
	*count = last - begin + 1;
	return RANGE_PART;
}

bool tag_is_listed(const char *header, const char *tag, bool is_weak_enough)
{
	size_t tag_length = strlen(tag);
	const char *at = header + strspn(header, blanks);
	if (*at == '*' && is_end(at + 1))
		return true;
	while (*at) {
		bool is_weak = !strncmp(at, "W/", 2);
		at += is_weak ? 2 : 0;
		const char *close = *at == '"' ? strchr(at + 1, '"') : NULL;
		if (!close)
			return false;
		size_t length = (size_t)(close + 1 - at);
		if (length == tag_length && !memcmp(at, tag, length) &&
		    (!is_weak || is_weak_enough))
			return true;
		at = close + 1;
		at += strspn(at, blanks);
		if (*at != ',')
			return false;
		at += strspn(at, ", \t");
	}
	return false;
}

unsigned forwarded_hops(const char *header)
{
	enum { HOPS_MOST = 1000 };
	unsigned hops = header && !is_end(header);
	for (; header && *header && hops < HOPS_MOST; header++)
		hops += *header == ',';
	return hops;
}
