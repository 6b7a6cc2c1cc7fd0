// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Gathering what an archive is to hold, and writing it.
#include "archive/pack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "archive/frames.h"
#include "base/buffer.h"
#include "base/hash.h"
#include "base/table.h"

struct contents {
	const void *bytes;
	size_t size;
};

struct pack {
	struct manifest manifest;
	// Of manifest.recordings, by index.
	ARRAY_OF(int) files;
	// Of manifest.objects, by index.
	struct {
		ARRAY_OF(struct contents);
	} contents;
	// Objects by hash, missing ones by ID.
	struct table known;
	struct table missing;
};

struct imp_error *pack_new(struct pack **ret)
{
	*ret = calloc(1, sizeof **ret);
	return *ret ? NULL : &imp_error_no_memory;
}

void pack_free(struct pack *pack)
{
	if (!pack)
		return;
	for (size_t i = 0; i < pack->files.count; i++)
		(void)close(pack->files.items[i]);
	array_fini(&pack->files);
	array_fini(&pack->contents);
	table_fini(&pack->known);
	table_fini(&pack->missing);
	manifest_fini(&pack->manifest);
	free(pack);
}

const struct manifest *pack_manifest(const struct pack *pack)
{
	return &pack->manifest;
}

static bool name_is_taken(const struct pack *pack, const char *name)
{
	for (size_t i = 0; i < pack->manifest.recordings.count; i++)
		if (!strcmp(pack->manifest.recordings.items[i].name, name))
			return true;
	return false;
}

static char *free_name(const struct pack *pack, const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *base = slash ? slash + 1 : path;
	char *name = strdup(base);
	for (unsigned i = 2; name && name_is_taken(pack, name); i++) {
		free(name);
		if (asprintf(&name, "%u-%s", i, base) < 0)
			name = NULL;
	}
	return name;
}

static struct imp_error *note_recording(struct pack *pack, int fd, const char *path,
					struct store_hash hash, uint64_t size)
{
	_cleanup_free_ char *name = free_name(pack, path);
	if (!name)
		return &imp_error_no_memory;
	if (!manifest_name_is_plain(name))
		return error_new(IMP_ERR_USAGE, "%s: no name for a file in an archive", path);
	struct manifest_recording *recording = array_add(&pack->manifest.recordings);
	int *slot = recording ? array_add(&pack->files) : NULL;
	if (!slot)
		return &imp_error_no_memory;
	*recording = (struct manifest_recording){ .name = steal(name),
						  .size_bytes = size,
						  .hash = hash };
	*slot = fd;
	return NULL;
}

struct imp_error *pack_add_recording(struct pack *pack, const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat stat;
	if (fd < 0 || fstat(fd, &stat) < 0)
		return error_system(errno, "%s: cannot open", path);
	if (!S_ISREG(stat.st_mode))
		return error_new(IMP_ERR_UNSUPPORTED,
				 "%s: only recordings that are files can be archived", path);
	struct store_hash hash;
	uint64_t size;
	struct imp_error *err = store_hash_of_fd(fd, path, &hash, &size);
	if (!err)
		err = note_recording(pack, fd, path, hash, size);
	if (!err)
		(void)steal_fd(&fd);
	return err;
}

static uint64_t hash_key(const struct store_hash *hash)
{
	return hash_bytes(0, hash->bytes, sizeof hash->bytes);
}

static bool is_known(const struct pack *pack, const struct store_hash *hash,
		     const struct build_id *id)
{
	uint32_t index;
	struct table_probe probe = table_probe(&pack->known, hash_key(hash));
	while (table_next(&pack->known, &probe, &index)) {
		const struct manifest_object *object = &pack->manifest.objects.items[index];
		bool same_id = build_id_is_none(id) ? build_id_is_none(&object->id)
						    : build_id_equal(&object->id, id);
		if (same_id && store_hash_equal(&object->hash, hash))
			return true;
	}
	return false;
}

