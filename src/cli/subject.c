// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Reading what people write.
#include "cli/subject.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/hex.h"
#include "cli/process_places.h"
#include "environment/source.h"
#include "live/maps.h"

enum { PREFIX_LEAST = 6, ID_LINES_MOST = 5 };

void subject_fini(struct subject *subject)
{
	free(subject->path);
}

static struct imp_error *set_path(struct subject *subject, const char *path)
{
	subject->path = strdup(path);
	subject->image.path = subject->path;
	return subject->path ? NULL : &imp_error_no_memory;
}

// WORD is at least six hex digits and nothing else ("./deadbeef" is a file).
static bool is_id(const char *word)
{
	if (word[0] == '0' && (word[1] == 'x' || word[1] == 'X'))
		word += 2;
	size_t length = strlen(word);
	for (size_t i = 0; i < length; i++)
		if (hex_digit(word[i]) < 0)
			return false;
	return length >= PREFIX_LEAST && length < BUILD_ID_TEXT_SIZE;
}

static struct imp_error *several(const char *word, const struct found_ids *ids)
{
	_cleanup_buffer_ struct buffer list = { 0 };
	for (size_t i = 0; i < ids->count && i < ID_LINES_MOST; i++)
		buffer_format(&list, "%s%s", i ? ", " : "", build_id_text(&ids->items[i]).text);
	if (ids->count > ID_LINES_MOST)
		buffer_text(&list, ", ...");
	buffer_append(&list, "", 1);
	if (list.failed)
		return &imp_error_no_memory;
	return error_new(IMP_ERR_USAGE, "%s: %zu builds begin so: %s", word, ids->count,
			 (const char *)list.bytes);
}

static struct imp_error *read_id(struct finder *finder, const char *word, struct subject *subject)
{
	_cleanup_found_ids_ struct found_ids ids = { 0 };
	struct build_id whole;
	bool is_whole = build_id_parse(word, &whole);
	const char *digits = word[1] == 'x' || word[1] == 'X' ? word + 2 : word;
	struct imp_error *err = finder_complete(finder, digits, &ids);
	if (err)
		return err;
	bool is_among = ids.count == 0;
	for (size_t i = 0; i < ids.count && is_whole; i++)
		is_among |= build_id_equal(&ids.items[i], &whole);
	if (is_whole && is_among)
		subject->image.id = whole;
	else if (ids.count == 1)
		subject->image.id = ids.items[0];
	else if (ids.count)
		return several(word, &ids);
	else
		return error_new(IMP_ERR_USAGE, "%s: no build that is known here begins so", word);
	return NULL;
}

static struct imp_error *read_file(const char *path, struct subject *subject)
{
	_cleanup_elf_image_ struct elf_image *file = NULL;
	struct imp_error *err = elf_image_open(path, &file);
	if (err)
		return err;
	subject->image.id = *elf_image_id(file);
	subject->is_only_path = !subject->image.id.size;
	if (elf_image_type(file) == ELF_RELOCATABLE)
		subject->image.kind = IMAGE_MODULE;
	_cleanup_free_ char *whole = realpath(path, NULL);
	return set_path(subject, whole ? whole : path);
}

// Takes MAPPING, which is of process TARGET->pid.
static struct imp_error *take_mapping(struct finder *finder, const struct mapping *mapping,
				      const struct mapped_file *file, struct subject *subject)
{
	subject->start = mapping->start;
	subject->end = mapping->end;
	subject->image.kind = mapped_image_kind(file->kind);
	subject->image.id = file->id;
	if (!file->id.size)
		subject->image.identity = IDENTITY_NONE;
	struct imp_error *err = finder_add_process(finder, subject->pid);
	return err ? err : set_path(subject, file->path);
}

static struct imp_error *no_process(uint32_t pid, enum proc_outcome outcome)
{
	return error_new(IMP_ERR_SYSTEM, "process %u: %s", pid,
			 outcome == PROC_FORBIDDEN ? "its mappings may not be read"
						   : "there is no such process");
}

