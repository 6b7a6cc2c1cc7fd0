// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Reading kernel notes, kallsyms, /proc/modules and /sys/module.
#include "live/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

#include "base/array.h"
#include "base/file.h"
#include "model/elf_note.h"

void kernel_modules_fini(struct kernel_modules *modules)
{
	array_fini(modules);
}

// The build ID in the notes file at PATH; none when it cannot be read.
static struct imp_error *read_notes(const char *path, struct build_id *ret)
{
	enum { MOST_BYTES = 1024 * 1024 };
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	_cleanup_buffer_ struct buffer notes = { 0 };
	struct imp_error *err = file_slurp(fd, path, MOST_BYTES, &notes);
	if (err && imp_error_code(err) == IMP_ERR_NO_MEMORY)
		return err;
	imp_error_free(err);
	*ret = build_id_in_notes(notes.bytes, notes.size, 4, false);
	return NULL;
}

static const char *sys_or_default(const char *sys)
{
	return sys ? sys : "/sys";
}

struct imp_error *kernel_read(const struct proc *proc, const char *sys, struct kernel *ret)
{
	*ret = (struct kernel){ 0 };
	proc_text(proc, ret->release, sizeof ret->release, "sys/kernel/osrelease");
	ret->release[strcspn(ret->release, "\n")] = 0;
	char path[512];
	snprintf(path, sizeof path, "%s/kernel/notes", sys_or_default(sys));
	return read_notes(path, &ret->id);
}

// Takes LINE of kallsyms ("ADDRESS TYPE NAME") if it names a bound of the text; gives its address.
static uint64_t take_symbol(const char *line, struct kernel_text *text)
{
	char *at;
	uint64_t address = strtoull(line, &at, 16);
	if (at == line || at[0] != ' ' || !at[1] || at[2] != ' ')
		return 0;
	const char *name = at + 3;
	if (!strcmp(name, "_text")) {
		text->reference_symbol = "_text";
		text->reference_address = address;
	} else if (!strcmp(name, "_stext")) {
		text->start = address;
		if (!text->reference_symbol) {
			text->reference_symbol = "_stext";
			text->reference_address = address;
		}
	} else if (!strcmp(name, "_etext")) {
		text->end = address;
	}
	return address;
}

// How long the kernel's text is by /proc/iomem, "  01000000-02276987 : Kernel code", which on x86
// is from _text to _etext; 0 where that is not told, or told as zeros to those who may not know.
static uint64_t code_size(const struct proc *proc)
{
	uint64_t size = 0;
#if defined(__x86_64__)
	enum proc_outcome outcome;
	int fd = proc_open_file(proc, &outcome, "iomem");
	_cleanup_file_ FILE *in = fd < 0 ? NULL : fdopen(fd, "r");
	if (!in && fd >= 0)
		close(fd);
	char line[256];
	while (in && !size && fgets(line, sizeof line, in)) {
		uint64_t first, last;
		char name[16] = "";
		if (sscanf(line, " %" SCNx64 "-%" SCNx64 " : %15[^\n]", &first, &last, name) == 3 &&
		    !strcmp(name, "Kernel code") && first < last)
			size = last - first + 1;
	}
#else
	(void)proc;
#endif
	return size;
}

// Reads lines of kallsyms until the bounds are known; true when the addresses are hidden. They are
// sorted by address, so _text comes before what is above _stext, and half of them before _etext.
static bool read_bounds(FILE *in, uint64_t size, bool needs_end, struct kernel_text *ret)
{
	_cleanup_free_ char *line = NULL;
	size_t room = 0;
	for (ssize_t length; (length = getline(&line, &room, in)) > 0;) {
		line[length - 1] = 0;
		uint64_t address = take_symbol(line, ret);
		if (ret->reference_symbol && !ret->reference_address)
			return true;
		// The symbols of modules come last, with a tab.
		if (memchr(line, '\t', (size_t)length))
			break;
		if (!ret->start || address <= ret->start)
			continue;
		if (size && needs_end && !ret->end && !strcmp(ret->reference_symbol, "_text"))
			ret->end = ret->reference_address + size;
		if (!needs_end || ret->end)
			break;
	}
	return false;
}

struct imp_error *kernel_text_read(const struct proc *proc, bool needs_end, struct kernel_text *ret)
{
	*ret = (struct kernel_text){ 0 };
	enum proc_outcome outcome;
	int fd = proc_open_file(proc, &outcome, "kallsyms");
	if (fd < 0)
		return NULL;
	_cleanup_file_ FILE *in = fdopen(fd, "r");
	if (!in) {
		close(fd);
		return &imp_error_no_memory;
	}
	if (read_bounds(in, needs_end ? code_size(proc) : 0, needs_end, ret))
		ret->start = ret->end = 0;
	else if (!ret->start)
		ret->start = ret->reference_address;
	return NULL;
}

bool kernel_module_parse(const char *line, struct kernel_module *ret)
{
	// NAME SIZE REFERENCES DEPENDENCIES STATE 0xADDRESS [TAINTS]
	*ret = (struct kernel_module){ 0 };
	char state[16], address[32], size[32];
	if (sscanf(line, "%63s %31s %*s %*s %15s %31s", ret->name, size, state, address) != 4)
		return false;
	char *end;
	ret->size = strtoull(size, &end, 10);
	if (*end)
		return false;
	ret->address = strtoull(address, &end, 16);
	ret->state = state[0];
	ret->is_loading = !strcmp(state, "Loading");
	return !*end && !strchr(ret->name, '/');
}

static struct imp_error *take_module(const char *sys, const char *line,
				     struct kernel_modules *modules)
{
	struct kernel_module module;
	if (!kernel_module_parse(line, &module))
		return NULL;
	char path[512];
	snprintf(path, sizeof path, "%s/module/%s/notes/.note.gnu.build-id", sys_or_default(sys),
		 module.name);
	struct imp_error *err = read_notes(path, &module.id);
	if (err)
		return err;
	struct kernel_module *slot = array_add(modules);
	if (!slot)
		return &imp_error_no_memory;
	*slot = module;
	return NULL;
}

struct imp_error *kernel_modules_read(const struct proc *proc, const char *sys,
				      struct kernel_modules *ret)
{
	_cleanup_buffer_ struct buffer text = { 0 };
	enum proc_outcome outcome;
	struct imp_error *err = proc_slurp(proc, &text, &outcome, "modules");
	if (err)
		return err;
	buffer_append(&text, "", 1);
	if (text.failed)
		return &imp_error_no_memory;
	char *rest = (char *)text.bytes;
	for (char *line; !err && (line = strsep(&rest, "\n"));)
		err = take_module(sys, line, ret);
	return err;
}

uint64_t kernel_module_section(const char *sys, const char *name, const char *section)
{
	char path[512], text[64];
	snprintf(path, sizeof path, "%s/module/%s/sections/%s", sys_or_default(sys), name, section);
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
	if (got <= 0)
		return 0;
	text[got] = 0;
	return strtoull(text, NULL, 16);
}
