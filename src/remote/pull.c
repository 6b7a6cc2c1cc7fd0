// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// From a remote into the store: what its name says it is, and of the build it is said to be.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "elf/elf_brief.h"
#include "elf/elf_image.h"
#include "find/intake.h"
#include "remote/bucket.h"
#include "remote/path_text.h"
#include "store/layout.h"

enum {
	// Of programs under one ID; more are somebody's mistake.
	IMAGES_MOST = 8,
	WANTED_MOST = IMAGES_MOST + 1,
	HTTP_OK = 200,
};

struct pull {
	struct remote *remote;
	struct store *store;
	const struct build_id *id;
	struct store_object wanted[WANTED_MOST];
	size_t count, next;
	size_t pulled, wrong;
	bool has_failed;
};

static bool is_image(const struct store_object *object)
{
	return object->role == STORE_EXECUTABLE || object->role == STORE_VDSO;
}

static bool is_had(const struct store_objects *had, const struct store_object *object)
{
	for (size_t i = 0; i < had->count; i++)
		if (store_hash_equal(&had->items[i].hash, &object->hash))
			return true;
	return false;
}

static void want(struct pull *pull, const struct store_objects *had,
		 const struct store_object *object)
{
	for (size_t i = 0; i < pull->count; i++)
		if (store_hash_equal(&pull->wanted[i].hash, &object->hash))
			return;
	if (pull->count < WANTED_MOST && !is_had(had, object))
		pull->wanted[pull->count++] = *object;
}

// Of what is THERE, what is worth pulling.
static void choose(struct pull *pull, const struct store_objects *there,
		   const struct store_objects *had, bool wants_image, bool wants_debug)
{
	const struct store_object *best = NULL;
	for (size_t i = 0; i < there->count; i++) {
		const struct store_object *object = &there->items[i];
		if (!is_image(object) && object->role != STORE_DEBUG)
			continue;
		if (object->rank > STORE_STRIPPED && (!best || object->rank > best->rank))
			best = object;
		if (wants_image && is_image(object) && pull->count < IMAGES_MOST)
			want(pull, had, object);
	}
	if (wants_debug && best)
		want(pull, had, best);
}

// Takes FD, which came as OBJECT and was seen at PATH (NULL: not known), in; its own bytes say what
// it is.
static struct imp_error *take_in(struct pull *pull, const struct store_object *object, int fd,
				 const char *path)
{
	struct store_hash hash;
	uint64_t size;
	struct elf_brief brief;
	struct store_item item = { .path = path };
	struct imp_error *err = store_hash_of_fd(fd, "object", &hash, &size);
	bool is_right = !err && store_hash_equal(&hash, &object->hash);
	if (is_right)
		err = elf_build_id_read_fd(fd, "object", 0, &item.id);
	is_right = is_right && !err && build_id_equal(&item.id, pull->id);
	if (is_right)
		err = elf_brief_read_fd(fd, "object", &brief);
	if (err)
		return err;
	if (!is_right) {
		pull->wrong++;
		log_message(pull->remote->options.log, LOG_WARNING,
			    "%s: gave another file for %s of %s; thrown away",
			    pull->remote->options.url, store_role_name(object->role),
			    build_id_text(pull->id).text);
		return NULL;
	}
	intake_describe(&brief, &item);
	if (object->role == STORE_VDSO)
		item.role = STORE_VDSO;
	pull->pulled++;
	return store_add_fd(pull->store, &item, fd, NULL);
}

static struct imp_error *next_object(void *arg, struct exchange *ret, bool *more)
{
	struct pull *pull = arg;
	*more = pull->next < pull->count && !pull->has_failed;
	if (!*more)
		return NULL;
	const struct store_object *object = &pull->wanted[pull->next++];
	struct entry_name entry = entry_name_of(&object->id, &object->hash);
	_cleanup_free_ char *key = NULL;
	if (asprintf(&key, "%s/%s", entry_dir_of(&entry).text, object_name_of(object).text) < 0) {
		key = NULL;
		return &imp_error_no_memory;
	}
	ret->url = bucket_url(pull->remote, key);
	ret->about = object;
	ret->size = object->size_bytes;
	ret->fd = store_spool(pull->store);
	if (ret->fd < 0)
		return error_system(errno, "%s: cannot write", store_dir(pull->store));
	return ret->url ? NULL : &imp_error_no_memory;
}

static struct imp_error *take_object(void *arg, struct exchange *exchange)
{
	struct pull *pull = arg;
	const struct store_object *object = exchange->about;
	if (exchange->status != HTTP_OK) {
		pull->has_failed = true;
		bucket_give_up(pull->remote, exchange);
		return NULL;
	}
	_cleanup_free_ char *path = exchange->path ? path_text_read(exchange->path) : NULL;
	return take_in(pull, object, exchange->fd, path);
}

