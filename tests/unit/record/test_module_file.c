// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
#include "record/module_file.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "harness/tap.h"

// A folder as depmod leaves it.
struct tree {
	char dir[64];
};

static void put(const char *dir, const char *name, const char *text)
{
	char path[128];
	snprintf(path, sizeof path, "%s/%s", dir, name);
	_cleanup_file_ FILE *file = fopen(path, "we");
	if (file)
		fputs(text, file);
}

static bool tree_make(struct tree *tree)
{
	strcpy(tree->dir, "/tmp/imprint-modules.XXXXXX");
	if (!mkdtemp(tree->dir))
		return false;
	put(tree->dir, "modules.dep",
	    "snd-pcm.ko.xz: snd.ko.xz\nsnd.ko.xz:\nlink.ko:\ngone.ko: snd.ko.xz\n");
	put(tree->dir, "snd-pcm.ko.xz", "pcm");
	put(tree->dir, "snd.ko.xz", "snd");
	char link[128];
	snprintf(link, sizeof link, "%s/link.ko", tree->dir);
	return !symlink("snd.ko.xz", link);
}

static void tree_remove(const struct tree *tree)
{
	static const char *const names[] = { "modules.dep", "snd-pcm.ko.xz", "snd.ko.xz",
					     "link.ko" };
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		char path[128];
		snprintf(path, sizeof path, "%s/%s", tree->dir, names[i]);
		unlink(path);
	}
	rmdir(tree->dir);
}

// What the file of module NAME begins with; "" when it has none.
static void read_module(const struct tree *tree, const char *name, char text[4])
{
	_cleanup_free_ char *path = NULL;
	int fd;
	memset(text, 0, 4);
	CHECK_OK(module_file_open(tree->dir, name, &fd, &path));
	_cleanup_close_ int owned = fd;
	if (owned >= 0 && read(owned, text, 3) < 0)
		text[0] = '?';
}

TEST(a_module_is_found_by_its_canonical_name)
{
	struct tree tree;
	char text[4];
	REQUIRE(tree_make(&tree));
	read_module(&tree, "[snd_pcm]", text);
	CHECK_TEXT(text, "pcm");
	read_module(&tree, "snd", text);
	CHECK_TEXT(text, "snd");
	tree_remove(&tree);
}

TEST(what_is_unknown_gone_or_a_link_is_not_opened)
{
	static const char *const names[] = { "[other]", "[gone]", "[link]", "[]", "" };
	struct tree tree;
	char text[4];
	REQUIRE(tree_make(&tree));
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		read_module(&tree, names[i], text);
		CHECK_TEXT(text, "");
	}
	tree_remove(&tree);
	read_module(&tree, "[snd]", text);
	CHECK_TEXT(text, "");
}
