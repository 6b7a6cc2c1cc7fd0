// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Why something has no name: every unknown has a reason, and the reason says what to do next.
#ifndef MODEL_REASON_H
#define MODEL_REASON_H

enum unknown_reason {
	// It has a name.
	KNOWN = 0,
	// Nothing was mapped at this address at this time.
	UNKNOWN_UNMAPPED,
	// The recording says nothing of the process (its mappings were lost or never recorded).
	UNKNOWN_NO_PROCESS,
	// The recording does not say which build was mapped.
	UNKNOWN_NO_IDENTITY,
	// The recording's table names one build where several were mapped.
	UNKNOWN_AMBIGUOUS,
	// The build is known, and no place that was looked at has it.
	UNKNOWN_IMAGE_NOT_FOUND,
	// At the recorded path there is another build, and the right one was not found elsewhere.
	UNKNOWN_OTHER_BUILD,
	// The right file was found and has no symbols.
	UNKNOWN_NO_SYMBOLS,
	// The right file was found and no symbol covers the address.
	UNKNOWN_NO_SYMBOL_AT_ADDRESS,
	// The right file was found; of its symbols only the exported ones were left in it (strip),
	// and none of those covers the address.
	UNKNOWN_STRIPPED,
	// The right file was found and no segment covers the offset.
	UNKNOWN_OUTSIDE_IMAGE,
	// Anonymous or generated code that nothing names.
	UNKNOWN_ANONYMOUS,
	// The kernel hid its addresses from the recorder (kptr_restrict), so none can be told from
	// another.
	UNKNOWN_KERNEL_HIDDEN,
	// The file was found and could not be read (damaged, no permission).
	UNKNOWN_UNREADABLE,
	// The sample carries no address.
	UNKNOWN_NO_ADDRESS,
	UNKNOWN_REASONS
};

// A stable word for machines: "unmapped", "no-process", "no-identity", "ambiguous",
// "image-not-found", "other-build", "no-symbols", "no-symbol-at-address", "stripped",
// "outside-image", "anonymous", "kernel-hidden", "unreadable", "no-address". NULL for KNOWN.
const char *unknown_reason_name(enum unknown_reason reason);

// One sentence for people, without a full stop. NULL for KNOWN.
const char *unknown_reason_sentence(enum unknown_reason reason);

#endif
