// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Reading core files of Linux, of either class and byte order.
#include "environment/core_file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cursor.h"
#include "base/file.h"
#include "model/elf_note.h"

enum {
	// A process may have millions of mappings, but not here.
	MOST_SEGMENTS = 1 << 20,
	MOST_NOTE_BYTES = 256 << 20,
};

static uint64_t read_word(struct cursor *bytes, const struct core_file *core)
{
	return core->is_64bit ? cursor_u64(bytes) : cursor_u32(bytes);
}

static struct imp_error *bad_core(const struct core_file *core, const char *what)
{
	return error_new(IMP_ERR_BAD_DATA, "%s: %s", core->path, what);
}

// NT_PRPSINFO: four bytes, the flags (a word), IDs of user and group, four of processes, the name
// of 16 bytes, the arguments of 80.
static void take_process(struct core_file *core, struct cursor bytes)
{
	cursor_skip(&bytes, 4);
	// 32-bit x86 and ARM have IDs of 16 bits there.
	bool has_short_ids = !core->is_64bit &&
			     (core->machine == EM_386 || core->machine == EM_ARM);
	if (core->is_64bit)
		cursor_skip(&bytes, 4);
	read_word(&bytes, core);
	core->uid = has_short_ids ? cursor_u16(&bytes) : cursor_u32(&bytes);
	cursor_skip(&bytes, has_short_ids ? 2 : 4);
	core->pid = cursor_u32(&bytes);
	core->parent = cursor_u32(&bytes);
	cursor_skip(&bytes, 8);
	const uint8_t *comm = cursor_bytes(&bytes, 16);
	const uint8_t *command = cursor_bytes(&bytes, 80);
	if (!comm || !command)
		return;
	memcpy(core->comm, comm, 16);
	memcpy(core->command, command, 80);
	for (size_t i = strlen(core->command); i && core->command[i - 1] == ' '; i--)
		core->command[i - 1] = 0;
}

static void take_auxv(struct core_file *core, struct cursor bytes)
{
	for (;;) {
		uint64_t type = read_word(&bytes, core);
		uint64_t value = read_word(&bytes, core);
		if (bytes.failed || type == AT_NULL)
			return;
		if (type == AT_SYSINFO_EHDR)
			core->vdso_address = value;
	}
}

// NT_FILE: count, page size, then start, end and page offset of each, then the names.
static struct imp_error *take_files(struct core_file *core, struct cursor bytes)
{
	uint64_t count = read_word(&bytes, core);
	uint64_t page_size = read_word(&bytes, core);
	size_t entry_size = core->is_64bit ? 24 : 12;
	if (bytes.failed || count > cursor_left(&bytes) / entry_size)
		return bad_core(core, "its list of mapped files is cut off");
	struct cursor ranges = cursor_part(&bytes, (size_t)count * entry_size);
	for (uint64_t i = 0; i < count; i++) {
		const char *path = cursor_string(&bytes);
		if (!path)
			return bad_core(core, "the names of its mapped files are cut off");
		uint32_t number;
		struct imp_error *err = strings_intern(&core->strings, path, strlen(path), &number);
		if (err)
			return err;
		struct core_mapped_file *file = array_add(&core->files);
		if (!file)
			return &imp_error_no_memory;
		file->start = read_word(&ranges, core);
		file->end = read_word(&ranges, core);
		file->offset = read_word(&ranges, core) * page_size;
		file->path = strings_at(&core->strings, number);
	}
	return NULL;
}

static struct imp_error *take_note(struct core_file *core, const struct elf_note *note)
{
	struct cursor bytes = cursor_over(note->bytes, note->size);
	bytes.swap = core->swap;
	if (elf_note_is(note, "CORE", NT_PRPSINFO))
		take_process(core, bytes);
	else if (elf_note_is(note, "CORE", NT_AUXV))
		take_auxv(core, bytes);
	else if (elf_note_is(note, "CORE", NT_FILE))
		return take_files(core, bytes);
	return NULL;
}

