// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// What every report says beside its rows: what was recorded, how sure the identities are, what has
// no name, why, and what to do about it.
#ifndef RENDER_SUMMARY_H
#define RENDER_SUMMARY_H

#include "base/buffer.h"
#include "profile/profile.h"

// Samples without a name for one reason in one object.
struct unknown_sum {
	enum unknown_reason reason;
	// Number of an object that stands for itself, or NO_NUMBER.
	uint32_t object;
	uint64_t samples, weight;
};

struct summary {
	const struct profile *profile;
	uint64_t samples;
	// Samples by where the identity of their object comes from; those without an object apart.
	uint64_t identities[IDENTITIES];
	uint64_t without_object;
	// The heaviest first.
	ARRAY_OF(struct unknown_sum) unknowns;
	uint64_t unnamed_samples;
};

// PROFILE is lent until summary_fini().
struct imp_error *summary_make(const struct profile *profile, struct summary *ret) MUST_CHECK;
void summary_fini(struct summary *summary);

// The next thing to do about UNKNOWN, in a few words; "" when nothing helps.
void next_step_print(const struct profile *profile, const struct unknown_sum *unknown,
		     struct buffer *out);

// Lines that begin with '#'.
void summary_print_head(const struct summary *summary, FILE *out);
// How many call chains made from copied stacks are whole, and why the others are not.
void summary_print_chains(const struct summary *summary, FILE *out);
void summary_print_unknowns(const struct summary *summary, FILE *out);

#endif
