// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Replays meta records in the order of time, which makes address spaces and names of threads.
#include "timeline/replay.h"

// How much sooner than its parent's FORK a child's own first record may seem to be, when the two
// come from processors whose clocks are not quite the same.
enum { CLOCKS_DIFFER_BY_NS = 10000000 };

void replay_fini(struct replay *replay)
{
	spaces_fini(&replay->spaces);
	changes_fini(&replay->comms);
	changes_fini(&replay->namespaces);
	changes_fini(&replay->cgroups);
	strings_fini(&replay->names);
	array_fini(&replay->mapped);
}

// The process of META, of whose life nothing is known before.
static struct imp_error *owner_of(struct replay *replay, const struct meta *meta, uint32_t *ret)
{
	struct imp_error *err = spaces_owner(&replay->spaces, meta->side, meta->pid, ret);
	if (err)
		return err;
	struct owner *owner = &replay->spaces.owners.items[*ret];
	if (!owner->threads && !owner->has_exited)
		owner->threads = 1;
	return NULL;
}

// Module sizes may reach into the next module (they count data and what was only needed to begin):
// modules that are there at once end where the next begins.
static struct imp_error *make_room(struct replay *replay, uint32_t owner, const struct meta *meta,
				   struct range *range)
{
	struct spaces *spaces = &replay->spaces;
	uint32_t number = spaces->owners.items[owner].space;
	if (number == NO_SPACE)
		return NULL;
	uint32_t root = spaces->all.items[number].root;
	const struct range *at = ranges_find(&spaces->ranges, root, range->start);
	if (at) {
		struct imp_error *err =
			spaces_unmap(spaces, owner, meta->time, range->start, at->end);
		if (err)
			return err;
		root = spaces->all.items[number].root;
	}
	const struct range *next = ranges_at_or_after(&spaces->ranges, root, range->start);
	if (next && next->start < range->end)
		range->end = next->start;
	return NULL;
}

// The very same mapping is there already.
static bool is_repeated(const struct replay *replay, uint32_t owner, const struct extent *extent)
{
	const struct spaces *spaces = &replay->spaces;
	uint32_t number = spaces->owners.items[owner].space;
	if (number == NO_SPACE)
		return false;
	const struct range *at =
		ranges_find(&spaces->ranges, spaces->all.items[number].root, extent->start);
	if (!at || at->start != extent->start || at->end != extent->end)
		return false;
	const struct mapped *mapped = &replay->mapped.items[at->value];
	return mapped->image == extent->image && mapped->base == extent->base;
}

// The range at ADDRESS in OWNER's newest space; one that is empty when there is none.
static struct range range_at(const struct replay *replay, uint32_t owner, uint64_t address)
{
	const struct spaces *spaces = &replay->spaces;
	uint32_t number = spaces->owners.items[owner].space;
	const struct range *at =
		ranges_find(&spaces->ranges, spaces->all.items[number].root, address);
	return at ? *at : (struct range){ .start = 0 };
}

// Takes the anonymous mapping HOLE of OWNER for a part of the file that is mapped right before and
// right behind it, if one is. Only executable memory is recorded, so that it is code that was
// moved.
static struct imp_error *infer(struct replay *replay, struct metas *metas, uint32_t owner,
			       uint64_t time, const struct range *hole)
{
	struct range left = range_at(replay, owner, hole->start - 1);
	struct range right = range_at(replay, owner, hole->end);
	if (left.end != hole->start || right.start != hole->end || left.start >= left.end ||
	    right.start >= right.end)
		return NULL;
	const struct mapped *before = &replay->mapped.items[left.value];
	const struct mapped *behind = &replay->mapped.items[right.value];
	struct image image = metas->images.all.items[before->image].image;
	if (before->image != behind->image || before->base != behind->base ||
	    image.kind != IMAGE_USER)
		return NULL;
	struct mapped inferred = { .base = before->base };
	image.is_inferred = true;
	struct imp_error *err = images_intern(&metas->images, &image, &inferred.image);
	struct mapped *mapped = err ? NULL : array_add(&replay->mapped);
	if (!mapped)
		return err ? err : &imp_error_no_memory;
	*mapped = inferred;
	metas->images.all.items[inferred.image].mappings++;
	struct range range = { .start = hole->start, .end = hole->end };
	return spaces_map(&replay->spaces, owner, time, &range);
}

