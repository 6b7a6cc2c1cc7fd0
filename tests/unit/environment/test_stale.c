// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Scenes played by child processes on this machine: what is mapped, what happens to the file, and
// the verdict.
#include "environment/stale.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "environment/gather.h"
#include "harness/tap.h"
#include "make/tiny_library.h"

static const struct tiny_library old_build = { .id_size = 20, .id = 0x11, .code = 1 };
static const struct tiny_library new_build = { .id_size = 20, .id = 0x22, .code = 2 };
#define OLD_ID "1111111111111111111111111111111111111111"
#define NEW_ID "2222222222222222222222222222222222222222"

struct stage {
	char dir[512];
	// The library of the scene.
	char path[600];
};

typedef void play(const struct stage *stage);

// A directory that is no place for temporary files, so that a deletion counts.
static bool stage_begin(struct stage *stage, const char *name)
{
	char here[400];
	if (!getcwd(here, sizeof here) || !strncmp(here, "/tmp/", 5) || strstr(here, "/tmp/"))
		return tap_skip("runs in a temporary directory"), false;
	snprintf(stage->dir, sizeof stage->dir, "%s/imprint-stale-XXXXXX", here);
	if (!mkdtemp(stage->dir))
		abort();
	snprintf(stage->path, sizeof stage->path, "%s/%s", stage->dir, name);
	tiny_library_write(&old_build, stage->path);
	return true;
}

static void stage_end(const struct stage *stage)
{
	char command[640];
	snprintf(command, sizeof command, "rm -rf '%s'", stage->dir);
	CHECK(!system(command));
}

static void map_path(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 ||
	    mmap(NULL, TINY_LIBRARY_SIZE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED)
		_exit(3);
	close(fd);
}

static void play_map(const struct stage *stage)
{
	map_path(stage->path);
}

// Starts a process that plays and then waits; 0 when the play could not be given here.
static pid_t start(play *play_it, const struct stage *stage)
{
	int ready[2];
	if (pipe2(ready, O_CLOEXEC))
		abort();
	pid_t parent = getpid();
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(2);
		play_it(stage);
		if (write(ready[1], "", 1) != 1)
			_exit(2);
		for (;;)
			pause();
	}
	close(ready[1]);
	char byte;
	bool is_ready = read(ready[0], &byte, 1) == 1;
	close(ready[0]);
	if (is_ready)
		return pid;
	waitpid(pid, NULL, 0);
	return 0;
}

