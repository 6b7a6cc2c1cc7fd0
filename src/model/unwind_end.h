// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Why a call chain that was made from registers and a copied stack has no more frames.
#ifndef MODEL_UNWIND_END_H
#define MODEL_UNWIND_END_H

enum unwind_end {
	// The outermost frame says that it has no caller.
	UNWIND_OUTERMOST,
	// As deep as was asked for.
	UNWIND_DEEP_ENOUGH,
	// The recorded part of the stack ends here.
	UNWIND_STACK_SHORT,
	// Nothing was mapped at the address, or it is not known what.
	UNWIND_NO_IMAGE,
	// The image that was mapped was not found; or it is not known which build it was.
	UNWIND_IMAGE_NOT_FOUND,
	UNWIND_NO_IDENTITY,
	// The image does not describe the frame.
	UNWIND_NO_DESCRIPTION,
	// The description is damaged, or leads nowhere.
	UNWIND_BAD_DESCRIPTION,
	// The sample lacks the pc or the stack pointer, or the machine is not known here.
	UNWIND_NO_REGISTERS,
	UNWIND_ENDS
};

// "outermost", "deep-enough", "stack-short", "no-image", "image-not-found", "no-identity",
// "no-description", "bad-description", "no-registers".
const char *unwind_end_name(enum unwind_end end);

// What END means and what to do about it, in words for people, without a full stop.
const char *unwind_end_sentence(enum unwind_end end);

#endif
