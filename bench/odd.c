// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Makes recordings that are large in one way each, to see how cost grows: odd SCENE COUNT FILE
//
//   processes   COUNT processes that fork, execute, map two files, are sampled once and exit
//   mappings    one process that maps COUNT pages of 1000 files, each sampled once
//   deep        COUNT samples with one stack of 127 callers
//   frames      COUNT samples, each at an address of its own, below one caller
//
// Source: tools/perf/Documentation/perf.data-file-format.txt, include/uapi/linux/perf_event.h.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	HEADER_SIZE = 104,
	ATTR_SIZE = 128,
	RECORD_COMM = 3,
	RECORD_EXIT = 4,
	RECORD_FORK = 7,
	RECORD_SAMPLE = 9,
	RECORD_MMAP2 = 10,
	MISC_USER = 2,
	MISC_COMM_EXEC = 1 << 13,
	SAMPLE_TYPE = 1 | 2 | 4 | 32,
	DEPTH = 127,
};
#define FILE_START UINT64_C(0x10000000)
#define CONTEXT_USER ((uint64_t)-512)

static FILE *out;
static uint64_t now = 1000000;

static void put(const void *bytes, size_t size)
{
	if (fwrite(bytes, 1, size, out) != size) {
		perror("odd");
		exit(1);
	}
}

static void put_u64(uint64_t value)
{
	put(&value, sizeof value);
}

static void put_u32s(uint32_t first, uint32_t second)
{
	put_u64((uint64_t)second << 32 | first);
}

static void put_record(uint32_t type, uint16_t misc, size_t body_size)
{
	put_u64((uint64_t)(body_size + 8) << 48 | (uint64_t)misc << 32 | type);
}

// The sample_id behind all that is no sample.
static void put_trailer(uint32_t pid)
{
	put_u32s(pid, pid);
	put_u64(now++);
}

static void put_task(uint32_t type, uint32_t pid, uint32_t parent)
{
	put_record(type, 0, 24 + 16);
	put_u32s(pid, parent);
	put_u32s(pid, parent);
	put_u64(now);
	put_trailer(pid);
}

static void put_comm(uint32_t pid, const char *name)
{
	char text[16] = "";
	snprintf(text, sizeof text, "%s", name);
	put_record(RECORD_COMM, MISC_COMM_EXEC, 8 + sizeof text + 16);
	put_u32s(pid, pid);
	put(text, sizeof text);
	put_trailer(pid);
}

static void put_mmap(uint32_t pid, uint64_t start, uint64_t size, uint32_t inode)
{
	char path[32] = "";
	snprintf(path, sizeof path, "/odd/file-%u", inode);
	put_record(RECORD_MMAP2, MISC_USER, 64 + sizeof path + 16);
	put_u32s(pid, pid);
	put_u64(start);
	put_u64(size);
	put_u64(0);
	put_u32s(8, 1);
	put_u64(inode);
	put_u64(0);
	// Readable and executable, private.
	put_u32s(5, 2);
	put(path, sizeof path);
	put_trailer(pid);
}

static void put_sample(uint32_t pid, uint64_t ip, const uint64_t *callers, size_t count)
{
	put_record(RECORD_SAMPLE, MISC_USER, 24 + 8 * (3 + count));
	put_u64(ip);
	put_u32s(pid, pid);
	put_u64(now++);
	put_u64(2 + count);
	put_u64(CONTEXT_USER);
	put_u64(ip);
	put(callers, count * sizeof *callers);
}

static void processes(uint64_t count)
{
	uint64_t caller = FILE_START + 0x100;
	put_comm(1, "init");
	for (uint64_t i = 0; i < count; i++) {
		uint32_t pid = (uint32_t)(i + 2);
		put_task(RECORD_FORK, pid, 1);
		put_comm(pid, "short");
		put_mmap(pid, FILE_START, 0x10000, 1);
		put_mmap(pid, 2 * FILE_START, 0x10000, 2 + pid % 100);
		put_sample(pid, FILE_START + 0x1000 + i % 512 * 16, &caller, 1);
		put_task(RECORD_EXIT, pid, 1);
	}
}

static void mappings(uint64_t count)
{
	put_comm(1, "mapper");
	for (uint64_t i = 0; i < count; i++)
		put_mmap(1, FILE_START + i * 0x2000, 0x1000, (uint32_t)(1 + i % 1000));
	for (uint64_t i = 0; i < count; i++)
		put_sample(1, FILE_START + i * 7919 % count * 0x2000 + 0x10, NULL, 0);
}

static void deep(uint64_t count)
{
	uint64_t callers[DEPTH];
	for (unsigned i = 0; i < DEPTH; i++)
		callers[i] = FILE_START + 0x100 + 16 * i;
	put_comm(1, "deep");
	put_mmap(1, FILE_START, 0x10000, 1);
	for (uint64_t i = 0; i < count; i++)
		put_sample(1, FILE_START + 0x10, callers, DEPTH);
}

static void frames(uint64_t count)
{
	uint64_t caller = FILE_START + 8;
	put_comm(1, "frames");
	put_mmap(1, FILE_START, 16 * count + 0x1000, 1);
	for (uint64_t i = 0; i < count; i++)
		put_sample(1, FILE_START + 16 * i, &caller, 1);
}

// What the file begins with; SIZE bytes of records.
static void put_header(uint64_t size)
{
	uint64_t attr[ATTR_SIZE / 8] = { 1 | (uint64_t)ATTR_SIZE << 32, 0, 1000000, SAMPLE_TYPE };
	uint64_t data_at = HEADER_SIZE + ATTR_SIZE + 16;
	// mmap, comm, task, sample_id_all, mmap2, comm_exec.
	attr[5] = 1 << 8 | 1 << 9 | 1 << 13 | 1 << 18 | 1 << 23 | 1 << 24;
	uint64_t header[HEADER_SIZE / 8] = { 0,		  HEADER_SIZE,	  ATTR_SIZE + 16,
					     HEADER_SIZE, ATTR_SIZE + 16, data_at,
					     size };
	memcpy(header, "PERFILE2", 8);
	put(header, sizeof header);
	put(attr, sizeof attr);
	// No IDs.
	put_u64(0);
	put_u64(0);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*make)(uint64_t count);
	} scenes[] = { { "processes", processes },
		       { "mappings", mappings },
		       { "deep", deep },
		       { "frames", frames } };
	uint64_t count = argc == 4 ? strtoull(argv[2], NULL, 10) : 0;
	for (size_t i = 0; count && i < sizeof scenes / sizeof *scenes; i++) {
		if (strcmp(argv[1], scenes[i].name) != 0)
			continue;
		out = fopen(argv[3], "wb");
		if (!out) {
			perror(argv[3]);
			return 1;
		}
		put_header(0);
		long begin = ftell(out);
		scenes[i].make(count);
		long end = ftell(out);
		rewind(out);
		put_header((uint64_t)(end - begin));
		return fclose(out) ? 1 : 0;
	}
	fprintf(stderr, "usage: odd processes|mappings|deep|frames COUNT FILE\n");
	return 2;
}