static struct imp_error *read_notes(struct core_file *core, uint64_t offset, uint64_t size)
{
	if (size > MOST_NOTE_BYTES)
		return bad_core(core, "its notes are too large");
	_cleanup_free_ uint8_t *bytes = malloc(size ? size : 1);
	if (!bytes)
		return &imp_error_no_memory;
	size_t got;
	struct imp_error *err = file_pread(core->fd, core->path, bytes, size, offset, &got);
	if (err)
		return err;
	struct cursor notes = cursor_over(bytes, got);
	notes.swap = core->swap;
	struct elf_note note;
	while (!err && elf_note_next(&notes, 4, &note))
		err = take_note(core, &note);
	return err;
}

static struct imp_error *take_segment(struct core_file *core, struct cursor *bytes)
{
	uint32_t type = cursor_u32(bytes), flags = 0;
	if (core->is_64bit)
		flags = cursor_u32(bytes);
	uint64_t offset = read_word(bytes, core);
	uint64_t address = read_word(bytes, core);
	read_word(bytes, core);
	uint64_t file_size = read_word(bytes, core);
	uint64_t memory_size = read_word(bytes, core);
	if (!core->is_64bit)
		flags = cursor_u32(bytes);
	if (type == PT_NOTE)
		return read_notes(core, offset, file_size);
	if (type != PT_LOAD)
		return NULL;
	struct core_segment *segment = array_add(&core->segments);
	if (!segment)
		return &imp_error_no_memory;
	*segment = (struct core_segment){ .start = address,
					  .memory_size = memory_size,
					  .offset = offset,
					  .file_size = file_size,
					  .is_executable = flags & PF_X };
	return NULL;
}

// The number of segments where it is too large for the header: it stands in the first section.
static uint64_t extended_count(const struct core_file *core, uint64_t sections)
{
	uint8_t section[sizeof(Elf64_Shdr)];
	size_t got = 0;
	struct imp_error *err =
		file_pread(core->fd, core->path, section, sizeof section, sections, &got);
	imp_error_free(err);
	struct cursor bytes = cursor_over(section, err ? 0 : got);
	bytes.swap = core->swap;
	cursor_skip(&bytes, core->is_64bit ? 44 : 28);
	return cursor_u32(&bytes);
}

struct segment_table {
	uint64_t offset, count;
	size_t entry_size;
};

// Reads the header. *IS_CORE becomes false when it is no core file.
static struct imp_error *read_header(struct core_file *core, struct segment_table *ret,
				     bool *is_core)
{
	uint8_t header[sizeof(Elf64_Ehdr)];
	size_t got;
	struct imp_error *err = file_pread(core->fd, core->path, header, sizeof header, 0, &got);
	if (err)
		return err;
	*is_core = false;
	if (got < sizeof(Elf32_Ehdr) || memcmp(header, ELFMAG, SELFMAG) != 0)
		return NULL;
	core->is_64bit = header[EI_CLASS] == ELFCLASS64;
	core->swap = header[EI_DATA] !=
		     (__BYTE_ORDER == __LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB);
	struct cursor bytes = cursor_over(header, got);
	bytes.swap = core->swap;
	cursor_skip(&bytes, EI_NIDENT);
	*is_core = cursor_u16(&bytes) == ET_CORE;
	core->machine = cursor_u16(&bytes);
	cursor_skip(&bytes, 4);
	read_word(&bytes, core);
	ret->offset = read_word(&bytes, core);
	uint64_t sections = read_word(&bytes, core);
	cursor_skip(&bytes, 4 + 2);
	ret->entry_size = cursor_u16(&bytes);
	ret->count = cursor_u16(&bytes);
	*is_core = *is_core && !bytes.failed;
	if (ret->count == PN_XNUM)
		ret->count = extended_count(core, sections);
	return NULL;
}

