// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Names in a store, made and read.
#include "store/layout.h"

#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "base/hex.h"

static const char *const role_names[STORE_ROLES] = {
	[STORE_EXECUTABLE] = "executable",
	[STORE_DEBUG] = "debug",
	[STORE_VDSO] = "vdso",
	[STORE_KALLSYMS] = "kallsyms",
	[STORE_MODULES] = "modules",
	[STORE_KCORE_NOTES] = "kcore",
	[STORE_INDEX] = "index",
};

static const char *const rank_names[STORE_RANKS] = {
	[STORE_STRIPPED] = "stripped",
	[STORE_MINI] = "mini",
	[STORE_SYMTAB] = "symtab",
	[STORE_DWARF] = "dwarf",
};

const char *store_role_name(enum store_role role)
{
	return role_names[role];
}

const char *store_rank_name(enum store_rank rank)
{
	return rank_names[rank];
}

struct store_hash_text store_hash_text(const struct store_hash *hash)
{
	struct store_hash_text text;
	hex_format(hash->bytes, sizeof hash->bytes, text.text);
	return text;
}

bool store_hash_parse(const char *text, struct store_hash *ret)
{
	size_t length = strnlen(text, STORE_HASH_TEXT_SIZE);
	return length == STORE_HASH_TEXT_SIZE - 1 && hex_parse(text, length, ret->bytes);
}

bool store_hash_equal(const struct store_hash *a, const struct store_hash *b)
{
	return !memcmp(a->bytes, b->bytes, sizeof a->bytes);
}

struct entry_name entry_name_of(const struct build_id *id, const struct store_hash *hash)
{
	struct entry_name name = { .is_hash = build_id_is_none(id) };
	if (name.is_hash)
		hex_format(hash->bytes, sizeof hash->bytes, name.text);
	else
		hex_format(id->bytes, id->size, name.text);
	return name;
}

struct entry_dir entry_dir_of(const struct entry_name *name)
{
	struct entry_dir dir;
	const char *rest = name->text[2] ? name->text + 2 : "_";
	if (name->is_hash)
		(void)snprintf(dir.text, sizeof dir.text, LAYOUT_HOME "/hashes/%.2s/%s", name->text,
			       name->text);
	else
		(void)snprintf(dir.text, sizeof dir.text, ".build-id/%.2s/%s", name->text, rest);
	return dir;
}

bool entry_has_places(const struct entry_name *name)
{
	return !name->is_hash && strlen(name->text) >= 4;
}

struct shard shard_of(const char *name)
{
	struct shard shard;
	(void)snprintf(shard.text, sizeof shard.text, "%.2s", name);
	return shard;
}

struct shard shard_of_path(const char *path)
{
	const char *slash = strrchr(path, '/');
	size_t length = slash ? (size_t)(slash - path) : strlen(path);
	unsigned long sum = crc32(0, (const unsigned char *)path, (unsigned)length);
	struct shard shard;
	(void)snprintf(shard.text, sizeof shard.text, "%03x", (unsigned)(sum & 0xfff));
	return shard;
}

struct object_name object_name_of(const struct store_object *object)
{
	struct object_name name;
	(void)snprintf(name.text, sizeof name.text, "%s.%s.%s", store_role_name(object->role),
		       store_rank_name(object->rank), store_hash_text(&object->hash).text);
	return name;
}

// The index of the LENGTH bytes of WORD among NAMES, or COUNT.
static unsigned name_index(const char *const *names, unsigned count, const char *word,
			   size_t length)
{
	unsigned i = 0;
	while (i < count && (strlen(names[i]) != length || memcmp(names[i], word, length)))
		i++;
	return i;
}

bool store_role_parse(const char *name, enum store_role *ret)
{
	unsigned index = name_index(role_names, STORE_ROLES, name, strlen(name));
	*ret = (enum store_role)index;
	return index < STORE_ROLES;
}

bool store_rank_parse(const char *name, enum store_rank *ret)
{
	unsigned index = name_index(rank_names, STORE_RANKS, name, strlen(name));
	*ret = (enum store_rank)index;
	return index < STORE_RANKS;
}

bool object_name_parse(const char *name, struct store_object *ret)
{
	const char *rank = strchr(name, '.');
	const char *hash = rank ? strchr(rank + 1, '.') : NULL;
	if (!hash || !store_hash_parse(hash + 1, &ret->hash))
		return false;
	unsigned role_index = name_index(role_names, STORE_ROLES, name, (size_t)(rank - name));
	unsigned rank_index =
		name_index(rank_names, STORE_RANKS, rank + 1, (size_t)(hash - rank - 1));
	if (role_index == STORE_ROLES || rank_index == STORE_RANKS)
		return false;
	ret->role = (enum store_role)role_index;
	ret->rank = (enum store_rank)rank_index;
	return true;
}
