// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Call chains whose user part was written later: since Linux 6.19 the kernel may walk a thread's
// user stack only when the thread is about to return to it, once for all samples taken in between.
#ifndef ANALYZE_DEFERRED_H
#define ANALYZE_DEFERRED_H

#include "analyze/chain.h"
#include "analyze/survey.h"

struct deferred_chains;

// Reads all CALLCHAIN_DEFERRED records of RECORDING, which SURVEY has surveyed; *ret is NULL when
// there are none. Equal chains are kept once. Records that cannot be read are left out.
struct imp_error *deferred_chains_new(struct recording *recording, const struct survey *survey,
				      struct deferred_chains **ret) MUST_CHECK;
void deferred_chains_free(struct deferred_chains *deferred);

// Appends to CHAIN, read from SAMPLE, the part that came later. Nothing happens when none is to
// come; *is_missing when one was announced and is not there. DEFERRED may be NULL. Safe from many
// threads.
struct imp_error *deferred_chains_join(const struct deferred_chains *deferred,
				       const struct sample *sample, struct chain *chain,
				       bool *is_missing) MUST_CHECK;

#endif
