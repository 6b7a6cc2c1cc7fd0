// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Profiles made in code. Every function fails the running test when memory runs out.
#ifndef MAKE_PROFILE_H
#define MAKE_PROFILE_H

#include "profile/profile.h"

// An empty profile with events of these names (NULL-terminated).
struct profile *make_profile(const char *const *events);

// An object; ID in hex, "" for none.
uint32_t make_object(struct profile *profile, enum image_kind kind, const char *path,
		     const char *id, enum identity identity);

// A spot in OBJECT, or in none for REASON.
uint32_t make_spot(struct profile *profile, uint32_t object, uint64_t offset);
uint32_t make_lost_spot(struct profile *profile, enum unknown_reason reason, unsigned cpumode);

// SAMPLES samples, each of weight 10, of COMM (pid and tid PID) with the stack of spots that ends
// with NO_NUMBER, root first.
void make_samples(struct profile *profile, uint32_t event, const char *comm, int32_t pid,
		  uint64_t samples, const uint32_t *stack);
#define STACK(...) ((const uint32_t[]){ __VA_ARGS__, NO_NUMBER })

// Settles the profile; spots can be named from then on.
void make_settled(struct profile *profile);

// Names SPOT: functions separated by spaces, innermost first; all but the last are inlined.
void make_name(struct profile *profile, uint32_t spot, const char *functions);
void make_unknown(struct profile *profile, uint32_t spot, enum unknown_reason reason);

#endif
