// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Comparing two snapshots path by path.
#include "environment/difference.h"

#include <string.h>

#include "environment/builds_at.h"
#include "environment/program_difference.h"

static const char *const kind_names[DIFFERENCE_KINDS] = {
	[DIFFERENCE_SAME] = "same", [DIFFERENCE_CHANGED] = "changed", [DIFFERENCE_NEW] = "new",
	[DIFFERENCE_GONE] = "gone", [DIFFERENCE_UNKNOWN] = "unknown",
};

static const char *const role_names[ROLES] = {
	[ROLE_KERNEL] = "kernel",
	[ROLE_MODULE] = "module",
	[ROLE_FILE] = "file",
	[ROLE_VDSO] = "vdso",
};

const char *difference_kind_name(enum difference_kind kind)
{
	return kind_names[kind];
}

const char *image_role_name(enum image_role role)
{
	return role_names[role];
}

void difference_fini(struct difference *difference)
{
	strings_fini(&difference->strings);
	array_fini(&difference->rows);
	array_fini(&difference->programs);
	array_fini(&difference->program_images);
}

bool difference_is_any(const struct difference *difference)
{
	return difference->counts[DIFFERENCE_CHANGED] || difference->counts[DIFFERENCE_NEW] ||
	       difference->counts[DIFFERENCE_GONE];
}

// How many builds from AT on have the role and path of the one there.
static size_t run_length(const struct builds_at *builds, size_t at)
{
	size_t end = at;
	while (end < builds->count && builds->items[end].role == builds->items[at].role &&
	       builds->items[end].path == builds->items[at].path)
		end++;
	return end - at;
}

static int compare_places(const struct build_at *a, const struct build_at *b)
{
	if (a->role != b->role)
		return a->role < b->role ? -1 : 1;
	return strcmp(a->path, b->path);
}

static struct imp_error *make_side(struct difference *difference, const struct build_at *builds,
				   size_t count, struct difference_side *ret)
{
	_cleanup_buffer_ struct buffer text = { 0 };
	*ret = (struct difference_side){ .path = "", .builds = "", .version = "" };
	for (size_t i = 0; i < count; i++) {
		if (*builds[i].build)
			buffer_format(&text, "%s%s", text.size ? ", " : "", builds[i].build);
		ret->processes += builds[i].processes;
		if (!*ret->version)
			ret->version = builds[i].version;
	}
	if (count)
		ret->path = builds[0].path;
	if (text.failed)
		return &imp_error_no_memory;
	if (!text.size)
		return NULL;
	uint32_t number;
	struct imp_error *err =
		strings_intern(&difference->strings, (const char *)text.bytes, text.size, &number);
	if (!err)
		ret->builds = strings_at(&difference->strings, number);
	return err;
}

static enum difference_kind kind_of(const struct difference_side *before,
				    const struct difference_side *after)
{
	if (!*before->path || !*after->path)
		return *after->path ? DIFFERENCE_NEW : DIFFERENCE_GONE;
	if (!*before->builds || !*after->builds)
		// Kernels without an ID have their release.
		return *before->version && *after->version &&
				       strcmp(before->version, after->version) != 0
			       ? DIFFERENCE_CHANGED
			       : DIFFERENCE_UNKNOWN;
	return strcmp(before->builds, after->builds) != 0 ? DIFFERENCE_CHANGED : DIFFERENCE_SAME;
}

static struct imp_error *add_row(struct difference *difference, const struct build_at *before,
				 size_t before_count, const struct build_at *after,
				 size_t after_count)
{
	struct difference_row row = { .role = before_count ? before->role : after->role };
	row.soname = before_count && *before->soname ? before->soname
		     : after_count		     ? after->soname
						     : "";
	uint32_t number;
	struct imp_error *err =
		strings_intern(&difference->strings, row.soname, strlen(row.soname), &number);
	if (err)
		return err;
	row.soname = strings_at(&difference->strings, number);
	err = make_side(difference, before, before_count, &row.before);
	if (!err)
		err = make_side(difference, after, after_count, &row.after);
	if (err)
		return err;
	row.kind = kind_of(&row.before, &row.after);
	struct difference_row *slot = array_add(&difference->rows);
	if (!slot)
		return &imp_error_no_memory;
	*slot = row;
	return NULL;
}

// Walks both sorted lists side by side.
static struct imp_error *merge(struct difference *difference, const struct builds_at *before,
			       const struct builds_at *after)
{
	size_t i = 0, k = 0;
	while (i < before->count || k < after->count) {
		int order = i == before->count ? 1
			    : k == after->count
				    ? -1
				    : compare_places(&before->items[i], &after->items[k]);
		size_t i_length = order <= 0 ? run_length(before, i) : 0;
		size_t k_length = order >= 0 ? run_length(after, k) : 0;
		struct imp_error *err = add_row(difference, before->items + i, i_length,
						after->items + k, k_length);
		if (err)
			return err;
		i += i_length;
		k += k_length;
	}
	return NULL;
}

// The only row of KIND with SONAME that is not yet joined; NULL when there is none or several.
static struct difference_row *only_row(struct difference *difference, enum difference_kind kind,
				       const char *soname)
{
	struct difference_row *found = NULL;
	for (size_t i = 0; i < difference->rows.count; i++) {
		struct difference_row *row = &difference->rows.items[i];
		if (row->kind != kind || row->soname != soname)
			continue;
		if (found)
			return NULL;
		found = row;
	}
	return found;
}

// A library that came to another path ("libz.so.1.2" gone, "libz.so.1.3" new, both libz.so.1) has
// changed: its role is the same. Joined rows leave the list.
static void join_by_role(struct difference *difference)
{
	for (size_t i = 0; i < difference->rows.count; i++) {
		struct difference_row *gone = &difference->rows.items[i];
		if (gone->kind != DIFFERENCE_GONE || !*gone->soname ||
		    only_row(difference, DIFFERENCE_GONE, gone->soname) != gone)
			continue;
		struct difference_row *added = only_row(difference, DIFFERENCE_NEW, gone->soname);
		if (!added)
			continue;
		gone->after = added->after;
		gone->kind = kind_of(&gone->before, &gone->after);
		added->kind = DIFFERENCE_KINDS;
	}
	size_t kept = 0;
	for (size_t i = 0; i < difference->rows.count; i++)
		if (difference->rows.items[i].kind != DIFFERENCE_KINDS)
			difference->rows.items[kept++] = difference->rows.items[i];
	difference->rows.count = kept;
}

struct imp_error *difference_of(const struct snapshot *before, const struct snapshot *after,
				struct difference *ret)
{
	struct builds_at old = { 0 }, new = { 0 };
	struct imp_error *err = builds_at_collect(before, &ret->strings, &old);
	if (!err)
		err = builds_at_collect(after, &ret->strings, &new);
	if (!err)
		err = merge(ret, &old, &new);
	builds_at_fini(&old);
	builds_at_fini(&new);
	if (err)
		return err;
	join_by_role(ret);
	for (size_t i = 0; i < ret->rows.count; i++)
		ret->counts[ret->rows.items[i].kind]++;
	return program_difference(before, after, ret);
}
