// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Which images of a recording were hit.
#include "cli/needs.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "analyze/hits.h"
#include "cli/archived.h"
#include "cli/temporary.h"
#include "elf/altlink.h"
#include "store/store.h"

// Generated code, stacks and the like are no files.
static bool can_be_a_file(enum image_kind kind)
{
	return kind != IMAGE_JIT && kind != IMAGE_ANON && kind != IMAGE_SPECIAL;
}

struct needs {
	struct recording *recording;
	struct survey *survey;
	struct hits *hits;
};

static struct imp_error *visit_images(const struct needs *needs, bool all, needs_visitor *visit,
				      void *arg)
{
	size_t count = timeline_image_count(needs->survey->timeline);
	struct imp_error *err = NULL;
	for (uint32_t i = 0; !err && i < count; i++) {
		const struct image *image = timeline_image(needs->survey->timeline, i);
		if (can_be_a_file(image->kind) && (all || needs->hits->is_hit[i]))
			err = visit(arg, image);
	}
	return err;
}

// Callers come from copies of the stack: which images they are in is seen only with these at hand.
static bool has_stacks(const struct recording *recording)
{
	const struct events *events = recording_events(recording);
	for (size_t i = 0; i < events->count; i++)
		if (events->items[i].attr.sample_type & SAMPLE_STACK_USER)
			return true;
	return false;
}

struct imp_error *needs_visit(const char *path, bool all, const struct log *log,
			      needs_visitor *visit, void *arg)
{
	struct needs needs = { 0 };
	struct recording_options options = { .log = log,
					     .temporary_directory = temporary_directory() };
	struct imp_error *err = recording_open(path, &options, &needs.recording);
	if (!err)
		err = survey_new(needs.recording, log, &needs.survey);
	bool has_trace = !err && needs.survey->records[RECORD_AUXTRACE];
	if (has_trace && !all)
		log_message(log, LOG_WARNING,
			    "%s: where its AUX traces went is not decoded: all images are taken",
			    path);
	bool has_copies = !err && has_stacks(needs.recording);
	if (has_copies && !all && !has_trace)
		log_message(log, LOG_NOTE,
			    "%s: its callers come from copies of the stack: all images are taken",
			    path);
	if (!err && !all)
		err = hits_count(needs.recording, needs.survey, &needs.hits);
	if (!err)
		err = visit_images(&needs, all || has_trace || has_copies, visit, arg);
	hits_free(needs.hits);
	survey_free(needs.survey);
	recording_close(needs.recording);
	return err;
}

static bool has_magic(const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	char magic[8];
	return fd >= 0 && pread(fd, magic, sizeof magic, 0) == sizeof magic &&
	       (!memcmp(magic, "PERFILE2", sizeof magic) ||
		!memcmp(magic, "2ELIFREP", sizeof magic));
}

bool needs_is_recording(const char *path)
{
	if (has_magic(path) || bundle_is(path))
		return true;
	char data[PATH_MAX];
	int size = snprintf(data, sizeof data, "%s/data", path);
	return size > 0 && (size_t)size < sizeof data && has_magic(data);
}

static struct imp_error *add_id(struct needs_ids *ids, const struct build_id *id)
{
	if (build_id_is_none(id))
		return NULL;
	for (size_t i = 0; i < ids->count; i++)
		if (build_id_equal(&ids->items[i], id))
			return NULL;
	struct build_id *slot = array_add(ids);
	if (!slot)
		return &imp_error_no_memory;
	*slot = *id;
	return NULL;
}

static struct imp_error *note_id(void *arg, const struct image *image)
{
	return add_id(arg, &image->id);
}

struct imp_error *needs_collect(const char *path, const struct log *log, struct needs_ids *ret)
{
	_cleanup_(cleanup_bundle) struct bundle *bundle = NULL;
	struct imp_error *err = archived_open(&path, NULL, log, &bundle);
	return err ? err : needs_visit(path, false, log, note_id, ret);
}

static struct imp_error *add_alt_of(struct store *store, const struct store_object *object,
				    struct needs_ids *ids)
{
	_cleanup_elf_image_ struct elf_image *image = NULL;
	int fd = -1;
	struct imp_error *err = store_object_open(store, object, &fd);
	if (!err)
		err = elf_image_open_fd(fd, "object", 0, &image);
	struct build_id id;
	const char *path;
	// What cannot be read refers to nothing.
	if (err && imp_error_code(err) != IMP_ERR_NO_MEMORY) {
		imp_error_free(err);
		err = NULL;
	}
	return !err && image && elf_altlink(image, &id, &path) ? add_id(ids, &id) : err;
}

struct imp_error *needs_add_alts(struct store *store, struct needs_ids *ids)
{
	struct imp_error *err = NULL;
	size_t count = ids->count;
	for (size_t i = 0; !err && i < count; i++) {
		_cleanup_store_objects_ struct store_objects objects = { 0 };
		err = store_find_all(store, &ids->items[i], &objects);
		for (size_t j = 0; !err && j < objects.count; j++)
			if (objects.items[j].rank == STORE_DWARF)
				err = add_alt_of(store, &objects.items[j], ids);
	}
	return err;
}
