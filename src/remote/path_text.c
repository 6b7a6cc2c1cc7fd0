// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Escaping paths, and back.
#include "remote/path_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hex.h"

enum { TEXT_MOST = 1500 };

char *path_text_write(const char *path)
{
	char *text = malloc(3 * strlen(path) + 1);
	char *at = text;
	for (; text && *path; path++) {
		unsigned char byte = (unsigned char)*path;
		if (byte > ' ' && byte < 0x7f && byte != '%')
			*at++ = *path;
		else
			at += snprintf(at, 4, "%%%02X", byte);
	}
	if (text)
		*at = 0;
	if (text && at - text <= TEXT_MOST)
		return text;
	free(text);
	return NULL;
}

char *path_text_read(const char *text)
{
	char *path = malloc(strlen(text) + 1);
	char *at = path;
	if (!path)
		return NULL;
	while (*text) {
		int high = *text == '%' ? hex_digit(text[1]) : -1;
		int low = high < 0 ? -1 : hex_digit(text[2]);
		char byte = low < 0 ? *text : (char)(high << 4 | low);
		text += low < 0 ? 1 : 3;
		// A NUL would end it.
		if (byte)
			*at++ = byte;
	}
	*at = 0;
	if (path[0] == '/' || path[0] == '[')
		return path;
	free(path);
	return NULL;
}
