// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Bytes as lower-case hexadecimal digits and back.
#ifndef BASE_HEX_H
#define BASE_HEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Writes 2 * SIZE digits and a NUL to TEXT.
void hex_format(const uint8_t *bytes, size_t size, char *text);

// The value of a digit of either case, or -1.
int hex_digit(char digit);

// Reads exactly LENGTH digits (an even number) into LENGTH / 2 bytes. False when one is not a
// digit.
bool hex_parse(const char *text, size_t length, uint8_t *bytes);

#endif