static void stop(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

// What was found of one process.
struct look {
	struct snapshot *snapshot;
	struct stale_report report;
};

static struct look look_at(pid_t pid)
{
	struct look look = { 0 };
	// Together with this process, which sees the whole file system.
	uint32_t pids[] = { (uint32_t)pid, (uint32_t)getpid() };
	struct gather_options gather = { .pids = pids, .pid_count = 2 };
	CHECK_OK(gather_live(&gather, &look.snapshot));
	if (look.snapshot)
		CHECK_OK(stale_check(look.snapshot, &(struct stale_options){ 0 }, &look.report));
	return look;
}

static void look_end(struct look *look)
{
	snapshot_free(look->snapshot);
	stale_report_fini(&look->report);
}

static const struct stale_finding *finding_of(const struct look *look, const char *path)
{
	for (size_t i = 0; i < look->report.findings.count; i++) {
		const struct stale_finding *finding = &look->report.findings.items[i];
		if (!strcmp(finding->path, path))
			return finding;
	}
	return NULL;
}

// The verdict on the image that PID sees at PATH.
static void check_verdict(pid_t pid, const char *path, const char *verdict)
{
	struct look look = look_at(pid);
	const struct stale_finding *finding = finding_of(&look, path);
	CHECK_TEXT(finding ? stale_verdict_name(finding->verdict) : "not seen", verdict);
	look_end(&look);
}

TEST(an_upgrade_by_rename_is_stale_with_both_ids)
{
	struct stage stage;
	if (!stage_begin(&stage, "libx.so"))
		return;
	pid_t pid = start(play_map, &stage);
	check_verdict(pid, stage.path, "current");
	char next[640];
	snprintf(next, sizeof next, "%s.new", stage.path);
	tiny_library_write(&new_build, next);
	CHECK(!rename(next, stage.path));
	struct look look = look_at(pid);
	const struct stale_finding *finding = finding_of(&look, stage.path);
	CHECK(finding && finding->verdict == STALE_REPLACED);
	if (finding) {
		const struct snapshot_image *image = &look.snapshot->images.items[finding->image];
		CHECK_TEXT(snapshot_image_identity(image).text, OLD_ID);
		CHECK_TEXT(snapshot_image_identity(&finding->now).text, NEW_ID);
		CHECK(finding->since_ns != 0);
	}
	CHECK_UINT(look.report.stale_processes, 1);
	look_end(&look);
	stop(pid);
	stage_end(&stage);
}

TEST(an_identical_reinstall_is_current)
{
	struct stage stage;
	if (!stage_begin(&stage, "libx.so"))
		return;
	pid_t pid = start(play_map, &stage);
	tiny_library_write(&old_build, stage.path);
	check_verdict(pid, stage.path, "current");
	stop(pid);
	stage_end(&stage);
}

TEST(without_an_id_the_content_decides)
{
	struct stage stage;
	if (!stage_begin(&stage, "libx.so"))
		return;
	const struct tiny_library nameless = { .code = 1 }, other = { .code = 2 };
	tiny_library_write(&nameless, stage.path);
	pid_t pid = start(play_map, &stage);
	tiny_library_write(&nameless, stage.path);
	check_verdict(pid, stage.path, "current");
	tiny_library_write(&other, stage.path);
	check_verdict(pid, stage.path, "stale");
	stop(pid);
	stage_end(&stage);
}

TEST(deleted_without_a_successor_is_an_orphan)
{
	struct stage stage;
	if (!stage_begin(&stage, "libx.so"))
		return;
	pid_t pid = start(play_map, &stage);
	unlink(stage.path);
	check_verdict(pid, stage.path, "orphan");
	stop(pid);
	stage_end(&stage);
}

TEST(a_library_unlinked_in_a_temporary_directory_is_meant_so)
{
	struct stage stage = { .path = "/tmp/imprint-jna-XXXXXX" };
	close(mkstemp(stage.path));
	tiny_library_write(&old_build, stage.path);
	pid_t pid = start(play_map, &stage);
	unlink(stage.path);
	check_verdict(pid, stage.path, "temporary");
	stop(pid);
}

static void play_memfd(const struct stage *stage)
{
	(void)stage;
	uint8_t bytes[TINY_LIBRARY_SIZE];
	tiny_library_make(&old_build, bytes);
	int fd = memfd_create("code", MFD_CLOEXEC);
	if (write(fd, bytes, sizeof bytes) != (ssize_t)sizeof bytes)
		_exit(3);
	mmap(NULL, sizeof bytes, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
}

TEST(a_memfd_is_temporary)
{
	pid_t pid = start(play_memfd, NULL);
	check_verdict(pid, "code", "temporary");
	stop(pid);
}

TEST(odd_names_are_files_like_others)
{
	static const char *const names[] = { "lib x.so", "lib\nx.so", "libx.so (deleted)",
					     "lib\\012x.so" };
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct stage stage;
		if (!stage_begin(&stage, names[i]))
			return;
		pid_t pid = start(play_map, &stage);
		check_verdict(pid, stage.path, "current");
		tiny_library_write(&new_build, stage.path);
		check_verdict(pid, stage.path, "stale");
		unlink(stage.path);
		check_verdict(pid, stage.path, "orphan");
		stop(pid);
		stage_end(&stage);
	}
}

static bool own_mounts(void)
{
	return !unshare(CLONE_NEWNS) && !mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL);
}

static void play_container_old(const struct stage *stage)
{
	if (!own_mounts() || mount("none", stage->dir, "tmpfs", 0, NULL))
		_exit(4);
	tiny_library_write(&old_build, stage->path);
	map_path(stage->path);
}

static void play_container_upgraded(const struct stage *stage)
{
	play_container_old(stage);
	tiny_library_write(&new_build, stage->path);
}

TEST(two_containers_with_one_path_are_judged_each_in_its_own_root)
{
	struct stage stage;
	if (!stage_begin(&stage, "libx.so"))
		return;
	pid_t current = start(play_container_old, &stage);
	pid_t stale = start(play_container_upgraded, &stage);
	if (!current || !stale) {
		stage_end(&stage);
		return tap_skip("no mount namespaces here");
	}
	// Outside there is a third build.
	tiny_library_write(&(struct tiny_library){ .id_size = 20, .id = 0x33 }, stage.path);
	check_verdict(current, stage.path, "current");
	check_verdict(stale, stage.path, "stale");
	stop(current);
	stop(stale);
	stage_end(&stage);
}

static void play_overlay(const struct stage *stage)
{
	char path[640], options[2048];
	if (!own_mounts() || mount("none", stage->dir, "tmpfs", 0, NULL))
		_exit(4);
	static const char *const parts[] = { "lower", "upper", "work", "merged" };
	for (size_t i = 0; i < 4; i++) {
		snprintf(path, sizeof path, "%s/%s", stage->dir, parts[i]);
		mkdir(path, 0755);
	}
	snprintf(path, sizeof path, "%s/lower/libx.so", stage->dir);
	tiny_library_write(&old_build, path);
	snprintf(options, sizeof options, "lowerdir=%s/lower,upperdir=%s/upper,workdir=%s/work",
		 stage->dir, stage->dir, stage->dir);
	snprintf(path, sizeof path, "%s/merged", stage->dir);
	if (mount("overlay", path, "overlay", 0, options))
		_exit(4);
	snprintf(path, sizeof path, "%s/merged/libx.so", stage->dir);
	map_path(path);
}

