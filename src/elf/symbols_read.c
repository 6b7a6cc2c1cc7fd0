// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// From the symbol tables of ELF files to items.
#include <elf.h>
#include <string.h>

#include "elf/symbols_build.h"
#include "elf/unpack.h"

enum { DEBUGDATA_MOST = 256 << 20 };

struct raw_symbol {
	uint64_t value, size;
	uint32_t name;
	uint16_t section;
	uint8_t kind;
};

static struct raw_symbol read_raw(struct cursor *table, bool is_64bit)
{
	struct raw_symbol raw = { .name = cursor_u32(table) };
	if (!is_64bit) {
		raw.value = cursor_u32(table);
		raw.size = cursor_u32(table);
	}
	raw.kind = cursor_u8(table);
	cursor_u8(table);
	raw.section = cursor_u16(table);
	if (is_64bit) {
		raw.value = cursor_u64(table);
		raw.size = cursor_u64(table);
	}
	return raw;
}

// "$a", "$t.2", "$d", "$x", "$xrv64i…": marks of the assembler for what follows, code or data.
static bool is_mapping_symbol(const char *name, uint16_t machine)
{
	if (machine != EM_ARM && machine != EM_AARCH64 && machine != EM_RISCV)
		return false;
	if (name[0] != '$' || !name[1] || !strchr("atdx", name[1]))
		return false;
	return !name[2] || name[2] == '.' || !strncmp(name, "$xrv", 4);
}

// One symbol table of one file, on its way into SYMBOLS.
struct reading {
	struct symbols *symbols;
	const struct elf_image *file;
	const struct elf_image *content;
	struct cursor names;
	// Of each section of FILE, the number of its end in SYMBOLS; 0 where not added yet.
	uint32_t *ends;
	enum symbol_source source;
	uint16_t machine;
	// What FILE's addresses have more than CONTENT's.
	uint64_t shift;
	// Names need no search for their end.
	bool names_end_well;
};

static const char *name_of(const struct reading *reading, uint32_t offset)
{
	const struct cursor *names = &reading->names;
	if (offset >= names->size)
		return NULL;
	const char *name = (const char *)names->start + offset;
	if (!reading->names_end_well && !memchr(name, 0, names->size - offset))
		return NULL;
	return name;
}

// A function's descriptor in ppc64's .opd begins with the address of its code.
static uint64_t code_of_descriptor(const struct reading *reading, const struct elf_section *opd,
				   uint64_t value)
{
	const struct elf_section *section = elf_image_section_named(reading->content, ".opd");
	if (!section || section->address != opd->address)
		return value;
	struct cursor bytes = elf_image_section_bytes(reading->content, section);
	uint64_t offset = value - section->address;
	if (offset > bytes.size || !cursor_skip(&bytes, (size_t)offset))
		return value;
	uint64_t code = cursor_u64(&bytes);
	return bytes.failed ? value : code;
}

static bool is_wanted(const struct raw_symbol *raw, const struct elf_section *section)
{
	if (!(section->flags & SHF_ALLOC))
		return false;
	switch (raw->kind & 15) {
	case STT_FUNC:
	case STT_GNU_IFUNC:
		return true;
	case STT_NOTYPE:
		return section->flags & SHF_EXECINSTR;
	default:
		return false;
	}
}

// The address that RAW of SECTION has in memory.
static uint64_t address_of(const struct reading *reading, const struct raw_symbol *raw,
			   const struct elf_section *section)
{
	uint64_t value = raw->value;
	if (elf_image_type(reading->file) == ELF_RELOCATABLE)
		return value + section->address;
	if (reading->machine == EM_PPC64 && !strcmp(section->name, ".opd"))
		return code_of_descriptor(reading, section, value);
	// Bit 0 says that the code is Thumb's.
	if (reading->machine == EM_ARM && (raw->kind & 15) == STT_FUNC)
		return value & ~UINT64_C(1);
	return value;
}

static uint32_t end_of(struct reading *reading, uint32_t index, const struct elf_section *section)
{
	if (!reading->ends[index])
		reading->ends[index] = symbols_add_end(
			reading->symbols, section->address + section->size - reading->shift);
	return reading->ends[index];
}

static struct imp_error *add_symbol(struct reading *reading, const struct raw_symbol *raw)
{
	if (raw->section == SHN_UNDEF || raw->section >= elf_image_section_count(reading->file))
		return NULL;
	const struct elf_section *section = elf_image_section(reading->file, raw->section);
	const char *name = name_of(reading, raw->name);
	if (!is_wanted(raw, section) || !name || !*name ||
	    is_mapping_symbol(name, reading->machine))
		return NULL;
	const char *version = strchr(name, '@');
	if (version && version[1] == '@')
		name = symbols_keep_name(reading->symbols, name, (size_t)(version - name));
	struct symbol_item *item = array_add(&reading->symbols->items);
	if (!item || !name)
		return &imp_error_no_memory;
	*item = (struct symbol_item){ .address = address_of(reading, raw, section) - reading->shift,
				      .size = raw->size,
				      .name = name,
				      .section = end_of(reading, raw->section, section),
				      .type = raw->kind & 15,
				      .binding = raw->kind >> 4,
				      .source = (uint8_t)reading->source };
	return NULL;
}