struct imp_error *pack_add_object(struct pack *pack, const struct store_item *item,
				  const void *bytes, size_t size, bool *is_new)
{
	struct store_hash hash;
	struct imp_error *err = store_hash_of_memory(bytes, size, &hash);
	if (err)
		return err;
	bool is_there = is_known(pack, &hash, &item->id);
	if (is_new)
		*is_new = !is_there;
	if (is_there)
		return NULL;
	struct contents *contents = array_add(&pack->contents);
	struct manifest_object *object = contents ? array_add(&pack->manifest.objects) : NULL;
	if (!object || !table_insert(&pack->known, hash_key(&hash),
				     (uint32_t)pack->manifest.objects.count - 1))
		return &imp_error_no_memory;
	*contents = (struct contents){ bytes, size };
	*object = (struct manifest_object){ .hash = hash,
					    .size_bytes = size,
					    .id = item->id,
					    .role = item->role,
					    .rank = item->rank };
	if (item->path && !(object->path = strdup(item->path)))
		return &imp_error_no_memory;
	return NULL;
}

struct imp_error *pack_add_missing(struct pack *pack, const struct build_id *id, const char *path)
{
	uint64_t key = hash_bytes(build_id_hash(id), path, strlen(path));
	uint32_t index;
	struct table_probe probe = table_probe(&pack->missing, key);
	while (table_next(&pack->missing, &probe, &index)) {
		const struct manifest_missing *there = &pack->manifest.missing.items[index];
		if (!build_id_compare(&there->id, id) && !strcmp(there->path, path))
			return NULL;
	}
	struct manifest_missing *missing = array_add(&pack->manifest.missing);
	if (!missing || !(missing->path = strdup(path)) ||
	    !table_insert(&pack->missing, key, (uint32_t)pack->manifest.missing.count - 1))
		return &imp_error_no_memory;
	missing->id = *id;
	return NULL;
}

struct imp_error *pack_leave_out(struct pack *pack, const struct manifest *base)
{
	struct table there = { 0 };
	struct imp_error *err = NULL;
	for (size_t i = 0; !err && i < base->objects.count; i++)
		if (!table_insert(&there, hash_key(&base->objects.items[i].hash), (uint32_t)i))
			err = &imp_error_no_memory;
	for (size_t i = 0; !err && i < pack->manifest.objects.count; i++) {
		struct manifest_object *object = &pack->manifest.objects.items[i];
		uint32_t index;
		struct table_probe probe = table_probe(&there, hash_key(&object->hash));
		while (table_next(&there, &probe, &index))
			if (store_hash_equal(&base->objects.items[index].hash, &object->hash))
				object->is_elsewhere = true;
	}
	table_fini(&there);
	return err;
}

bool pack_has_two_builds(const struct pack *pack)
{
	struct table paths = { 0 };
	bool has_two = false;
	for (size_t i = 0; i < pack->manifest.objects.count && !has_two; i++) {
		const struct manifest_object *object = &pack->manifest.objects.items[i];
		if (!object->path || object->is_elsewhere)
			continue;
		uint64_t key = hash_bytes(object->role, object->path, strlen(object->path));
		uint32_t index;
		struct table_probe probe = table_probe(&paths, key);
		while (!has_two && table_next(&paths, &probe, &index)) {
			const struct manifest_object *other = &pack->manifest.objects.items[index];
			has_two = other->role == object->role && !strcmp(other->path, object->path);
		}
		// Not noticing costs space, no more.
		if (!table_insert(&paths, key, (uint32_t)i))
			break;
	}
	table_fini(&paths);
	return has_two;
}

// The order in which objects are written: by their hashes, so that the same needs make the same
// bytes.
struct order {
	const struct manifest_object *object;
	const struct contents *contents;
};

static int compare_order(const void *left, const void *right)
{
	const struct manifest_object *a = ((const struct order *)left)->object;
	const struct manifest_object *b = ((const struct order *)right)->object;
	int by_hash = memcmp(a->hash.bytes, b->hash.bytes, sizeof a->hash.bytes);
	return by_hash ? by_hash : build_id_compare(&a->id, &b->id);
}

static struct imp_error *sorted(const struct pack *pack, struct order **ret)
{
	size_t count = pack->manifest.objects.count;
	struct order *order = calloc(count + 1, sizeof *order);
	if (!order)
		return &imp_error_no_memory;
	for (size_t i = 0; i < count; i++)
		order[i] = (struct order){ &pack->manifest.objects.items[i],
					   &pack->contents.items[i] };
	qsort(order, count, sizeof *order, compare_order);
	*ret = order;
	return NULL;
}

