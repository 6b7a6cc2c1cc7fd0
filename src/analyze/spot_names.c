// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Asking the symbolizer for every spot of a profile.
#include "analyze/spot_names.h"

#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"

enum { SPOTS_A_PIECE = 2048 };

struct naming {
	struct profile *profile;
	struct symbolizer *symbolizer;
	// Spots with an object, by object and offset: neighbours are in one function.
	uint32_t *order;
	size_t count;
	// What the symbolizer said, in that order.
	struct frames *answers;
};

// For sorting, which has no argument of its own.
struct ordered_spot {
	uint64_t offset;
	uint32_t object, spot;
	bool is_return;
};

static int ordered_compare(const void *left, const void *right)
{
	const struct ordered_spot *a = left, *b = right;
	if (a->object != b->object)
		return a->object < b->object ? -1 : 1;
	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	return a->is_return - b->is_return;
}

static struct imp_error *order_spots(struct naming *naming)
{
	const struct tally *tally = &naming->profile->tally;
	struct ordered_spot *all = malloc(tally->spots.count * sizeof *all + 1);
	naming->order = malloc(tally->spots.count * sizeof *naming->order + 1);
	if (!all || !naming->order) {
		free(all);
		return &imp_error_no_memory;
	}
	for (uint32_t i = 0; i < tally->spots.count; i++) {
		const struct spot *spot = &tally->spots.items[i];
		if (spot->object != NO_NUMBER)
			all[naming->count++] = (struct ordered_spot){ spot->offset, spot->object, i,
								      spot->is_return };
	}
	if (naming->count)
		qsort(all, naming->count, sizeof *all, ordered_compare);
	for (size_t i = 0; i < naming->count; i++)
		naming->order[i] = all[i].spot;
	free(all);
	naming->answers = calloc(naming->count + 1, sizeof *naming->answers);
	return naming->answers ? NULL : &imp_error_no_memory;
}

static struct imp_error *ask(void *arg, unsigned worker, size_t piece)
{
	(void)worker;
	struct naming *naming = arg;
	const struct profile *profile = naming->profile;
	size_t end = (piece + 1) * SPOTS_A_PIECE;
	for (size_t i = piece * SPOTS_A_PIECE; i < end && i < naming->count; i++) {
		const struct spot *spot = &profile->tally.spots.items[naming->order[i]];
		struct imp_error *err =
			symbolize(naming->symbolizer, &profile_object_of(profile, spot)->image,
				  file_off_of(spot->offset), spot->is_return, &naming->answers[i]);
		if (err)
			return err;
	}
	return NULL;
}

// Interns TEXT; the string before it is often the very same.
struct recent_string {
	const char *text;
	uint32_t number;
};

static struct imp_error *intern(struct profile *profile, struct recent_string *recent,
				const char *text, uint32_t *ret)
{
	*ret = NO_NUMBER;
	if (!text)
		return NULL;
	if (text != recent->text) {
		struct imp_error *err = strings_intern(&profile->tally.strings, text, strlen(text),
						       &recent->number);
		if (err)
			return err;
		recent->text = text;
	}
	*ret = recent->number;
	return NULL;
}

struct recent {
	struct recent_string function, linkage_name, file;
};

static struct imp_error *add_frame(struct profile *profile, struct recent *recent,
				   const struct frame *frame)
{
	struct profile_frame named = {
		.line = frame->line,
		.function_offset = frame->offset,
		.is_inlined = frame->is_inlined,
	};
	struct imp_error *err =
		intern(profile, &recent->function, frame->function, &named.function);
	if (!err)
		err = intern(profile, &recent->linkage_name, frame->linkage_name,
			     &named.linkage_name);
	if (!err)
		err = intern(profile, &recent->file, frame->file, &named.file);
	if (err)
		return err;
	struct profile_frame *fresh = array_add(&profile->frames);
	if (!fresh)
		return &imp_error_no_memory;
	*fresh = named;
	return NULL;
}

static struct imp_error *keep_answers(struct naming *naming)
{
	struct profile *profile = naming->profile;
	struct recent recent = { .function = { .text = NULL } };
	for (size_t i = 0; i < naming->count; i++) {
		const struct frames *answer = &naming->answers[i];
		struct spot_name *name = &profile->names[naming->order[i]];
		*name = (struct spot_name){
			.first = (uint32_t)profile->frames.count,
			.count = answer->count,
			.reason = answer->count ? KNOWN : answer->unknown,
			.has_address = answer->has_address,
			.address = answer->address,
			.is_forced = answer->is_forced,
		};
		for (uint32_t j = 0; j < answer->count; j++) {
			struct imp_error *err = add_frame(profile, &recent, &answer->items[j]);
			if (err)
				return err;
		}
	}
	return NULL;
}

// What was at hand instead of the object that was looked for.
static struct imp_error *keep_finding(struct profile_object *object, const struct finding *finding)
{
	for (size_t i = 0; i < finding->step_count; i++) {
		const struct find_step *step = &finding->steps[i];
		if (step->outcome != FIND_OTHER_BUILD && step->outcome != FIND_UNREADABLE)
			continue;
		object->found_id = step->other;
		object->found_path = strdup(step->place);
		return object->found_path ? NULL : &imp_error_no_memory;
	}
	return NULL;
}

static struct imp_error *keep_findings(struct naming *naming)
{
	struct profile *profile = naming->profile;
	uint32_t last = NO_NUMBER;
	for (size_t i = 0; i < naming->count; i++) {
		uint32_t number = profile->tally.spots.items[naming->order[i]].object;
		enum unknown_reason reason = profile->names[naming->order[i]].reason;
		struct profile_object *object = &profile->objects.items[number];
		bool is_mistaken = reason == UNKNOWN_OTHER_BUILD || reason == UNKNOWN_UNREADABLE;
		if (number == last || object->found_path || !is_mistaken)
			continue;
		last = number;
		const struct finding *finding = NULL;
		struct imp_error *err =
			symbolizer_finding(naming->symbolizer, &object->image, &finding);
		if (!err && finding)
			err = keep_finding(object, finding);
		if (err)
			return err;
	}
	return NULL;
}

struct imp_error *spots_name(struct profile *profile, struct symbolizer *symbolizer,
			     unsigned workers)
{
	struct naming naming = { .profile = profile, .symbolizer = symbolizer };
	struct imp_error *err = order_spots(&naming);
	size_t pieces = (naming.count + SPOTS_A_PIECE - 1) / SPOTS_A_PIECE;
	if (!err)
		err = parallel_run(parallel_workers(workers), pieces, ask, &naming);
	if (!err)
		err = keep_answers(&naming);
	if (!err)
		err = keep_findings(&naming);
	profile->is_named = !err;
	free(naming.order);
	free(naming.answers);
	return err;
}
