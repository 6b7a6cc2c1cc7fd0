// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
#include "environment/stale_kernel.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zstd.h>

#include "environment/gather.h"
#include "harness/tap.h"
#include "make/tiny_library.h"

TEST(flavours_are_releases_without_their_numbers)
{
	CHECK(kernel_flavours_equal("6.1.0-18-amd64", "6.1.0-9-amd64"));
	CHECK(kernel_flavours_equal("5.14.0-362.el9.x86_64", "5.14.0-362.8.1.el9_3.x86_64"));
	CHECK(!kernel_flavours_equal("6.1.0-18-amd64", "6.1.0-18-cloud-amd64"));
	CHECK(!kernel_flavours_equal("6.1.0-18-rt-amd64", "6.1.0-18-amd64"));
}

enum { HEAD_SIZE = 0x1000 };

// The head of a bzImage whose version text is TEXT.
static void make_bzimage(uint8_t *head, const char *text)
{
	memset(head, 0, HEAD_SIZE);
	memcpy(head + 0x202, "HdrS", 4);
	head[0x20f] = 2;
	memcpy(head + 0x400, text, strlen(text));
}

TEST(the_version_of_a_bzimage_is_read_within_its_bounds)
{
	uint8_t head[HEAD_SIZE];
	char version[64];
	make_bzimage(head, "6.1.0 (x) #1");
	CHECK(bzimage_version(head, sizeof head, version, sizeof version));
	CHECK_TEXT(version, "6.1.0 (x) #1");
	for (size_t size = 0; size < 0x400 + 13; size++)
		CHECK(!bzimage_version(head, size, version, sizeof version));
	CHECK(!bzimage_version(head, sizeof head, version, 5));
}

// A /proc tree of one process whose root is a directory beside it.
struct tree {
	char dir[64];
};

static void put(const struct tree *tree, const char *name, const void *bytes, size_t size)
{
	char path[256];
	snprintf(path, sizeof path, "%s/%s", tree->dir, name);
	for (char *slash = path + strlen(tree->dir) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = 0;
		mkdir(path, 0755);
		*slash = '/';
	}
	FILE *out = fopen(path, "w");
	if (!out || fwrite(bytes, 1, size, out) != size || fclose(out))
		abort();
}

static void put_text(const struct tree *tree, const char *name, const char *text)
{
	put(tree, name, text, strlen(text));
}

static struct tree tree_begin(void)
{
	struct tree tree = { .dir = "/tmp/imprint-kernel-XXXXXX" };
	if (!mkdtemp(tree.dir))
		abort();
	put_text(&tree, "sys/kernel/osrelease", "6.1.0-9-amd64\n");
	put_text(&tree, "version",
		 "Linux version 6.1.0-9-amd64 (x) (gcc) #1 SMP Debian 6.1.27-1\n");
	return tree;
}

static void tree_end(struct tree *tree)
{
	char command[128];
	snprintf(command, sizeof command, "rm -r '%s'", tree->dir);
	CHECK(!system(command));
}

static void check_tree(const struct tree *tree, struct stale_report *report,
		       struct snapshot **snapshot)
{
	struct gather_options gather = { .proc_root = tree->dir, .sys_root = tree->dir };
	CHECK_OK(gather_live(&gather, snapshot));
	struct stale_options options = { .proc_root = tree->dir, .sys_root = tree->dir };
	CHECK_OK(stale_check(*snapshot, &options, report));
}

static void check_kernel(const char *file, const char *version, enum stale_verdict verdict)
{
	struct tree tree = tree_begin();
	uint8_t head[HEAD_SIZE];
	make_bzimage(head, version);
	put(&tree, file, head, sizeof head);
	struct stale_report report = { 0 };
	struct snapshot *snapshot = NULL;
	check_tree(&tree, &report, &snapshot);
	CHECK_UINT(report.kernels.count, 1);
	if (report.kernels.count == 1)
		CHECK_TEXT(stale_verdict_name(report.kernels.items[0].verdict),
			   stale_verdict_name(verdict));
	stale_report_fini(&report);
	snapshot_free(snapshot);
	tree_end(&tree);
}

TEST(the_running_kernel_is_compared_with_the_newest_installed)
{
	check_kernel("1/root/boot/vmlinuz-6.1.0-9-amd64",
		     "6.1.0-9-amd64 (x) #1 SMP Debian 6.1.27-1", STALE_CURRENT);
	check_kernel("1/root/boot/vmlinuz-6.1.0-9-amd64",
		     "6.1.0-9-amd64 (x) #1 SMP Debian 6.1.38-4", STALE_REPLACED);
	check_kernel("1/root/boot/vmlinuz-6.1.0-10-amd64", "6.1.0-10-amd64 (x) #1", STALE_REPLACED);
	check_kernel("1/root/boot/vmlinuz-6.1.0-8-amd64", "6.1.0-8-amd64 (x) #1", STALE_CURRENT);
}

