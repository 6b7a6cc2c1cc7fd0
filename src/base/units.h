// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Sizes and ages as people read them.
#ifndef BASE_UNITS_H
#define BASE_UNITS_H

#include <stdint.h>

struct units_text {
	char text[24];
};

// "999 B", "1.5 KiB", "23.4 MiB", "120 GiB": three digits at least where there are three.
struct units_text units_size(uint64_t bytes);

// "40 s", "12 min", "3 h", "17 d": rounded down; "now" below a second.
struct units_text units_age(int64_t seconds);

#endif
