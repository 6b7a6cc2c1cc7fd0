// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The relocation types that compilers put into debug sections, by machine.
#include "dwarf/relocate.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "dwarf/leb.h"

enum operation { STORE, ADD, SUBTRACT };

// What a type does with "symbol + addend". Where instructions may still be removed (RISC-V,
// LoongArch), a distance is written as an addition and a subtraction.
static const struct relocation_def {
	uint16_t machine;
	uint8_t size;
	uint8_t operation;
	uint32_t type;
} relocation_defs[] = {
	{ EM_X86_64, 8, STORE, R_X86_64_64 },
	{ EM_X86_64, 4, STORE, R_X86_64_32 },
	{ EM_X86_64, 4, STORE, R_X86_64_32S },
	{ EM_386, 4, STORE, R_386_32 },
	{ EM_AARCH64, 8, STORE, R_AARCH64_ABS64 },
	{ EM_AARCH64, 4, STORE, R_AARCH64_ABS32 },
	{ EM_ARM, 4, STORE, R_ARM_ABS32 },
	{ EM_PPC64, 8, STORE, R_PPC64_ADDR64 },
	{ EM_PPC64, 4, STORE, R_PPC64_ADDR32 },
	{ EM_PPC, 4, STORE, R_PPC_ADDR32 },
	{ EM_S390, 8, STORE, R_390_64 },
	{ EM_S390, 4, STORE, R_390_32 },
	{ EM_MIPS, 8, STORE, R_MIPS_64 },
	{ EM_MIPS, 4, STORE, R_MIPS_32 },
	{ EM_SPARCV9, 8, STORE, R_SPARC_UA64 },
	{ EM_SPARCV9, 4, STORE, R_SPARC_UA32 },
	{ EM_RISCV, 8, STORE, R_RISCV_64 },
	{ EM_RISCV, 4, STORE, R_RISCV_32 },
	{ EM_RISCV, 1, ADD, R_RISCV_ADD8 },
	{ EM_RISCV, 2, ADD, R_RISCV_ADD16 },
	{ EM_RISCV, 4, ADD, R_RISCV_ADD32 },
	{ EM_RISCV, 8, ADD, R_RISCV_ADD64 },
	{ EM_RISCV, 1, SUBTRACT, R_RISCV_SUB8 },
	{ EM_RISCV, 2, SUBTRACT, R_RISCV_SUB16 },
	{ EM_RISCV, 4, SUBTRACT, R_RISCV_SUB32 },
	{ EM_RISCV, 8, SUBTRACT, R_RISCV_SUB64 },
	{ EM_RISCV, 1, STORE, R_RISCV_SET8 },
	{ EM_RISCV, 2, STORE, R_RISCV_SET16 },
	{ EM_RISCV, 4, STORE, R_RISCV_SET32 },
	{ EM_LOONGARCH, 8, STORE, R_LARCH_64 },
	{ EM_LOONGARCH, 4, STORE, R_LARCH_32 },
	{ EM_LOONGARCH, 1, ADD, R_LARCH_ADD8 },
	{ EM_LOONGARCH, 2, ADD, R_LARCH_ADD16 },
	{ EM_LOONGARCH, 4, ADD, R_LARCH_ADD32 },
	{ EM_LOONGARCH, 8, ADD, R_LARCH_ADD64 },
	{ EM_LOONGARCH, 1, SUBTRACT, R_LARCH_SUB8 },
	{ EM_LOONGARCH, 2, SUBTRACT, R_LARCH_SUB16 },
	{ EM_LOONGARCH, 4, SUBTRACT, R_LARCH_SUB32 },
	{ EM_LOONGARCH, 8, SUBTRACT, R_LARCH_SUB64 },
};

static const struct relocation_def *relocation_def_of(uint16_t machine, uint64_t type)
{
	for (size_t i = 0; i < sizeof relocation_defs / sizeof *relocation_defs; i++)
		if (relocation_defs[i].machine == machine && relocation_defs[i].type == type)
			return &relocation_defs[i];
	return NULL;
}

static uint64_t load_sized(const uint8_t *at, uint8_t size, bool swap)
{
	struct cursor cursor = cursor_over(at, size);
	cursor.swap = swap;
	return cursor_sized(&cursor, size);
}

static void store_sized(uint8_t *at, uint8_t size, bool swap, uint64_t value)
{
	bool big = (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) != swap;
	for (uint8_t i = 0; i < size; i++)
		at[big ? size - 1 - i : i] = (uint8_t)(value >> 8 * i);
}

struct relocating {
	const struct elf_image *image;
	struct cursor symbols;
	uint8_t *bytes;
	size_t size;
	uint16_t machine;
	bool is_64bit;
	bool swap;
};

