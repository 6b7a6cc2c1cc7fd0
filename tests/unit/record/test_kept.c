// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
#include "record/kept.h"

#include <ftw.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "harness/tap.h"

static const struct build_id id = { .size = 8, .bytes = { 1, 2, 3, 4, 5, 6, 7, 8 } };
static const struct build_id other_id = { .size = 8, .bytes = { 8, 7, 6, 5, 4, 3, 2, 1 } };

struct shelf {
	char dir[64];
	struct store *store;
};

static struct shelf shelf_begin(void)
{
	struct shelf shelf = { .dir = "/tmp/imprint-kept.XXXXXX" };
	char path[96];
	CHECK(mkdtemp(shelf.dir) != NULL);
	snprintf(path, sizeof path, "%s/store", shelf.dir);
	CHECK_OK(store_open(path, STORE_WRITE, NULL, &shelf.store));
	return shelf;
}

static int remove_one(const char *path, const struct stat *stat, int kind, struct FTW *at)
{
	(void)stat;
	(void)kind;
	(void)at;
	return remove(path);
}

static void shelf_end(struct shelf *shelf)
{
	store_free(shelf->store);
	nftw(shelf->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void keep(struct shelf *shelf, enum store_role role, const char *bytes)
{
	struct store_item item = { .id = id, .role = role, .path = "/usr/bin/kept" };
	CHECK_OK(store_add_memory(shelf->store, &item, bytes, strlen(bytes), NULL));
}

static int memory_file(const char *bytes)
{
	int fd = memfd_create("kept", MFD_CLOEXEC);
	CHECK(fd >= 0 && write(fd, bytes, strlen(bytes)) == (ssize_t)strlen(bytes));
	return fd;
}

TEST(a_role_is_kept_under_its_id_alone)
{
	struct shelf shelf = shelf_begin();
	CHECK(!kept_role(shelf.store, &id, STORE_KALLSYMS));
	keep(&shelf, STORE_KALLSYMS, "symbols");
	CHECK(kept_role(shelf.store, &id, STORE_KALLSYMS));
	CHECK(!kept_role(shelf.store, &id, STORE_VDSO));
	CHECK(!kept_role(shelf.store, &other_id, STORE_KALLSYMS));
	CHECK(!kept_role(shelf.store, &(struct build_id){ 0 }, STORE_KALLSYMS));
	shelf_end(&shelf);
}

TEST(bytes_are_kept_only_when_they_are_equal)
{
	struct shelf shelf = shelf_begin();
	_cleanup_close_ int same = memory_file("the bytes");
	_cleanup_close_ int changed = memory_file("the bytez");
	_cleanup_close_ int longer = memory_file("the bytes and more");
	CHECK(!kept_bytes(shelf.store, &id, same, 9));
	keep(&shelf, STORE_EXECUTABLE, "another content of this ID");
	keep(&shelf, STORE_EXECUTABLE, "the bytes");
	CHECK(kept_bytes(shelf.store, &id, same, 9));
	CHECK(!kept_bytes(shelf.store, &id, changed, 9));
	CHECK(!kept_bytes(shelf.store, &id, longer, 18));
	// The file became shorter than it was.
	CHECK(!kept_bytes(shelf.store, &id, same, 26));
	CHECK(!kept_bytes(shelf.store, &other_id, same, 9));
	shelf_end(&shelf);
}

TEST(a_table_of_modules_is_kept_whatever_uses_them)
{
	static const char kept[] = "snd 40960 1 pcm, Live 0xffffffffc0a10000\n"
				   "pcm 184320 0 - Live 0xffffffffc0b10000\n";
	static const struct {
		const char *text;
		bool is_kept;
	} cases[] = {
		{ "snd 40960 3 pcm,hda, Live 0xffffffffc0a10000\n"
		  "pcm 184320 7 - Live 0xffffffffc0b10000\n",
		  true },
		{ "snd 40960 1 pcm, Live 0xffffffffc0a20000\n"
		  "pcm 184320 0 - Live 0xffffffffc0b10000\n",
		  false },
		{ "snd 40960 1 - Live 0xffffffffc0a10000\n", false },
		{ "snd 40960 1 pcm, Live 0xffffffffc0a10000\n"
		  "pcm 184320 0 - Live 0xffffffffc0b10000\n"
		  "hda 4096 0 - Live 0xffffffffc0c10000\n",
		  false },
		{ "nonsense\n", false },
		{ "snd 40960 1 pcm, Live 0xffffffffc0a10000", false },
	};
	struct shelf shelf = shelf_begin();
	CHECK(!kept_modules(shelf.store, &id, kept, strlen(kept)));
	keep(&shelf, STORE_MODULES, kept);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		CHECK(kept_modules(shelf.store, &id, cases[i].text, strlen(cases[i].text)) ==
		      cases[i].is_kept);
	shelf_end(&shelf);
}
