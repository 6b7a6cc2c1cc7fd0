// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The running kernel and its modules: build IDs from /sys, addresses from /proc.
#ifndef LIVE_KERNEL_H
#define LIVE_KERNEL_H

#include <stdint.h>

#include "live/proc.h"
#include "model/build_id.h"

struct kernel {
	// From /sys/kernel/notes; none when that cannot be read.
	struct build_id id;
	// As uname -r says.
	char release[128];
};

// What kallsyms tells of where the kernel's text stands.
struct kernel_text {
	// "_text", else "_stext"; NULL when neither is there.
	const char *reference_symbol;
	// Its address. All three are 0 when the kernel hides addresses from us (kptr_restrict,
	// perf_event_paranoid, no CAP_SYSLOG).
	uint64_t reference_address;
	uint64_t start;
	// The end of the text: _etext.
	uint64_t end;
};

struct kernel_module {
	char name[64];
	// The base of the text region and the size of all regions together; the base is 0 when
	// hidden.
	uint64_t address, size;
	// None when /sys/module does not show it to us.
	struct build_id id;
	// "Live", "Loading" or "Unloading" as its first letter.
	char state;
	// "Loading": /sys/module may not tell of it yet.
	bool is_loading;
};

struct kernel_modules {
	struct kernel_module *items;
	size_t count;
	size_t room;
};

void kernel_modules_fini(struct kernel_modules *modules);

// SYS is where sysfs is mounted; NULL means /sys. PROC gives the release.
struct imp_error *kernel_read(const struct proc *proc, const char *sys,
			      struct kernel *ret) MUST_CHECK;

// Reads kallsyms up to what is asked: only the reference symbol (NEEDS_END false: its first lines)
// or the text's end as well, which /proc/iomem tells more quickly where it may be read.
struct imp_error *kernel_text_read(const struct proc *proc, bool needs_end,
				   struct kernel_text *ret) MUST_CHECK;

// The loaded modules in the order of /proc/modules, newest first. None when there is no such file.
struct imp_error *kernel_modules_read(const struct proc *proc, const char *sys,
				      struct kernel_modules *ret) MUST_CHECK;

// The address of section SECTION (".text", ".init.text", …) of module NAME; 0 when hidden or not
// there.
uint64_t kernel_module_section(const char *sys, const char *name, const char *section);

// Reads one line of /proc/modules, without its newline. False when it is none.
bool kernel_module_parse(const char *line, struct kernel_module *ret);

#endif
