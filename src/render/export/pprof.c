// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Writing pprof's profile.proto.
//
// Source: proto/profile.proto of https://github.com/google/pprof. The tables are written as they
// are first needed, and the strings last: a message's fields may come in any order.
#include "render/export/pprof.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/strings.h"
#include "render/columns.h"
#include "render/export/frame_text.h"
#include "render/export/gzip.h"
#include "render/export/protobuf.h"
#include "render/tree_order.h"

enum profile_field {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_MAPPING = 3,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING = 6,
	PROFILE_TIME_NANOS = 9,
	PROFILE_DURATION_NANOS = 10,
	PROFILE_COMMENT = 13,
	PROFILE_DEFAULT_SAMPLE_TYPE = 14,
};
enum value_type_field { VALUE_TYPE_TYPE = 1, VALUE_TYPE_UNIT = 2 };
enum sample_field { SAMPLE_LOCATION = 1, SAMPLE_VALUE = 2, SAMPLE_LABEL = 3 };
enum label_field { LABEL_KEY = 1, LABEL_TEXT = 2 };
enum mapping_field {
	MAPPING_ID = 1,
	MAPPING_FILENAME = 5,
	MAPPING_BUILD_ID = 6,
	MAPPING_HAS_FUNCTIONS = 7,
	MAPPING_HAS_FILENAMES = 8,
	MAPPING_HAS_LINE_NUMBERS = 9,
	MAPPING_HAS_INLINE_FRAMES = 10,
};
enum location_field { LOCATION_ID = 1, LOCATION_MAPPING = 2, LOCATION_LINE = 4 };
enum line_field { LINE_FUNCTION = 1, LINE_LINE = 2 };
enum function_field {
	FUNCTION_ID = 1,
	FUNCTION_NAME = 2,
	FUNCTION_SYSTEM_NAME = 3,
	FUNCTION_FILE = 4
};

struct function {
	uint32_t name, file;
};

struct pprof {
	const struct call_tree *tree;
	struct buffer *out;
	struct strings strings;
	// By number of an event.
	bool *is_shown;
	// By number of a symbol and of an object; 0 for what was not needed yet.
	uint32_t *locations, *mappings;
	uint32_t location_count, mapping_count;
	ARRAY_OF(struct function) functions;
	struct table function_table;
	// Of the messages being made.
	struct buffer message, inner, text;
};

static void pprof_fini(struct pprof *pprof)
{
	strings_fini(&pprof->strings);
	free(pprof->is_shown);
	free(pprof->locations);
	free(pprof->mappings);
	array_fini(&pprof->functions);
	table_fini(&pprof->function_table);
	buffer_fini(&pprof->message);
	buffer_fini(&pprof->inner);
	buffer_fini(&pprof->text);
}

// The number of TEXT in the table of strings. Memory that ran out is noticed at the end.
static uint32_t text_number(struct pprof *pprof, const char *text)
{
	uint32_t number = 0;
	struct imp_error *err = strings_intern(&pprof->strings, text, strlen(text), &number);
	if (err) {
		imp_error_free(err);
		pprof->out->failed = true;
	}
	return number;
}

static void put_value_type(struct pprof *pprof, const char *type, const char *unit)
{
	pprof->message.size = 0;
	protobuf_uint(&pprof->message, VALUE_TYPE_TYPE, text_number(pprof, type));
	protobuf_uint(&pprof->message, VALUE_TYPE_UNIT, text_number(pprof, unit));
	protobuf_message(pprof->out, PROFILE_SAMPLE_TYPE, &pprof->message);
}

// Events without samples say nothing, but where none has any the first stands for all.
static bool is_shown(const struct profile *profile, size_t event)
{
	bool has_any = false;
	for (size_t i = 0; i < profile->events.count; i++)
		has_any = has_any || profile->events.items[i].samples;
	return has_any ? profile->events.items[event].samples > 0 : event == 0;
}

