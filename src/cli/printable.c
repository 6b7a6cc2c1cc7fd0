// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Escaping control characters.
#include "cli/printable.h"

void printable(FILE *out, const char *text)
{
	for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
		if (*at >= ' ' && *at != 0x7f)
			putc(*at, out);
		else if (*at == '\n' || *at == '\t')
			fputs(*at == '\n' ? "\\n" : "\\t", out);
		else
			fprintf(out, "\\x%02x", *at);
	}
}