static struct imp_error *read_table(struct reading *reading, const struct elf_section *section)
{
	bool is_64bit = elf_image_is_64bit(reading->file);
	size_t each = is_64bit ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
	struct cursor table = elf_image_section_bytes(reading->file, section);
	if (section->link >= elf_image_section_count(reading->file))
		return NULL;
	reading->names = elf_image_section_bytes(reading->file,
						 elf_image_section(reading->file, section->link));
	const struct cursor *names = &reading->names;
	reading->names_end_well = names->size && names->start[names->size - 1] == 0;
	struct imp_error *err = NULL;
	while (!err && cursor_left(&table) >= each) {
		struct raw_symbol raw = read_raw(&table, is_64bit);
		err = add_symbol(reading, &raw);
	}
	return err;
}

bool elf_symbol_address(const struct elf_image *image, const char *name, elf_addr *ret)
{
	bool is_64bit = elf_image_is_64bit(image);
	size_t each = is_64bit ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
	for (size_t i = 0; i < elf_image_section_count(image); i++) {
		const struct elf_section *section = elf_image_section(image, i);
		if (section->type != SHT_SYMTAB || section->link >= elf_image_section_count(image))
			continue;
		struct cursor table = elf_image_section_bytes(image, section);
		const struct reading reading = {
			.names = elf_image_section_bytes(image,
							 elf_image_section(image, section->link)),
		};
		while (cursor_left(&table) >= each) {
			struct raw_symbol raw = read_raw(&table, is_64bit);
			const char *own = name_of(&reading, raw.name);
			if (!own || raw.section == SHN_UNDEF || strcmp(own, name) != 0)
				continue;
			*ret = elf_addr_of(raw.value);
			return true;
		}
	}
	return false;
}

struct imp_error *symbols_read(struct symbols *symbols, const struct elf_image *file,
			       const struct elf_image *content, uint32_t type,
			       enum symbol_source source)
{
	size_t count = elf_image_section_count(file);
	_cleanup_free_ uint32_t *ends = calloc(count + 1, sizeof *ends);
	if (!ends)
		return &imp_error_no_memory;
	struct reading reading = { .symbols = symbols,
				   .file = file,
				   .content = content,
				   .ends = ends,
				   .source = source,
				   .machine = elf_image_machine(file) };
	struct imp_error *err = NULL;
	if (!elf_image_shift(content, file, &reading.shift))
		return NULL;
	for (size_t i = 0; i < count && !err; i++)
		if (elf_image_section(file, i)->type == type)
			err = read_table(&reading, elf_image_section(file, i));
	return err;
}

// Opens the small ELF file inside .gnu_debugdata and keeps it in SYMBOLS. A damaged one counts as
// absent: the other tables are still good.
static struct imp_error *read_debugdata(struct symbols *symbols, const struct elf_image *image)
{
	const struct elf_section *section = elf_image_section_named(image, ".gnu_debugdata");
	if (!section)
		return NULL;
	struct cursor packed = elf_image_section_bytes(image, section);
	_cleanup_buffer_ struct buffer whole = { 0 };
	_cleanup_elf_image_ struct elf_image *inner = NULL;
	struct imp_error *err = unpack_xz(packed.start, packed.size, DEBUGDATA_MOST, &whole);
	if (!err)
		err = elf_image_open_memory(whole.bytes, whole.size, ".gnu_debugdata", &inner);
	if (err && imp_error_code(err) != IMP_ERR_NO_MEMORY) {
		imp_error_free(err);
		return NULL;
	}
	struct elf_image **slot = err ? NULL : array_add(&symbols->images);
	if (!slot)
		return &imp_error_no_memory;
	*slot = steal(inner);
	return symbols_read(symbols, *slot, image, SHT_SYMTAB, SYMBOL_DEBUGDATA);
}

static struct imp_error *read_all(struct symbols *symbols, const struct elf_image *image,
				  const struct elf_image *debug)
{
	const struct elf_image *content = image ? image : debug;
	const struct elf_image *named = debug ? debug : image;
	struct imp_error *err = symbols_read(symbols, named, content, SHT_SYMTAB, SYMBOL_SYMTAB);
	if (!err && symbols->items.count == 0 && named != content)
		err = symbols_read(symbols, content, content, SHT_SYMTAB, SYMBOL_SYMTAB);
	if (!err && symbols->items.count == 0)
		err = read_debugdata(symbols, content);
	// Always: a .symtab from which some were stripped may miss what .dynsym has.
	if (!err)
		err = symbols_read(symbols, content, content, SHT_DYNSYM, SYMBOL_DYNSYM);
	if (!err)
		err = symbols_index(symbols);
	size_t before = symbols->items.count;
	if (!err)
		err = symbols_read_plt(symbols, content);
	return !err && symbols->items.count > before ? symbols_index(symbols) : err;
}

struct imp_error *symbols_new(const struct elf_image *image, const struct elf_image *debug,
			      struct symbols **ret)
{
	_cleanup_symbols_ struct symbols *symbols = symbols_alloc();
	if (!symbols)
		return &imp_error_no_memory;
	struct imp_error *err = image || debug ? read_all(symbols, image, debug)
					       : symbols_index(symbols);
	if (!err)
		*ret = steal(symbols);
	return err;
}