static void play_overlay_upgraded(const struct stage *stage)
{
	char path[640];
	play_overlay(stage);
	snprintf(path, sizeof path, "%s/merged/libx.so", stage->dir);
	tiny_library_write(&new_build, path);
}

TEST(on_overlayfs_the_build_decides)
{
	struct stage stage;
	if (!stage_begin(&stage, "libx.so"))
		return;
	pid_t current = start(play_overlay, &stage);
	pid_t stale = start(play_overlay_upgraded, &stage);
	if (!current || !stale) {
		stage_end(&stage);
		return tap_skip("no overlayfs here");
	}
	char path[640];
	snprintf(path, sizeof path, "%s/merged/libx.so", stage.dir);
	check_verdict(current, path, "current");
	check_verdict(stale, path, "stale");
	stop(current);
	stop(stale);
	stage_end(&stage);
}

static void bind_other(const struct stage *stage)
{
	char other[640];
	snprintf(other, sizeof other, "%s.other", stage->path);
	if (!own_mounts() || mount(other, stage->path, NULL, MS_BIND, NULL))
		_exit(4);
}

static void play_bound(const struct stage *stage)
{
	bind_other(stage);
	map_path(stage->path);
}

static void play_bound_later(const struct stage *stage)
{
	map_path(stage->path);
	bind_other(stage);
}

TEST(a_file_bound_over_a_path_is_what_is_there)
{
	struct stage stage;
	if (!stage_begin(&stage, "libx.so"))
		return;
	char other[640];
	snprintf(other, sizeof other, "%s.other", stage.path);
	tiny_library_write(&new_build, other);
	pid_t current = start(play_bound, &stage);
	pid_t stale = start(play_bound_later, &stage);
	if (!current || !stale) {
		stage_end(&stage);
		return tap_skip("no bind mounts here");
	}
	check_verdict(current, stage.path, "current");
	check_verdict(stale, stage.path, "stale");
	stop(current);
	stop(stale);
	stage_end(&stage);
}

static void play_chroot(const struct stage *stage)
{
	if (chroot(stage->dir) || chdir("/"))
		_exit(4);
	map_path("/libx.so");
}

static void play_chroot_later(const struct stage *stage)
{
	char jail[640];
	map_path(stage->path);
	snprintf(jail, sizeof jail, "%s/jail", stage->dir);
	mkdir(jail, 0755);
	if (chroot(jail) || chdir("/"))
		_exit(4);
}

TEST(a_changed_root_is_where_paths_are_looked_up)
{
	struct stage stage;
	if (!stage_begin(&stage, "libx.so"))
		return;
	pid_t inside = start(play_chroot, &stage);
	pid_t left = start(play_chroot_later, &stage);
	if (!inside || !left) {
		stage_end(&stage);
		return tap_skip("may not change the root");
	}
	check_verdict(inside, "/libx.so", "current");
	// What was loaded before the change of root is seen by others.
	check_verdict(left, stage.path, "current");
	tiny_library_write(&new_build, stage.path);
	check_verdict(inside, "/libx.so", "stale");
	check_verdict(left, stage.path, "stale");
	stop(inside);
	stop(left);
	stage_end(&stage);
}

TEST(an_absolute_link_is_followed_within_the_root)
{
	struct stage stage;
	if (!stage_begin(&stage, "libx.so"))
		return;
	pid_t inside = start(play_chroot, &stage);
	if (!inside) {
		stage_end(&stage);
		return tap_skip("may not change the root");
	}
	char real[640];
	snprintf(real, sizeof real, "%s/real.so", stage.dir);
	tiny_library_write(&old_build, real);
	unlink(stage.path);
	CHECK(!symlink("/real.so", stage.path));
	check_verdict(inside, "/libx.so", "current");
	stop(inside);
	stage_end(&stage);
}

static void *wait_for_ever(void *arg)
{
	(void)arg;
	for (;;)
		pause();
	return NULL;
}

static void play_threads(const struct stage *stage)
{
	map_path(stage->path);
	map_path(stage->path);
	pthread_t thread;
	for (unsigned i = 0; i < 3; i++)
		if (pthread_create(&thread, NULL, wait_for_ever, NULL))
			_exit(4);
}

TEST(threads_and_repeated_mappings_count_once)
{
	struct stage stage;
	if (!stage_begin(&stage, "libx.so"))
		return;
	pid_t pid = start(play_threads, &stage);
	tiny_library_write(&new_build, stage.path);
	struct look look = look_at(pid);
	CHECK_UINT(look.report.counts[STALE_REPLACED], 1);
	CHECK_UINT(look.report.uses.count, 1);
	CHECK_UINT(look.report.stale_processes, 1);
	look_end(&look);
	stop(pid);
	stage_end(&stage);
}

