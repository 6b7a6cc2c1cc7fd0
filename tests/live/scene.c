// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Plays a scene in which one path means two builds: scene NAME FOLDER [attached]
//
// FOLDER holds lib1.so lib2.so prog1 prog2 static1 static2. Processes call themselves "build1" or
// "build2" while they run that build's code, "changed" when it was changed under them. With
// "attached", the processes to be recorded are written to FOLDER/pids when the scene is set, and it
// goes on when FOLDER/go is there, until FOLDER/stop is.
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	READY_FD = 3,
	STOP_FD = 4,
	STORM = 120,
	STORM_AT_ONCE = 6,
	THREADS = 40,
	REUSES = 6,
	PLAYERS = 2
};

static const char seconds[] = "0.6";
static bool is_attached;
static int ready[2], stop[2];
static pid_t players[PLAYERS];
static int player_count;

static void fail(const char *what)
{
	fprintf(stderr, "scene: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void copy_to(const char *from, int to)
{
	char bytes[65536];
	int fd = open(from, O_RDONLY | O_CLOEXEC);
	ssize_t n;
	if (fd < 0)
		fail(from);
	while ((n = read(fd, bytes, sizeof bytes)) > 0)
		if (write(to, bytes, (size_t)n) != n)
			fail("write");
	close(fd);
}

static void copy(const char *from, const char *to)
{
	int fd = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
	if (fd < 0)
		fail(to);
	copy_to(from, fd);
	close(fd);
}

static void replace(const char *from, const char *to)
{
	char new[64];
	snprintf(new, sizeof new, "%s.new", to);
	copy(from, new);
	if (rename(new, to))
		fail("rename");
}

// Other bytes in the same inode, never shorter in between.
static void overwrite(const char *from, const char *to)
{
	int fd = open(to, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		fail(to);
	copy_to(from, fd);
	close(fd);
}

static bool is_there(const char *name)
{
	return !access(name, F_OK);
}

static void wait_for(const char *name)
{
	while (!is_there(name))
		usleep(2000);
}

// The other end of the pipe is closed when the players are to stop. (A path would not do: some of
// them live in another root.)
static bool is_to_stop(void)
{
	char byte;
	return !read(STOP_FD, &byte, 1);
}

// Works in the library at PATH, as the build that it is.
static void run_library(const char *path)
{
	void *library = dlopen(path, RTLD_NOW);
	if (!library) {
		fprintf(stderr, "scene: %s\n", dlerror());
		exit(1);
	}
	void (*work)(double);
	const char *(*comm)(void);
	*(void **)&work = dlsym(library, "build_work");
	*(void **)&comm = dlsym(library, "build_comm");
	char first[16];
	snprintf(first, sizeof first, "%s", comm());
	prctl(PR_SET_NAME, first);
	for (int slice = 0; is_attached ? !is_to_stop() : slice < 80; slice++) {
		work(0.01);
		if (strcmp(comm(), first))
			prctl(PR_SET_NAME, "changed");
		if (slice == 10 && write(READY_FD, "r", 1) != 1)
			fail("ready");
	}
	exit(0);
}

static void run_program(const char *path)
{
	execl(path, path, seconds, (char *)NULL);
	fail(path);
}

static void run_memfd(const char *path)
{
	int fd = memfd_create("payload", 0);
	copy_to(path, fd);
	char *argv[] = { strdup("payload"), strdup(seconds), NULL };
	fexecve(fd, argv, environ);
	fail("fexecve");
}

static void run_in_namespace(const char *path)
{
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("lib2.so", path, NULL, MS_BIND, NULL))
		fail("mount namespace");
	run_library(path);
}

static void run_in_chroot(const char *path)
{
	if (chroot(path) || chdir("/"))
		fail("chroot");
	run_program("/prog");
}

static void *thread_work(void *work)
{
	(*(void (**)(double))work)(0.05);
	return NULL;
}

// Many threads, and an end while they run.
static void run_threads(const char *path)
{
	void *library = dlopen(path, RTLD_NOW);
	static void (*work)(double);
	const char *(*comm)(void);
	pthread_t threads[THREADS];
	*(void **)&work = dlsym(library, "build_work");
	*(void **)&comm = dlsym(library, "build_comm");
	prctl(PR_SET_NAME, comm());
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, thread_work, &work))
			fail("thread");
	work(0.3);
	_exit(0);
}

// One address, two libraries, one after the other.
static void run_reuse(const char *unused)
{
	(void)unused;
	for (int i = 0; i < REUSES; i++) {
		void *library = dlopen(i % 2 ? "./lib2.so" : "./lib1.so", RTLD_NOW);
		void (*work)(double);
		const char *(*comm)(void);
		*(void **)&work = dlsym(library, "build_work");
		*(void **)&comm = dlsym(library, "build_comm");
		prctl(PR_SET_NAME, comm());
		work(0.1);
		prctl(PR_SET_NAME, "between");
		dlclose(library);
	}
	exit(0);
}

static void run_chain(const char *unused)
{
	(void)unused;
	execl("./prog1", "./prog1", "0.1", "./prog2", "./prog1", "./prog2", "./prog1", "./prog2",
	      (char *)NULL);
	fail("chain");
}

