// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Hexadecimal digits.
#include "base/hex.h"

void hex_format(const uint8_t *bytes, size_t size, char *text)
{
	static const char digits[] = "0123456789abcdef";
	for (size_t i = 0; i < size; i++) {
		text[2 * i] = digits[bytes[i] >> 4];
		text[2 * i + 1] = digits[bytes[i] & 15];
	}
	text[2 * size] = 0;
}

int hex_digit(char digit)
{
	if (digit >= '0' && digit <= '9')
		return digit - '0';
	if (digit >= 'a' && digit <= 'f')
		return digit - 'a' + 10;
	if (digit >= 'A' && digit <= 'F')
		return digit - 'A' + 10;
	return -1;
}

bool hex_parse(const char *text, size_t length, uint8_t *bytes)
{
	if (length % 2)
		return false;
	for (size_t i = 0; i < length / 2; i++) {
		int high = hex_digit(text[2 * i]);
		int low = high < 0 ? -1 : hex_digit(text[2 * i + 1]);
		if (low < 0)
			return false;
		bytes[i] = (uint8_t)(high << 4 | low);
	}
	return true;
}
