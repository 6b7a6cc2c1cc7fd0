// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The images that a recording names, each once.
#include "timeline/images.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

void images_fini(struct images *images)
{
	array_fini(&images->all);
	table_fini(&images->by_key);
	strings_fini(&images->strings);
}

struct imp_error *images_text(struct images *images, const char *text, size_t length,
			      const char **ret)
{
	uint32_t number;
	struct imp_error *err = strings_intern(&images->strings, text, length, &number);
	if (!err)
		*ret = strings_at(&images->strings, number);
	return err;
}

static bool is_trusted(const struct image *image)
{
	return !build_id_is_none(&image->id) && identity_is_usable(image->identity);
}

static uint64_t image_hash(const struct image *image)
{
	// The path is interned: its address stands for it.
	uint64_t hash = hash_mix((uint64_t)image->is_inferred << 16 | (uint64_t)image->kind << 8 |
					 (uint64_t)image->identity,
				 (uintptr_t)image->path);
	hash = hash_mix(hash, image->pid);
	return hash_mix(hash, is_trusted(image) ? build_id_hash(&image->id) : image->file.inode);
}

static bool file_key_equal(const struct file_key *a, const struct file_key *b)
{
	if (a->is_known != b->is_known)
		return false;
	return !a->is_known || (a->major == b->major && a->minor == b->minor &&
				a->inode == b->inode && a->generation == b->generation);
}

static bool same_image(const struct image *a, const struct image *b)
{
	if (a->is_inferred != b->is_inferred || a->kind != b->kind || a->identity != b->identity ||
	    a->path != b->path || a->pid != b->pid)
		return false;
	if (is_trusted(a))
		return build_id_equal(&a->id, &b->id);
	return file_key_equal(&a->file, &b->file);
}

bool images_find(const struct images *images, const struct image *wanted, uint32_t *ret)
{
	struct table_probe probe = table_probe(&images->by_key, image_hash(wanted));
	while (table_next(&images->by_key, &probe, ret))
		if (same_image(&images->all.items[*ret].image, wanted))
			return true;
	return false;
}

struct imp_error *images_intern(struct images *images, const struct image *wanted, uint32_t *ret)
{
	if (images_find(images, wanted, ret))
		return NULL;
	if (images->all.count >= UINT32_MAX - 1)
		return &imp_error_no_memory;
	struct image_use *use = array_add(&images->all);
	if (!use)
		return &imp_error_no_memory;
	use->image = *wanted;
	uint32_t number = (uint32_t)images->all.count - 1;
	if (!table_insert(&images->by_key, image_hash(wanted), number))
		return &imp_error_no_memory;
	*ret = number;
	return NULL;
}
