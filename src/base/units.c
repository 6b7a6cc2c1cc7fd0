// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Choosing the unit.
#include "base/units.h"

#include <inttypes.h>
#include <stdio.h>

struct units_text units_size(uint64_t bytes)
{
	static const char *const units[] = { "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	struct units_text text;
	if (bytes < 1024) {
		(void)snprintf(text.text, sizeof text.text, "%" PRIu64 " B", bytes);
		return text;
	}
	double value = (double)bytes / 1024;
	unsigned unit = 0;
	for (; value >= 999.5 && unit < 5; unit++)
		value /= 1024;
	(void)snprintf(text.text, sizeof text.text, "%.*f %s", value < 99.95, value, units[unit]);
	return text;
}

struct units_text units_age(int64_t seconds)
{
	static const struct {
		int64_t seconds;
		const char *name;
	} units[] = { { 86400, "d" }, { 3600, "h" }, { 60, "min" }, { 1, "s" } };
	struct units_text text = { "now" };
	for (unsigned i = 0; i < sizeof units / sizeof *units; i++)
		if (seconds >= units[i].seconds) {
			(void)snprintf(text.text, sizeof text.text, "%" PRId64 " %s",
				       seconds / units[i].seconds, units[i].name);
			break;
		}
	return text;
}
