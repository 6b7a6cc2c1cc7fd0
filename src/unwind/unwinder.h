// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// From the registers and the copied stack of a sample to its callers, by call frame information.
#ifndef UNWIND_UNWINDER_H
#define UNWIND_UNWINDER_H

#include "elf/elf_image.h"
#include "model/unwind_end.h"

struct unwinder;

// Each image's frame descriptions are read once, when first needed.
struct imp_error *unwinder_new(struct unwinder **ret) MUST_CHECK;
void unwinder_free(struct unwinder *unwinder);

// Remembers rules by address. One for each thread, so that none waits for another.
struct unwind_cache;
struct imp_error *unwind_cache_new(struct unwind_cache **ret) MUST_CHECK;
void unwind_cache_free(struct unwind_cache *cache);

// Where an address lies: whether anything was mapped there; if that is an image of which nothing
// can be said, why chains end there (UNWIND_IMAGE_NOT_FOUND, UNWIND_NO_IDENTITY; else 0); the image
// (NULL: generated code, or none), its debug file (or NULL), and the ELF address. The images are
// lent until unwinder_free().
struct unwind_place {
	bool is_mapped;
	enum unwind_end missing;
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
	// Why there are no more, and the address in the last frame at which that was seen.
	enum unwind_end end;
	uint64_t end_address;
	// How many frames were left by their frame pointer because nothing describes them.
	size_t by_frame_pointer;
};

// Unwinds SAMPLE into RET, whose frames and most the caller has set. Frames without a description
// are left by their frame pointer when what is found there can be a caller's frame; not so those
// of an image that was not found, where skipping a frame would go unseen. Errors are for memory.
// Safe from many threads, each with its own CACHE.
struct imp_error *unwind(struct unwinder *unwinder, struct unwind_cache *cache,
			 const struct unwind_sample *sample, struct unwound *ret) MUST_CHECK;

#endif
