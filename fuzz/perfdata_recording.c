// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Whole recordings: opened, scanned twice, every sample decoded; both passes must agree.
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "perfdata/contents.h"
#include "perfdata/sample.h"

struct seen {
	const struct recording *recording;
	uint64_t records, position;
};

static struct imp_error *count_again(void *arg, unsigned worker, struct chunk *chunk)
{
	(void)worker;
	struct seen *seen = arg;
	struct record record;
	while (chunk_next(chunk, &record)) {
		struct sample_id id;
		FUZZ_CHECK(record.size >= RECORD_HEADER_SIZE);
		sample_id_read(recording_events(seen->recording), &record, &id);
		seen->records++;
	}
	return NULL;
}

static void read_all(struct recording *recording)
{
	struct contents contents;
	struct imp_error *err = contents_count(recording, &contents);
	if (err) {
		imp_error_free(err);
		return;
	}
	uint64_t records = contents.rest.records;
	for (size_t i = 0; i < CONTENTS_KNOWN_TYPES; i++)
		records += contents.known[i].records;
	for (size_t i = 0; i < contents.other_count; i++)
		records += contents.other[i].records;
	contents_fini(&contents);
	struct seen seen = { .recording = recording };
	err = recording_visit(recording, count_again, &seen);
	FUZZ_CHECK(err || seen.records == records);
	imp_error_free(err);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	// Compressed files are libarchive's business.
	if (size < 8 || (memcmp(bytes, "PERF", 4) && memcmp(bytes + 4, "FREP", 4)))
		return 0;
	int fd = memfd_create("recording", MFD_CLOEXEC);
	FUZZ_CHECK(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
	char path[64];
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	struct recording_options options = { .workers = 1 };
	struct recording *recording = NULL;
	struct imp_error *err = recording_open(path, &options, &recording);
	if (!err)
		read_all(recording);
	imp_error_free(err);
	recording_close(recording);
	close(fd);
	return 0;
}
