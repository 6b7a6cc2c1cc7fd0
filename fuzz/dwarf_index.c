// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Saved indexes of DWARF.
#include <sys/mman.h>
#include <unistd.h>

#include "dwarf/dwarf.h"
#include "fuzz.h"

enum { STEP = 4, LENGTH = 0x1400 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	// That of the seeds.
	struct build_id id = build_id_of("0123456789abcdefghij", 20);
	struct dwarf_frame frames[DWARF_MOST_FRAMES];
	struct dwarf *dwarf = NULL;
	int fd = memfd_create("index", MFD_CLOEXEC);
	FUZZ_CHECK(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
	struct imp_error *err = dwarf_open_index(fd, "index", &id, &dwarf);
	for (uint64_t at = 0; !err && at < LENGTH; at += STEP) {
		uint32_t count = 0;
		struct imp_error *lost = dwarf_find(dwarf, elf_addr_of(at), frames, &count);
		FUZZ_CHECK(count <= DWARF_MOST_FRAMES);
		imp_error_free(lost);
	}
	dwarf_free(dwarf);
	imp_error_free(err);
	return 0;
}