TEST(a_process_that_ends_midway_is_unknown)
{
	struct stage stage;
	if (!stage_begin(&stage, "libx.so"))
		return;
	pid_t pid = start(play_map, &stage);
	uint32_t number = (uint32_t)pid;
	struct gather_options gather = { .pids = &number, .pid_count = 1 };
	struct look look = { 0 };
	REQUIRE_OK(gather_live(&gather, &look.snapshot));
	stop(pid);
	CHECK_OK(stale_check(look.snapshot, &(struct stale_options){ 0 }, &look.report));
	const struct stale_finding *finding = finding_of(&look, stage.path);
	CHECK(finding && finding->verdict == STALE_UNKNOWN);
	CHECK_TEXT(finding ? finding->why : "", "the process ended");
	look_end(&look);
	stage_end(&stage);
}

// A program of a 32-bit x86 that waits for ever: "pause" by int 0x80, again and again.
static void write_program_32(const char *path)
{
	static const uint8_t code[] = { 0xb8, 29, 0, 0, 0, 0xcd, 0x80, 0xeb, 0xf7 };
	struct {
		uint8_t ident[16];
		uint16_t type, machine;
		uint32_t version, entry, segments, sections, flags;
		uint16_t header_size, segment_size, segment_count, section_size, section_count,
			names;
		struct {
			uint32_t type, offset, address, physical, file_size, memory_size, flags,
				align;
		} segment[2];
		uint32_t note[4];
		uint8_t id[20];
		uint8_t code[16];
	} program = { .ident = { 0x7f, 'E', 'L', 'F', 1, 1, 1 },
		      .type = 2,
		      .machine = 3,
		      .version = 1,
		      .segments = 52,
		      .header_size = 52,
		      .segment_size = 32,
		      .segment_count = 2,
		      .note = { 4, 20, 3, 0x00554e47 } };
	uint32_t size = sizeof program, note_at = 52 + 64;
	program.entry = 0x10000 + note_at + 36;
	memset(program.id, 0x32, sizeof program.id);
	memcpy(program.code, code, sizeof code);
	program.segment[0].type = 1;
	program.segment[0].address = 0x10000;
	program.segment[0].file_size = program.segment[0].memory_size = size;
	program.segment[0].flags = 5;
	program.segment[0].align = 0x1000;
	program.segment[1].type = 4;
	program.segment[1].offset = note_at;
	program.segment[1].address = 0x10000 + note_at;
	program.segment[1].file_size = program.segment[1].memory_size = 36;
	program.segment[1].align = 4;
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
	if (fd < 0 || write(fd, &program, size) != (ssize_t)size || close(fd))
		abort();
}

TEST(a_32_bit_process_has_its_id_and_its_own_vdso)
{
	struct stage stage;
	if (!stage_begin(&stage, "program"))
		return;
	unlink(stage.path);
	write_program_32(stage.path);
	int ready[2];
	REQUIRE(!pipe2(ready, O_CLOEXEC));
	pid_t pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execl(stage.path, "program", NULL);
		_exit(write(ready[1], "", 1) == 1 ? 5 : 6);
	}
	close(ready[1]);
	char byte;
	bool is_running = read(ready[0], &byte, 1) == 0;
	close(ready[0]);
	if (!is_running) {
		stop(pid);
		stage_end(&stage);
		return tap_skip("no 32-bit programs here");
	}
	struct look look = look_at(pid);
	const struct stale_finding *finding = finding_of(&look, stage.path);
	CHECK(finding && finding->verdict == STALE_CURRENT);
	if (finding) {
		const struct snapshot_image *image = &look.snapshot->images.items[finding->image];
		CHECK_TEXT(snapshot_image_identity(image).text,
			   "3232323232323232323232323232323232323232");
	}
	unsigned vdsos = 0;
	for (size_t i = 0; i < look.snapshot->images.count; i++)
		vdsos += look.snapshot->images.items[i].kind == MAPPED_VDSO &&
			 look.snapshot->images.items[i].id.size;
	CHECK_UINT(vdsos, 2);
	look_end(&look);
	stop(pid);
	stage_end(&stage);
}

TEST(kernel_threads_are_counted_and_not_judged)
{
	struct snapshot *snapshot = NULL;
	REQUIRE_OK(gather_live(&(struct gather_options){ 0 }, &snapshot));
	for (size_t i = 0; i < snapshot->processes.count; i++)
		CHECK(strcmp(snapshot->processes.items[i].comm, "kthreadd"));
	if (!access("/proc/2/comm", R_OK))
		CHECK(snapshot->kernel_threads > 0);
	snapshot_free(snapshot);
}