// "samples" and the event's name; of several events the samples are told apart.
static struct imp_error *put_value_types(struct pprof *pprof)
{
	const struct profile *profile = pprof->tree->profile;
	const char *first = NULL;
	size_t shown = 0;
	for (size_t i = 0; i < profile->events.count; i++)
		shown += pprof->is_shown[i];
	for (size_t i = 0; i < profile->events.count; i++) {
		const struct profile_event *event = &profile->events.items[i];
		const char *name = event->name ? event->name : "event";
		if (!pprof->is_shown[i])
			continue;
		pprof->text.size = 0;
		buffer_text(&pprof->text, "samples");
		if (shown > 1)
			buffer_format(&pprof->text, " of %s", name);
		buffer_append(&pprof->text, "", 1);
		if (pprof->text.failed)
			return &imp_error_no_memory;
		put_value_type(pprof, (const char *)pprof->text.bytes, "count");
		put_value_type(pprof, name, event_unit(event));
		first = first ? first : name;
	}
	if (first)
		protobuf_uint(pprof->out, PROFILE_DEFAULT_SAMPLE_TYPE, text_number(pprof, first));
	return NULL;
}

static uint32_t mapping_of(struct pprof *pprof, const struct profile_object *object)
{
	if (!object)
		return 0;
	uint32_t *number = &pprof->mappings[object - pprof->tree->profile->objects.items];
	if (*number)
		return *number;
	*number = ++pprof->mapping_count;
	struct buffer *mapping = &pprof->message;
	mapping->size = 0;
	protobuf_uint(mapping, MAPPING_ID, *number);
	protobuf_uint(mapping, MAPPING_FILENAME, text_number(pprof, object->image.path));
	if (identity_is_usable(object->image.identity))
		protobuf_uint(mapping, MAPPING_BUILD_ID,
			      text_number(pprof, build_id_text(&object->image.id).text));
	// All that can be known is known already: pprof is not to look for files by path.
	protobuf_uint(mapping, MAPPING_HAS_FUNCTIONS, 1);
	protobuf_uint(mapping, MAPPING_HAS_FILENAMES, 1);
	protobuf_uint(mapping, MAPPING_HAS_LINE_NUMBERS, 1);
	protobuf_uint(mapping, MAPPING_HAS_INLINE_FRAMES, 1);
	protobuf_message(pprof->out, PROFILE_MAPPING, mapping);
	return *number;
}

static void put_function(struct pprof *pprof, uint32_t number, const struct function *function)
{
	pprof->message.size = 0;
	protobuf_uint(&pprof->message, FUNCTION_ID, number);
	protobuf_uint(&pprof->message, FUNCTION_NAME, function->name);
	protobuf_uint(&pprof->message, FUNCTION_SYSTEM_NAME, function->name);
	protobuf_uint(&pprof->message, FUNCTION_FILE, function->file);
	protobuf_message(pprof->out, PROFILE_FUNCTION, &pprof->message);
}

// The ID of the function of SYMBOL: 1 more than its index.
static struct imp_error *function_of(struct pprof *pprof, const struct call_symbol *symbol,
				     uint32_t *ret)
{
	pprof->text.size = 0;
	frame_text(pprof->tree, symbol, &pprof->text);
	buffer_append(&pprof->text, "", 1);
	if (pprof->text.failed)
		return &imp_error_no_memory;
	const char *file = profile_string(pprof->tree->profile, symbol->file);
	struct function wanted = { text_number(pprof, (const char *)pprof->text.bytes),
				   file ? text_number(pprof, file) : 0 };
	uint64_t hash = hash_mix(wanted.name, wanted.file);
	struct table_probe probe = table_probe(&pprof->function_table, hash);
	uint32_t index;
	while (table_next(&pprof->function_table, &probe, &index)) {
		const struct function *known = &pprof->functions.items[index];
		if (known->name == wanted.name && known->file == wanted.file) {
			*ret = index + 1;
			return NULL;
		}
	}
	struct function *fresh = array_add(&pprof->functions);
	if (!fresh ||
	    !table_insert(&pprof->function_table, hash, (uint32_t)pprof->functions.count - 1))
		return &imp_error_no_memory;
	*fresh = wanted;
	*ret = (uint32_t)pprof->functions.count;
	put_function(pprof, *ret, fresh);
	return NULL;
}

