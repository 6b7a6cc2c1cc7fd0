// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Opening symbol tables and DWARF (or its saved index), and the supplementary file that dwz made,
// once each.
#include "symbolize/object.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/parallel.h"
#include "symbolize/saved_index.h"

struct object {
	struct objects *owner;
	// Lent by the finder.
	const struct elf_image *image, *debug, *alt;
	// What addresses of the file with DWARF have more than the image's.
	uint64_t shift;
	pthread_mutex_t lock;
	// Set when what they speak of has been tried.
	atomic_bool has_symbols, has_dwarf;
	struct symbols *symbols;
	_Atomic(struct dwarf *) dwarf;
	// An index that turned out to be damaged, kept for the strings it lent.
	struct dwarf *damaged;
};

struct objects {
	const struct log *log;
	// Where indexes are kept; NULL: nowhere.
	struct store *store;
	pthread_mutex_t lock;
	ARRAY_OF(struct object *) all;
};

struct imp_error *objects_new(const struct log *log, const char *index_dir, struct objects **ret)
{
	struct objects *objects = calloc(1, sizeof *objects);
	if (!objects)
		return &imp_error_no_memory;
	objects->log = log;
	pthread_mutex_init(&objects->lock, NULL);
	struct imp_error *err = index_dir ? store_open(index_dir, STORE_READ, log, &objects->store)
					  : NULL;
	if (err && imp_error_code(err) != IMP_ERR_NO_MEMORY) {
		log_message(log, LOG_NOTE, "no saved indexes: %s", imp_error_message(err));
		imp_error_free(steal(err));
	}
	if (err)
		objects_free(objects);
	else
		*ret = objects;
	return err;
}

// Says which part of the DWARF was not to be had.
static void tell_loss(const struct object *object)
{
	const struct dwarf *dwarf = atomic_load(&object->dwarf);
	struct dwarf_loss loss = { .unit_count = 0 };
	if (dwarf)
		loss = dwarf_split_loss(dwarf);
	if (loss.unit_count)
		log_message(object->owner->log, LOG_WARNING,
			    "%s: no inlined calls in %zu units: %s %s",
			    elf_image_path(object->debug ? object->debug : object->image),
			    loss.unit_count, loss.path,
			    loss.is_other ? "is of another build" : "is missing");
}

static void object_free(struct object *object)
{
	tell_loss(object);
	symbols_free(object->symbols);
	dwarf_free(atomic_load(&object->dwarf));
	dwarf_free(object->damaged);
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
	store_free(objects->store);
	pthread_mutex_destroy(&objects->lock);
	free(objects);
}

