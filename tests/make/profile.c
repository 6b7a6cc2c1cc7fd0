// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Building profiles for tests.
#include "make/profile.h"

#include <stdlib.h>
#include <string.h>

static void must(struct imp_error *err)
{
	if (!err)
		return;
	fprintf(stderr, "cannot make a profile: %s\n", imp_error_message(err));
	abort();
}

struct profile *make_profile(const char *const *events)
{
	struct profile *profile = calloc(1, sizeof *profile);
	if (!profile)
		abort();
	for (; *events; events++)
		must(profile_add_event(profile, *events));
	return profile;
}

uint32_t make_object(struct profile *profile, enum image_kind kind, const char *path,
		     const char *id, enum identity identity)
{
	struct image image = { .kind = kind, .path = path, .identity = identity };
	if (*id && !build_id_parse(id, &image.id))
		abort();
	must(profile_add_object(profile, &image));
	return (uint32_t)profile->objects.count - 1;
}

uint32_t make_spot(struct profile *profile, uint32_t object, uint64_t offset)
{
	uint32_t number = NO_NUMBER;
	must(tally_spot(&profile->tally, &(struct spot){ .object = object, .offset = offset },
			&number));
	return number;
}

uint32_t make_lost_spot(struct profile *profile, enum unknown_reason reason, unsigned cpumode)
{
	uint32_t number = NO_NUMBER;
	must(tally_spot(&profile->tally,
			&(struct spot){ .object = NO_NUMBER,
					.reason = (uint8_t)reason,
					.cpumode = (uint8_t)cpumode },
			&number));
	return number;
}

void make_samples(struct profile *profile, uint32_t event, const char *comm, int32_t pid,
		  uint64_t samples, const uint32_t *stack)
{
	enum { WEIGHT = 10 };
	struct tally *tally = &profile->tally;
	uint32_t task = 0;
	struct stack_place at = { 0 };
	must(tally_task(tally, &(struct task_texts){ .comm = comm },
			&(struct task){ .pid = pid, .tid = pid, .cpu = TASK_ANY }, &task));
	must(tally_root(tally, event, task, &at));
	for (; *stack != NO_NUMBER; stack++)
		must(tally_call(tally, &tally->spots.items[*stack], &at));
	tally_add(tally, at.node, samples, samples * WEIGHT);
}

void make_settled(struct profile *profile)
{
	must(profile_settle(profile));
	profile->is_named = true;
}

void make_name(struct profile *profile, uint32_t spot, const char *functions)
{
	struct spot_name *name = &profile->names[spot];
	name->first = (uint32_t)profile->frames.count;
	name->reason = KNOWN;
	while (*functions) {
		size_t length = strcspn(functions, " ");
		struct profile_frame *frame = array_add(&profile->frames);
		if (!frame)
			abort();
		*frame = (struct profile_frame){ .function = NO_NUMBER,
						 .linkage_name = NO_NUMBER,
						 .file = NO_NUMBER };
		must(strings_intern(&profile->tally.strings, functions, length, &frame->function));
		functions += length;
		frame->is_inlined = *functions == ' ';
		functions += *functions == ' ';
		name->count++;
	}
}

void make_unknown(struct profile *profile, uint32_t spot, enum unknown_reason reason)
{
	profile->names[spot].reason = reason;
}
