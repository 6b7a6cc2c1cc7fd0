// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The table of images met.
#include "record/images.h"

#include <string.h>
#include <unistd.h>

#include "base/hash.h"

void met_images_fini(struct met_images *images)
{
	for (uint32_t i = 0; i < images->all.count; i++) {
		met_images_unpin(images, i);
		free(images->all.items[i].path);
	}
	array_fini(&images->all);
	table_fini(&images->by_key);
}

static uint64_t key_hash(const struct image_key *key)
{
	uint64_t hash = build_id_is_none(&key->id)
				? hash_mix(key->inode, (uint64_t)key->major << 32 | key->minor)
				: build_id_hash(&key->id);
	return hash_bytes(hash, key->path, strlen(key->path));
}

static bool is_same(const struct met_image *image, const struct image_key *key)
{
	if (strcmp(image->path, key->path))
		return false;
	if (!build_id_is_none(&key->id))
		return build_id_equal(&image->id, &key->id);
	// An image met by its inode may have got its ID since then.
	return image->inode && image->inode == key->inode && image->major == key->major &&
	       image->minor == key->minor;
}

struct imp_error *met_images_meet(struct met_images *images, const struct image_key *key,
				  bool *is_new, uint32_t *ret)
{
	uint64_t hash = key_hash(key);
	struct table_probe probe = table_probe(&images->by_key, hash);
	uint32_t number;
	*is_new = false;
	while (table_next(&images->by_key, &probe, &number)) {
		if (is_same(&images->all.items[number], key)) {
			*ret = number;
			return NULL;
		}
	}
	struct met_image image = { .id = key->id,
				   .major = key->major,
				   .minor = key->minor,
				   .inode = key->inode,
				   .path = strdup(key->path),
				   .fd = -1 };
	struct met_image *slot = image.path ? array_add(&images->all) : NULL;
	number = (uint32_t)images->all.count - 1;
	if (!slot || !table_insert(&images->by_key, hash, number)) {
		images->all.count -= slot != NULL;
		free(image.path);
		return &imp_error_no_memory;
	}
	*slot = image;
	*is_new = true;
	*ret = number;
	return NULL;
}

void met_images_unpin(struct met_images *images, uint32_t number)
{
	struct met_image *image = &images->all.items[number];
	if (image->fd < 0)
		return;
	close(image->fd);
	image->fd = -1;
	images->open_count--;
}
