// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Reading manifests, of which nothing is believed unseen.
#include <jansson.h>
#include <string.h>

#include "archive/manifest.h"

static struct imp_error *odd(const char *what)
{
	return error_new(IMP_ERR_BAD_DATA, "manifest.json: %s", what);
}

static bool read_size(const json_t *object, uint64_t *ret)
{
	const json_t *size = json_object_get(object, "size");
	if (!json_is_integer(size) || json_integer_value(size) < 0)
		return false;
	*ret = (uint64_t)json_integer_value(size);
	return true;
}

static bool read_hash(const json_t *object, struct store_hash *ret)
{
	const char *text = json_string_value(json_object_get(object, "sha256"));
	return text && store_hash_parse(text, ret);
}

// False when there is one that is none.
static bool read_id(const json_t *object, struct build_id *ret)
{
	const json_t *id = json_object_get(object, "build_id");
	*ret = (struct build_id){ 0 };
	return json_is_null(id) ||
	       (json_is_string(id) && build_id_parse(json_string_value(id), ret));
}

// A string or null; *ret is NULL for null.
static bool read_path(const json_t *object, char **ret)
{
	const json_t *path = json_object_get(object, "path");
	*ret = NULL;
	if (json_is_null(path))
		return true;
	return json_is_string(path) && (*ret = strdup(json_string_value(path)));
}

static struct imp_error *read_recording(const json_t *json, struct manifest *ret)
{
	const char *name = json_string_value(json_object_get(json, "name"));
	if (!name || !manifest_name_is_plain(name))
		return odd("a recording whose name is no plain file name");
	for (size_t i = 0; i < ret->recordings.count; i++)
		if (!strcmp(ret->recordings.items[i].name, name))
			return odd("two recordings of one name");
	struct manifest_recording *recording = array_add(&ret->recordings);
	if (!recording || !(recording->name = strdup(name)))
		return &imp_error_no_memory;
	if (!read_size(json, &recording->size_bytes) || !read_hash(json, &recording->hash))
		return odd("a recording without size or hash");
	return NULL;
}

static struct imp_error *read_object(const json_t *json, struct manifest *ret)
{
	struct manifest_object *object = array_add(&ret->objects);
	if (!object)
		return &imp_error_no_memory;
	const char *role = json_string_value(json_object_get(json, "role"));
	const char *rank = json_string_value(json_object_get(json, "rank"));
	if (!read_size(json, &object->size_bytes) || !read_hash(json, &object->hash) ||
	    !read_id(json, &object->id) || !read_path(json, &object->path) || !role ||
	    !store_role_parse(role, &object->role) || !rank ||
	    !store_rank_parse(rank, &object->rank))
		return odd("an object that lacks something");
	object->is_elsewhere = json_is_true(json_object_get(json, "elsewhere"));
	return NULL;
}

static struct imp_error *read_missing(const json_t *json, struct manifest *ret)
{
	struct manifest_missing *missing = array_add(&ret->missing);
	if (!missing)
		return &imp_error_no_memory;
	if (!read_id(json, &missing->id) || !read_path(json, &missing->path))
		return odd("a missing image that is not named");
	return NULL;
}

static struct imp_error *
read_each(const json_t *root, const char *key,
	  struct imp_error *(*read)(const json_t *json, struct manifest *ret), struct manifest *ret)
{
	const json_t *array = json_object_get(root, key);
	if (!json_is_array(array))
		return error_new(IMP_ERR_BAD_DATA, "manifest.json: no array '%s'", key);
	struct imp_error *err = NULL;
	for (size_t i = 0; !err && i < json_array_size(array); i++)
		err = read(json_array_get(array, i), ret);
	return err;
}

static int compare_hashes(const void *a, const void *b)
{
	return memcmp(((const struct manifest_object *)a)->hash.bytes,
		      ((const struct manifest_object *)b)->hash.bytes, STORE_HASH_BYTES);
}

static struct imp_error *read_root(const json_t *root, struct manifest *ret)
{
	const char *format = json_string_value(json_object_get(root, "format"));
	const json_t *version = json_object_get(root, "version");
	if (!format || strcmp(format, MANIFEST_FORMAT) != 0)
		return odd("not of an imprint archive");
	if (!json_is_integer(version) || json_integer_value(version) != MANIFEST_VERSION)
		return error_new(IMP_ERR_UNSUPPORTED, "manifest.json: of another version");
	struct imp_error *err = read_each(root, "recordings", read_recording, ret);
	if (!err)
		err = read_each(root, "objects", read_object, ret);
	if (!err)
		err = read_each(root, "missing", read_missing, ret);
	if (!err && ret->objects.count)
		qsort(ret->objects.items, ret->objects.count, sizeof *ret->objects.items,
		      compare_hashes);
	return err;
}

struct imp_error *manifest_read(const char *text, size_t size, struct manifest *ret)
{
	json_error_t where;
	json_t *root = json_loadb(text, size, 0, &where);
	if (!root)
		return error_new(IMP_ERR_BAD_DATA, "manifest.json: line %d: %s", where.line,
				 where.text);
	struct manifest manifest = { 0 };
	struct imp_error *err = read_root(root, &manifest);
	json_decref(root);
	if (err)
		manifest_fini(&manifest);
	else
		*ret = manifest;
	return err;
}
