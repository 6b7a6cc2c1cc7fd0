// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Looking names of targets up, each once.
#include "cli/symbolize_targets.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hex.h"
#include "elf/elf_image.h"
#include "store/store.h"

static bool is_hex(const char *text)
{
	size_t length = strlen(text);
	for (size_t i = 0; i < length; i++)
		if (hex_digit(text[i]) < 0)
			return false;
	return length >= 6;
}

// The ID that NAME is, or is the beginning of in the store.
static struct imp_error *complete_id(const struct symbolize_targets *targets, const char *name,
				     struct build_id *ret)
{
	_cleanup_free_ char *dir = naming_own_store(targets->naming);
	struct store *store = NULL;
	struct store_ids ids = { 0 };
	struct imp_error *err = dir ? store_open(dir, STORE_READ, targets->log, &store) : NULL;
	if (!err && store)
		err = store_complete(store, name, &ids);
	if (!err && ids.count == 1)
		*ret = ids.items[0];
	else if (!err && ids.count > 1)
		err = error_new(IMP_ERR_USAGE, "%s begins several build IDs in the store", name);
	else if (!err && !build_id_parse(name, ret))
		err = error_new(IMP_ERR_USAGE, "%s is neither a file nor a build ID", name);
	store_ids_fini(&ids);
	store_free(store);
	return err;
}

// The build ID of the ELF file at PATH, which may have none.
static struct imp_error *read_identity(const char *path, struct build_id *ret)
{
	struct elf_image *image;
	struct imp_error *err = elf_image_open(path, &image);
	if (err)
		return err;
	*ret = *elf_image_id(image);
	elf_image_free(image);
	return NULL;
}

static struct imp_error *fill_target(const struct symbolize_targets *targets, struct target *target)
{
	target->image = (struct image){ .kind = IMAGE_USER, .identity = IDENTITY_MAP_TIME };
	target->path = realpath(target->name, NULL);
	if (target->path) {
		target->image.path = target->path;
		struct imp_error *err = read_identity(target->path, &target->image.id);
		if (!err && build_id_is_none(&target->image.id))
			target->image.identity = IDENTITY_NONE;
		return err;
	}
	int errnum = errno;
	target->image.path = "";
	if (!is_hex(target->name))
		return error_system(errnum, "%s", target->name);
	return complete_id(targets, target->name, &target->image.id);
}

struct imp_error *symbolize_targets_find(struct symbolize_targets *targets, const char *name,
					 struct target **ret)
{
	for (size_t i = 0; i < targets->all.count; i++)
		if (strcmp(targets->all.items[i]->name, name) == 0) {
			*ret = targets->all.items[i];
			return NULL;
		}
	struct target **added = array_add(&targets->all);
	struct target *target = added ? calloc(1, sizeof *target) : NULL;
	if (!target) {
		targets->all.count -= added != NULL;
		return &imp_error_no_memory;
	}
	*added = target;
	target->name = strdup(name);
	struct imp_error *err = target->name ? fill_target(targets, target) : &imp_error_no_memory;
	target->is_missing = err;
	*ret = target;
	return err;
}

void symbolize_targets_fini(struct symbolize_targets *targets)
{
	for (size_t i = 0; i < targets->all.count; i++) {
		free(targets->all.items[i]->name);
		free(targets->all.items[i]->path);
		free(targets->all.items[i]);
	}
	array_fini(&targets->all);
}
