// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Copying objects of the store to where they were mapped, and the links by which loaders named
// them.
#include "environment/checkout.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "environment/checkout_plan.h"
#include "environment/content_hash.h"
#include "live/memory.h"
#include "store/beneath.h"

void checkout_fini(struct checkout *checkout)
{
	for (size_t i = 0; i < checkout->trees.count; i++)
		array_fini(&checkout->trees.items[i].processes);
	array_fini(&checkout->trees);
	array_fini(&checkout->missing);
}

// Makes DIR and opens it; a directory with something in it is refused.
static struct imp_error *open_target(const char *dir, int *ret)
{
	if (mkdir(dir, 0777) && errno != EEXIST)
		return error_system(errno, "%s: cannot make", dir);
	_cleanup_close_ int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_dir_ DIR *list = opendir(dir);
	if (fd < 0 || !list)
		return error_system(errno, "%s: cannot open", dir);
	for (const struct dirent *entry; (entry = readdir(list));)
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			return error_new(IMP_ERR_USAGE, "%s: not empty", dir);
	*ret = steal_fd(&fd);
	return NULL;
}

// Whether the bytes of FD are those of IMAGE by their own ID, or content.
static bool is_right(int fd, const struct snapshot_image *image)
{
	if (!build_id_is_none(&image->id)) {
		struct build_id id = fd_face_id(fd);
		return build_id_equal(&id, &image->id);
	}
	uint8_t hash[CONTENT_HASH_SIZE];
	return content_hash_of(fd, hash) && !memcmp(hash, image->content_hash, sizeof hash);
}

// Opens the store's object for IMAGE in *RET; -1 and *why when it has none.
static struct imp_error *open_object(struct store *store, const struct snapshot_image *image,
				     int *ret, const char **why)
{
	*ret = -1;
	_cleanup_store_objects_ struct store_objects objects = { 0 };
	struct imp_error *err = NULL;
	if (!build_id_is_none(&image->id)) {
		struct store_query query = { .id = image->id,
					     .role = STORE_EXECUTABLE,
					     .path = image->path };
		err = store_find(store, &query, &objects);
	} else if (image->has_content_hash) {
		struct store_hash hash;
		memcpy(hash.bytes, image->content_hash, sizeof hash.bytes);
		err = store_find_hash(store, &hash, &objects);
	} else {
		*why = "the snapshot does not say which build it was";
		return NULL;
	}
	if (err)
		return err;
	*why = "not in the store";
	for (size_t i = 0; i < objects.count; i++) {
		_cleanup_close_ int fd = -1;
		err = store_object_open(store, &objects.items[i], &fd);
		if (err && imp_error_code(err) == IMP_ERR_NO_MEMORY)
			return err;
		imp_error_free(err);
		if (fd >= 0 && is_right(fd, image)) {
			*ret = steal_fd(&fd);
			return NULL;
		}
		*why = "damaged in the store";
	}
	return NULL;
}

static struct imp_error *copy_object(int from, int to, const char *path, uint64_t *bytes)
{
	enum { STEP = 1 << 20 };
	_cleanup_free_ uint8_t *step = malloc(STEP);
	if (!step)
		return &imp_error_no_memory;
	for (uint64_t at = 0;;) {
		size_t got;
		struct imp_error *err = file_pread(from, path, step, STEP, at, &got);
		if (!err)
			err = file_write(to, path, step, got);
		if (err)
			return err;
		at += got;
		*bytes += got;
		if (got < STEP)
			return NULL;
	}
}

static struct imp_error *put_file(const struct checkout_plan *plan, struct store *store, int root,
				  const struct checkout_file *file, struct checkout *ret)
{
	const struct snapshot_image *image = &plan->snapshot->images.items[file->image];
	const char *why = NULL, *name;
	_cleanup_close_ int from = -1;
	struct imp_error *err = open_object(store, image, &from, &why);
	if (err)
		return err;
	if (from < 0)
		return checkout_note_missing(ret, file->image, why);
	_cleanup_close_ int parent = beneath_open_parent(root, file->path, true, &name);
	_cleanup_close_ int to =
		parent < 0 ? -1
			   : openat(parent, name,
				    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0777);
	if (to < 0)
		return error_system(errno, "%s: cannot create", file->path);
	ret->files++;
	return copy_object(from, to, file->path, &ret->bytes);
}

