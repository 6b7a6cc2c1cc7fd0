// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// What the kernel's part of a snapshot costs: the calls alone, for every process of the machine,
// with nothing done with what they tell. For bench/snapshot.
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

// struct procmap_query of linux/fs.h since 6.11.
struct query {
	uint64_t size, flags, address, start, end, protection, page, offset, inode;
	uint32_t major, minor, name_size, id_size;
	uint64_t name, id;
};
#define MAP_QUERY _IOWR('f', 17, struct query)
enum { EXECUTABLE = 4, COVERING_OR_NEXT = 16 };

static char bytes[1 << 17];

static void read_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	if (read(fd, bytes, sizeof bytes) < 0)
		bytes[0] = 0;
	close(fd);
}

// All of it: the text comes a page at a time.
static void read_maps(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? 0 : read(fd, bytes, sizeof bytes);
	// The gate of x86-64 is the last line: what would bring nothing more is not asked for.
	while (got > 0 && !memmem(bytes, (size_t)got, "[vsyscall]", 10))
		got = read(fd, bytes, sizeof bytes);
	if (fd >= 0)
		close(fd);
}

static void read_link(const char *path)
{
	if (readlink(path, bytes, sizeof bytes) < 0)
		bytes[0] = 0;
}

// Asks for each executable mapping and its name.
static void ask_maps(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct query query = { .size = sizeof query, .flags = EXECUTABLE | COVERING_OR_NEXT };
	while (fd >= 0) {
		query.name = (uintptr_t)bytes;
		query.name_size = 4096;
		if (ioctl(fd, MAP_QUERY, &query))
			break;
		query.address = query.end;
	}
	if (fd >= 0)
		close(fd);
}

static double cpu_ms(void)
{
	struct rusage used;
	getrusage(RUSAGE_SELF, &used);
	return 1e3 * (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
	       1e-3 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

int main(void)
{
	static const struct {
		const char *name;
		void (*call)(const char *path);
		int is_in_sum;
	} calls[] = {
		{ "stat", read_file, 1 },    { "status", read_file, 1 }, { "cgroup", read_file, 1 },
		{ "cmdline", read_file, 1 }, { "maps", read_maps, 1 },	 { "exe", read_link, 1 },
		{ "root", read_link, 1 },    { "ns/mnt", read_link, 1 }, { "maps", ask_maps, 0 },
	};
	static int pids[1 << 22];
	size_t count = 0;
	DIR *proc = opendir("/proc");
	for (struct dirent *entry; proc && (entry = readdir(proc));)
		if (atoi(entry->d_name) > 0)
			pids[count++] = atoi(entry->d_name);
	double sum = 0;
	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
		double before = cpu_ms();
		for (size_t k = 0; k < count; k++) {
			char path[64];
			snprintf(path, sizeof path, "/proc/%d/%s", pids[k], calls[i].name);
			calls[i].call(path);
		}
		double used = cpu_ms() - before;
		sum += calls[i].is_in_sum ? used : 0;
		printf("%-8s %8.1f ms%s\n", calls[i].name, used,
		       calls[i].is_in_sum ? "" : "  (by PROCMAP_QUERY, not in the sum)");
	}
	printf("sum      %8.1f ms of %zu processes\n", sum, count);
	return 0;
}