static struct imp_error *write_manifest(const struct pack *pack, const struct order *order,
					struct tar_stream *tar)
{
	// As it is, but in order; what it points to stays the pack's.
	struct manifest manifest = pack->manifest;
	_cleanup_free_ struct manifest_object *objects =
		calloc(manifest.objects.count + 1, sizeof *objects);
	if (!objects)
		return &imp_error_no_memory;
	for (size_t i = 0; i < manifest.objects.count; i++)
		objects[i] = *order[i].object;
	manifest.objects.items = objects;
	_cleanup_buffer_ struct buffer text = { 0 };
	struct imp_error *err = manifest_write(&manifest, &text);
	return err ? err : tar_stream_memory(tar, "manifest.json", text.bytes, text.size);
}

// What follows the manifest. Names are owned.
struct members {
	ARRAY_OF(struct frame_member);
};

static void members_fini(struct members *members)
{
	for (size_t i = 0; i < members->count; i++)
		free((char *)(uintptr_t)members->items[i].name);
	array_fini(members);
}

static struct imp_error *add_member(struct members *members, const char *dir, const char *name,
				    const struct frame_member *contents)
{
	struct frame_member *member = array_add(members);
	char *path;
	if (!member)
		return &imp_error_no_memory;
	*member = *contents;
	member->name = NULL;
	if (asprintf(&path, "%s/%s", dir, name) < 0)
		return &imp_error_no_memory;
	member->name = path;
	return NULL;
}

static struct imp_error *add_recordings(const struct pack *pack, struct members *ret)
{
	struct imp_error *err = NULL;
	for (size_t i = 0; !err && i < pack->manifest.recordings.count; i++) {
		const struct manifest_recording *recording = &pack->manifest.recordings.items[i];
		struct frame_member contents = { .fd = pack->files.items[i],
						 .size_bytes = recording->size_bytes };
		err = add_member(ret, "recordings", recording->name, &contents);
	}
	return err;
}

static struct imp_error *add_objects(const struct pack *pack, const struct order *order,
				     struct members *ret)
{
	struct imp_error *err = NULL;
	for (size_t i = 0; !err && i < pack->manifest.objects.count; i++) {
		const struct manifest_object *object = order[i].object;
		bool is_repeated = i > 0 &&
				   store_hash_equal(&object->hash, &order[i - 1].object->hash);
		if (object->is_elsewhere || is_repeated)
			continue;
		struct frame_member contents = { .bytes = order[i].contents->bytes,
						 .fd = -1,
						 .size_bytes = order[i].contents->size,
						 .hash = &object->hash };
		err = add_member(ret, "objects", store_hash_text(&object->hash).text, &contents);
	}
	return err;
}

static struct imp_error *write_stream(const struct members *members, struct tar_stream *tar)
{
	struct imp_error *err = NULL;
	for (size_t i = 0; !err && i < members->count; i++) {
		const struct frame_member *member = &members->items[i];
		err = member->bytes
			      ? tar_stream_memory(tar, member->name, member->bytes,
						  (size_t)member->size_bytes)
			      : tar_stream_fd(tar, member->name, member->fd, member->size_bytes);
	}
	return err;
}

static struct imp_error *write_imprint(const struct pack *pack, const struct order *order,
				       const struct tar_options *options, struct store *copies,
				       struct tar_stream *tar)
{
	struct members members = { 0 };
	struct imp_error *err = add_recordings(pack, &members);
	if (!err)
		err = add_objects(pack, order, &members);
	if (!err)
		err = write_manifest(pack, order, tar);
	if (!err && options->compression == TAR_FRAMES)
		err = frames_write(tar, members.items, members.count, copies, options->workers);
	else if (!err)
		err = write_stream(&members, tar);
	members_fini(&members);
	return err;
}

