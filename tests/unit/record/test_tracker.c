// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
#include "record/tracker.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/file.h"
#include "harness/tap.h"
#include "live/memory.h"
#include "perfdata/record_build.h"

// A copy of this very program, mapped to be executed.
struct scene {
	char path[64];
	struct stat stat;
	struct build_id id;
	void *mapping;
	struct proc *proc;
	struct tracker *tracker;
	struct sample_walk walk;
};

enum { MAPPED_BYTES = 4096 };

static bool open_scene(struct scene *scene, enum capture capture)
{
	*scene = (struct scene){ .path = "/tmp/tracker-XXXXXX" };
	_cleanup_close_ int fd = mkstemp(scene->path);
	_cleanup_buffer_ struct buffer bytes = { 0 };
	CHECK_OK(file_slurp_path("/proc/self/exe", 1 << 28, &bytes));
	CHECK_OK(file_write(fd, scene->path, bytes.bytes, bytes.size));
	CHECK(!fstat(fd, &scene->stat));
	scene->id = fd_face_id(fd);
	scene->mapping = mmap(NULL, MAPPED_BYTES, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	CHECK_OK(proc_open(NULL, &scene->proc));
	CHECK(sample_walk_init(&scene->walk, 0));
	struct tracker_options options = {
		.proc = scene->proc, .capture = capture, .walk = &scene->walk, .most_open = 10
	};
	CHECK_OK(tracker_new(&options, &scene->tracker));
	if (build_id_is_none(&scene->id))
		tap_skip("this program was linked without a build ID");
	return tap_passing() && scene->mapping != MAP_FAILED && !build_id_is_none(&scene->id);
}

#define REQUIRE_SCENE(opened)   \
	do {                    \
		if (!(opened))  \
			return; \
	} while (0)

static void close_scene(struct scene *scene)
{
	munmap(scene->mapping, MAPPED_BYTES);
	unlink(scene->path);
	tracker_free(scene->tracker);
	proc_free(scene->proc);
	sample_walk_fini(&scene->walk);
}

// What the kernel would write for the mapping; HAS_ID: of a kernel that gives IDs.
static void see_mapping(struct scene *scene, bool has_id, struct buffer *record)
{
	struct mmap_record mmap = { .pid = (uint32_t)getpid(),
				    .tid = (uint32_t)getpid(),
				    .start = (uint64_t)(uintptr_t)scene->mapping,
				    .length = MAPPED_BYTES,
				    .major = major(scene->stat.st_dev),
				    .minor = minor(scene->stat.st_dev),
				    .inode = scene->stat.st_ino,
				    .prot = PROT_READ | PROT_EXEC,
				    .path = scene->path };
	if (has_id)
		mmap.id = scene->id;
	record_build_mmap(record, &mmap, MISC_USER, NULL);
	tracker_see(scene->tracker, record->bytes, record->size);
}

static void hit(struct scene *scene)
{
	struct code_pages pages = { 0 };
	struct code_page *page = array_add(&pages);
	CHECK(page);
	*page = (struct code_page){ .pid = (uint32_t)getpid(),
				    .address = (uint64_t)(uintptr_t)scene->mapping };
	tracker_resolve(scene->tracker, &pages);
	CHECK_UINT(pages.count, 0);
	array_fini(&pages);
}

static bool has_id(const struct buffer *record)
{
	uint16_t misc;
	memcpy(&misc, record->bytes + 4, sizeof misc);
	return misc & MISC_MMAP_BUILD_ID;
}

TEST(a_mapping_without_an_id_gets_that_of_the_very_file)
{
	struct scene scene;
	_cleanup_buffer_ struct buffer record = { 0 };
	REQUIRE_SCENE(open_scene(&scene, CAPTURE_NONE));
	see_mapping(&scene, false, &record);
	CHECK(has_id(&record));
	CHECK(!memcmp(record.bytes + 44, scene.id.bytes, scene.id.size));
	close_scene(&scene);
}

TEST(a_file_replaced_by_rename_is_still_the_one_that_is_mapped)
{
	struct scene scene;
	_cleanup_buffer_ struct buffer record = { 0 };
	REQUIRE_SCENE(open_scene(&scene, CAPTURE_HIT));
	char other[] = "/tmp/tracker-other-XXXXXX";
	_cleanup_close_ int fd = mkstemp(other);
	CHECK(fd >= 0 && !rename(other, scene.path));
	see_mapping(&scene, true, &record);
	hit(&scene);
	struct keep_job job = { .fd = -1 };
	bool has_job;
	CHECK(tracker_next_job(scene.tracker, 0, &job, &has_job));
	struct stat stat;
	// Only root may open map_files; others see that the path leads elsewhere, and keep nothing.
	if (has_job)
		CHECK(!fstat(job.fd, &stat) && stat.st_ino == scene.stat.st_ino);
	else
		CHECK_UINT(tracker_count(scene.tracker).unreachable, 1);
	if (has_job)
		close(job.fd);
	free(job.path);
	close_scene(&scene);
}

TEST(only_what_was_hit_is_kept)
{
	struct scene scene;
	_cleanup_buffer_ struct buffer record = { 0 };
	REQUIRE_SCENE(open_scene(&scene, CAPTURE_HIT));
	see_mapping(&scene, true, &record);
	struct keep_job job;
	bool has_job;
	CHECK(tracker_next_job(scene.tracker, 0, &job, &has_job));
	CHECK(!has_job);
	hit(&scene);
	CHECK(tracker_next_job(scene.tracker, 0, &job, &has_job));
	REQUIRE(has_job);
	CHECK(build_id_equal(&job.id, &scene.id));
	tracker_job_done(scene.tracker, job.image, NULL);
	CHECK_UINT(tracker_count(scene.tracker).kept, 1);
	close(job.fd);
	free(job.path);
	tracker_end_jobs(scene.tracker);
	CHECK(!tracker_next_job(scene.tracker, 1000, &job, &has_job));
	_cleanup_buffer_ struct buffer table = { 0 };
	tracker_build_ids(scene.tracker, &table);
	CHECK_UINT(table.size, 36 + 64);
	close_scene(&scene);
}

TEST(bytes_changed_in_place_end_the_identity_of_the_mapping)
{
	struct scene scene;
	_cleanup_buffer_ struct buffer record = { 0 };
	_cleanup_buffer_ struct buffer told = { 0 };
	_cleanup_buffer_ struct buffer table = { 0 };
	REQUIRE_SCENE(open_scene(&scene, CAPTURE_HIT));
	see_mapping(&scene, true, &record);
	hit(&scene);
	tracker_check_files(scene.tracker);
	tracker_take(scene.tracker, &told);
	CHECK_UINT(told.size, 0);
	_cleanup_close_ int fd = open(scene.path, O_WRONLY | O_APPEND | O_CLOEXEC);
	CHECK(write(fd, "x", 1) == 1);
	tracker_check_files(scene.tracker);
	tracker_take(scene.tracker, &told);
	REQUIRE(told.size > 72);
	CHECK(!has_id(&told));
	CHECK_UINT(tracker_count(scene.tracker).changed, 1);
	tracker_build_ids(scene.tracker, &table);
	CHECK_UINT(table.size, 0);
	_cleanup_buffer_ struct buffer notes = { 0 };
	CHECK_UINT(tracker_notes(scene.tracker, &notes), 1);
	close_scene(&scene);
}
