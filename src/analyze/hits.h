// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Which images the samples of a recording fell into, and how often.
#ifndef ANALYZE_HITS_H
#define ANALYZE_HITS_H

#include "analyze/survey.h"

struct hits {
	// By image: samples whose own address is in it.
	uint64_t *samples;
	// By image: an address of a sample or of a call chain is in it.
	bool *is_hit;
	size_t image_count;
	// Samples in no image, by reason; samples without an address; and samples that could not be
	// read.
	uint64_t unknown[UNKNOWN_REASONS];
	uint64_t without_address, unread;
};

// Counts in a pass of its own over what SURVEY has surveyed.
struct imp_error *hits_count(struct recording *recording, const struct survey *survey,
			     struct hits **ret) MUST_CHECK;

// Surveys RECORDING and finds which images are hit (`is_hit` alone is filled), in one pass over its
// bytes unless that leaves a doubt.
struct imp_error *hits_survey(struct recording *recording, const struct log *log,
			      struct survey **survey, struct hits **ret) MUST_CHECK;

void hits_free(struct hits *hits);

#endif