// A library is also called by its soname, beside itself.
static void link_soname(const struct checkout_plan *plan, int root,
			const struct checkout_file *file)
{
	const char *soname = plan->snapshot->images.items[file->image].soname;
	const char *name;
	if (!*soname || strchr(soname, '/') || !strcmp(soname, ".") || !strcmp(soname, ".."))
		return;
	_cleanup_close_ int parent = beneath_open_parent(root, file->path, false, &name);
	if (parent >= 0 && strcmp(name, soname) != 0)
		// What is there stays: another library may really have this name.
		(void)symlinkat(name, parent, soname);
}

// Where /lib and /bin are links to what stands below /usr, loaders still use their short names:
// maps shows the long ones only.
static void link_merged_usr(int root)
{
	static const char *const names[] = { "lib", "lib64", "lib32", "bin", "sbin" };
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		char target[32];
		snprintf(target, sizeof target, "usr/%s", names[i]);
		if (!faccessat(root, target, F_OK, AT_SYMLINK_NOFOLLOW))
			(void)symlinkat(target, root, names[i]);
	}
}

// The program interpreter's name is fixed (/lib64/ld-linux-x86-64.so.2), where its file stands is
// not. FILE is some library of the tree; when it is called like an interpreter, it can be reached
// by that name.
static void link_interpreter(int root, const struct checkout_file *file)
{
	static const char *const interpreters[] = {
		"lib64/ld-linux-x86-64.so.2",	   "lib/ld-linux.so.2", "lib/ld-linux-aarch64.so.1",
		"lib/ld-linux-armhf.so.3",	   "lib64/ld64.so.2",	"lib/ld64.so.1",
		"lib/ld-linux-riscv64-lp64d.so.1",
	};
	const char *slash = strrchr(file->path, '/');
	for (size_t i = 0; slash && i < sizeof interpreters / sizeof *interpreters; i++) {
		const char *name = strchr(interpreters[i], '/') + 1;
		char dir[16], target[4200];
		if (strcmp(slash + 1, name) != 0)
			continue;
		snprintf(dir, sizeof dir, "usr/%.*s", (int)(name - 1 - interpreters[i]),
			 interpreters[i]);
		bool is_merged = !faccessat(root, dir, F_OK, AT_SYMLINK_NOFOLLOW);
		if (!is_merged)
			memmove(dir, dir + 4, strlen(dir + 4) + 1);
		_cleanup_close_ int parent = beneath_open_dir(root, dir, true);
		snprintf(target, sizeof target, "%s/%s", is_merged ? "../.." : "..", file->path);
		if (parent >= 0)
			(void)symlinkat(target, parent, name);
	}
}

static struct imp_error *make_tree(const struct checkout_plan *plan, uint32_t tree,
				   struct store *store, int dir, struct checkout *ret)
{
	const char *name = ret->trees.items[tree].name;
	if (*name && mkdirat(dir, name, 0777))
		return error_system(errno, "%s: cannot make", name);
	_cleanup_close_ int root =
		openat(dir, *name ? name : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return error_system(errno, "%s: cannot open", name);
	struct imp_error *err = NULL;
	for (size_t i = 0; !err && i < plan->files.count; i++)
		if (plan->files.items[i].tree == tree)
			err = put_file(plan, store, root, &plan->files.items[i], ret);
	for (size_t i = 0; !err && i < plan->files.count; i++)
		if (plan->files.items[i].tree == tree)
			link_soname(plan, root, &plan->files.items[i]);
	if (err)
		return err;
	link_merged_usr(root);
	for (size_t i = 0; i < plan->files.count; i++)
		if (plan->files.items[i].tree == tree)
			link_interpreter(root, &plan->files.items[i]);
	return NULL;
}

struct imp_error *checkout_make(const struct snapshot *snapshot, uint32_t pid, struct store *store,
				const char *dir, struct checkout *ret)
{
	struct checkout_plan plan = { .snapshot = snapshot };
	_cleanup_close_ int target = -1;
	struct imp_error *err = checkout_plan_make(&plan, pid, ret);
	if (!err && !ret->trees.count)
		err = error_new(IMP_ERR_USAGE, "the snapshot has no process %u with mappings", pid);
	if (!err)
		err = open_target(dir, &target);
	for (uint32_t i = 0; !err && i < ret->trees.count; i++)
		err = make_tree(&plan, i, store, target, ret);
	checkout_plan_fini(&plan);
	return err;
}
