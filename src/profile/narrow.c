// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Taking samples out of the sums by where they were taken.
#include "profile/narrow.h"

#include <stdlib.h>
#include <string.h>

enum { ID_DIGITS_LEAST = 6 };

static bool is_called(const struct profile *profile, const struct profile_object *object,
		      const char *name)
{
	const char *slash = strrchr(object->path, '/');
	struct build_id_text id = build_id_text(&object->image.id);
	size_t length = strlen(name);
	return !strcmp(name, profile_string(profile, object->label)) ||
	       !strcmp(name, object->path) || (slash && !strcmp(name, slash + 1)) ||
	       (length >= ID_DIGITS_LEAST && !strncmp(name, id.text, length));
}

static bool is_in_objects(const struct profile *profile, const struct spot *spot,
			  const char *const *names)
{
	const struct profile_object *object = profile_object_of(profile, spot);
	for (; object && names && *names; names++)
		if (is_called(profile, object, *names))
			return true;
	return !names;
}

static bool is_in_functions(const struct profile *profile, uint32_t spot, const char *const *names)
{
	const struct spot_name *known = &profile->names[spot];
	const struct profile_frame *frame = known->count ? &profile->frames.items[known->first]
							 : NULL;
	for (; frame && names && *names; names++) {
		const char *function = profile_string(profile, frame->function);
		const char *linked = profile_string(profile, frame->linkage_name);
		if ((function && !strcmp(*names, function)) || (linked && !strcmp(*names, linked)))
			return true;
	}
	return !names;
}

static void take_out(struct profile *profile, uint32_t event, struct stack_node *node)
{
	profile->events.items[event].samples -= node->samples;
	profile->events.items[event].weight -= node->weight;
	profile->origin.left_out += node->samples;
	node->samples = node->weight = 0;
}

struct imp_error *profile_narrow(struct profile *profile, const struct narrowing *narrowing)
{
	struct tally *tally = &profile->tally;
	_cleanup_free_ uint32_t *events = profile_node_events(profile);
	if (!events)
		return &imp_error_no_memory;
	for (size_t i = 0; i < tally->nodes.count; i++) {
		struct stack_node *node = &tally->nodes.items[i];
		if (!node->samples)
			continue;
		// What was taken nowhere stands at the root.
		if (stack_node_is_root(node)) {
			take_out(profile, events[i], node);
			continue;
		}
		const struct spot *spot = &tally->spots.items[node->spot];
		if (!is_in_objects(profile, spot, narrowing->objects) ||
		    !is_in_functions(profile, node->spot, narrowing->functions))
			take_out(profile, events[i], node);
	}
	return NULL;
}
