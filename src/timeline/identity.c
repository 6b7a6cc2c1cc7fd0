// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Which build an image was: binds what a table of build IDs claims to what was mapped.
#include "timeline/identity.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

// What a table's entry can be about: entries and images of one realm and name belong together.
enum realm {
	// Generated code and the like, which no table names.
	REALM_NONE,
	REALM_USER,
	REALM_KERNEL,
	REALM_MODULE,
	REALM_GUEST_KERNEL,
	REALM_GUEST_MODULE,
};

// An image or a claim. Names and paths are interned: equal when the pointers are.
struct member {
	enum realm realm;
	bool is_claim;
	uint32_t index;
	// A module's canonical name; nothing for the host's kernel, which goes by many; else the
	// path.
	const char *name;
	const char *path;
};

// IDs seen together, and whether they are one.
struct agreement {
	const struct build_id *id;
	bool is_padded;
	bool is_broken;
};

struct binding {
	struct images *images;
	struct claims *claims;
	ARRAY_OF(struct member) members;
};

static enum realm realm_of(enum image_kind kind)
{
	switch (kind) {
	case IMAGE_KERNEL:
		return REALM_KERNEL;
	case IMAGE_MODULE:
		return REALM_MODULE;
	case IMAGE_GUEST_KERNEL:
		return REALM_GUEST_KERNEL;
	case IMAGE_GUEST_MODULE:
		return REALM_GUEST_MODULE;
	case IMAGE_USER:
	case IMAGE_VDSO:
	case IMAGE_SPECIAL:
		return REALM_USER;
	case IMAGE_JIT:
	case IMAGE_ANON:
	case IMAGE_KINDS:
	default:
		return REALM_NONE;
	}
}

static bool ids_equal(const struct build_id *a, bool a_is_padded, const struct build_id *b,
		      bool b_is_padded)
{
	return build_id_equal(a, b) || (a_is_padded && build_id_equal_padded(a, b)) ||
	       (b_is_padded && build_id_equal_padded(b, a));
}

static void agreement_add(struct agreement *agreement, const struct build_id *id, bool is_padded)
{
	if (build_id_is_none(id))
		return;
	if (!agreement->id) {
		agreement->id = id;
		agreement->is_padded = is_padded;
	} else if (!ids_equal(agreement->id, agreement->is_padded, id, is_padded)) {
		agreement->is_broken = true;
	}
}

static struct image *image_of(const struct binding *binding, const struct member *member)
{
	return &binding->images->all.items[member->index].image;
}

static struct claim *claim_of(const struct binding *binding, const struct member *member)
{
	return &binding->claims->all.items[member->index];
}

static struct imp_error *member_add(struct binding *binding, const struct member *wanted,
				    enum image_kind kind)
{
	struct member *member = array_add(&binding->members);
	if (!member)
		return &imp_error_no_memory;
	*member = *wanted;
	member->realm = realm_of(kind);
	member->name = wanted->path;
	if (member->realm == REALM_KERNEL)
		member->name = NULL;
	if (member->realm != REALM_MODULE && member->realm != REALM_GUEST_MODULE)
		return NULL;
	char name[256];
	module_name_of(wanted->path, name, sizeof name);
	return images_text(binding->images, name, strlen(name), &member->name);
}

