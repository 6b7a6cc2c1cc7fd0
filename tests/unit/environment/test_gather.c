// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
#include "environment/gather.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/tap.h"
#include "make/tiny_library.h"

static struct snapshot *gather_self(void)
{
	struct snapshot *snapshot = NULL;
	uint32_t self = (uint32_t)getpid();
	struct gather_options options = { .pids = &self, .pid_count = 1 };
	CHECK_OK(gather_live(&options, &snapshot));
	return snapshot;
}

static const struct snapshot_image *image_at(const struct snapshot *snapshot, const void *at)
{
	const struct snapshot_process *process = snapshot_process_of(snapshot, (uint32_t)getpid());
	const struct snapshot_mapping *mapping =
		process ? snapshot_locate(snapshot, process, (uintptr_t)at) : NULL;
	return mapping ? &snapshot->images.items[mapping->image] : NULL;
}

static void *map_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	void *at = mmap(NULL, TINY_LIBRARY_SIZE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	close(fd);
	return at;
}

TEST(a_snapshot_of_itself_names_its_own_code)
{
	_cleanup_snapshot_ struct snapshot *snapshot = gather_self();
	REQUIRE(snapshot);
	CHECK_UINT(snapshot->processes.count, 1);
	const struct snapshot_process *process = &snapshot->processes.items[0];
	CHECK(process->start_ns && process->start_ns < snapshot->time_ns);
	CHECK(strstr(process->command, "test-environment"));
	CHECK_UINT(process->uid, getuid());
	void *code;
	void (*here)(void) = test_a_snapshot_of_itself_names_its_own_code;
	memcpy(&code, &here, sizeof code);
	const struct snapshot_image *image = image_at(snapshot, code);
	REQUIRE(image);
	CHECK(image->kind == MAPPED_FILE && image->id.size == 20);
	CHECK_TEXT(image->path, process->exe);
	bool has_vdso = false;
	for (size_t i = 0; i < snapshot->images.count; i++)
		has_vdso = has_vdso || snapshot->images.items[i].kind == MAPPED_VDSO;
	CHECK(has_vdso);
}

TEST(a_mapped_library_has_soname_package_and_size)
{
	char path[] = "/tmp/imprint-gather-XXXXXX";
	close(mkstemp(path));
	tiny_library_write(&(struct tiny_library){ .id_size = 16,
						   .id = 0x5a,
						   .soname = "libtiny.so.1",
						   .package = "{\"name\":\"tiny\"}" },
			   path);
	void *at = map_file(path);
	_cleanup_snapshot_ struct snapshot *snapshot = gather_self();
	const struct snapshot_image *image = image_at(snapshot, at);
	REQUIRE(image);
	CHECK_TEXT(image->soname, "libtiny.so.1");
	CHECK_TEXT(image->package, "{\"name\":\"tiny\"}");
	CHECK_TEXT(snapshot_image_identity(image).text, "5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a");
	CHECK_UINT(image->size, TINY_LIBRARY_SIZE);
	CHECK(!image->has_content_hash);
	munmap(at, TINY_LIBRARY_SIZE);
	unlink(path);
}

TEST(a_file_without_an_id_is_named_by_its_content)
{
	char path[] = "/tmp/imprint-gather-XXXXXX";
	int fd = mkstemp(path);
	CHECK(write(fd, "abc", 3) == 3);
	close(fd);
	void *at = map_file(path);
	_cleanup_snapshot_ struct snapshot *snapshot = gather_self();
	const struct snapshot_image *image = image_at(snapshot, at);
	REQUIRE(image);
	CHECK_TEXT(snapshot_image_identity(image).text,
		   "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	munmap(at, TINY_LIBRARY_SIZE);
	unlink(path);
}

TEST(anonymous_code_beside_a_perf_map_is_a_run_time_compilers)
{
	char map[64];
	snprintf(map, sizeof map, "/tmp/perf-%d.map", getpid());
	void *at = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	_cleanup_snapshot_ struct snapshot *before = gather_self();
	close(open(map, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	_cleanup_snapshot_ struct snapshot *after = gather_self();
	unlink(map);
	const struct snapshot_image *image = image_at(before, at);
	CHECK(image && image->kind == MAPPED_ANON);
	image = image_at(after, at);
	CHECK(image && image->kind == MAPPED_JIT);
	munmap(at, 4096);
}

TEST(processes_that_ended_are_counted)
{
	pid_t zombie = fork();
	if (zombie == 0)
		_exit(0);
	siginfo_t info;
	waitid(P_PID, (id_t)zombie, &info, WEXITED | WNOWAIT);
	uint32_t pids[] = { (uint32_t)zombie, INT32_MAX };
	_cleanup_snapshot_ struct snapshot *snapshot = NULL;
	struct gather_options options = { .pids = pids, .pid_count = 2 };
	CHECK_OK(gather_live(&options, &snapshot));
	waitpid(zombie, NULL, 0);
	REQUIRE(snapshot);
	CHECK_UINT(snapshot->gone, 2);
	CHECK_UINT(snapshot->processes.count, 0);
}

TEST(without_privilege_others_are_listed_and_counted)
{
	if (getuid() != 0)
		return tap_skip("needs root to give it up");
	pid_t other = fork();
	if (other == 0) {
		pause();
		_exit(0);
	}
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		struct snapshot *snapshot = NULL;
		uint32_t pid = (uint32_t)other;
		struct gather_options options = { .pids = &pid, .pid_count = 1 };
		bool is_good = !setgid(65534) && !setuid(65534) &&
			       !gather_live(&options, &snapshot) && snapshot->forbidden == 1 &&
			       snapshot->processes.count == 1 &&
			       !strcmp(snapshot->processes.items[0].unread, "forbidden");
		_exit(is_good ? 0 : 1);
	}
	int status = -1;
	waitpid(child, &status, 0);
	kill(other, SIGKILL);
	waitpid(other, NULL, 0);
	CHECK_UINT(status, 0);
}
