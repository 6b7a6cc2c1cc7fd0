// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Sorting out images that have several names and names that have several images.
#include "profile/labels.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/hash.h"

enum { NAME_ROOM = 256, SHORT_ID_DIGITS = 8 };

static bool is_module(const struct image *image)
{
	return image->kind == IMAGE_MODULE || image->kind == IMAGE_GUEST_MODULE;
}

// What a table shows when nothing else has that name: modules in brackets, as perf does. Gives
// NAME, or the image's own string.
static const char *short_name(const struct image *image, char name[NAME_ROOM])
{
	if (!is_module(image))
		return image_short_name(image->path);
	char module[NAME_ROOM - 2];
	module_name_of(image->path, module, sizeof module);
	snprintf(name, NAME_ROOM, "[%s]", module);
	return name;
}

// The ID by which two objects may be the same; NULL when there is none to trust.
static const struct build_id *shared_id(const struct image *image)
{
	bool is_known = identity_is_usable(image->identity) && !build_id_is_none(&image->id);
	return is_known ? &image->id : NULL;
}

// Code that has no file: what one process has of it is not told apart from another's.
static bool is_fileless(const struct image *image)
{
	return image->kind == IMAGE_JIT || image->kind == IMAGE_ANON ||
	       image->kind == IMAGE_SPECIAL;
}

// Recorders have been seen to write one ID into the records of many modules (perf of Linux 6.19):
// on the kernel's side the same ID counts only under the same name.
static bool is_same_image(const struct image *a, const struct image *b)
{
	if (a->kind != b->kind)
		return false;
	if (is_fileless(a))
		return !strcmp(a->path, b->path);
	const struct build_id *a_id = shared_id(a), *b_id = shared_id(b);
	if (!a_id || !b_id || !build_id_equal(a_id, b_id))
		return false;
	if (!image_kind_is_kernel_side(a->kind))
		return true;
	char a_name[NAME_ROOM], b_name[NAME_ROOM];
	return !strcmp(short_name(a, a_name), short_name(b, b_name));
}

static struct imp_error *find_same(struct profile *profile)
{
	_cleanup_(table_fini) struct table by_key = { 0 };
	for (uint32_t i = 0; i < profile->objects.count; i++) {
		struct profile_object *object = &profile->objects.items[i];
		const struct image *image = &object->image;
		object->same = i;
		const struct build_id *id = shared_id(image);
		if (!id && !is_fileless(image))
			continue;
		uint64_t hash = is_fileless(image) ? hash_bytes(0, image->path, strlen(image->path))
						   : build_id_hash(id);
		struct table_probe probe = table_probe(&by_key, hash);
		uint32_t other;
		while (object->same == i && table_next(&by_key, &probe, &other))
			if (is_same_image(&profile->objects.items[other].image, image))
				object->same = other;
		if (object->same == i && !table_insert(&by_key, hash, i))
			return &imp_error_no_memory;
		profile->objects.items[object->same].is_hit |= object->is_hit;
	}
	return NULL;
}

// An object among those that tables show, for sorting by name and path.
struct named {
	struct profile_object *object;
	const char *name;
};

static int named_compare(const void *left, const void *right)
{
	const struct named *a = left, *b = right;
	int by_name = strcmp(a->name, b->name);
	int by_path = by_name ? by_name : strcmp(a->object->image.path, b->object->image.path);
	return by_path ? by_path : (a->object > b->object) - (a->object < b->object);
}

// " [1a2b3c4d]", " [inode 42]" or " [no ID]".
static void append_build(struct buffer *label, const struct image *image)
{
	const struct build_id *id = shared_id(image);
	if (id)
		buffer_format(label, " [%.*s]", SHORT_ID_DIGITS, build_id_text(id).text);
	else if (image->file.is_known && image->file.inode)
		buffer_format(label, " [inode %llu]", (unsigned long long)image->file.inode);
	else
		buffer_text(label, " [no ID]");
}

static struct imp_error *label_one(struct profile *profile, const struct named *named,
				   bool has_other_paths, bool has_other_builds)
{
	_cleanup_buffer_ struct buffer label = { 0 };
	const struct image *image = &named->object->image;
	buffer_text(&label, has_other_paths ? image->path : named->name);
	if (has_other_builds)
		append_build(&label, image);
	if (label.failed)
		return &imp_error_no_memory;
	return strings_intern(&profile->tally.strings, (const char *)label.bytes, label.size,
			      &named->object->label);
}

// Labels all of COUNT objects that share one short name, sorted by path.
static struct imp_error *label_group(struct profile *profile, const struct named *group,
				     size_t count)
{
	bool has_other_paths =
		strcmp(group[0].object->image.path, group[count - 1].object->image.path) != 0 &&
		!is_module(&group[0].object->image);
	for (size_t i = 0; i < count; i++) {
		const char *path = group[i].object->image.path;
		bool has_other_builds =
			(i && !strcmp(group[i - 1].object->image.path, path)) ||
			(i + 1 < count && !strcmp(group[i + 1].object->image.path, path)) ||
			(count > 1 && is_module(&group[i].object->image));
		struct imp_error *err =
			label_one(profile, &group[i], has_other_paths, has_other_builds);
		if (err)
			return err;
	}
	return NULL;
}

// The objects that stand for themselves and were hit, with their short names interned.
static struct imp_error *collect_named(struct profile *profile, struct named *all, size_t *count)
{
	for (uint32_t i = 0; i < profile->objects.count; i++) {
		struct profile_object *object = &profile->objects.items[i];
		char room[NAME_ROOM];
		const char *name = short_name(&object->image, room);
		struct imp_error *err =
			strings_intern(&profile->tally.strings, name, strlen(name), &object->label);
		if (err)
			return err;
		if (object->same == i && object->is_hit)
			all[(*count)++] =
				(struct named){ object, profile_string(profile, object->label) };
	}
	return NULL;
}

struct imp_error *objects_label(struct profile *profile)
{
	_cleanup_free_ struct named *all = calloc(profile->objects.count + 1, sizeof *all);
	if (!all)
		return &imp_error_no_memory;
	size_t count = 0;
	struct imp_error *err = find_same(profile);
	if (!err)
		err = collect_named(profile, all, &count);
	if (count)
		qsort(all, count, sizeof *all, named_compare);
	for (size_t first = 0, end; first < count && !err; first = end) {
		for (end = first + 1; end < count && !strcmp(all[first].name, all[end].name);)
			end++;
		err = label_group(profile, &all[first], end - first);
	}
	for (size_t i = 0; i < profile->objects.count && !err; i++) {
		struct profile_object *object = &profile->objects.items[i];
		object->label = profile->objects.items[object->same].label;
	}
	return err;
}
