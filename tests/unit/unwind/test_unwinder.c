// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// This very process, as a sample of itself: its registers, a copy of its stack, its mapped files.
#include "unwind/unwinder.h"

#include <elf.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include "harness/tap.h"

enum { most_frames = 64, most_stack = 1 << 18 };

// A moment of this process, and how libgcc unwinds it.
struct moment {
	uint64_t registers[40];
	uint32_t count;
	uint64_t mask;
	uint8_t stack[most_stack];
	size_t stack_size;
	uintptr_t stack_pointer;
	void *expected[most_frames];
	int expected_count;
};

static struct moment moment;

static uintptr_t stack_end(void)
{
	extern char **environ;
	// The strings of the environment lie above all frames.
	return (uintptr_t)environ[0] & ~(uintptr_t)15;
}

static bool take_context(const ucontext_t *context)
{
	uintptr_t stack_pointer;
#if defined(__x86_64__)
	static const int order[] = { REG_RAX, REG_RBX, REG_RCX, REG_RDX, REG_RSI, REG_RDI,
				     REG_RBP, REG_RSP, REG_RIP, REG_R8,	 REG_R9,  REG_R10,
				     REG_R11, REG_R12, REG_R13, REG_R14, REG_R15 };
	for (unsigned i = 0; i < 17; i++)
		moment.registers[i] = (uint64_t)context->uc_mcontext.gregs[order[i]];
	moment.count = 17;
	moment.mask = 0xff01ff;
	stack_pointer = moment.registers[7];
#elif defined(__aarch64__)
	for (unsigned i = 0; i < 31; i++)
		moment.registers[i] = context->uc_mcontext.regs[i];
	moment.registers[31] = context->uc_mcontext.sp;
	moment.registers[32] = context->uc_mcontext.pc;
	moment.count = 33;
	moment.mask = 0x1ffffffff;
	stack_pointer = context->uc_mcontext.sp;
#else
	(void)context;
	return false;
#endif
	size_t size = stack_end() - stack_pointer;
	moment.stack_pointer = stack_pointer;
	moment.stack_size = size < most_stack ? size : most_stack;
	// By the kernel, since sanitizers forbid to read other functions' frames.
	_cleanup_close_ int memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	return pread(memory, moment.stack, moment.stack_size, (off_t)stack_pointer) ==
	       (ssize_t)moment.stack_size;
}

static bool has_machine;

__attribute__((noinline)) static void capture(void)
{
	ucontext_t context;
	getcontext(&context);
	has_machine = take_context(&context);
	moment.expected_count = backtrace(moment.expected, most_frames);
}

__attribute__((noinline)) static int recurse(int depth)
{
	volatile char frame[40];
	memset((void *)(uintptr_t)frame, depth, sizeof frame);
	if (depth == 0)
		capture();
	return depth == 0 ? frame[3] : recurse(depth - 1) + frame[7];
}

static void on_signal(int number)
{
	(void)number;
	capture();
	// Not a jump to capture(): this frame is counted.
	__asm__ volatile("");
}

struct object {
	struct elf_image *image;
	uintptr_t bias, start, end;
};

static struct object objects[32];
static size_t object_count;

static int open_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size;
	(void)arg;
	const char *path = object_count || info->dlpi_name[0] ? info->dlpi_name : "/proc/self/exe";
	struct object *object = &objects[object_count];
	_cleanup_error_ struct imp_error *err = elf_image_open(path, &object->image);
	if (err || object_count == 31)
		return 0;
	object->bias = info->dlpi_addr;
	object->start = UINTPTR_MAX;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + header->p_vaddr;
		if (header->p_type != PT_LOAD || !(header->p_flags & PF_X))
			continue;
		object->start = start;
		object->end = start + header->p_memsz;
	}
	object_count++;
	return 0;
}

static struct unwind_place locate(void *arg, uint64_t address)
{
	(void)arg;
	for (size_t i = 0; i < object_count; i++)
		if (address >= objects[i].start && address < objects[i].end)
			return (struct unwind_place){ .is_mapped = true,
						      .image = objects[i].image,
						      .address = { address - objects[i].bias } };
	return (struct unwind_place){ 0 };
}