// The mapping of process TARGET->pid at ADDRESS, or (PATH not NULL) the first of the file PATH.
static struct imp_error *read_process(struct finder *finder, uint64_t address, const char *path,
				      struct subject *subject)
{
	_cleanup_proc_ struct proc *proc = NULL;
	_cleanup_mapped_files_ struct mapped_files *files = NULL;
	_cleanup_mappings_ struct mappings mappings = { 0 };
	const struct maps_options options = { .all = true };
	enum proc_outcome outcome = PROC_READ;
	struct imp_error *err = proc_open(NULL, &proc);
	if (!err)
		err = mapped_files_new(0, &files);
	if (!err)
		err = maps_read(proc, subject->pid, &options, files, &mappings, &outcome);
	if (!err && outcome != PROC_READ)
		err = no_process(subject->pid, outcome);
	for (size_t i = 0; i < mappings.count && !err; i++) {
		const struct mapping *mapping = &mappings.items[i];
		const struct mapped_file *file = mapped_files_at(files, mapping->file);
		if (path ? strcmp(file->path, path) != 0
			 : address < mapping->start || address >= mapping->end)
			continue;
		subject->has_offset = !path;
		subject->offset = file_off_of(address - mapping->start +
					      (file->kind == MAPPED_VDSO ? 0 : mapping->offset));
		return take_mapping(finder, mapping, file, subject);
	}
	if (!err && path)
		err = error_new(IMP_ERR_SYSTEM, "process %u has not mapped %s", subject->pid, path);
	return err ? err
		   : error_new(IMP_ERR_SYSTEM, "process %u has nothing mapped at 0x%" PRIx64,
			       subject->pid, address);
}

// Reads a line of maps. Without the process its inode must be the one at the path.
static struct imp_error *read_line(struct finder *finder, const char *line, struct subject *subject)
{
	struct raw_mapping raw;
	const char *at = line;
	if (!maps_next_line(&at, line + strlen(line), &raw))
		return error_new(IMP_ERR_USAGE, "'%s' is no line of maps", line);
	if (subject->pid)
		return read_process(finder, raw.mapping.start, NULL, subject);
	_cleanup_free_ char *path = strndup(raw.name, raw.name_length);
	struct stat status;
	if (!path)
		return &imp_error_no_memory;
	if (path[0] != '/')
		return error_new(IMP_ERR_USAGE, "'%s' is no file: say whose it is with --pid",
				 path);
	if (stat(path, &status) < 0)
		return error_system(errno, "%s: say whose line it is with --pid", path);
	if (status.st_ino != raw.inode)
		return error_new(IMP_ERR_MISMATCH,
				 "%s: mapped was inode %" PRIu64
				 ", there is %ju now: say whose line it is with --pid",
				 path, raw.inode, (uintmax_t)status.st_ino);
	return read_file(path, subject);
}

static bool read_number(const char *word, int base, uint64_t *ret)
{
	char *end;
	errno = 0;
	*ret = strtoull(word, &end, base);
	return !errno && isxdigit((unsigned char)word[0]) && !*end;
}

static struct imp_error *join(const struct operands *words, char **ret)
{
	_cleanup_buffer_ struct buffer line = { 0 };
	for (size_t i = 0; i < words->count; i++)
		buffer_format(&line, "%s%s", i ? " " : "", words->items[i]);
	buffer_append(&line, "", 1);
	if (line.failed)
		return &imp_error_no_memory;
	*ret = (char *)steal(line.bytes);
	return NULL;
}

static bool is_line(const char *word)
{
	unsigned long long start, end;
	char dash;
	return sscanf(word, "%llx%c%llx", &start, &dash, &end) == 3 && dash == '-';
}

static struct imp_error *read_words(struct finder *finder, const struct operands *words,
				    struct subject *subject)
{
	const char *first = words->items[0];
	uint64_t pid, address;
	if (is_line(first)) {
		_cleanup_free_ char *line = NULL;
		struct imp_error *err = join(words, &line);
		return err ? err : read_line(finder, line, subject);
	}
	if (words->count == 1)
		return is_id(first) ? read_id(finder, first, subject) : read_file(first, subject);
	if (words->count > 2 || !read_number(first, 10, &pid) || !pid || pid > INT32_MAX)
		return error_new(IMP_ERR_USAGE, "'%s' is no process", first);
	subject->pid = (uint32_t)pid;
	if (words->items[1][0] == '/')
		return read_process(finder, 0, words->items[1], subject);
	if (!read_number(words->items[1], 16, &address))
		return error_new(IMP_ERR_USAGE, "'%s' is neither an address nor a path",
				 words->items[1]);
	return read_process(finder, address, NULL, subject);
}