// perf's name for what an object is; NULL for what perf has no place for.
static const char *perf_name(enum store_role role)
{
	switch (role) {
	case STORE_EXECUTABLE:
		return "elf";
	case STORE_DEBUG:
		return "debug";
	case STORE_VDSO:
		return "vdso";
	case STORE_KALLSYMS:
		return "kallsyms";
	case STORE_MODULES:
	case STORE_KCORE_NOTES:
	case STORE_INDEX:
	case STORE_ROLES:
		break;
	}
	return NULL;
}

// Whether PATH can stand in a tree as it is: absolute and without odd components, or bracketed.
static bool path_is_plain(const char *path)
{
	if (path[0] == '[')
		return manifest_name_is_plain(path);
	if (path[0] != '/' || strlen(path) > 1024)
		return false;
	while (*path == '/') {
		char name[256];
		size_t length = strcspn(path + 1, "/");
		if (length >= sizeof name)
			return false;
		memcpy(name, path + 1, length);
		name[length] = 0;
		if (!manifest_name_is_plain(name))
			return false;
		path += length + 1;
	}
	return true;
}

// The directory of an image in perf's cache, below its root: its path, or a word where that cannot
// be.
static const char *perf_dir(const struct manifest_object *object)
{
	if (!object->path || !path_is_plain(object->path))
		return "unnamed";
	return object->path + (object->path[0] == '/');
}

static struct imp_error *write_perf_object(const struct order *order, bool has_link,
					   struct tar_stream *tar)
{
	const struct manifest_object *object = order->object;
	const char *name = perf_name(object->role);
	if (!name || build_id_is_none(&object->id) || object->id.size < 2)
		return NULL;
	struct build_id_text id = build_id_text(&object->id);
	char link[BUILD_ID_TEXT_SIZE + 16];
	char target[1400];
	char member[1400];
	(void)snprintf(link, sizeof link, ".build-id/%.2s/%s", id.text, id.text + 2);
	(void)snprintf(target, sizeof target, "../../%s/%s", perf_dir(object), id.text);
	(void)snprintf(member, sizeof member, "%s/%s/%s", perf_dir(object), id.text, name);
	struct imp_error *err = has_link ? NULL : tar_stream_link(tar, link, target);
	return err ? err
		   : tar_stream_memory(tar, member, order->contents->bytes, order->contents->size);
}

static int compare_for_perf(const void *left, const void *right)
{
	const struct manifest_object *a = ((const struct order *)left)->object;
	const struct manifest_object *b = ((const struct order *)right)->object;
	int by_id = build_id_compare(&a->id, &b->id);
	if (by_id)
		return by_id;
	if (a->role != b->role)
		return a->role < b->role ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank > b->rank ? -1 : 1;
	return memcmp(a->hash.bytes, b->hash.bytes, sizeof a->hash.bytes);
}

// One file of each kind for an ID, the best: more perf cannot hold. All of an ID go to the
// directory of the first.
static struct imp_error *write_perf(const struct pack *pack, struct order *order,
				    struct tar_stream *tar)
{
	size_t count = pack->manifest.objects.count;
	qsort(order, count, sizeof *order, compare_for_perf);
	struct imp_error *err = NULL;
	const struct manifest_object *first = NULL;
	for (size_t i = 0; !err && i < count; i++) {
		struct manifest_object object = *order[i].object;
		bool same_id = first && build_id_equal(&first->id, &object.id);
		if (same_id && order[i - 1].object->role == object.role)
			continue;
		if (!same_id)
			first = order[i].object;
		object.path = first->path;
		err = write_perf_object(&(struct order){ &object, order[i].contents }, same_id,
					tar);
	}
	return err;
}

struct imp_error *pack_write(struct pack *pack, enum pack_layout layout, const char *path,
			     const struct tar_options *options, struct store *copies)
{
	_cleanup_free_ struct order *order = NULL;
	_cleanup_(cleanup_tar_stream) struct tar_stream *tar = NULL;
	struct imp_error *err = sorted(pack, &order);
	if (!err)
		err = tar_stream_new(path, options, &tar);
	if (!err && layout == PACK_PERF)
		err = write_perf(pack, order, tar);
	if (!err && layout == PACK_IMPRINT)
		err = write_imprint(pack, order, options, copies, tar);
	return err ? err : tar_stream_close(steal(tar));
}