// The files with DWARF; `debug` is NULL without any.
static struct index_files files_of(const struct object *object)
{
	struct index_files files = { .debug = object->debug, .alt = object->alt };
	if (!files.debug || !elf_image_has_dwarf(files.debug))
		files.debug = object->image;
	if (files.debug && !elf_image_has_dwarf(files.debug))
		files.debug = NULL;
	return files;
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
	struct index_files files = files_of(object);
	if (object->image && files.debug)
		(void)elf_image_shift(object->image, files.debug, &object->shift);
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

static struct imp_error *open_dwarf(const struct index_files *files, struct dwarf **ret)
{
	struct debug_sections sections, alt = { 0 };
	uint64_t start, end;
	struct imp_error *err = debug_sections_open(files->debug, &sections);
	if (err)
		return err;
	if (files->alt)
		err = debug_sections_open(files->alt, &alt);
	if (err) {
		debug_sections_close(&sections);
		return err;
	}
	code_bounds(files->debug, &start, &end);
	return dwarf_new(&sections, alt.image ? &alt : NULL, start, end, ret);
}

static struct imp_error *try_dwarf(const struct object *object, bool may_be_index,
				   struct dwarf **ret)
{
	const struct log *log = object->owner->log;
	struct index_files files = files_of(object);
	struct imp_error *err = NULL;
	*ret = NULL;
	if (!files.debug)
		return NULL;
	if (!files.alt && elf_image_section_named(files.debug, ".gnu_debugaltlink"))
		log_message(log, LOG_WARNING,
			    "%s: some inlined functions have no name: the file that dwz moved "
			    "them to is missing",
			    elf_image_path(files.debug));
	if (may_be_index && object->owner->store)
		err = saved_index_find(object->owner->store, &files, log, ret);
	if (!err && !*ret)
		err = open_dwarf(&files, ret);
	if (!err || imp_error_code(err) == IMP_ERR_NO_MEMORY)
		return err;
	log_message(log, LOG_WARNING, "%s: no source lines: %s", elf_image_path(files.debug),
		    imp_error_message(err));
	imp_error_free(err);
	return NULL;
}

static struct imp_error *object_dwarf(struct object *object, struct dwarf **ret)
{
	struct imp_error *err = NULL;
	if (!atomic_load(&object->has_dwarf)) {
		pthread_mutex_lock(&object->lock);
		if (!atomic_load(&object->has_dwarf)) {
			struct dwarf *dwarf = NULL;
			err = try_dwarf(object, true, &dwarf);
			atomic_store(&object->dwarf, dwarf);
			atomic_store(&object->has_dwarf, !err);
		}
		pthread_mutex_unlock(&object->lock);
	}
	if (!err)
		*ret = atomic_load(&object->dwarf);
	return err;
}

struct imp_error *object_has_lines(struct object *object, bool *ret)
{
	struct dwarf *dwarf = NULL;
	struct imp_error *err = object_dwarf(object, &dwarf);
	*ret = dwarf;
	return err;
}

// Puts the DWARF in the place of the index, which ERR (taken) says is damaged.
static struct imp_error *leave_index(struct object *object, struct dwarf *index,
				     struct imp_error *err)
{
	struct dwarf *dwarf = NULL;
	log_message(object->owner->log, LOG_WARNING, "%s", imp_error_message(err));
	imp_error_free(err);
	err = NULL;
	pthread_mutex_lock(&object->lock);
	if (atomic_load(&object->dwarf) == index) {
		err = try_dwarf(object, false, &dwarf);
		if (!err) {
			object->damaged = index;
			atomic_store(&object->dwarf, dwarf);
		}
	}
	pthread_mutex_unlock(&object->lock);
	return err;
}

struct imp_error *object_lines(struct object *object, elf_addr address, struct dwarf_frame *frames,
			       uint32_t *count)
{
	struct dwarf *dwarf;
	struct imp_error *err = object_dwarf(object, &dwarf);
	*count = 0;
	if (err || !dwarf)
		return err;
	address.value += object->shift;
	err = dwarf_find(dwarf, address, frames, count);
	if (!err || !dwarf_is_index(dwarf) || imp_error_code(err) != IMP_ERR_BAD_DATA)
		return err;
	err = leave_index(object, dwarf, err);
	dwarf = err ? NULL : atomic_load(&object->dwarf);
	return dwarf ? dwarf_find(dwarf, address, frames, count) : err;
}

struct imp_error *object_prepare(struct object *object, const elf_addr *addresses, size_t count,
				 unsigned workers)
{
	struct dwarf *dwarf;
	struct imp_error *err = object_dwarf(object, &dwarf);
	// An index has nothing to be read before it is asked.
	if (err || !dwarf || dwarf_is_index(dwarf))
		return err;
	_cleanup_free_ elf_addr *shifted = NULL;
	if (object->shift) {
		shifted = calloc(count + 1, sizeof *shifted);
		if (!shifted)
			return &imp_error_no_memory;
		for (size_t i = 0; i < count; i++)
			shifted[i] = elf_addr_of(addresses[i].value + object->shift);
		addresses = shifted;
	}
	return dwarf_prepare(dwarf, addresses, count, parallel_workers(workers));
}

static struct imp_error *save_index(const struct object *object, struct store *store,
				    unsigned workers)
{
	struct dwarf *dwarf = atomic_load(&object->dwarf);
	struct index_files files = files_of(object);
	if (!dwarf || !saved_index_pays(dwarf, &files))
		return NULL;
	struct imp_error *err = saved_index_keep(store, &files, dwarf, workers);
	if (!err)
		log_message(object->owner->log, LOG_NOTE, "%s: index of source lines kept in %s",
			    elf_image_path(files.debug), store_dir(store));
	return err;
}

struct imp_error *objects_save_indexes(struct objects *objects, unsigned workers)
{
	struct store *store = NULL;
	struct imp_error *err = NULL;
	if (objects->store)
		err = store_open(store_dir(objects->store), STORE_WRITE, objects->log, &store);
	for (size_t i = 0; store && i < objects->all.count && !err; i++)
		err = save_index(objects->all.items[i], store, workers);
	store_free(store);
	if (err && imp_error_code(err) != IMP_ERR_NO_MEMORY) {
		log_message(objects->log, LOG_NOTE, "no index kept: %s", imp_error_message(err));
		imp_error_free(steal(err));
	}
	return err;
}
