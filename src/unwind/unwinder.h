// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// From the registers and the copied stack of a sample to its callers, by call frame information.
#ifndef UNWIND_UNWINDER_H
#define UNWIND_UNWINDER_H

#include "elf/elf_image.h"

struct unwinder;

// Each image's frame descriptions are read once, when first needed.
struct imp_error *unwinder_new(struct unwinder **ret) MUST_CHECK;
void unwinder_free(struct unwinder *unwinder);

// Remembers rules by address. One for each thread, so that none waits for another.
struct unwind_cache;
struct imp_error *unwind_cache_new(struct unwind_cache **ret) MUST_CHECK;
void unwind_cache_free(struct unwind_cache *cache);

// Where an address lies: whether anything was mapped there as code; the image (NULL: generated
// code, or a file that was not found), its debug file (or NULL), and the ELF address. The images
// are lent until unwinder_free().
struct unwind_place {
	bool is_mapped;
	const struct elf_image *image, *debug;
	elf_addr address;
};

struct unwind_sample {
	// EM_… of the code that ran: EM_386 for a 32-bit task (PERF_SAMPLE_REGS_ABI_32) on x86_64.
	uint16_t machine;
	// PERF_SAMPLE_REGS_USER: the words of the bits set in REGISTER_MASK, in ascending order.
	const uint64_t *registers;
	uint32_t register_count;
	uint64_t register_mask;
	// PERF_SAMPLE_STACK_USER: as many bytes as are valid (dyn_size); they begin at the stack
	// pointer.
	const uint8_t *stack;
	size_t stack_size;
	// The sample comes from a machine of the other byte order (registers are already swapped).
	bool swap;
	// Tells what was mapped at ADDRESS at the sample's time.
	struct unwind_place (*locate)(void *arg, uint64_t address);
	void *arg;
};

// Why a chain ends.
enum unwind_end {
	// The outermost frame says that it has no caller.
	UNWIND_OUTERMOST,
	// As deep as was asked for.
	UNWIND_DEEP_ENOUGH,
	// The recorded part of the stack ends here.
	UNWIND_STACK_SHORT,
	// Nothing was mapped at the address, or nothing that could be read.
	UNWIND_NO_IMAGE,
	// The image does not describe the frame.
	UNWIND_NO_DESCRIPTION,
	// The description is damaged, or leads nowhere.
	UNWIND_BAD_DESCRIPTION,
	// The sample lacks the pc or the stack pointer, or the machine is not known here.
	UNWIND_NO_REGISTERS
};

// "outermost", "deep-enough", "stack-short", "no-image", "no-description", "bad-description",
// "no-registers".
const char *unwind_end_name(enum unwind_end end);

struct unwound_frame {
	uint64_t address;
	// A return address: the call is before it. False for the innermost frame and for what a
	// signal interrupted.
	bool is_return;
};

// What unwinding a sample gave.
struct unwound {
	// Lent by the caller, with room for `most`; filled innermost first, the sampled pc itself
	// being the first.
	struct unwound_frame *frames;
	size_t most;
	size_t count;
	// Why there are no more.
	enum unwind_end end;
};

// Unwinds SAMPLE into RET, whose frames and most the caller has set. Frames without a description
// are left by their frame pointer when what is found there can be a caller's frame. Errors are for
// memory. Safe from many threads, each with its own CACHE.
struct imp_error *unwind(struct unwinder *unwinder, struct unwind_cache *cache,
			 const struct unwind_sample *sample, struct unwound *ret) MUST_CHECK;

#endif