TEST(a_loaded_module_is_compared_with_its_installed_file)
{
	struct tree tree = tree_begin();
	put_text(&tree, "modules",
		 "old 4096 0 - Live 0xffffffffc0000000\nsame 4096 0 - Live 0xffffffffc0010000\n");
	const uint32_t note[] = { 4, 8, 3, 0x00554e47, 0x11111111, 0x11111111 };
	put(&tree, "module/old/notes/.note.gnu.build-id", note, sizeof note);
	put(&tree, "module/same/notes/.note.gnu.build-id", note, sizeof note);
	put_text(&tree, "1/root/lib/modules/6.1.0-9-amd64/modules.dep",
		 "kernel/old.ko:\nkernel/same.ko: kernel/old.ko\nkernel/other.ko:\n");
	uint8_t file[TINY_LIBRARY_SIZE];
	tiny_library_make(&(struct tiny_library){ .id_size = 8, .id = 0x22 }, file);
	put(&tree, "1/root/lib/modules/6.1.0-9-amd64/kernel/old.ko", file, sizeof file);
	tiny_library_make(&(struct tiny_library){ .id_size = 8, .id = 0x11 }, file);
	put(&tree, "1/root/lib/modules/6.1.0-9-amd64/kernel/same.ko", file, sizeof file);
	struct stale_report report = { 0 };
	struct snapshot *snapshot = NULL;
	check_tree(&tree, &report, &snapshot);
	CHECK_UINT(report.kernels.count, 1);
	if (report.kernels.count == 1) {
		CHECK_TEXT(report.kernels.items[0].name, "old");
		CHECK_TEXT(build_id_text(&report.kernels.items[0].running_id).text,
			   "1111111111111111");
		CHECK_TEXT(build_id_text(&report.kernels.items[0].installed_id).text,
			   "2222222222222222");
	}
	stale_report_fini(&report);
	snapshot_free(snapshot);
	tree_end(&tree);
}

#define PACKED "1/root/lib/modules/6.1.0-9-amd64/kernel/old.ko.zst"

// With EXTRA bytes behind its end, which do not count.
static void put_packed_module(const struct tree *tree, uint8_t id, size_t extra)
{
	uint8_t file[TINY_LIBRARY_SIZE], packed[2 * TINY_LIBRARY_SIZE] = { 0 };
	tiny_library_make(&(struct tiny_library){ .id_size = 8, .id = id }, file);
	size_t size = ZSTD_compress(packed, sizeof packed, file, sizeof file, 1);
	REQUIRE(!ZSTD_isError(size));
	put(tree, PACKED, packed, size + extra);
}

// The installed ID of the one module that is not the installed one, with IDs kept at KNOWN.
static struct build_id_text checked_with(const struct tree *tree, const char *known)
{
	struct gather_options gather = { .proc_root = tree->dir, .sys_root = tree->dir };
	struct stale_options options = { .proc_root = tree->dir,
					 .sys_root = tree->dir,
					 .known_ids = known };
	struct stale_report report = { 0 };
	struct snapshot *snapshot = NULL;
	struct build_id_text text = { "" };
	CHECK_OK(gather_live(&gather, &snapshot));
	CHECK_OK(stale_check(snapshot, &options, &report));
	if (report.kernels.count == 1)
		text = build_id_text(&report.kernels.items[0].installed_id);
	stale_report_fini(&report);
	snapshot_free(snapshot);
	return text;
}

TEST(a_packed_module_is_unpacked_unless_its_id_is_known)
{
	struct tree tree = tree_begin();
	char known[96], path[160], line[256];
	snprintf(known, sizeof known, "%s/known", tree.dir);
	snprintf(path, sizeof path, "%s/" PACKED, tree.dir);
	put_text(&tree, "modules", "old 4096 0 - Live 0xffffffffc0000000\n");
	const uint32_t note[] = { 4, 8, 3, 0x00554e47, 0x11111111, 0x11111111 };
	put(&tree, "module/old/notes/.note.gnu.build-id", note, sizeof note);
	put_text(&tree, "1/root/lib/modules/6.1.0-9-amd64/modules.dep", "kernel/old.ko.zst:\n");
	put_packed_module(&tree, 0x22, 0);
	CHECK_TEXT(checked_with(&tree, NULL).text, "2222222222222222");
	CHECK_TEXT(checked_with(&tree, known).text, "2222222222222222");
	struct stat stat_;
	REQUIRE(!stat(path, &stat_));
	snprintf(line, sizeof line,
		 "imprint-known-ids 1\n%ju %ju %ju %jd.%09ld %jd.%09ld 3333333333333333\n",
		 (uintmax_t)stat_.st_dev, (uintmax_t)stat_.st_ino, (uintmax_t)stat_.st_size,
		 (intmax_t)stat_.st_mtim.tv_sec, stat_.st_mtim.tv_nsec,
		 (intmax_t)stat_.st_ctim.tv_sec, stat_.st_ctim.tv_nsec);
	put_text(&tree, "known", line);
	CHECK_TEXT(checked_with(&tree, known).text, "3333333333333333");
	put_packed_module(&tree, 0x44, 1);
	CHECK_TEXT(checked_with(&tree, known).text, "4444444444444444");
	tree_end(&tree);
}
