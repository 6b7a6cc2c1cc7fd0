// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Snapshots: what can be read can be written, and reads the same again.
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "environment/snapshot_file.h"
#include "fuzz.h"

static struct imp_error *read_bytes(const uint8_t *bytes, size_t size, struct snapshot **ret)
{
	char path[64];
	int fd = memfd_create("snapshot", MFD_CLOEXEC);
	FUZZ_CHECK(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	struct imp_error *err = snapshot_read(path, ret);
	close(fd);
	return err;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct snapshot *snapshot = NULL, *again = NULL;
	// Compressed ones are zstd's business.
	if (size && bytes[0] != '{')
		return 0;
	struct imp_error *err = read_bytes(bytes, size, &snapshot);
	if (!err) {
		char path[64];
		int fd = memfd_create("written", MFD_CLOEXEC);
		FUZZ_CHECK(fd >= 0);
		snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
		err = snapshot_write(snapshot, path);
		FUZZ_CHECK(!err);
		err = snapshot_read(path, &again);
		FUZZ_CHECK(!err);
		close(fd);
	}
	snapshot_free(snapshot);
	snapshot_free(again);
	imp_error_free(err);
	return 0;
}