static enum image_kind kind_in(const struct replay *replay, const struct metas *metas,
			       const struct range *range)
{
	if (range->start >= range->end)
		return IMAGE_KINDS;
	uint32_t image = replay->mapped.items[range->value].image;
	return metas->images.all.items[image].image.kind;
}

// After RANGE was mapped, looks whether it fills a hole, or closes one behind another mapping.
static struct imp_error *infer_around(struct replay *replay, struct metas *metas, uint32_t owner,
				      const struct meta *meta, const struct range *range)
{
	if (meta->side != SIDE_USER || !range->start || range->start >= range->end)
		return NULL;
	const struct extent *extent = &metas->extents.items[meta->value];
	enum image_kind kind = metas->images.all.items[extent->image].image.kind;
	if (kind == IMAGE_ANON)
		return infer(replay, metas, owner, meta->time, range);
	struct range before = range_at(replay, owner, range->start - 1);
	if (kind == IMAGE_USER && before.end == range->start &&
	    kind_in(replay, metas, &before) == IMAGE_ANON && before.start)
		return infer(replay, metas, owner, meta->time, &before);
	return NULL;
}

static struct imp_error *map(struct replay *replay, struct metas *metas, const struct meta *meta)
{
	uint32_t owner;
	struct imp_error *err = owner_of(replay, meta, &owner);
	if (err)
		return err;
	struct owner *of = &replay->spaces.owners.items[owner];
	if (of->has_exited) {
		// Its number was given to a new process, whose FORK was lost.
		of->has_exited = of->is_forked = of->has_executed = false;
		of->threads = 1;
		err = spaces_begin(&replay->spaces, owner, meta->time);
	}
	const struct extent *extent = &metas->extents.items[meta->value];
	struct range range = { .start = extent->start, .end = extent->end };
	if (err || is_repeated(replay, owner, extent))
		return err;
	if (meta->is_unordered && (meta->side == SIDE_MODULES || meta->side == SIDE_GUEST_MODULES))
		err = make_room(replay, owner, meta, &range);
	if (err)
		return err;
	struct mapped *mapped = array_add(&replay->mapped);
	if (!mapped)
		return &imp_error_no_memory;
	*mapped = (struct mapped){ extent->base, extent->image };
	err = spaces_map(&replay->spaces, owner, meta->time, &range);
	return err ? err : infer_around(replay, metas, owner, meta, &range);
}

static struct imp_error *unmap(struct replay *replay, const struct metas *metas,
			       const struct meta *meta)
{
	uint32_t owner;
	const struct extent *extent = &metas->extents.items[meta->value];
	struct imp_error *err = owner_of(replay, meta, &owner);
	return err ? err
		   : spaces_unmap(&replay->spaces, owner, meta->time, extent->start, extent->end);
}

static struct imp_error *execute(struct replay *replay, const struct meta *meta)
{
	uint32_t number;
	struct imp_error *err = owner_of(replay, meta, &number);
	if (err)
		return err;
	struct owner *owner = &replay->spaces.owners.items[number];
	owner->threads = 1;
	owner->has_executed = true;
	owner->has_exited = false;
	return spaces_begin(&replay->spaces, number, meta->time);
}

// CHILD has records of its own that seem older than its FORK, but it cannot have been there.
static bool seemed_older(const struct owner *child, const struct meta *fork)
{
	return child->space != NO_SPACE && !child->is_forked && !child->has_exited && child->born &&
	       fork->time - child->born < CLOCKS_DIFFER_BY_NS;
}

static struct imp_error *fork_process(struct replay *replay, const struct meta *meta)
{
	struct spaces *spaces = &replay->spaces;
	uint32_t child;
	uint32_t parent;
	struct imp_error *err = spaces_owner(spaces, SIDE_USER, meta->parent_pid, &parent);
	if (!err)
		err = spaces_owner(spaces, SIDE_USER, meta->pid, &child);
	if (err)
		return err;
	struct owner *owner = &spaces->owners.items[child];
	if (!seemed_older(owner, meta)) {
		owner->has_executed = false;
		err = spaces_fork(spaces, child, parent, meta->time);
	} else if (!owner->has_executed) {
		err = spaces_fork_under(spaces, child, parent, meta->time);
	}
	owner->is_forked = true;
	owner->has_exited = false;
	owner->threads = 1;
	return err;
}

