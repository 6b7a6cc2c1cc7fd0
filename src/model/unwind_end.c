// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The ends of call chains and their words.
#include "model/unwind_end.h"

static const struct unwind_end_def {
	const char *name;
	const char *sentence;
} end_defs[UNWIND_ENDS] = {
	[UNWIND_OUTERMOST] = { "outermost", "whole" },
	[UNWIND_DEEP_ENOUGH] = { "deep-enough", "deeper than is followed" },
	[UNWIND_STACK_SHORT] = { "stack-short",
				 "the copied part of the stack ends; copy more of it: "
				 "--call-graph dwarf,65528" },
	[UNWIND_NO_IMAGE] = { "no-image", "nothing known was mapped where the frame returns to" },
	[UNWIND_IMAGE_NOT_FOUND] = { "image-not-found",
				     "the image that describes the frame was not found" },
	[UNWIND_NO_IDENTITY] = { "no-identity",
				 "the recording does not say which build the frame is of; record "
				 "with --buildid-mmap" },
	[UNWIND_NO_DESCRIPTION] = { "no-description",
				    "nothing describes the frame (no .eh_frame or .debug_frame)" },
	[UNWIND_BAD_DESCRIPTION] = { "bad-description", "what describes the frame leads nowhere" },
	[UNWIND_NO_REGISTERS] = { "no-registers",
				  "the recorded registers do not suffice, or the machine is not "
				  "known" },
};

const char *unwind_end_name(enum unwind_end end)
{
	return end_defs[end].name;
}

const char *unwind_end_sentence(enum unwind_end end)
{
	return end_defs[end].sentence;
}