static struct imp_error *location_of(struct pprof *pprof, uint32_t number, uint32_t *ret)
{
	const struct call_symbol *symbol = &pprof->tree->symbols.items[number];
	uint32_t function;
	if (pprof->locations[number]) {
		*ret = pprof->locations[number];
		return NULL;
	}
	uint32_t mapping = mapping_of(pprof, symbol_object(pprof->tree, symbol));
	struct imp_error *err = function_of(pprof, symbol, &function);
	if (err)
		return err;
	*ret = pprof->locations[number] = ++pprof->location_count;
	pprof->inner.size = pprof->message.size = 0;
	protobuf_uint(&pprof->inner, LINE_FUNCTION, function);
	protobuf_uint(&pprof->inner, LINE_LINE, symbol->line == NO_NUMBER ? 0 : symbol->line);
	protobuf_uint(&pprof->message, LOCATION_ID, *ret);
	protobuf_uint(&pprof->message, LOCATION_MAPPING, mapping);
	protobuf_message(&pprof->message, LOCATION_LINE, &pprof->inner);
	protobuf_message(pprof->out, PROFILE_LOCATION, &pprof->message);
	return NULL;
}

static void put_label(struct pprof *pprof, struct buffer *sample, const char *key, const char *text)
{
	pprof->inner.size = 0;
	protobuf_uint(&pprof->inner, LABEL_KEY, text_number(pprof, key));
	protobuf_uint(&pprof->inner, LABEL_TEXT, text_number(pprof, text));
	protobuf_message(sample, SAMPLE_LABEL, &pprof->inner);
}

// The values of NODE, which are 0 for all events but its own.
static void put_values(struct pprof *pprof, struct buffer *sample, const struct call_node *node,
		       uint32_t event)
{
	pprof->inner.size = 0;
	for (uint32_t i = 0; i < pprof->tree->profile->events.count; i++) {
		if (!pprof->is_shown[i])
			continue;
		protobuf_pack(&pprof->inner, i == event ? node->samples : 0);
		protobuf_pack(&pprof->inner, i == event ? node->weight : 0);
	}
	protobuf_message(sample, SAMPLE_VALUE, &pprof->inner);
}

static struct imp_error *put_sample(struct pprof *pprof, const struct call_node *node)
{
	const struct call_tree *tree = pprof->tree;
	_cleanup_buffer_ struct buffer sample = { 0 };
	_cleanup_buffer_ struct buffer path = { 0 };
	const struct call_node *at = node;
	for (; !call_node_is_root(at); at = &tree->nodes.items[at->parent]) {
		uint32_t location;
		struct imp_error *err = location_of(pprof, at->symbol, &location);
		if (err)
			return err;
		protobuf_pack(&path, location);
	}
	const struct call_root *root = &tree->roots.items[at->symbol];
	const char *comm = profile_string(tree->profile, root->task.comm);
	protobuf_message(&sample, SAMPLE_LOCATION, &path);
	put_values(pprof, &sample, node, root->event);
	if (comm)
		put_label(pprof, &sample, "comm", comm);
	protobuf_message(pprof->out, PROFILE_SAMPLE, &sample);
	return NULL;
}

static void put_origin(struct pprof *pprof)
{
	const struct profile_origin *origin = &pprof->tree->profile->origin;
	protobuf_uint(pprof->out, PROFILE_TIME_NANOS, origin->began_ns);
	if (origin->has_times)
		protobuf_uint(pprof->out, PROFILE_DURATION_NANOS,
			      origin->last_ns - origin->first_ns);
	if (origin->command)
		protobuf_uint(pprof->out, PROFILE_COMMENT, text_number(pprof, origin->command));
}

