// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Repeats the records of a perf.data file N times, each time later, to make a large input of the
// same kind:
//   multiply IN OUT N
//
// Only for recordings of this machine's byte order, with TIME in every sample_type and
// sample_id_all. Records without a time (synthesized ones) are written once. The header and its
// features are kept, their offsets moved.
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct section {
	uint64_t offset, size;
};

struct header {
	char magic[8];
	uint64_t size, attr_size;
	struct section attrs, data, event_types;
	uint64_t features[4];
};

struct layout {
	size_t sample_time, trailer_time, first_time;
};

static uint64_t time_get(const uint8_t *record, const struct perf_event_header *header,
			 const struct layout *layout)
{
	uint64_t time;
	size_t at = header->type == PERF_RECORD_SAMPLE ? layout->sample_time
						       : header->size - layout->trailer_time;
	memcpy(&time, record + at, sizeof time);
	return time;
}

static void time_add(uint8_t *record, const struct perf_event_header *header,
		     const struct layout *layout, uint64_t more)
{
	uint64_t time = time_get(record, header, layout) + more;
	size_t at = header->type == PERF_RECORD_SAMPLE ? layout->sample_time
						       : header->size - layout->trailer_time;
	memcpy(record + at, &time, sizeof time);
	// FORK and EXIT say the time in their bodies, too.
	if (header->type == PERF_RECORD_FORK || header->type == PERF_RECORD_EXIT)
		memcpy(record + 24, &time, sizeof time);
}

static struct layout layout_of(uint64_t type)
{
	size_t identifier = type & PERF_SAMPLE_IDENTIFIER ? 8 : 0;
	uint64_t before = PERF_SAMPLE_IP | PERF_SAMPLE_TID;
	uint64_t after = PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |
			 PERF_SAMPLE_IDENTIFIER;
	return (struct layout){
		.sample_time = 8 + identifier + 8 * (size_t)__builtin_popcountll(type & before),
		.trailer_time = 8 + 8 * (size_t)__builtin_popcountll(type & after),
	};
}

// Writes the records of one repetition; *bytes grows by what was written.
static void repeat(FILE *out, const uint8_t *data, uint64_t size, const struct layout *layout,
		   uint64_t later, uint64_t *bytes)
{
	static uint8_t copy[65536];
	for (uint64_t at = 0; at + sizeof(struct perf_event_header) <= size;) {
		struct perf_event_header header;
		memcpy(&header, data + at, sizeof header);
		if (header.size < sizeof header || header.size > size - at)
			break;
		int is_timed = header.type < 64 && time_get(data + at, &header, layout) != 0;
		if (is_timed || header.type == 68 || !later) {
			memcpy(copy, data + at, header.size);
			if (is_timed)
				time_add(copy, &header, layout, later);
			fwrite(copy, 1, header.size, out);
			*bytes += header.size;
		}
		at += header.size;
	}
}

static uint64_t span(const uint8_t *data, uint64_t size, const struct layout *layout)
{
	uint64_t first = UINT64_MAX, last = 0;
	for (uint64_t at = 0; at + sizeof(struct perf_event_header) <= size;) {
		struct perf_event_header header;
		memcpy(&header, data + at, sizeof header);
		if (header.size < sizeof header || header.size > size - at)
			break;
		if (header.type < 64) {
			uint64_t time = time_get(data + at, &header, layout);
			first = time && time < first ? time : first;
			last = time > last ? time : last;
		}
		at += header.size;
	}
	return last - first + 1000000;
}

int main(int argc, char **argv)
{
	if (argc != 4) {
		fprintf(stderr, "usage: multiply IN OUT N\n");
		return 2;
	}
	int fd = open(argv[1], O_RDONLY);
	struct stat status;
	if (fd < 0 || fstat(fd, &status)) {
		perror(argv[1]);
		return 1;
	}
	const uint8_t *in = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED, fd, 0);
	FILE *out = fopen(argv[2], "wb");
	if (in == MAP_FAILED || !out) {
		perror("multiply");
		return 1;
	}
	struct header header;
	memcpy(&header, in, sizeof header);
	uint64_t type;
	memcpy(&type, in + header.attrs.offset + 24, sizeof type);
	struct layout layout = layout_of(type);
	const uint8_t *data = in + header.data.offset;
	uint64_t old_end = header.data.offset + header.data.size, bytes = 0;
	uint64_t step = span(data, header.data.size, &layout);
	fwrite(in, 1, header.data.offset, out);
	for (uint64_t i = 0; i < strtoull(argv[3], NULL, 10); i++)
		repeat(out, data, header.data.size, &layout, i * step, &bytes);
	uint64_t moved = bytes - header.data.size;
	size_t tables = 0;
	for (int i = 0; i < 4; i++)
		tables += (size_t)__builtin_popcountll(header.features[i]);
	for (size_t i = 0; i < tables; i++) {
		struct section section;
		memcpy(&section, in + old_end + i * sizeof section, sizeof section);
		section.offset += moved;
		fwrite(&section, sizeof section, 1, out);
	}
	uint64_t rest = old_end + tables * sizeof(struct section);
	fwrite(in + rest, 1, (size_t)status.st_size - rest, out);
	header.data.size = bytes;
	rewind(out);
	fwrite(&header, sizeof header, 1, out);
	if (fclose(out)) {
		perror(argv[2]);
		return 1;
	}
	return 0;
}