static struct imp_error *fork_thread(struct replay *replay, const struct meta *meta)
{
	uint32_t owner;
	struct imp_error *err = owner_of(replay, meta, &owner);
	if (err)
		return err;
	struct owner *of = &replay->spaces.owners.items[owner];
	if (of->threads < INT32_MAX)
		of->threads++;
	return NULL;
}

static struct imp_error *fork_task(struct replay *replay, const struct meta *meta)
{
	struct imp_error *err = NULL;
	if (meta->pid == meta->parent_pid)
		err = fork_thread(replay, meta);
	else if (!meta->is_unordered)
		err = fork_process(replay, meta);
	// A synthesized FORK tells of a relation, not of an event: parent and child have mappings
	// and names of their own, synthesized like it.
	if (err || meta->is_unordered)
		return err;
	err = changes_inherit(&replay->comms, meta->tid, meta->value, meta->time);
	return err ? err : changes_inherit(&replay->namespaces, meta->tid, meta->value, meta->time);
}

static void exit_task(struct replay *replay, const struct meta *meta)
{
	const struct owner *found = spaces_find_owner(&replay->spaces, SIDE_USER, meta->pid);
	if (!found)
		return;
	struct owner *owner = &replay->spaces.owners.items[found - replay->spaces.owners.items];
	if (owner->threads > 0)
		owner->threads--;
	owner->has_exited = owner->threads == 0;
}

static struct imp_error *name_cgroup(struct replay *replay, const struct metas *metas,
				     const struct meta *meta)
{
	const struct cgroup_name *cgroup = &metas->cgroups.items[meta->value];
	return changes_set(&replay->cgroups, cgroup->id, meta->time, cgroup->path);
}

static struct imp_error *replay_one(struct replay *replay, struct metas *metas,
				    const struct meta *meta)
{
	struct imp_error *err = NULL;
	switch ((enum meta_kind)meta->kind) {
	case META_MAP:
		return map(replay, metas, meta);
	case META_UNMAP:
		return unmap(replay, metas, meta);
	case META_EXEC:
		err = execute(replay, meta);
		break;
	case META_FORK:
		return fork_task(replay, meta);
	case META_EXIT:
		exit_task(replay, meta);
		return NULL;
	case META_NAMESPACES:
		return changes_set(&replay->namespaces, meta->tid, meta->time, meta->value);
	case META_CGROUP:
		return name_cgroup(replay, metas, meta);
	case META_COMM:
	default:
		break;
	}
	return err ? err : changes_set(&replay->comms, meta->tid, meta->time, meta->value);
}

struct imp_error *replay_run(struct replay *replay, struct metas *metas, uint64_t until)
{
	for (; metas->replayed < metas->all.count; metas->replayed++) {
		const struct meta *meta = &metas->all.items[metas->replayed];
		if (meta->time >= until && until != UINT64_MAX)
			break;
		struct imp_error *err = replay_one(replay, metas, meta);
		if (err)
			return err;
	}
	metas->replayed_until = until;
	return NULL;
}

void replay_reset(struct replay *replay)
{
	struct strings names = replay->names;
	replay->names = (struct strings){ 0 };
	replay_fini(replay);
	*replay = (struct replay){ .names = names };
}

struct imp_error *replay_map_kernel(struct replay *replay, uint32_t image)
{
	uint32_t owner;
	struct imp_error *err = spaces_owner(&replay->spaces, SIDE_KERNEL, 0, &owner);
	if (err)
		return err;
	struct mapped *mapped = array_add(&replay->mapped);
	if (!mapped)
		return &imp_error_no_memory;
	*mapped = (struct mapped){ 0, image };
	struct range whole = { .start = 0, .end = UINT64_MAX };
	return spaces_map(&replay->spaces, owner, 0, &whole);
}