static size_t unwind_moment(struct unwound_frame *frames, size_t most, enum unwind_end *end)
{
	struct unwinder *unwinder = NULL;
	struct unwind_cache *cache = NULL;
	struct unwound unwound = { .frames = frames, .most = most };
	dl_iterate_phdr(open_object, NULL);
	struct unwind_sample sample = {
#if defined(__x86_64__)
		.machine = EM_X86_64,
#else
		.machine = EM_AARCH64,
#endif
		.registers = moment.registers,
		.register_count = moment.count,
		.register_mask = moment.mask,
		.stack = moment.stack,
		.stack_size = moment.stack_size,
		.locate = locate,
	};
	CHECK_OK(unwinder_new(&unwinder));
	CHECK_OK(unwind_cache_new(&cache));
	// Twice: from the images, and from what is remembered.
	CHECK_OK(unwind(unwinder, cache, &sample, &unwound));
	CHECK_OK(unwind(unwinder, cache, &sample, &unwound));
	unwind_cache_free(cache);
	unwinder_free(unwinder);
	while (object_count)
		elf_image_free(objects[--object_count].image);
	*end = unwound.end;
	return unwound.count;
}

// backtrace() was called a little later, so the innermost frame stands elsewhere in the same
// function; sanitizers put a frame of their own before it.
static void drop_sanitizer_frame(const struct unwound_frame *frames)
{
	if (moment.expected_count < 3 || frames[1].address == (uintptr_t)moment.expected[1])
		return;
	memmove(moment.expected, moment.expected + 1, sizeof moment.expected - sizeof(void *));
	moment.expected_count--;
}

static void check_callers(const struct unwound_frame *frames, size_t count)
{
	drop_sanitizer_frame(frames);
	CHECK_UINT(count, (size_t)moment.expected_count);
	for (size_t i = 1; i < count && i < (size_t)moment.expected_count; i++)
		CHECK_UINT(frames[i].address, (uintptr_t)moment.expected[i]);
}

TEST(finds_the_same_callers_as_the_compilers_own_unwinder)
{
	struct unwound_frame frames[most_frames];
	enum unwind_end end;
	recurse(20);
	if (!has_machine) {
		tap_skip("no registers of this machine");
		return;
	}
	size_t count = unwind_moment(frames, most_frames, &end);
	CHECK(count > 22);
	check_callers(frames, count);
	CHECK(!frames[0].is_return && frames[1].is_return);
	CHECK_TEXT(unwind_end_name(end), "outermost");
}

TEST(passes_through_signal_frames)
{
	struct unwound_frame frames[most_frames];
	enum unwind_end end;
	struct sigaction action = { .sa_handler = on_signal };
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	if (!has_machine) {
		tap_skip("no registers of this machine");
		return;
	}
	size_t count = unwind_moment(frames, most_frames, &end);
	check_callers(frames, count);
	// capture, the handler, the kernel's trampoline, and then what was interrupted.
	CHECK(count > 4 && frames[2].is_return && !frames[3].is_return);
}

TEST(ends_where_the_recorded_stack_ends)
{
	struct unwound_frame frames[most_frames];
	enum unwind_end end;
	recurse(20);
	if (!has_machine) {
		tap_skip("no registers of this machine");
		return;
	}
	// Half of what lies between here and there.
	moment.stack_size = ((uintptr_t)__builtin_frame_address(0) - moment.stack_pointer) / 2;
	size_t count = unwind_moment(frames, most_frames, &end);
	drop_sanitizer_frame(frames);
	CHECK_TEXT(unwind_end_name(end), "stack-short");
	CHECK(count > 1 && count < (size_t)moment.expected_count);
	for (size_t i = 1; i < count; i++)
		CHECK_UINT(frames[i].address, (uintptr_t)moment.expected[i]);
	CHECK_UINT(unwind_moment(frames, 2, &end), 2);
	CHECK_TEXT(unwind_end_name(end), "deep-enough");
}