struct relocation {
	uint64_t offset, symbol;
	int64_t addend;
	uint32_t type;
	bool has_addend;
};

static struct relocation read_relocation(const struct relocating *job, struct cursor *table,
					 bool has_addend)
{
	struct relocation relocation = { .has_addend = has_addend };
	if (job->is_64bit) {
		relocation.offset = cursor_u64(table);
		uint64_t both = cursor_u64(table);
		relocation.symbol = both >> 32;
		relocation.type = (uint32_t)both;
		// MIPS keeps the symbol in the first word and three types in the bytes of the
		// other.
		if (job->machine == EM_MIPS &&
		    job->swap == (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)) {
			relocation.symbol = (uint32_t)both;
			relocation.type = (uint32_t)(both >> 56);
		}
		relocation.addend = has_addend ? (int64_t)cursor_u64(table) : 0;
		return relocation;
	}
	relocation.offset = cursor_u32(table);
	uint32_t both = cursor_u32(table);
	relocation.symbol = both >> 8;
	relocation.type = both & 0xff;
	relocation.addend = has_addend ? (int32_t)cursor_u32(table) : 0;
	return relocation;
}

static bool symbol_value(const struct relocating *job, uint64_t number, uint64_t *ret)
{
	struct cursor symbol = job->symbols;
	size_t size = job->is_64bit ? 24 : 16;
	if (number > symbol.size / size)
		return false;
	symbol.at = (size_t)number * size;
	cursor_skip(&symbol, job->is_64bit ? 6 : 4);
	uint64_t value = 0;
	if (!job->is_64bit) {
		value = cursor_u32(&symbol);
		cursor_skip(&symbol, 6);
	}
	uint16_t section = cursor_u16(&symbol);
	if (job->is_64bit)
		value = cursor_u64(&symbol);
	if (symbol.failed)
		return false;
	uint64_t base = 0;
	if (section < SHN_LORESERVE && section < elf_image_section_count(job->image))
		base = elf_image_section(job->image, section)->address;
	*ret = base + value;
	return true;
}

static void apply(const struct relocating *job, const struct relocation *relocation)
{
	const struct relocation_def *def = relocation_def_of(job->machine, relocation->type);
	uint64_t value;
	if (!def || relocation->offset > job->size || job->size - relocation->offset < def->size ||
	    !symbol_value(job, relocation->symbol, &value))
		return;
	uint8_t *at = job->bytes + relocation->offset;
	uint64_t present = load_sized(at, def->size, job->swap);
	bool is_distance = def->operation != STORE;
	value += relocation->has_addend ? (uint64_t)relocation->addend : is_distance ? 0 : present;
	if (is_distance)
		value = def->operation == ADD ? present + value : present - value;
	store_sized(at, def->size, job->swap, value);
}

// A copy that may be written to.
static struct imp_error *own_section(struct section *section)
{
	if (section->owned)
		return NULL;
	uint8_t *copy = malloc(section->size);
	if (!copy)
		return &imp_error_no_memory;
	memcpy(copy, section->bytes, section->size);
	*section = (struct section){ .bytes = copy, .size = section->size, .owned = copy };
	return NULL;
}

static struct imp_error *relocate_by(const struct elf_image *image, const struct elf_section *table,
				     struct section *section)
{
	const struct elf_section *symbols = table->link < elf_image_section_count(image)
						    ? elf_image_section(image, table->link)
						    : NULL;
	struct imp_error *err = own_section(section);
	if (err || !symbols)
		return err;
	struct relocating job = { .image = image,
				  .symbols = elf_image_section_bytes(image, symbols),
				  .bytes = section->owned,
				  .size = section->size,
				  .machine = elf_image_machine(image),
				  .is_64bit = elf_image_is_64bit(image),
				  .swap = elf_image_is_swapped(image) };
	struct cursor entries = elf_image_section_bytes(image, table);
	while (cursor_left(&entries)) {
		struct relocation relocation =
			read_relocation(&job, &entries, table->type == SHT_RELA);
		if (entries.failed)
			break;
		apply(&job, &relocation);
	}
	return NULL;
}

struct imp_error *debug_section_relocate(const struct elf_image *image, size_t index,
					 struct section *section)
{
	for (size_t i = 0; i < elf_image_section_count(image); i++) {
		const struct elf_section *table = elf_image_section(image, i);
		if (table->info != index || (table->type != SHT_RELA && table->type != SHT_REL))
			continue;
		struct imp_error *err = relocate_by(image, table, section);
		if (err)
			return err;
	}
	return NULL;
}
