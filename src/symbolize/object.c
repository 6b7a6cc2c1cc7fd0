// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Opening symbol tables and DWARF, and the supplementary file that dwz made, once each.
#include "symbolize/object.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/array.h"

struct object {
	struct objects *owner;
	// Lent by the finder.
	const struct elf_image *image, *debug, *alt;
	pthread_mutex_t lock;
	// Set when what they speak of has been tried.
	atomic_bool has_symbols, has_dwarf;
	struct symbols *symbols;
	struct dwarf *dwarf;
};

struct objects {
	const struct log *log;
	pthread_mutex_t lock;
	ARRAY_OF(struct object *) all;
};

struct imp_error *objects_new(const struct log *log, struct objects **ret)
{
	struct objects *objects = calloc(1, sizeof *objects);
	if (!objects)
		return &imp_error_no_memory;
	objects->log = log;
	pthread_mutex_init(&objects->lock, NULL);
	*ret = objects;
	return NULL;
}

static void object_free(struct object *object)
{
	symbols_free(object->symbols);
	dwarf_free(object->dwarf);
	pthread_mutex_destroy(&object->lock);
	free(object);
}

void objects_free(struct objects *objects)
{
	if (!objects)
		return;
	for (size_t i = 0; i < objects->all.count; i++)
		object_free(objects->all.items[i]);
	array_fini(&objects->all);
	pthread_mutex_destroy(&objects->lock);
	free(objects);
}

// An image is asked for here once; their number is that of the builds in use.
static struct imp_error *get_locked(struct objects *objects, const struct finding *finding,
				    struct object **ret)
{
	for (size_t i = 0; i < objects->all.count; i++) {
		struct object *object = objects->all.items[i];
		if (object->image == finding->image && object->debug == finding->debug) {
			*ret = object;
			return NULL;
		}
	}
	struct object *object = calloc(1, sizeof *object);
	struct object **added = object ? array_add(&objects->all) : NULL;
	if (!added) {
		free(object);
		return &imp_error_no_memory;
	}
	object->owner = objects;
	object->image = finding->image;
	object->debug = finding->debug;
	object->alt = finding->alt;
	pthread_mutex_init(&object->lock, NULL);
	*ret = *added = object;
	return NULL;
}

struct imp_error *objects_get(struct objects *objects, const struct finding *finding,
			      struct object **ret)
{
	pthread_mutex_lock(&objects->lock);
	struct imp_error *err = get_locked(objects, finding, ret);
	pthread_mutex_unlock(&objects->lock);
	return err;
}

struct imp_error *object_symbols(struct object *object, const struct symbols **ret)
{
	struct imp_error *err = NULL;
	if (!atomic_load(&object->has_symbols)) {
		pthread_mutex_lock(&object->lock);
		if (!atomic_load(&object->has_symbols)) {
			err = symbols_new(object->image, object->debug, &object->symbols);
			atomic_store(&object->has_symbols, !err);
		}
		pthread_mutex_unlock(&object->lock);
	}
	if (!err)
		*ret = object->symbols;
	return err;
}

// The bounds of the executable segments; all there is when the file does not say.
static void code_bounds(const struct elf_image *image, uint64_t *start, uint64_t *end)
{
	*start = UINT64_MAX;
	*end = 0;
	for (size_t i = 0; i < elf_image_segment_count(image); i++) {
		const struct load_segment *segment = elf_image_segment(image, i);
		uint64_t segment_end = segment->address + segment->memory_size;
		if (!segment->is_executable || segment_end <= segment->address)
			continue;
		if (segment->address < *start)
			*start = segment->address;
		if (segment_end > *end)
			*end = segment_end;
	}
	if (*start < *end)
		return;
	*start = 0;
	*end = UINT64_MAX;
}

static struct imp_error *open_dwarf(struct object *object, const struct elf_image *image)
{
	struct debug_sections sections, alt = { 0 };
	uint64_t start, end;
	struct imp_error *err = debug_sections_open(image, &sections);
	if (err)
		return err;
	if (object->alt)
		err = debug_sections_open(object->alt, &alt);
	else if (elf_image_section_named(image, ".gnu_debugaltlink"))
		log_message(object->owner->log, LOG_WARNING,
			    "%s: some inlined functions have no name: the file that dwz moved "
			    "them to is missing",
			    elf_image_path(image));
	if (err) {
		debug_sections_close(&sections);
		return err;
	}
	code_bounds(image, &start, &end);
	err = dwarf_new(&sections, alt.image ? &alt : NULL, start, end, &object->dwarf);
	if (!err && dwarf_split_units(object->dwarf))
		log_message(object->owner->log, LOG_NOTE,
			    "%s: no inlined calls for %zu units, whose DWARF is in .dwo files",
			    elf_image_path(image), dwarf_split_units(object->dwarf));
	return err;
}

static struct imp_error *try_dwarf(struct object *object)
{
	const struct elf_image *image = object->debug;
	if (!image || !elf_image_has_dwarf(image))
		image = object->image;
	if (!image || !elf_image_has_dwarf(image))
		return NULL;
	struct imp_error *err = open_dwarf(object, image);
	if (!err || imp_error_code(err) == IMP_ERR_NO_MEMORY)
		return err;
	log_message(object->owner->log, LOG_WARNING, "%s: no source lines: %s",
		    elf_image_path(image), imp_error_message(err));
	imp_error_free(err);
	return NULL;
}

struct imp_error *object_dwarf(struct object *object, struct dwarf **ret)
{
	struct imp_error *err = NULL;
	if (!atomic_load(&object->has_dwarf)) {
		pthread_mutex_lock(&object->lock);
		if (!atomic_load(&object->has_dwarf)) {
			err = try_dwarf(object);
			atomic_store(&object->has_dwarf, !err);
		}
		pthread_mutex_unlock(&object->lock);
	}
	if (!err)
		*ret = object->dwarf;
	return err;
}