struct imp_error *subject_read(struct finder *finder, const struct operands *words, uint32_t pid,
			       struct subject *ret)
{
	struct subject subject = { .pid = pid };
	subject.image.kind = IMAGE_USER;
	subject.image.identity = IDENTITY_MAP_TIME;
	if (!words->count)
		return error_new(IMP_ERR_USAGE, "what is to be looked for is missing");
	struct imp_error *err = read_words(finder, words, &subject);
	if (err)
		subject_fini(&subject);
	else
		*ret = subject;
	return err;
}

// The mapping of PROCESS at ADDRESS, or (PATH not NULL) the first of the file that it saw at PATH.
static const struct snapshot_mapping *find_mapping(const struct snapshot *snapshot,
						   const struct snapshot_process *process,
						   uint64_t address, const char *path)
{
	if (!path)
		return snapshot_locate(snapshot, process, address);
	for (size_t i = 0; i < process->mapping_count; i++) {
		const struct snapshot_mapping *mapping =
			&snapshot->mappings.items[process->first_mapping + i];
		const char *mapped = snapshot->images.items[mapping->image].path;
		if (!strcmp(mapped, path) ||
		    !strcmp(snapshot_path_in_root(process->root, mapped), path))
			return mapping;
	}
	return NULL;
}

static struct imp_error *take_snapshot_mapping(const struct snapshot *snapshot,
					       const struct snapshot_mapping *mapping,
					       struct subject *subject)
{
	const struct snapshot_image *image = &snapshot->images.items[mapping->image];
	subject->start = mapping->start;
	subject->end = mapping->start + mapping->size;
	subject->image.kind = mapped_image_kind(image->kind);
	subject->image.identity = image->id.size ? IDENTITY_MAP_TIME : IDENTITY_NONE;
	subject->image.id = image->id;
	return set_path(subject, image->path);
}

static struct imp_error *read_in_snapshot(const struct snapshot *snapshot,
					  const struct snapshot_process *process, const char *word,
					  struct subject *subject)
{
	const char *path = word[0] == '/' ? word : NULL;
	uint64_t address = 0;
	if (!path && !read_number(word, 16, &address))
		return error_new(IMP_ERR_USAGE, "'%s' is neither an address nor a path", word);
	const struct snapshot_mapping *mapping = find_mapping(snapshot, process, address, path);
	if (!mapping && path)
		return error_new(IMP_ERR_SYSTEM, "process %u had not mapped %s", process->pid,
				 path);
	if (!mapping)
		return error_new(IMP_ERR_SYSTEM, "process %u had no code mapped at 0x%" PRIx64,
				 process->pid, address);
	struct imp_error *err = take_snapshot_mapping(snapshot, mapping, subject);
	subject->has_offset = !path;
	subject->offset = file_off_of(address - mapping->start +
				      (subject->image.kind == IMAGE_VDSO ? 0 : mapping->offset));
	return err;
}

struct imp_error *subject_read_snapshot(const char *name, const struct operands *words,
					uint32_t pid, struct subject *ret)
{
	_cleanup_snapshot_ struct snapshot *snapshot = NULL;
	const struct snapshot_process *process = NULL;
	uint64_t number = pid;
	if (words->count < 1 || words->count > 2)
		return error_new(IMP_ERR_USAGE,
				 "with --snapshot an address or a path is asked for");
	if (words->count == 2 &&
	    (!read_number(words->items[0], 10, &number) || !number || number > INT32_MAX))
		return error_new(IMP_ERR_USAGE, "'%s' is no process", words->items[0]);
	struct imp_error *err = source_snapshot(name, NULL, &snapshot);
	if (!err)
		err = snapshot_process_chosen(snapshot, name, (uint32_t)number, &process);
	struct subject subject = { 0 };
	if (!err)
		err = read_in_snapshot(snapshot, process, words->items[words->count - 1], &subject);
	if (err)
		subject_fini(&subject);
	else
		*ret = subject;
	return err;
}

struct imp_error *subject_find(struct finder *finder, struct subject *subject,
			       const struct finding **ret)
{
	static const enum image_kind kinds[] = { IMAGE_MODULE, IMAGE_KERNEL, IMAGE_VDSO };
	const struct finding *finding;
	struct imp_error *err = finder_find(finder, &subject->image, &finding);
	if (!err)
		*ret = finding;
	// An ID alone does not tell what it is of.
	for (size_t i = 0; !err && !subject->path && !finding->image && i < 3; i++) {
		struct image image = subject->image;
		image.kind = kinds[i];
		err = finder_find(finder, &image, &finding);
		if (!err && (finding->image || finding->kallsyms)) {
			subject->image.kind = kinds[i];
			*ret = finding;
		}
	}
	return err;
}
