// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Making and removing a sysroot of links.
#include "cli/sysroot.h"

#include <errno.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "model/elf_face.h"

enum { PLACE_SIZE = 2 * PATH_MAX + 300 };

// Makes the directories of PATH below its first ROOT bytes.
static bool make_parents(char *path, size_t root)
{
	for (char *at = path + root + 1; (at = strchr(at, '/')); at++) {
		*at = 0;
		bool is_made = !mkdir(path, 0700) || errno == EEXIST;
		*at = '/';
		if (!is_made)
			return false;
	}
	return true;
}

// Absolute and without odd components: a core file says what it likes.
static bool path_is_plain(const char *path)
{
	if (path[0] != '/' || strstr(path, "//") || strlen(path) >= PATH_MAX)
		return false;
	for (const char *at = path; (at = strstr(at, "/.")); at++)
		if (at[2] == '/' || !at[2] || (at[2] == '.' && (at[3] == '/' || !at[3])))
			return false;
	return true;
}

static bool is_same_file(const char *a, const char *b)
{
	struct stat left;
	struct stat right;
	return !stat(a, &left) && !stat(b, &right) && left.st_ino == right.st_ino &&
	       left.st_dev == right.st_dev;
}

static bool link_at(const struct sysroot *sysroot, const char *path, const char *file)
{
	char place[PLACE_SIZE];
	int size = snprintf(place, sizeof place, "%s%s", sysroot->dir, path);
	if (size < 0 || (size_t)size >= sizeof place || !make_parents(place, strlen(sysroot->dir)))
		return false;
	// Of two builds at one path the first was mapped first.
	return !symlink(file, place) || errno == EEXIST;
}

static size_t read_image(void *arg, uint64_t offset, void *bytes, size_t size)
{
	size_t all;
	const uint8_t *image = elf_image_bytes(arg, &all);
	if (offset >= all)
		return 0;
	if (size > all - offset)
		size = all - (size_t)offset;
	memcpy(bytes, image + offset, size);
	return size;
}

// Loaders know a library by its soname, and themselves by the name that programs have for them.
static void link_soname(const struct sysroot *sysroot, const struct elf_image *image,
			const char *path, const char *file)
{
	struct elf_face face;
	elf_face_read(&(struct byte_source){ .read = read_image, .arg = (void *)(uintptr_t)image },
		      &face);
	if (!face.soname[0] || strchr(face.soname, '/') || face.soname[0] == '.')
		return;
	char place[PLACE_SIZE];
	int length = (int)(strrchr(path, '/') - path);
	(void)snprintf(place, sizeof place, "%.*s/%s", length, path, face.soname);
	(void)link_at(sysroot, place, file);
	if (strncmp(face.soname, "ld-", 3) != 0)
		return;
	static const char *const dirs[] = { "/usr/lib64", "/usr/lib" };
	for (size_t i = 0; i < sizeof dirs / sizeof *dirs; i++) {
		(void)snprintf(place, sizeof place, "%s/%s", dirs[i], face.soname);
		(void)link_at(sysroot, place, file);
	}
}

static struct imp_error *link_image(struct sysroot *sysroot, const struct snapshot_image *image,
				    struct finder *finder, const struct log *log)
{
	const struct image wanted = { .id = image->id,
				      .path = image->path,
				      .kind = IMAGE_USER,
				      .identity = IDENTITY_MAP_TIME };
	const struct finding *finding;
	struct imp_error *err = finder_find(finder, &wanted, &finding);
	if (err)
		return err;
	_cleanup_free_ char *file = finding->image ? realpath(elf_image_path(finding->image), NULL)
						   : NULL;
	if (!file) {
		log_message(log, LOG_WARNING, "%s: [buildid:%s] is not found", image->path,
			    build_id_text(&image->id).text);
		sysroot->missing++;
		return NULL;
	}
	if (!link_at(sysroot, image->path, file))
		return error_system(errno, "%s%s: cannot be linked", sysroot->dir, image->path);
	link_soname(sysroot, finding->image, image->path, file);
	sysroot->elsewhere += !is_same_file(file, image->path);
	sysroot->linked++;
	return NULL;
}

// Where /lib is a link to /usr/lib, loaders still use the short names; maps shows the long ones.
static void link_merged_usr(const struct sysroot *sysroot)
{
	static const char *const names[] = { "bin", "lib", "lib32", "lib64", "libx32", "sbin" };
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		char place[PLACE_SIZE];
		char target[32];
		(void)snprintf(place, sizeof place, "%s/%s", sysroot->dir, names[i]);
		(void)snprintf(target, sizeof target, "usr/%s", names[i]);
		(void)symlink(target, place);
	}
}

struct imp_error *sysroot_make(const struct snapshot *snapshot, struct finder *finder,
			       const struct log *log, struct sysroot *ret)
{
	*ret = (struct sysroot){ 0 };
	const char *tmp = getenv("TMPDIR");
	char dir[PATH_MAX];
	(void)snprintf(dir, sizeof dir, "%s/imprint-sysroot-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(dir))
		return error_system(errno, "%s: cannot make a directory", dir);
	memcpy(ret->dir, dir, sizeof dir);
	struct imp_error *err = NULL;
	for (size_t i = 0; !err && i < snapshot->images.count; i++) {
		const struct snapshot_image *image = &snapshot->images.items[i];
		if (image->kind == MAPPED_FILE && !build_id_is_none(&image->id) &&
		    path_is_plain(image->path))
			err = link_image(ret, image, finder, log);
	}
	link_merged_usr(ret);
	return err;
}

void sysroot_remove(struct sysroot *sysroot)
{
	char *roots[] = { sysroot->dir, NULL };
	FTS *walk = sysroot->dir[0] ? fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL) : NULL;
	for (FTSENT *file; walk && (file = fts_read(walk));)
		if (file->fts_info != FTS_D)
			(void)remove(file->fts_accpath);
	if (walk)
		(void)fts_close(walk);
	sysroot->dir[0] = 0;
}