static int compare_numbers(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int compare_members(const void *one, const void *other)
{
	const struct member *a = one;
	const struct member *b = other;
	if (a->realm != b->realm)
		return a->realm < b->realm ? -1 : 1;
	int order = compare_numbers((uintptr_t)a->name, (uintptr_t)b->name);
	if (!order)
		order = compare_numbers((uintptr_t)a->path, (uintptr_t)b->path);
	if (!order)
		order = compare_numbers(a->is_claim, b->is_claim);
	return order ? order : compare_numbers(a->index, b->index);
}

static struct imp_error *collect(struct binding *binding)
{
	for (size_t i = 0; i < binding->images->all.count; i++) {
		const struct image *image = &binding->images->all.items[i].image;
		struct member member = { .index = (uint32_t)i, .path = image->path };
		struct imp_error *err = member_add(binding, &member, image->kind);
		if (err)
			return err;
	}
	for (size_t i = 0; i < binding->claims->all.count; i++) {
		const struct claim *claim = &binding->claims->all.items[i];
		struct member member = { .is_claim = true,
					 .index = (uint32_t)i,
					 .path = claim->path };
		struct imp_error *err = member_add(binding, &member, claim->kind);
		if (err)
			return err;
	}
	if (binding->members.count)
		qsort(binding->members.items, binding->members.count,
		      sizeof *binding->members.items, compare_members);
	return NULL;
}

// Modules and what they say their ID is.
struct module_id {
	struct build_id *id;
	enum identity *identity;
	const char *name;
};

static int compare_module_ids(const void *one, const void *other)
{
	const struct module_id *a = one;
	const struct module_id *b = other;
	int order = build_id_compare(a->id, b->id);
	return order ? order : compare_numbers((uintptr_t)a->name, (uintptr_t)b->name);
}

// Takes the ID from modules that share it with a module of another name, or with the kernel.
static void drop_shared(struct module_id *modules, size_t count)
{
	for (size_t first = 0, next; first < count; first = next) {
		for (next = first + 1; next < count; next++)
			if (build_id_compare(modules[first].id, modules[next].id))
				break;
		if (modules[first].name == modules[next - 1].name)
			continue;
		// Compared before they are cleared, since the kernel's stays.
		for (size_t i = first; i < next; i++) {
			if (!modules[i].name)
				continue;
			*modules[i].id = (struct build_id){ 0 };
			if (modules[i].identity)
				*modules[i].identity = IDENTITY_NONE;
		}
	}
}

static struct imp_error *distrust_shared_module_ids(const struct binding *binding)
{
	_cleanup_free_ struct module_id *modules =
		calloc(binding->members.count + 1, sizeof *modules);
	if (!modules)
		return &imp_error_no_memory;
	size_t count = 0;
	for (size_t i = 0; i < binding->members.count; i++) {
		const struct member *member = &binding->members.items[i];
		if (member->realm != REALM_MODULE && member->realm != REALM_KERNEL)
			continue;
		struct module_id *module = &modules[count];
		module->name = member->name;
		if (member->is_claim) {
			module->id = &claim_of(binding, member)->id;
		} else {
			module->id = &image_of(binding, member)->id;
			module->identity = &image_of(binding, member)->identity;
		}
		count += !build_id_is_none(module->id);
	}
	qsort(modules, count, sizeof *modules, compare_module_ids);
	drop_shared(modules, count);
	return NULL;
}

static int compare_files(const void *one, const void *other)
{
	const struct file_key *a = &(*(struct image *const *)one)->file;
	const struct file_key *b = &(*(struct image *const *)other)->file;
	int order = compare_numbers(a->major, b->major);
	if (!order)
		order = compare_numbers(a->minor, b->minor);
	if (!order)
		order = compare_numbers(a->inode, b->inode);
	return order ? order : compare_numbers(a->generation, b->generation);
}

static bool same_inode(const struct file_key *a, const struct file_key *b)
{
	return a->inode == b->inode && a->major == b->major && a->minor == b->minor;
}

// How many files FILES are: /proc, which perf reads for what runs already, does not tell the
// generation (0), so that such a mapping is of the one generation that is known.
static size_t count_files(struct image **images, size_t count)
{
	if (count)
		qsort(images, count, sizeof *images, compare_files);
	size_t files = 0;
	for (size_t first = 0, next; first < count; first = next) {
		for (next = first + 1; next < count; next++)
			if (!same_inode(&images[first]->file, &images[next]->file))
				break;
		bool is_unsure = !images[first]->file.generation && next - first > 1;
		if (is_unsure && next - first == 2)
			images[first]->file.generation = images[next - 1]->file.generation;
		files += next - first - is_unsure;
	}
	return files;
}

// Members [FIRST, BEHIND) of one realm and name, and what can be said of them.
struct group {
	size_t first, behind;
	struct agreement mapped;
	struct agreement claimed;
	struct agreement given;
	size_t files;
};

static bool is_plain(const struct member *member, const struct image *image)
{
	return !member->is_claim && member->realm != REALM_NONE && build_id_is_none(&image->id);
}

static struct imp_error *group_sum_up(const struct binding *binding, struct group *group)
{
	_cleanup_free_ struct image **plain =
		calloc(group->behind - group->first + 1, sizeof *plain);
	if (!plain)
		return &imp_error_no_memory;
	size_t count = 0;
	for (size_t i = group->first; i < group->behind; i++) {
		const struct member *member = &binding->members.items[i];
		if (member->is_claim) {
			const struct claim *claim = claim_of(binding, member);
			agreement_add(&group->claimed, &claim->id, claim->is_padded);
			continue;
		}
		struct image *image = image_of(binding, member);
		agreement_add(&group->mapped, &image->id, false);
		// What is inferred was of no file of its own.
		if (is_plain(member, image) && image->file.is_known && !image->is_inferred)
			plain[count++] = image;
	}
	group->files = count_files(plain, count);
	return NULL;
}

// Gives the images of members [FIRST, BEHIND), which have one path, what the table says.
static void bind_path(const struct binding *binding, struct group *group, size_t first,
		      size_t behind)
{
	struct agreement claimed = { 0 };
	for (size_t i = first; i < behind; i++) {
		const struct member *member = &binding->members.items[i];
		if (member->is_claim)
			agreement_add(&claimed, &claim_of(binding, member)->id,
				      claim_of(binding, member)->is_padded);
	}
	// A kernel or module may stand in the table under another name.
	if (!claimed.id)
		claimed = group->claimed;
	if (!claimed.id)
		return;
	bool is_contradicted = claimed.is_broken || group->files > 1 || group->mapped.is_broken;
	if (group->mapped.id && !ids_equal(group->mapped.id, false, claimed.id, claimed.is_padded))
		is_contradicted = true;
	bool is_exact = group->mapped.id && !is_contradicted;
	for (size_t i = first; i < behind; i++) {
		const struct member *member = &binding->members.items[i];
		struct image *image = member->is_claim ? NULL : image_of(binding, member);
		if (!image || !is_plain(member, image))
			continue;
		image->id = is_exact ? *group->mapped.id : *claimed.id;
		image->id_is_padded = !is_exact && claimed.is_padded;
		image->identity = is_contradicted ? IDENTITY_AMBIGUOUS : IDENTITY_AFTER_THE_FACT;
		agreement_add(&group->given, claimed.id, claimed.is_padded);
	}
}

static bool agrees(const struct agreement *agreement, const struct claim *claim)
{
	return agreement->id &&
	       ids_equal(agreement->id, agreement->is_padded, &claim->id, claim->is_padded);
}

// Notes which claims of a group are about an image that has that ID.
static void mark_met(const struct binding *binding, const struct group *group, size_t first,
		     size_t behind)
{
	// Images stand before claims.
	bool is_mapped = !binding->members.items[first].is_claim;
	for (size_t i = first; i < behind; i++) {
		const struct member *member = &binding->members.items[i];
		if (!member->is_claim)
			continue;
		struct claim *claim = claim_of(binding, member);
		claim->is_met = agrees(&group->given, claim) || agrees(&group->mapped, claim) ||
				(is_mapped && build_id_is_none(&claim->id));
	}
}

static struct imp_error *bind_group(const struct binding *binding, size_t first, size_t behind)
{
	struct group group = { .first = first, .behind = behind };
	struct imp_error *err = group_sum_up(binding, &group);
	const struct member *members = binding->members.items;
	for (size_t i = first, next; !err && i < behind; i = next) {
		for (next = i + 1; next < behind && members[next].path == members[i].path; next++)
			;
		bind_path(binding, &group, i, next);
	}
	for (size_t i = first, next; !err && i < behind; i = next) {
		for (next = i + 1; next < behind && members[next].path == members[i].path; next++)
			;
		mark_met(binding, &group, i, next);
	}
	return err;
}

static struct imp_error *bind_groups(const struct binding *binding)
{
	const struct member *members = binding->members.items;
	for (size_t first = 0, next; first < binding->members.count; first = next) {
		for (next = first + 1; next < binding->members.count; next++)
			if (members[next].realm != members[first].realm ||
			    members[next].name != members[first].name)
				break;
		struct imp_error *err = bind_group(binding, first, next);
		if (err)
			return err;
	}
	return NULL;
}

static void mark_inferred(const struct images *images)
{
	for (size_t i = 0; i < images->all.count; i++) {
		struct image *image = &images->all.items[i].image;
		if (image->is_inferred && identity_is_usable(image->identity))
			image->identity = IDENTITY_INFERRED;
	}
}

// Interns all of OLD anew, as they are now.
static struct imp_error *renumber(const struct images *old, struct images *images,
				  uint32_t *numbers)
{
	for (size_t i = 0; i < old->all.count; i++) {
		struct imp_error *err =
			images_intern(images, &old->all.items[i].image, &numbers[i]);
		if (err)
			return err;
		images->all.items[numbers[i]].mappings += old->all.items[i].mappings;
	}
	return NULL;
}

// There is an image with the ID and path of WANTED, wherever the ID came from.
static bool is_known(const struct images *images, const struct image *wanted)
{
	struct image image = *wanted;
	uint32_t number;
	for (image.identity = IDENTITY_MAP_TIME; identity_is_usable(image.identity);
	     image.identity++)
		if (images_find(images, &image, &number))
			return true;
	return false;
}

static struct imp_error *add_unmapped(struct images *images, const struct claims *claims)
{
	for (size_t i = 0; i < claims->all.count; i++) {
		const struct claim *claim = &claims->all.items[i];
		struct image image = { .kind = claim->kind,
				       .identity = IDENTITY_AFTER_THE_FACT,
				       .id = claim->id,
				       .id_is_padded = claim->is_padded,
				       .path = claim->path };
		if (build_id_is_none(&claim->id))
			image.identity = IDENTITY_NONE;
		if (claim->is_met || is_known(images, &image))
			continue;
		uint32_t number;
		struct imp_error *err = images_intern(images, &image, &number);
		if (err)
			return err;
	}
	return NULL;
}

struct imp_error *identity_bind(struct images *images, struct claims *claims, uint32_t **ret)
{
	struct binding binding = { .images = images, .claims = claims };
	_cleanup_free_ uint32_t *numbers = calloc(images->all.count + 1, sizeof *numbers);
	if (!numbers)
		return &imp_error_no_memory;
	struct imp_error *err = collect(&binding);
	if (!err)
		err = distrust_shared_module_ids(&binding);
	if (!err)
		err = bind_groups(&binding);
	array_fini(&binding.members);
	if (err)
		return err;
	mark_inferred(images);
	struct images fresh = { .strings = images->strings };
	images->strings = (struct strings){ 0 };
	err = renumber(images, &fresh, numbers);
	if (!err)
		err = add_unmapped(&fresh, claims);
	images_fini(images);
	*images = fresh;
	if (!err)
		*ret = steal(numbers);
	return err;
}