static int compare_segments(const void *left, const void *right)
{
	const struct core_segment *a = left, *b = right;
	return a->start < b->start ? -1 : a->start > b->start;
}

static int compare_files(const void *left, const void *right)
{
	const struct core_mapped_file *a = left, *b = right;
	return a->start < b->start ? -1 : a->start > b->start;
}

static struct imp_error *read_segments(struct core_file *core, const struct segment_table *table)
{
	size_t smallest = core->is_64bit ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	if (table->entry_size < smallest || table->count > MOST_SEGMENTS)
		return bad_core(core, "its table of segments is damaged");
	size_t size = (size_t)table->count * table->entry_size, got;
	struct stat stat;
	if (fstat(core->fd, &stat))
		return error_system(errno, "%s: cannot read its size", core->path);
	// Before it is asked for as memory.
	if (table->offset > (uint64_t)stat.st_size || size > (uint64_t)stat.st_size - table->offset)
		return bad_core(core, "its table of segments is cut off");
	_cleanup_free_ uint8_t *entries = malloc(size ? size : 1);
	if (!entries)
		return &imp_error_no_memory;
	struct imp_error *err =
		file_pread(core->fd, core->path, entries, size, table->offset, &got);
	if (err)
		return err;
	if (got < size)
		return bad_core(core, "its table of segments is cut off");
	for (uint64_t i = 0; !err && i < table->count; i++) {
		struct cursor entry =
			cursor_over(entries + i * table->entry_size, table->entry_size);
		entry.swap = core->swap;
		err = take_segment(core, &entry);
	}
	if (core->segments.count)
		qsort(core->segments.items, core->segments.count, sizeof *core->segments.items,
		      compare_segments);
	if (core->files.count)
		qsort(core->files.items, core->files.count, sizeof *core->files.items,
		      compare_files);
	return err;
}

struct imp_error *core_file_open(const char *path, struct core_file *ret)
{
	*ret = (struct core_file){ .path = path };
	ret->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (ret->fd < 0)
		return error_system(errno, "%s: cannot open", path);
	struct segment_table table = { 0 };
	bool is_core;
	struct imp_error *err = read_header(ret, &table, &is_core);
	if (err)
		return err;
	if (!is_core)
		return error_new(IMP_ERR_BAD_DATA, "%s: not a core file", path);
	return read_segments(ret, &table);
}

void core_file_close(struct core_file *core)
{
	if (core->fd >= 0 && core->path)
		close(core->fd);
	array_fini(&core->segments);
	array_fini(&core->files);
	strings_fini(&core->strings);
}

const struct core_segment *core_file_segment(const struct core_file *core, uint64_t address)
{
	size_t low = 0, high = core->segments.count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (core->segments.items[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return NULL;
	const struct core_segment *segment = &core->segments.items[low - 1];
	return address - segment->start < segment->memory_size ? segment : NULL;
}

size_t core_file_read(const struct core_file *core, uint64_t address, void *bytes, size_t size)
{
	size_t done = 0;
	while (done < size) {
		const struct core_segment *segment = core_file_segment(core, address + done);
		uint64_t at = segment ? address + done - segment->start : 0;
		if (!segment || at >= segment->file_size)
			break;
		uint64_t part = segment->file_size - at;
		if (part > size - done)
			part = size - done;
		size_t got = 0;
		struct imp_error *err = file_pread(core->fd, core->path, (uint8_t *)bytes + done,
						   (size_t)part, segment->offset + at, &got);
		imp_error_free(err);
		if (err || !got)
			break;
		done += got;
		if (got < part)
			break;
	}
	return done;
}

const struct core_mapped_file *core_file_mapped(const struct core_file *core, uint64_t address)
{
	size_t low = 0, high = core->files.count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (core->files.items[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low && address < core->files.items[low - 1].end ? &core->files.items[low - 1] : NULL;
}
