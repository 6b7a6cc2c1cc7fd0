// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Three kinds of lines on standard error.
#include "cli/record_print.h"

#include <stdio.h>
#include <string.h>

static void tell_images(const struct record_outcome *outcome)
{
	const struct tracker_counts *images = &outcome->images;
	fprintf(stderr,
		"imprint record: %zu images, %zu with a build ID, %zu with samples; %zu kept, "
		"%zu of them new (%.1f MB)\n",
		images->met, images->with_id, images->hit, images->kept, outcome->kept.added,
		(double)outcome->kept.added_bytes / 1e6);
	if (images->refused)
		fprintf(stderr,
			"imprint record: %zu images could not be kept (the recording says why)\n",
			images->refused);
	if (images->changed)
		fprintf(stderr, "imprint record: %zu files were changed while they were mapped\n",
			images->changed);
	if (images->was_full)
		fputs("imprint record: too many images to hold their files open (ulimit -n)\n",
		      stderr);
}

// One line with all that could not be recorded.
static void tell_lacks(const struct record_outcome *outcome)
{
	const char *between = "imprint record: not recorded: ";
	for (unsigned what = 0; what < PERF_REFUSALS; what++) {
		if (!perf_was_refused(&outcome->refusals, what))
			continue;
		fprintf(stderr, "%s%s", between, perf_refusal_text(what));
		between = "; ";
	}
	if (outcome->kernel_is_hidden) {
		fprintf(stderr,
			"%saddresses of kernel functions (kernel.kptr_restrict, kernel.perf_event_paranoid)",
			between);
		between = "; ";
	}
	if (outcome->forbidden) {
		fprintf(stderr, "%smappings of %zu processes (CAP_SYS_PTRACE)", between,
			outcome->forbidden);
		between = "; ";
	}
	if (outcome->lost_meta) {
		fprintf(stderr,
			"%s%llu records of mappings, forks and the like (no room in their rings)",
			between, (unsigned long long)outcome->lost_meta);
		between = "; ";
	}
	if (between[0] == ';')
		fputs("; 'imprint doctor' tells more\n", stderr);
}

void record_print(const struct record_outcome *outcome, const char *place)
{
	tell_lacks(outcome);
	tell_images(outcome);
	fprintf(stderr, "imprint record: %.3f MB, %llu samples, %llu lost: %s\n",
		(double)outcome->bytes / 1e6, (unsigned long long)outcome->samples,
		(unsigned long long)outcome->lost,
		strcmp(place, "-") ? place : "(standard output)");
}
