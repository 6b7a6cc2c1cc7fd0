// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Going through the section headers once.
#include "elf/elf_brief.h"

#include <stdlib.h>
#include <string.h>

#include "elf/elf_header.h"
#include "elf/elf_reader.h"

enum { MOST_SECTIONS = 1 << 16, MOST_NAMES = 1 << 20, ELF64_HEADER_SIZE = 64 };

// The section headers, or NULL (with *count 0) when there are none that can be read.
static struct elf_section_header *read_sections(struct elf_reader *reader,
						struct elf_header *header, uint32_t *count)
{
	*count = 0;
	size_t size = header->section_header_size;
	const uint8_t *first = header->section_headers
				       ? elf_reader_span(reader, header->section_headers, size)
				       : NULL;
	if (!first)
		return NULL;
	struct elf_section_header zero = elf_section_header_read(header, first);
	if (elf_header_is_extended(header))
		elf_header_extend(header, &zero);
	uint32_t wanted = header->section_header_count;
	if (!wanted || wanted > MOST_SECTIONS)
		return NULL;
	struct elf_section_header *sections = calloc(wanted, sizeof *sections);
	for (uint32_t i = 0; sections && i < wanted; i++) {
		const uint8_t *bytes =
			elf_reader_span(reader, header->section_headers + i * size, size);
		if (!bytes)
			break;
		sections[i] = elf_section_header_read(header, bytes);
		*count = i + 1;
	}
	return sections;
}

// The table of names, cut to MOST_NAMES bytes and ended with NUL; free it.
static char *read_names(struct elf_reader *reader, const struct elf_section_header *section,
			size_t *size)
{
	*size = section->size < MOST_NAMES ? (size_t)section->size : MOST_NAMES;
	char *names = malloc(*size + 1);
	if (names) {
		*size = elf_reader_copy(reader, section->offset, (uint8_t *)names, *size);
		names[*size] = 0;
	}
	return names;
}

struct code {
	bool has_hollow, has_full;
};

static void look_at_section(const struct elf_section_header *section, const char *name,
			    struct elf_brief *brief, struct code *code)
{
	bool has_bytes = section->type != SHT_NOBITS && section->size > 0;
	if ((section->flags & SHF_EXECINSTR) && (section->flags & SHF_ALLOC)) {
		code->has_hollow |= section->type == SHT_NOBITS;
		code->has_full |= section->type != SHT_NOBITS;
	}
	brief->has_symtab |= section->type == SHT_SYMTAB && section->size > section->entry_size;
	brief->has_dwarf |= has_bytes &&
			    (!strcmp(name, ".debug_info") || !strcmp(name, ".zdebug_info"));
	brief->has_debugdata |= has_bytes && !strcmp(name, ".gnu_debugdata");
	brief->is_module |= has_bytes && !strcmp(name, ".modinfo");
}

static void look(struct elf_reader *reader, struct elf_brief *ret)
{
	*ret = (struct elf_brief){ 0 };
	const uint8_t *head = elf_reader_span(reader, 0, ELF64_HEADER_SIZE);
	struct elf_header header;
	if (!head || !elf_header_read(head, ELF64_HEADER_SIZE, &header))
		return;
	ret->type = header.type;
	uint32_t count;
	struct elf_section_header *sections = read_sections(reader, &header, &count);
	struct code code = { 0 };
	size_t size = 0;
	char *names = header.name_section < count
			      ? read_names(reader, &sections[header.name_section], &size)
			      : NULL;
	for (uint32_t i = 1; names && i < count; i++)
		look_at_section(&sections[i],
				sections[i].name < size ? names + sections[i].name : "", ret,
				&code);
	ret->is_debug_file = !code.has_full && (code.has_hollow || ret->has_dwarf);
	free(names);
	free(sections);
}

struct imp_error *elf_brief_read_fd(int fd, const char *path, struct elf_brief *ret)
{
	struct elf_reader reader;
	elf_reader_over_fd(&reader, fd, 0);
	look(&reader, ret);
	return reader.error ? error_system(reader.error, "%s: cannot read", path) : NULL;
}

void elf_brief_read_memory(const void *bytes, size_t size, struct elf_brief *ret)
{
	struct elf_reader reader;
	elf_reader_over_memory(&reader, bytes, size);
	look(&reader, ret);
}
