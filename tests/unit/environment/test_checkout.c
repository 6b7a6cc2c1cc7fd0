// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
#include "environment/checkout.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/tap.h"
#include "live/memory.h"
#include "make/tiny_library.h"

struct bench {
	char dir[64];
	char target[96];
	struct store *store;
	struct snapshot *snapshot;
};

static struct bench bench_begin(void)
{
	struct bench bench = { .dir = "/tmp/imprint-checkout-XXXXXX" };
	if (!mkdtemp(bench.dir))
		abort();
	char path[96];
	snprintf(path, sizeof path, "%s/store", bench.dir);
	snprintf(bench.target, sizeof bench.target, "%s/out", bench.dir);
	CHECK_OK(store_open(path, STORE_WRITE, NULL, &bench.store));
	CHECK_OK(snapshot_new("live", &bench.snapshot));
	return bench;
}

static void bench_end(struct bench *bench)
{
	char command[96];
	store_free(bench->store);
	snapshot_free(bench->snapshot);
	snprintf(command, sizeof command, "rm -rf '%s'", bench->dir);
	CHECK(!system(command));
}

// An image at PATH with the build of byte ID; in the store too when IS_STORED.
static uint32_t add_image(struct bench *bench, const char *path, uint8_t id, bool is_stored)
{
	uint8_t bytes[TINY_LIBRARY_SIZE];
	struct tiny_library library = { .id_size = 20, .id = id, .soname = "libx.so.1" };
	tiny_library_make(&library, bytes);
	struct snapshot_image *image = snapshot_add_image(bench->snapshot);
	image->path = path;
	image->soname = library.soname;
	memset(image->id.bytes, id, 20);
	image->id.size = 20;
	struct store_item item = { .id = image->id, .role = STORE_EXECUTABLE, .path = path };
	if (is_stored)
		CHECK_OK(store_add_memory(bench->store, &item, bytes, sizeof bytes, NULL));
	return (uint32_t)(bench->snapshot->images.count - 1);
}

static void add_process(struct bench *bench, uint32_t pid, const char *root, uint32_t image)
{
	struct snapshot_process *process = snapshot_add_process(bench->snapshot);
	process->pid = pid;
	process->root = root;
	process->mapping_count = 1;
	snapshot_add_mapping(bench->snapshot)->image = image;
}

static void check_id(const struct bench *bench, const char *name, const char *id)
{
	char path[256];
	snprintf(path, sizeof path, "%s/%s", bench->target, name);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct build_id found = { 0 };
	if (fd >= 0) {
		found = fd_face_id(fd);
		close(fd);
	}
	CHECK_TEXT(build_id_text(&found).text, id);
}

#define ONES "1111111111111111111111111111111111111111"
#define TWOS "2222222222222222222222222222222222222222"

TEST(one_root_is_one_tree_with_the_names_that_loaders_use)
{
	struct bench bench = bench_begin();
	uint32_t image = add_image(&bench, "/usr/lib/libx.so.1.2", 0x11, true);
	add_process(&bench, 1, "/", image);
	add_process(&bench, 2, "/", image);
	_cleanup_checkout_ struct checkout checkout = { 0 };
	CHECK_OK(checkout_make(bench.snapshot, 0, bench.store, bench.target, &checkout));
	CHECK_UINT(checkout.trees.count, 1);
	CHECK_UINT(checkout.files, 1);
	check_id(&bench, "usr/lib/libx.so.1.2", ONES);
	check_id(&bench, "lib/libx.so.1", ONES);
	bench_end(&bench);
}

TEST(two_builds_of_one_path_are_two_trees)
{
	struct bench bench = bench_begin();
	uint32_t old = add_image(&bench, "/lib/libx.so", 0x11, true);
	uint32_t new = add_image(&bench, "/lib/libx.so", 0x22, true);
	uint32_t jailed = add_image(&bench, "/srv/lib/libx.so", 0x22, true);
	add_process(&bench, 1, "/", old);
	add_process(&bench, 2, "/", new);
	add_process(&bench, 3, "/srv", jailed);
	_cleanup_checkout_ struct checkout checkout = { 0 };
	CHECK_OK(checkout_make(bench.snapshot, 0, bench.store, bench.target, &checkout));
	REQUIRE(checkout.trees.count == 3);
	CHECK_TEXT(checkout.trees.items[0].name, "root");
	CHECK_TEXT(checkout.trees.items[1].name, "root.2");
	CHECK_TEXT(checkout.trees.items[2].name, "pid-3");
	check_id(&bench, "root/lib/libx.so", ONES);
	check_id(&bench, "root.2/lib/libx.so", TWOS);
	check_id(&bench, "pid-3/lib/libx.so", TWOS);
	bench_end(&bench);
}

TEST(one_process_alone_is_one_tree)
{
	struct bench bench = bench_begin();
	add_process(&bench, 1, "/", add_image(&bench, "/lib/libx.so", 0x11, true));
	add_process(&bench, 2, "/", add_image(&bench, "/lib/libx.so", 0x22, true));
	_cleanup_checkout_ struct checkout checkout = { 0 };
	CHECK_OK(checkout_make(bench.snapshot, 2, bench.store, bench.target, &checkout));
	check_id(&bench, "lib/libx.so", TWOS);
	bench_end(&bench);
}

TEST(what_the_store_lacks_is_named)
{
	struct bench bench = bench_begin();
	add_process(&bench, 1, "/", add_image(&bench, "/lib/libx.so", 0x11, false));
	uint32_t nameless = add_image(&bench, "/lib/liby.so", 0x22, false);
	bench.snapshot->images.items[nameless].id = (struct build_id){ 0 };
	add_process(&bench, 2, "/", nameless);
	_cleanup_checkout_ struct checkout checkout = { 0 };
	CHECK_OK(checkout_make(bench.snapshot, 0, bench.store, bench.target, &checkout));
	REQUIRE(checkout.missing.count == 2);
	CHECK_TEXT(checkout.missing.items[0].why, "not in the store");
	CHECK_TEXT(checkout.missing.items[1].why, "the snapshot does not say which build it was");
	bench_end(&bench);
}

TEST(paths_that_lead_out_are_left_alone)
{
	struct bench bench = bench_begin();
	add_process(&bench, 1, "/", add_image(&bench, "/../escaped", 0x11, true));
	add_process(&bench, 1, "/", add_image(&bench, "/a/./b", 0x11, true));
	add_process(&bench, 1, "/", add_image(&bench, "relative", 0x11, true));
	add_process(&bench, 1, "/", add_image(&bench, "/lib//x", 0x11, true));
	add_process(&bench, 1, "/", add_image(&bench, "/lib/x/", 0x11, true));
	_cleanup_checkout_ struct checkout checkout = { 0 };
	CHECK_OK(checkout_make(bench.snapshot, 0, bench.store, bench.target, &checkout));
	CHECK_UINT(checkout.files, 0);
	char path[128];
	snprintf(path, sizeof path, "%s/escaped", bench.dir);
	CHECK(access(path, F_OK) != 0);
	bench_end(&bench);
}

TEST(a_directory_with_something_in_it_is_refused)
{
	struct bench bench = bench_begin();
	add_process(&bench, 1, "/", add_image(&bench, "/lib/libx.so", 0x11, true));
	_cleanup_checkout_ struct checkout checkout = { 0 };
	CHECK_ERROR(checkout_make(bench.snapshot, 0, bench.store, bench.dir, &checkout),
		    IMP_ERR_USAGE);
	bench_end(&bench);
}