static pid_t start(void (*run)(const char *), const char *path)
{
	pid_t pid = fork();
	if (!pid) {
		dup2(ready[1], READY_FD);
		dup2(stop[0], STOP_FD);
		close(stop[1]);
		run(path);
	}
	if (player_count < PLAYERS)
		players[player_count++] = pid;
	return pid;
}

// Waits until a process that was started works.
static void await_ready(void)
{
	char byte;
	if (read(ready[0], &byte, 1) != 1)
		fail("ready");
}

static void put_pids(void)
{
	FILE *file = fopen("pids.new", "we");
	if (!file)
		fail("pids");
	for (int i = 0; i < player_count; i++)
		fprintf(file, "%s%d", i ? "," : "", players[i]);
	fclose(file);
	rename("pids.new", "pids");
}

// The scene is set: those who attach may come.
static void curtain_up(void)
{
	if (is_attached)
		put_pids();
}

static void await_all(void)
{
	while (wait(NULL) > 0)
		;
}

static void replace_live(void)
{
	copy("lib1.so", "lib.so");
	start(run_library, "./lib.so");
	await_ready();
	replace("lib2.so", "lib.so");
	start(run_library, "./lib.so");
	await_ready();
}

static void replace_after(void)
{
	copy("lib1.so", "lib.so");
	start(run_library, "./lib.so");
	await_ready();
	await_all();
	replace("lib2.so", "lib.so");
	start(run_library, "./lib.so");
	await_ready();
}

static void unlink_create(void)
{
	copy("lib1.so", "lib.so");
	start(run_library, "./lib.so");
	await_ready();
	unlink("lib.so");
	copy("lib2.so", "lib.so");
	start(run_library, "./lib.so");
	await_ready();
}

static void overwrite_in_place(void)
{
	copy("lib1.so", "lib.so");
	start(run_library, "./lib.so");
	await_ready();
	overwrite("lib2.so", "lib.so");
}

static void exec_replace(void)
{
	copy("prog1", "prog");
	start(run_program, "./prog");
	await_ready();
	replace("prog2", "prog");
	start(run_program, "./prog");
	await_ready();
}

static void deleted(void)
{
	copy("lib1.so", "lib.so");
	copy("prog2", "prog");
	start(run_library, "./lib.so");
	start(run_program, "./prog");
	await_ready();
	await_ready();
	unlink("lib.so");
	unlink("prog");
}

static void memfd(void)
{
	start(run_memfd, "prog1");
	start(run_memfd, "prog2");
	await_ready();
	await_ready();
}

static void namespaces(void)
{
	copy("lib1.so", "lib.so");
	start(run_library, "./lib.so");
	start(run_in_namespace, "./lib.so");
	await_ready();
	await_ready();
}

static void chroots(void)
{
	start(run_in_chroot, "root1");
	start(run_in_chroot, "root2");
	await_ready();
	await_ready();
}

static void storm(void)
{
	int running = 0;
	for (int i = 0; i < STORM; i++) {
		replace(i % 2 ? "prog2" : "prog1", "prog");
		pid_t pid = fork();
		if (!pid) {
			unsetenv("STOP");
			execl("./prog", "./prog", "0.02", (char *)NULL);
			fail("prog");
		}
		if (++running == STORM_AT_ONCE && wait(NULL) > 0)
			running--;
	}
}

static void chain(void)
{
	start(run_chain, NULL);
}

static void reuse(void)
{
	start(run_reuse, NULL);
}

static void threads(void)
{
	copy("lib1.so", "lib.so");
	start(run_threads, "./lib.so");
	await_all();
	replace("lib2.so", "lib.so");
	start(run_threads, "./lib.so");
}

static const struct scene {
	const char *name;
	void (*play)(void);
	// What an attached recorder is to see happens after it came: it attaches to this process.
	bool is_live;
} scenes[] = {
	{ "replace-live", replace_live, false },
	{ "replace-after", replace_after, true },
	{ "unlink-create", unlink_create, false },
	{ "overwrite", overwrite_in_place, true },
	{ "overwritten", overwrite_in_place, false },
	{ "exec-replace", exec_replace, false },
	{ "deleted", deleted, false },
	{ "memfd", memfd, false },
	{ "namespaces", namespaces, false },
	{ "chroots", chroots, false },
	{ "storm", storm, true },
	{ "chain", chain, true },
	{ "reuse", reuse, true },
	{ "threads", threads, true },
};

int main(int argc, char **argv)
{
	const struct scene *scene = NULL;
	for (size_t i = 0; argc > 2 && i < sizeof scenes / sizeof *scenes; i++)
		if (!strcmp(argv[1], scenes[i].name))
			scene = &scenes[i];
	if (!scene || chdir(argv[2]) || pipe2(ready, O_CLOEXEC) ||
	    pipe2(stop, O_CLOEXEC | O_NONBLOCK))
		fail("scene NAME FOLDER [attached]");
	is_attached = argc > 3;
	if (is_attached && scene->is_live) {
		players[player_count++] = getpid();
		put_pids();
		wait_for("go");
		is_attached = false;
		player_count = PLAYERS;
	}
	if (is_attached)
		setenv("STOP", "1", 1);
	scene->play();
	curtain_up();
	if (is_attached)
		wait_for("stop");
	close(stop[1]);
	await_all();
	return 0;
}
