// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
#include "record/inject.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "harness/tap.h"
#include "live/memory.h"
#include "perfdata/record_build.h"
#include "perfdata/writer.h"

#define SECOND_NS UINT64_C(1000000000)

// A recording of one mapping of PATH, begun so many seconds after PATH was last changed.
struct scene {
	char path[64], recording[64], output[64];
	struct build_id id;
};

static uint64_t change_ns(const char *path)
{
	struct stat stat_;
	CHECK(!stat(path, &stat_));
	return (uint64_t)stat_.st_ctim.tv_sec * SECOND_NS;
}

static void put_features(struct writer *writer, const char *host, uint64_t wall_ns)
{
	char name[65];
	snprintf(name, sizeof name, "%s", host);
	struct features features = { .hostname = name,
				     .has_clock_data = true,
				     .clockid = CLOCK_MONOTONIC,
				     .clock_wall_ns = wall_ns,
				     .clock_ns = 1000 };
	static const unsigned bits[] = { FEATURE_HOSTNAME, FEATURE_CLOCK_DATA };
	for (size_t i = 0; i < 2; i++) {
		_cleanup_buffer_ struct buffer out = { 0 };
		CHECK(feature_encode(&features, bits[i], &out));
		CHECK_OK(writer_feature(writer, bits[i], out.bytes, out.size));
	}
}

static void put_records(struct writer *writer, const char *path)
{
	struct stat stat_;
	CHECK(!stat(path, &stat_));
	struct stamp stamp = { .pid = 5, .tid = 5, .time = 1000, .id = 1 };
	struct comm_record comm = { .pid = 5, .tid = 5, .comm = "five" };
	struct mmap_record mmap = { .pid = 5,
				    .tid = 5,
				    .start = 0x1000,
				    .length = 0x1000,
				    .major = major(stat_.st_dev),
				    .minor = minor(stat_.st_dev),
				    .inode = stat_.st_ino,
				    .prot = 5,
				    .path = path };
	_cleanup_buffer_ struct buffer out = { 0 };
	record_build_comm(&out, &comm, &stamp);
	record_build_mmap(&out, &mmap, MISC_USER, &stamp);
	CHECK_OK(writer_records(writer, out.bytes, out.size));
}

static void set_scene(struct scene *scene, const char *host, int64_t seconds_later)
{
	*scene = (struct scene){
		"/tmp/inject-elf-XXXXXX", "/tmp/inject-in-XXXXXX", "/tmp/inject-out-XXXXXX", { 0 }
	};
	_cleanup_close_ int elf = mkstemp(scene->path);
	_cleanup_close_ int fd = mkstemp(scene->recording);
	close(mkstemp(scene->output));
	_cleanup_buffer_ struct buffer bytes = { 0 };
	CHECK_OK(file_slurp_path("/proc/self/exe", 1 << 28, &bytes));
	CHECK_OK(file_write(elf, scene->path, bytes.bytes, bytes.size));
	scene->id = fd_face_id(elf);
	struct writer_options options = { 0 };
	struct writer *writer;
	uint64_t id = 1;
	struct written_event event = { .attr = { .type = 1,
						 .sample_type = WRITTEN_TRAILER,
						 .flags = UINT64_C(1) << ATTR_SAMPLE_ID_ALL },
				       .name = "cpu-clock",
				       .ids = &id,
				       .id_count = 1 };
	CHECK_OK(writer_new(fd, scene->recording, &options, &writer));
	put_features(writer, host,
		     change_ns(scene->path) + (uint64_t)(seconds_later * (int64_t)SECOND_NS));
	CHECK_OK(writer_begin(writer, &event, 1));
	put_records(writer, scene->path);
	CHECK_OK(writer_finish(writer));
	writer_free(writer);
}

static struct inject_counts play(struct scene *scene)
{
	struct recording *recording;
	struct inject_counts counts = { 0 };
	struct inject_options options = { .output = scene->output };
	if (!tap_check_ok(__FILE__, __LINE__, "open",
			  recording_open(scene->recording, NULL, &recording)))
		return counts;
	CHECK_OK(inject(recording, &options, &counts));
	recording_close(recording);
	return counts;
}

static void end_scene(const struct scene *scene)
{
	unlink(scene->path);
	unlink(scene->recording);
	unlink(scene->output);
}

static const char *this_host(void)
{
	static struct utsname name;
	CHECK(!uname(&name));
	return name.nodename;
}

TEST(a_file_that_is_the_recorded_inode_and_older_than_the_recording_gives_its_id)
{
	struct scene scene;
	set_scene(&scene, this_host(), 60);
	if (build_id_is_none(&scene.id)) {
		tap_skip("this program was linked without a build ID");
		return;
	}
	struct inject_counts counts = play(&scene);
	CHECK_UINT(counts.records, 2);
	CHECK_UINT(counts.given, 1);
	_cleanup_buffer_ struct buffer before = { 0 };
	_cleanup_buffer_ struct buffer after = { 0 };
	CHECK_OK(file_slurp_path(scene.recording, 1 << 20, &before));
	CHECK_OK(file_slurp_path(scene.output, 1 << 20, &after));
	// What differs is the one mapping: its mark and 24 bytes.
	CHECK_UINT(after.size, before.size);
	size_t differing = 0;
	for (size_t i = 0; i < before.size && i < after.size; i++)
		differing += before.bytes[i] != after.bytes[i];
	CHECK(differing > 0 && differing <= 25);
	end_scene(&scene);
}

TEST(a_file_changed_after_the_recording_began_gives_none)
{
	struct scene scene;
	set_scene(&scene, this_host(), -60);
	struct inject_counts counts = play(&scene);
	CHECK_UINT(counts.given, 0);
	CHECK_UINT(counts.left, 1);
	end_scene(&scene);
}

TEST(the_same_inode_on_another_host_gives_none)
{
	struct scene scene;
	set_scene(&scene, "not-this-host", 60);
	CHECK_UINT(play(&scene).given, 0);
	end_scene(&scene);
}

TEST(another_file_at_the_path_gives_none)
{
	struct scene scene;
	set_scene(&scene, this_host(), 60);
	char other[] = "/tmp/inject-other-XXXXXX";
	_cleanup_close_ int fd = mkstemp(other);
	CHECK(fd >= 0 && !rename(other, scene.path));
	CHECK_UINT(play(&scene).given, 0);
	end_scene(&scene);
}

TEST(the_recording_itself_is_no_output)
{
	struct scene scene;
	struct recording *recording;
	struct inject_counts counts;
	set_scene(&scene, this_host(), 60);
	struct inject_options options = { .output = scene.recording };
	REQUIRE_OK(recording_open(scene.recording, NULL, &recording));
	CHECK_ERROR(inject(recording, &options, &counts), IMP_ERR_USAGE);
	recording_close(recording);
	end_scene(&scene);
}