// The objects that LISTING has of the pull's entry.
static struct imp_error *read_listing(const struct pull *pull, const struct listing *listing,
				      const char *prefix, struct store_objects *ret)
{
	size_t length = strlen(prefix);
	for (size_t i = 0; i < listing->count; i++) {
		struct store_object object = { .id = *pull->id,
					       .size_bytes = listing->items[i].size_bytes };
		if (strncmp(listing->items[i].key, prefix, length) != 0 ||
		    !object_name_parse(listing->items[i].key + length, &object))
			continue;
		struct store_object *slot = array_add(ret);
		if (!slot)
			return &imp_error_no_memory;
		*slot = object;
	}
	return NULL;
}

static struct imp_error *list_entry(struct pull *pull, struct exchanger *exchanger,
				    struct store_objects *ret)
{
	_cleanup_listing_ struct listing listing = { 0 };
	_cleanup_free_ char *prefix = NULL;
	struct entry_name entry = entry_name_of(pull->id, NULL);
	if (asprintf(&prefix, "%s/", entry_dir_of(&entry).text) < 0) {
		prefix = NULL;
		return &imp_error_no_memory;
	}
	struct imp_error *err =
		bucket_list(pull->remote, exchanger, prefix, &listing, &pull->has_failed);
	return err ? err : read_listing(pull, &listing, prefix, ret);
}

static struct imp_error *pull_bucket(struct pull *pull, struct exchanger *exchanger,
				     const struct store_objects *had, bool wants_image,
				     bool wants_debug)
{
	_cleanup_store_objects_ struct store_objects there = { 0 };
	struct imp_error *err = list_entry(pull, exchanger, &there);
	if (err || pull->has_failed)
		return err;
	choose(pull, &there, had, wants_image, wants_debug);
	struct exchange_options options = bucket_options(pull->remote);
	options.next = next_object;
	options.done = take_object;
	options.arg = pull;
	return pull->count ? exchanges_run(exchanger, &options) : NULL;
}

static struct imp_error *open_directory(struct remote *remote)
{
	pthread_mutex_lock(&remote->lock);
	struct imp_error *err = remote->directory
					? NULL
					: store_open(remote->address.url, STORE_READ,
						     remote->options.log, &remote->directory);
	pthread_mutex_unlock(&remote->lock);
	return err;
}

static struct imp_error *copy_one(struct pull *pull, const struct store_object *object)
{
	_cleanup_close_ int fd = -1;
	_cleanup_store_sights_ struct store_sights sights = { 0 };
	struct store *from = pull->remote->directory;
	struct imp_error *err = store_object_open(from, object, &fd);
	if (err && imp_error_code(err) == IMP_ERR_BAD_DATA) {
		log_message(pull->remote->options.log, LOG_WARNING, "%s", imp_error_message(err));
		imp_error_free(err);
		pull->wrong++;
		return NULL;
	}
	if (!err)
		err = store_sights(from, &object->id, &object->hash, &sights);
	const char *path = NULL;
	for (size_t i = 0; i < sights.count; i++)
		if (store_hash_equal(&sights.items[i].hash, &object->hash))
			path = sights.items[i].path;
	return err ? err : take_in(pull, object, fd, path);
}

static struct imp_error *pull_directory(struct pull *pull, const struct store_objects *had,
					bool wants_image, bool wants_debug)
{
	_cleanup_store_objects_ struct store_objects there = { 0 };
	struct imp_error *err = open_directory(pull->remote);
	if (!err && pull->remote->directory)
		err = store_find_all(pull->remote->directory, pull->id, &there);
	choose(pull, &there, had, wants_image, wants_debug);
	for (size_t i = 0; i < pull->count && !err; i++)
		err = copy_one(pull, &pull->wanted[i]);
	return err;
}

static struct imp_error *pull_all(struct pull *pull, bool wants_image, bool wants_debug)
{
	_cleanup_store_objects_ struct store_objects had = { 0 };
	struct remote *remote = pull->remote;
	struct imp_error *err = store_find_all(pull->store, pull->id, &had);
	if (!err && remote->address.is_directory)
		return pull_directory(pull, &had, wants_image, wants_debug);
	struct exchanger *exchanger = NULL;
	if (!err)
		err = bucket_take(remote, &exchanger);
	if (!err)
		err = pull_bucket(pull, exchanger, &had, wants_image, wants_debug);
	bucket_give_back(remote, exchanger);
	return err;
}

struct imp_error *remote_pull(struct remote *remote, const struct build_id *id, bool wants_image,
			      bool wants_debug, struct store *store, enum remote_outcome *ret)
{
	struct pull pull = { .remote = remote, .store = store, .id = id };
	*ret = REMOTE_FAILED;
	if (atomic_load(&remote->has_failed))
		return NULL;
	struct imp_error *err = pull_all(&pull, wants_image, wants_debug);
	if (err && imp_error_code(err) != IMP_ERR_NO_MEMORY) {
		remote_give_up(remote, imp_error_message(err));
		imp_error_free(err);
		return NULL;
	}
	if (pull.pulled)
		*ret = REMOTE_PULLED;
	else if (pull.wrong)
		*ret = REMOTE_WRONG;
	else if (!pull.has_failed)
		*ret = REMOTE_ABSENT;
	return err;
}
