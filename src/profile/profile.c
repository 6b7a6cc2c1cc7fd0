// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Making and freeing profiles.
#include "profile/profile.h"

#include <stdlib.h>
#include <string.h>

#include "profile/labels.h"

static void object_fini(struct profile_object *object)
{
	free(object->path);
	free(object->reference_symbol);
	free(object->found_path);
}

static void origin_fini(struct profile_origin *origin)
{
	free(origin->path);
	free(origin->host);
	free(origin->os_release);
	free(origin->arch);
	free(origin->recorder);
	free(origin->command);
	for (size_t i = 0; i < origin->note_count; i++)
		free(origin->notes[i]);
	free(origin->notes);
}

void profile_free(struct profile *profile)
{
	if (!profile)
		return;
	for (size_t i = 0; i < profile->objects.count; i++)
		object_fini(&profile->objects.items[i]);
	for (size_t i = 0; i < profile->events.count; i++)
		free(profile->events.items[i].name);
	array_fini(&profile->objects);
	array_fini(&profile->events);
	array_fini(&profile->frames);
	free(profile->names);
	origin_fini(&profile->origin);
	tally_fini(&profile->tally);
	free(profile);
}

struct imp_error *profile_add_object(struct profile *profile, const struct image *image)
{
	_cleanup_free_ char *path = strdup(image->path ? image->path : "");
	_cleanup_free_ char *symbol = image->reference_symbol ? strdup(image->reference_symbol)
							      : NULL;
	struct profile_object *object = NULL;
	if (path && (symbol || !image->reference_symbol))
		object = array_add(&profile->objects);
	if (!object)
		return &imp_error_no_memory;
	object->image = *image;
	object->image.path = object->path = steal(path);
	object->image.reference_symbol = object->reference_symbol = steal(symbol);
	object->label = NO_NUMBER;
	return NULL;
}

struct imp_error *profile_add_event(struct profile *profile, const char *name)
{
	_cleanup_free_ char *copy = strdup(name);
	struct profile_event *event = copy ? array_add(&profile->events) : NULL;
	if (!event)
		return &imp_error_no_memory;
	event->name = steal(copy);
	return NULL;
}

uint32_t *profile_node_events(const struct profile *profile)
{
	const struct tally *tally = &profile->tally;
	uint32_t *events = malloc(tally->nodes.count * sizeof *events + 1);
	for (size_t i = 0; events && i < tally->nodes.count; i++) {
		const struct stack_node *node = &tally->nodes.items[i];
		events[i] = stack_node_is_root(node) ? tally->roots.items[node->spot].event
						     : events[node->parent];
	}
	return events;
}

static struct imp_error *sum_events(struct profile *profile)
{
	const struct tally *tally = &profile->tally;
	_cleanup_free_ uint32_t *events = profile_node_events(profile);
	if (!events)
		return &imp_error_no_memory;
	for (size_t i = 0; i < tally->nodes.count; i++) {
		profile->events.items[events[i]].samples += tally->nodes.items[i].samples;
		profile->events.items[events[i]].weight += tally->nodes.items[i].weight;
	}
	return NULL;
}

struct imp_error *profile_settle(struct profile *profile)
{
	const struct tally *tally = &profile->tally;
	for (size_t i = 0; i < tally->spots.count; i++)
		if (tally->spots.items[i].object != NO_NUMBER)
			profile->objects.items[tally->spots.items[i].object].is_hit = true;
	profile->names = calloc(tally->spots.count + 1, sizeof *profile->names);
	if (!profile->names)
		return &imp_error_no_memory;
	for (size_t i = 0; i < tally->spots.count; i++)
		profile->names[i].reason = tally->spots.items[i].reason;
	struct imp_error *err = sum_events(profile);
	return err ? err : objects_label(profile);
}
