// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The answers given for one image, each kept once.
#ifndef SYMBOLIZE_ANSWERS_H
#define SYMBOLIZE_ANSWERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "model/frame.h"

struct answers;

struct imp_error *answers_new(struct answers **ret) MUST_CHECK;
void answers_free(struct answers *answers);

// What was asked for: a place by its offset or by its address.
struct question {
	uint64_t value;
	bool is_address, is_return;
};

// The answer to QUESTION. False when none was given yet. Safe from many threads.
bool answers_find(struct answers *answers, const struct question *question, struct frames *ret);

// Keeps ANSWER, whose frames are copied; *ret is what is kept, which is another thread's if that
// was first. Safe from many threads.
struct imp_error *answers_keep(struct answers *answers, const struct question *question,
			       const struct frames *answer, struct frames *ret) MUST_CHECK;

#endif
