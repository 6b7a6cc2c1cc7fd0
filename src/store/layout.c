// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Names in a store, made and read.
#include "store/layout.h"

#include <stdio.h>
#include <string.h>

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
	(void)snprintf(dir.text, sizeof dir.text, "%s/%.2s/%s", name->is_hash ? "hashes" : "ids",
		       name->text, name->text);
	return dir;
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

static bool component_is_plain(const char *component, size_t length)
{
	if (length == 0 || length > 255 || (length == 1 && component[0] == '.') ||
	    (length == 2 && component[0] == '.' && component[1] == '.'))
		return false;
	for (size_t i = 0; i < length; i++)
		if ((unsigned char)component[i] < ' ' || component[i] == 0x7f)
			return false;
	return true;
}

bool layout_path_is_plain(const char *path)
{
	enum { MOST_BYTES = 1024 };
	if (strnlen(path, MOST_BYTES) == MOST_BYTES)
		return false;
	if (path[0] == '[')
		return !strchr(path, '/') && component_is_plain(path, strlen(path));
	if (path[0] != '/')
		return false;
	static const char *const ours[] = { LAYOUT_HOME, ".build-id", "executables" };
	const char *first = path + 1;
	for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
		if (strcspn(first, "/") == strlen(ours[i]) &&
		    !memcmp(first, ours[i], strlen(ours[i])))
			return false;
	for (const char *at = first;;) {
		size_t length = strcspn(at, "/");
		if (!component_is_plain(at, length))
			return false;
		if (!at[length])
			return true;
		at += length + 1;
	}
}
