// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Looking up objects, and keeping them open.
#include "serve/holdings.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "elf/elf_image.h"

enum {
	OPEN_MOST = 64,
	// After so long an object is opened anew, so that the store hears that it is in use.
	OPEN_SECONDS = 600,
};

// An object that is open.
struct open_object {
	struct build_id id;
	struct store_hash hash;
	int fd;
	time_t since;
	// For choosing what is closed.
	uint64_t used;
	char file[HOLDING_FILE_SIZE];
};

struct holdings {
	struct store *store;
	const struct log *log;
	pthread_mutex_t lock;
	struct open_object open[OPEN_MOST];
	size_t count;
	uint64_t clock;
};

struct imp_error *holdings_new(struct store *store, const struct log *log, struct holdings **ret)
{
	struct holdings *holdings = calloc(1, sizeof *holdings);
	if (!holdings)
		return &imp_error_no_memory;
	holdings->store = store;
	holdings->log = log;
	(void)pthread_mutex_init(&holdings->lock, NULL);
	*ret = holdings;
	return NULL;
}

void holdings_free(struct holdings *holdings)
{
	if (!holdings)
		return;
	for (size_t i = 0; i < holdings->count; i++)
		close(holdings->open[i].fd);
	(void)pthread_mutex_destroy(&holdings->lock);
	free(holdings);
}

static time_t now_s(void)
{
	struct timespec now;
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

static struct open_object *find_open(struct holdings *holdings, const struct store_object *object)
{
	for (size_t i = 0; i < holdings->count; i++)
		if (store_hash_equal(&holdings->open[i].hash, &object->hash) &&
		    build_id_equal(&holdings->open[i].id, &object->id))
			return &holdings->open[i];
	return NULL;
}

// A descriptor of its own of OBJECT when it is open already; -1 otherwise.
static int take_open(struct holdings *holdings, const struct store_object *object, char *file)
{
	int fd = -1;
	pthread_mutex_lock(&holdings->lock);
	struct open_object *open = find_open(holdings, object);
	if (open && now_s() - open->since < OPEN_SECONDS) {
		open->used = ++holdings->clock;
		memcpy(file, open->file, HOLDING_FILE_SIZE);
		fd = fcntl(open->fd, F_DUPFD_CLOEXEC, 0);
	}
	pthread_mutex_unlock(&holdings->lock);
	return fd;
}

static struct open_object *least_used(struct holdings *holdings)
{
	struct open_object *least = &holdings->open[0];
	for (size_t i = 1; i < holdings->count; i++)
		if (holdings->open[i].used < least->used)
			least = &holdings->open[i];
	return least;
}

// Keeps FD (lent) open for the next requests. Not being able to is no matter.
static void keep_open(struct holdings *holdings, const struct store_object *object, int fd,
		      const char *file)
{
	int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (own < 0)
		return;
	pthread_mutex_lock(&holdings->lock);
	struct open_object *slot = find_open(holdings, object);
	if (!slot && holdings->count < OPEN_MOST) {
		slot = &holdings->open[holdings->count++];
		slot->fd = -1;
	} else if (!slot) {
		slot = least_used(holdings);
	}
	if (slot->fd >= 0)
		close(slot->fd);
	*slot = (struct open_object){ .id = object->id,
				      .hash = object->hash,
				      .fd = own,
				      .since = now_s(),
				      .used = ++holdings->clock };
	memcpy(slot->file, file, HOLDING_FILE_SIZE);
	pthread_mutex_unlock(&holdings->lock);
}

// The last part of PATH, fit to stand in a header.
static void file_name_of(const char *path, char *file)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash && slash[1] ? slash + 1 : path;
	size_t at = 0;
	for (; *name && at + 4 < HOLDING_FILE_SIZE; name++) {
		unsigned char byte = (unsigned char)*name;
		if (byte > ' ' && byte < 0x7f && byte != '%')
			file[at++] = *name;
		else
			at += (size_t)snprintf(file + at, 4, "%%%02X", byte);
	}
	file[at] = 0;
}

static struct imp_error *find_file_name(struct holdings *holdings,
					const struct store_object *object, char *file)
{
	_cleanup_store_sights_ struct store_sights sights = { 0 };
	struct imp_error *err = store_sights(holdings->store, &object->id, &object->hash, &sights);
	if (err)
		return err;
	file_name_of(build_id_text(&object->id).text, file);
	for (size_t i = 0; i < sights.count; i++)
		if (store_hash_equal(&sights.items[i].hash, &object->hash))
			file_name_of(sights.items[i].path, file);
	return NULL;
}

