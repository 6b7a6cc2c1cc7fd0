// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Manifests, and writing them as JSON.
#include "archive/manifest.h"

#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/json.h"

void manifest_fini(struct manifest *manifest)
{
	for (size_t i = 0; i < manifest->recordings.count; i++)
		free(manifest->recordings.items[i].name);
	for (size_t i = 0; i < manifest->objects.count; i++)
		free(manifest->objects.items[i].path);
	for (size_t i = 0; i < manifest->missing.count; i++)
		free(manifest->missing.items[i].path);
	array_fini(&manifest->recordings);
	array_fini(&manifest->objects);
	array_fini(&manifest->missing);
}

bool manifest_name_is_plain(const char *name)
{
	if (!*name || strlen(name) > 255 || !strcmp(name, ".") || !strcmp(name, ".."))
		return false;
	for (; *name; name++)
		if (*name == '/' || (unsigned char)*name < ' ' || *name == 0x7f)
			return false;
	return true;
}

static void write_hash(struct json *json, const struct store_hash *hash)
{
	json_member_string(json, "sha256", store_hash_text(hash).text);
}

static void write_id(struct json *json, const struct build_id *id)
{
	json_member_string(json, "build_id", build_id_is_none(id) ? NULL : build_id_text(id).text);
}

static void write_object(struct json *json, const struct manifest_object *object)
{
	json_begin_object(json);
	write_hash(json, &object->hash);
	json_member_uint(json, "size", object->size_bytes);
	write_id(json, &object->id);
	json_member_string(json, "role", store_role_name(object->role));
	json_member_string(json, "rank", store_rank_name(object->rank));
	json_member_string(json, "path", object->path);
	if (object->is_elsewhere)
		json_member_bool(json, "elsewhere", true);
	json_end_object(json);
}

static void write_all(struct json *json, const struct manifest *manifest)
{
	json_begin_object(json);
	json_member_string(json, "format", MANIFEST_FORMAT);
	json_member_uint(json, "version", MANIFEST_VERSION);
	json_key(json, "recordings");
	json_begin_array(json);
	for (size_t i = 0; i < manifest->recordings.count; i++) {
		const struct manifest_recording *recording = &manifest->recordings.items[i];
		json_begin_object(json);
		json_member_string(json, "name", recording->name);
		json_member_uint(json, "size", recording->size_bytes);
		write_hash(json, &recording->hash);
		json_end_object(json);
	}
	json_end_array(json);
	json_key(json, "objects");
	json_begin_array(json);
	for (size_t i = 0; i < manifest->objects.count; i++)
		write_object(json, &manifest->objects.items[i]);
	json_end_array(json);
	json_key(json, "missing");
	json_begin_array(json);
	for (size_t i = 0; i < manifest->missing.count; i++) {
		json_begin_object(json);
		write_id(json, &manifest->missing.items[i].id);
		json_member_string(json, "path", manifest->missing.items[i].path);
		json_end_object(json);
	}
	json_end_array(json);
	json_end_object(json);
}

struct imp_error *manifest_write(const struct manifest *manifest, struct buffer *ret)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	if (!out)
		return &imp_error_no_memory;
	write_all(&(struct json){ .out = out }, manifest);
	(void)fputc('\n', out);
	bool is_whole = !ferror(out);
	if (fclose(out) || !is_whole) {
		free(text);
		return &imp_error_no_memory;
	}
	buffer_append(ret, text, size);
	free(text);
	return ret->failed ? &imp_error_no_memory : NULL;
}
