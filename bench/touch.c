// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The least that a pass over a recording can cost: touches its records and does nothing with them.
//
//   touch read|map heads|words FILE
//
// read: whole pieces of a megabyte by pread(); map: by mmap(), a piece at a time. heads: the header
// of each record, one after the other; words: every word of every record. Prints a sum, so that
// nothing is left out, and how many records there were.
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE = 1 << 20, MOST_RECORD = 65536 };

struct file {
	int fd;
	int is_mapped;
	uint64_t size;
	uint8_t *room;
};

struct window {
	const uint8_t *bytes;
	size_t size;
};

// What stands from OFFSET on: a piece, and behind it what its last record may need.
static struct window load(const struct file *file, uint64_t offset)
{
	size_t size = PIECE + MOST_RECORD;
	if (size > file->size - offset)
		size = (size_t)(file->size - offset);
	if (file->is_mapped) {
		return (struct window){ file->room + offset, size };
	}
	ssize_t got = pread(file->fd, file->room, size, (off_t)offset);
	return (struct window){ file->room, got > 0 ? (size_t)got : 0 };
}

static uint64_t sum_words(const uint8_t *bytes, size_t size)
{
	uint64_t sum = 0;
	for (size_t at = 0; at + 8 <= size; at += 8) {
		uint64_t word;
		memcpy(&word, bytes + at, sizeof word);
		sum += word;
	}
	return sum;
}

int main(int argc, char **argv)
{
	if (argc != 4) {
		fprintf(stderr, "usage: touch read|map heads|words FILE\n");
		return 2;
	}
	struct file file = { .fd = open(argv[3], O_RDONLY), .is_mapped = !strcmp(argv[1], "map") };
	int takes_words = !strcmp(argv[2], "words");
	struct stat status;
	uint64_t section[2];
	if (file.fd < 0 || fstat(file.fd, &status) || pread(file.fd, section, 16, 40) != 16) {
		perror(argv[3]);
		return 1;
	}
	file.size = section[0] + section[1];
	if (file.size > (uint64_t)status.st_size)
		return 1;
	if (file.is_mapped)
		file.room = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file.fd, 0);
	else
		file.room = malloc(PIECE + MOST_RECORD);
	uint64_t sum = 0, records = 0;
	for (uint64_t at = section[0]; at < file.size;) {
		struct window window = load(&file, at);
		size_t here = 0;
		while (here < PIECE && here + 8 <= window.size) {
			uint64_t header;
			memcpy(&header, window.bytes + here, sizeof header);
			size_t size = header >> 48;
			if (size < 8 || size > window.size - here)
				break;
			sum += takes_words ? sum_words(window.bytes + here, size) : header;
			here += size;
			records++;
		}
		if (!here)
			break;
		if (file.is_mapped) {
			uint64_t from = at & ~UINT64_C(4095);
			madvise(file.room + from, (at + here - from) & ~UINT64_C(4095),
				MADV_DONTNEED);
		}
		at += here;
	}
	printf("%llu records, sum %llx\n", (unsigned long long)records, (unsigned long long)sum);
	return 0;
}
