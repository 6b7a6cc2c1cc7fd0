// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Core files.
#include "environment/core.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct snapshot *snapshot = NULL;
	struct buffer memory = { 0 };
	char path[64];
	int fd = memfd_create("core", MFD_CLOEXEC);
	FUZZ_CHECK(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	struct imp_error *err = core_snapshot(path, &snapshot);
	if (!err)
		err = core_read_memory(path, 0x400000, 0x1000, &memory);
	FUZZ_CHECK(err || memory.size <= 0x1000);
	buffer_fini(&memory);
	snapshot_free(snapshot);
	imp_error_free(err);
	close(fd);
	return 0;
}