// Opens OBJECT and reads its own build ID. *fd stays -1, without an error, when it is not to be
// used.
static struct imp_error *open_verified(struct holdings *holdings, const struct store_object *object,
				       int *fd, char *file)
{
	_cleanup_close_ int opened = -1;
	_cleanup_error_ struct imp_error *damaged =
		store_object_open(holdings->store, object, &opened);
	if (damaged && imp_error_code(damaged) == IMP_ERR_NO_MEMORY)
		return &imp_error_no_memory;
	struct build_id id = { 0 };
	if (!damaged)
		damaged = elf_build_id_read_fd(opened, "object", 0, &id);
	if (!damaged && !build_id_equal(&id, &object->id))
		damaged = error_new(IMP_ERR_MISMATCH, "object of %s: its own build ID is '%s'",
				    build_id_text(&object->id).text, build_id_text(&id).text);
	if (damaged) {
		log_message(holdings->log, LOG_WARNING, "not served: %s",
			    imp_error_message(damaged));
		return NULL;
	}
	struct imp_error *err = find_file_name(holdings, object, file);
	if (err)
		return err;
	keep_open(holdings, object, opened, file);
	*fd = steal_fd(&opened);
	return NULL;
}

// The bytes of the section NAME in the file of HOLDING, as they stand there. False when it has
// none.
static bool find_section(const char *name, struct holding *holding)
{
	_cleanup_elf_image_ struct elf_image *image = NULL;
	int own = fcntl(holding->fd, F_DUPFD_CLOEXEC, 0);
	struct imp_error *err = own < 0 ? NULL : elf_image_open_fd(own, "object", 0, &image);
	imp_error_free(err);
	const struct elf_section *section = image ? elf_image_section_named(image, name) : NULL;
	if (!section || section->type == SHT_NOBITS)
		return false;
	size_t size;
	const uint8_t *bytes = elf_image_bytes(image, &size);
	struct cursor inside = elf_image_section_bytes(image, section);
	// Of a compressed file the offsets are others.
	if (!inside.size || size != holding->size_bytes)
		return false;
	holding->offset = (uint64_t)(inside.start - bytes);
	holding->size_bytes = inside.size;
	return true;
}

static void tag_make(const struct store_object *object, const struct request *request, char *tag)
{
	size_t at = (size_t)snprintf(tag, HOLDING_TAG_SIZE, "\"%s",
				     store_hash_text(&object->hash).text);
	if (request->part == SERVE_SECTION)
		tag[at++] = '-';
	for (const char *name = request->name; *name && at + 4 < HOLDING_TAG_SIZE; name++) {
		unsigned char byte = (unsigned char)*name;
		if (byte > ' ' && byte < 0x7f && byte != '"' && byte != '%')
			tag[at++] = *name;
		else
			at += (size_t)snprintf(tag + at, 4, "%%%02X", byte);
	}
	tag[at++] = '"';
	tag[at] = 0;
}

// A stripped program is no debuginfo: whoever asks has it already, and would look no further.
static bool is_fit(const struct store_object *object, enum serve_part part)
{
	return part != SERVE_DEBUGINFO || object->rank >= STORE_SYMTAB;
}

static struct imp_error *try_object(struct holdings *holdings, const struct store_object *object,
				    const struct request *request, struct holding *ret, bool *found)
{
	struct holding holding = { .size_bytes = object->size_bytes,
				   .has_dwarf = object->rank == STORE_DWARF };
	_cleanup_close_ int fd = take_open(holdings, object, holding.file);
	struct imp_error *err = fd >= 0 ? NULL : open_verified(holdings, object, &fd, holding.file);
	if (err || fd < 0)
		return err;
	holding.fd = fd;
	if (request->part == SERVE_SECTION && !find_section(request->name, &holding))
		return NULL;
	tag_make(object, request, holding.tag);
	*ret = holding;
	*found = true;
	(void)steal_fd(&fd);
	return NULL;
}

static struct imp_error *try_role(struct holdings *holdings, enum store_role role,
				  const struct request *request, struct holding *ret, bool *found)
{
	_cleanup_store_objects_ struct store_objects objects = { 0 };
	const struct store_query query = { .id = request->id, .role = role };
	struct imp_error *err = store_find(holdings->store, &query, &objects);
	for (size_t i = 0; !err && !*found && i < objects.count; i++)
		if (is_fit(&objects.items[i], request->part))
			err = try_object(holdings, &objects.items[i], request, ret, found);
	return err;
}

struct imp_error *holdings_find(struct holdings *holdings, const struct request *request,
				struct holding *ret, bool *found)
{
	*found = false;
	struct imp_error *err = NULL;
	// A section with content may be in either file of a split pair.
	if (request->part == SERVE_DEBUGINFO || request->part == SERVE_SECTION)
		err = try_role(holdings, STORE_DEBUG, request, ret, found);
	if (!err && !*found && request->part != SERVE_DEBUGINFO)
		err = try_role(holdings, STORE_EXECUTABLE, request, ret, found);
	return err;
}
