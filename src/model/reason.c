// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The reasons and their words.
#include "model/reason.h"

#include <stddef.h>

static const struct reason_def {
	const char *name;
	const char *sentence;
} reason_defs[UNKNOWN_REASONS] = {
	[UNKNOWN_UNMAPPED] = { "unmapped", "nothing was mapped at the address at that time" },
	[UNKNOWN_NO_PROCESS] = { "no-process",
				 "the recording says nothing of the process's mappings" },
	[UNKNOWN_NO_IDENTITY] = { "no-identity",
				  "the recording does not say which build was mapped" },
	[UNKNOWN_AMBIGUOUS] = { "ambiguous",
				"several builds were mapped under this path, one ID was recorded" },
	[UNKNOWN_IMAGE_NOT_FOUND] = { "image-not-found", "no file with this build ID was found" },
	[UNKNOWN_OTHER_BUILD] = { "other-build", "the file at the path is another build" },
	[UNKNOWN_NO_SYMBOLS] = { "no-symbols", "the file has no symbols" },
	[UNKNOWN_NO_SYMBOL_AT_ADDRESS] = { "no-symbol-at-address", "no symbol covers the address" },
	[UNKNOWN_STRIPPED] = { "stripped", "stripped: no exported symbol covers the address" },
	[UNKNOWN_OUTSIDE_IMAGE] = { "outside-image", "no segment of the file covers the offset" },
	[UNKNOWN_ANONYMOUS] = { "anonymous", "generated code that nothing names" },
	[UNKNOWN_KERNEL_HIDDEN] = { "kernel-hidden",
				    "the kernel hid its addresses from the recorder" },
	[UNKNOWN_UNREADABLE] = { "unreadable", "the file was found but could not be read" },
	[UNKNOWN_NO_ADDRESS] = { "no-address", "the sample carries no address" },
};

const char *unknown_reason_name(enum unknown_reason reason)
{
	return reason < UNKNOWN_REASONS ? reason_defs[reason].name : NULL;
}

const char *unknown_reason_sentence(enum unknown_reason reason)
{
	return reason < UNKNOWN_REASONS ? reason_defs[reason].sentence : NULL;
}
