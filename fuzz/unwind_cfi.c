// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Call frame information of ELF files: descriptions, and the rules at each address.
#include "unwind/cfi.h"

#include <elf.h>

#include "fuzz.h"
#include "unwind/rules.h"

enum { STEP = 4, LENGTH = 0x1400 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct elf_image *image = NULL;
	struct cfi *cfi = NULL;
	const struct architecture *architecture = architecture_of(EM_X86_64);
	struct imp_error *err = elf_image_open_memory(bytes, size, "fuzz", &image);
	if (!err)
		err = cfi_new(image, NULL, &cfi);
	for (uint64_t at = 0; !err && at < LENGTH; at += STEP) {
		struct frame_description description;
		if (!cfi_at(cfi, at, &description))
			continue;
		FUZZ_CHECK(at >= description.start && at < description.end);
		struct rules rules;
		if (architecture && rules_at(&description, architecture, at, &rules))
			FUZZ_CHECK(rules.cfa_kind < RULE_VAL_EXPRESSION + 1);
	}
	cfi_free(cfi);
	elf_image_free(image);
	imp_error_free(err);
	return 0;
}
