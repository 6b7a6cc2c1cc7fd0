// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// A profile: what ran, how often, where that was and what it is called. Knows no file and no
// symbolizer: whoever makes it fills it in.
#ifndef PROFILE_PROFILE_H
#define PROFILE_PROFILE_H

#include "model/image.h"
#include "model/unwind_end.h"
#include "profile/tally.h"

// An image that code ran in, under one path.
struct profile_object {
	// Its strings are the two below.
	struct image image;
	char *path, *reference_symbol;
	// The lowest object that is the same image: itself, or one with an equal build ID.
	uint32_t same;
	// What tables call it: number of a string. Objects that are not the same have different
	// labels.
	uint32_t label;
	// Samples taken in it, or in what it calls.
	bool is_hit;
	// Samples whose call chain, made from a copied stack, ends in it before it should.
	uint64_t ended_chains;
	// Where another build, or something unreadable, was found in its place: owned, NULL for
	// nowhere.
	char *found_path;
	struct build_id found_id;
};

struct profile_event {
	char *name;
	uint64_t samples, weight;
};

// One function at a spot; of several, each is inlined into the next. Numbers of strings, NO_NUMBER
// where not known.
struct profile_frame {
	uint32_t function, linkage_name, file, line;
	uint64_t function_offset;
	bool is_inlined;
};

// What a spot is called: a run of frames, innermost first; none and a reason when it has no name.
struct spot_name {
	uint32_t first, count;
	enum unknown_reason reason;
	bool has_address;
	// A file of another build was used because that was asked for.
	bool is_forced;
	elf_addr address;
};

// What a recording says of itself. Strings are owned, NULL when it does not say.
struct profile_origin {
	char *path;
	char *host, *os_release, *arch, *recorder;
	// As it was typed, quoted for a shell.
	char *command;
	bool has_times;
	uint64_t first_ns, last_ns;
	// Nanoseconds since 1970 at which the first sample was taken; 0 when not known.
	uint64_t began_ns;
	// Events the kernel had no room for, and samples among them where it said so.
	uint64_t lost_events, lost_samples;
	// Samples that could not be read, and samples that carry no address.
	uint64_t unreadable_samples, samples_without_address;
	// Samples that were not asked for, and are counted nowhere else.
	uint64_t left_out;
	bool has_chains;
	// Servers were asked for what is not here, so that asking again is no use.
	bool asked_servers;
	// Samples with a copied stack, by why their chains end; and those with frames that were
	// left by their frame pointer because nothing describes them.
	uint64_t chain_ends[UNWIND_ENDS], chain_end_weights[UNWIND_ENDS];
	uint64_t chains_by_frame_pointer;
	// What the recorder says that the recording lacks, in sentences.
	char **notes;
	size_t note_count;
};

struct profile {
	// Comm names, functions, files and labels are strings of the tally.
	struct tally tally;
	ARRAY_OF(struct profile_object) objects;
	ARRAY_OF(struct profile_event) events;
	ARRAY_OF(struct profile_frame) frames;
	// One for each spot of the tally.
	struct spot_name *names;
	// Names were asked for, so that what has none has a reason.
	bool is_named;
	struct profile_origin origin;
};

void profile_free(struct profile *profile);

// Copies IMAGE as the object with the next number.
struct imp_error *profile_add_object(struct profile *profile, const struct image *image) MUST_CHECK;
struct imp_error *profile_add_event(struct profile *profile, const char *name) MUST_CHECK;

// To be called when the tally and the objects are complete: sums the events up, finds which
// objects are the same and what to call them, and makes room for names (all unknown at first).
struct imp_error *profile_settle(struct profile *profile) MUST_CHECK;

// For each node of the tally the event of its root: a parent stands before its children. The
// caller's to free; NULL without memory.
uint32_t *profile_node_events(const struct profile *profile);

static inline const char *profile_string(const struct profile *profile, uint32_t number)
{
	return number == NO_NUMBER ? NULL : strings_at(&profile->tally.strings, number);
}

// The object of SPOT, or NULL.
static inline const struct profile_object *profile_object_of(const struct profile *profile,
							     const struct spot *spot)
{
	return spot->object == NO_NUMBER ? NULL : &profile->objects.items[spot->object];
}

DEFINE_CLEANUP(struct profile *, profile, profile_free)
#define _cleanup_profile_ __attribute__((cleanup(cleanup_profile)))

#endif