static void put_strings(struct pprof *pprof)
{
	for (uint32_t i = 0; i < pprof->strings.all.count; i++) {
		const char *text = strings_at(&pprof->strings, i);
		struct buffer bytes = { .bytes = (uint8_t *)(uintptr_t)text, .size = strlen(text) };
		protobuf_message(pprof->out, PROFILE_STRING, &bytes);
	}
}

// The image in which stacks begin, by weight: of programs the executable, or NULL.
static struct imp_error *find_main(const struct call_tree *tree, const struct profile_object **ret)
{
	const struct profile *profile = tree->profile;
	_cleanup_free_ uint32_t *outermost = malloc((tree->nodes.count + 1) * sizeof *outermost);
	_cleanup_free_ uint64_t *weights = calloc(profile->objects.count + 1, sizeof *weights);
	if (!outermost || !weights)
		return &imp_error_no_memory;
	*ret = NULL;
	uint64_t heaviest = 0;
	for (size_t i = 0; i < tree->nodes.count; i++) {
		const struct call_node *node = &tree->nodes.items[i];
		bool is_root = call_node_is_root(node);
		uint32_t object = is_root ? NO_NUMBER : outermost[node->parent];
		if (!is_root && object == NO_NUMBER)
			object = tree->symbols.items[node->symbol].object;
		if (object != NO_NUMBER && profile->objects.items[object].image.kind != IMAGE_USER)
			object = NO_NUMBER;
		outermost[i] = object;
		if (object != NO_NUMBER)
			weights[object] += node->weight;
	}
	for (size_t i = 0; i < profile->objects.count; i++) {
		if (weights[i] <= heaviest)
			continue;
		heaviest = weights[i];
		*ret = &profile->objects.items[i];
	}
	return NULL;
}

static struct imp_error *put_all(struct pprof *pprof, const uint32_t *order)
{
	const struct call_tree *tree = pprof->tree;
	// String 0 is the empty one.
	text_number(pprof, "");
	const struct profile_object *main_object;
	struct imp_error *err = find_main(tree, &main_object);
	if (err)
		return err;
	// By convention the first mapping is the main program's: pprof heads its reports with it.
	mapping_of(pprof, main_object);
	err = put_value_types(pprof);
	for (size_t i = 0; !err && i < tree->nodes.count; i++) {
		const struct call_node *node = &tree->nodes.items[order[i]];
		if (node->samples || node->weight)
			err = put_sample(pprof, node);
	}
	if (err)
		return err;
	put_origin(pprof);
	put_strings(pprof);
	return pprof->out->failed ? &imp_error_no_memory : NULL;
}

struct imp_error *pprof_encode(const struct profile *profile, struct buffer *message)
{
	struct call_tree_options options = { .by_comm = true, .by_line = true };
	_cleanup_call_tree_ struct call_tree *tree = NULL;
	_cleanup_free_ uint32_t *order = NULL;
	struct imp_error *err = ordered_tree(profile, &options, &tree, &order);
	if (err)
		return err;
	_cleanup_(pprof_fini) struct pprof pprof = {
		.tree = tree,
		.out = message,
		.is_shown = calloc(profile->events.count + 1, sizeof(bool)),
		.locations = calloc(tree->symbols.count + 1, sizeof(uint32_t)),
		.mappings = calloc(profile->objects.count + 1, sizeof(uint32_t)),
	};
	if (!pprof.locations || !pprof.mappings || !pprof.is_shown)
		return &imp_error_no_memory;
	for (size_t i = 0; i < profile->events.count; i++)
		pprof.is_shown[i] = is_shown(profile, i);
	return put_all(&pprof, order);
}

struct imp_error *pprof_write(const struct profile *profile, FILE *out)
{
	_cleanup_buffer_ struct buffer message = { 0 };
	struct imp_error *err = pprof_encode(profile, &message);
	return err ? err : gzip_write(out, message.bytes, message.size);
}
