// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The relocation types that compilers put into debug sections, by machine.
#include "dwarf/relocate.h"

#include <gelf.h>
#include <string.h>

// A type that stores "symbol + addend" as it is.
static const struct plain_relocation {
	uint16_t machine;
	uint8_t size;
	uint32_t type;
} plain_relocations[] = {
	{ EM_X86_64, 8, R_X86_64_64 },	    { EM_X86_64, 4, R_X86_64_32 },
	{ EM_X86_64, 4, R_X86_64_32S },	    { EM_386, 4, R_386_32 },
	{ EM_AARCH64, 8, R_AARCH64_ABS64 }, { EM_AARCH64, 4, R_AARCH64_ABS32 },
	{ EM_ARM, 4, R_ARM_ABS32 },	    { EM_PPC64, 8, R_PPC64_ADDR64 },
	{ EM_PPC64, 4, R_PPC64_ADDR32 },    { EM_PPC, 4, R_PPC_ADDR32 },
	{ EM_S390, 8, R_390_64 },	    { EM_S390, 4, R_390_32 },
	{ EM_RISCV, 8, R_RISCV_64 },	    { EM_RISCV, 4, R_RISCV_32 },
	{ EM_MIPS, 8, R_MIPS_64 },	    { EM_MIPS, 4, R_MIPS_32 },
	{ EM_SPARCV9, 8, R_SPARC_UA64 },    { EM_SPARCV9, 4, R_SPARC_UA32 },
	{ EM_LOONGARCH, 8, R_LARCH_64 },    { EM_LOONGARCH, 4, R_LARCH_32 },
};

static uint8_t plain_size(uint16_t machine, uint64_t type)
{
	for (size_t i = 0; i < sizeof plain_relocations / sizeof *plain_relocations; i++)
		if (plain_relocations[i].machine == machine && plain_relocations[i].type == type)
			return plain_relocations[i].size;
	return 0;
}

static uint64_t load_sized(const uint8_t *at, uint8_t size, bool swap)
{
	if (size == 8) {
		uint64_t value;
		memcpy(&value, at, 8);
		return swap ? __builtin_bswap64(value) : value;
	}
	uint32_t value;
	memcpy(&value, at, 4);
	return swap ? __builtin_bswap32(value) : value;
}

static void store_sized(uint8_t *at, uint8_t size, bool swap, uint64_t value)
{
	if (size == 8) {
		uint64_t stored = swap ? __builtin_bswap64(value) : value;
		memcpy(at, &stored, 8);
		return;
	}
	uint32_t stored = swap ? __builtin_bswap32((uint32_t)value) : (uint32_t)value;
	memcpy(at, &stored, 4);
}

struct relocating {
	const struct section_addresses *addresses;
	Elf_Data *symbols;
	uint8_t *bytes;
	size_t size;
	uint16_t machine;
	bool swap;
};

static bool symbol_value(const struct relocating *job, uint64_t number, uint64_t *ret)
{
	GElf_Sym symbol;
	if (number > INT32_MAX || !gelf_getsym(job->symbols, (int)number, &symbol))
		return false;
	uint64_t base = 0;
	if (symbol.st_shndx < SHN_LORESERVE && job->addresses &&
	    symbol.st_shndx < job->addresses->count)
		base = job->addresses->by_index[symbol.st_shndx];
	*ret = base + symbol.st_value;
	return true;
}

// ADDEND NULL: it stands in the place that is relocated.
static void apply(const struct relocating *job, const GElf_Rel *relocation, const int64_t *addend)
{
	uint8_t size = plain_size(job->machine, GELF_R_TYPE(relocation->r_info));
	uint64_t value;
	if (size == 0 || relocation->r_offset > job->size ||
	    job->size - relocation->r_offset < size ||
	    !symbol_value(job, GELF_R_SYM(relocation->r_info), &value))
		return;
	uint8_t *at = job->bytes + relocation->r_offset;
	value += addend ? (uint64_t)*addend : load_sized(at, size, job->swap);
	store_sized(at, size, job->swap, value);
}

static void apply_table(const struct relocating *job, Elf_Data *table, const GElf_Shdr *header)
{
	size_t count = header->sh_entsize ? header->sh_size / header->sh_entsize : 0;
	for (size_t i = 0; i < count && i <= INT32_MAX; i++) {
		GElf_Rela rela;
		GElf_Rel rel;
		if (header->sh_type == SHT_RELA && gelf_getrela(table, (int)i, &rela)) {
			rel = (GElf_Rel){ .r_offset = rela.r_offset, .r_info = rela.r_info };
			int64_t addend = rela.r_addend;
			apply(job, &rel, &addend);
		} else if (header->sh_type == SHT_REL && gelf_getrel(table, (int)i, &rel)) {
			apply(job, &rel, NULL);
		}
	}
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

static struct imp_error *relocate_by(Elf *elf, Elf_Scn *table, const GElf_Shdr *header,
				     const struct section_addresses *addresses,
				     struct section *section)
{
	GElf_Ehdr ehdr;
	Elf_Scn *symbols = elf_getscn(elf, header->sh_link);
	struct relocating job = { .addresses = addresses,
				  .symbols = symbols ? elf_getdata(symbols, NULL) : NULL };
	Elf_Data *relocations = elf_getdata(table, NULL);
	if (!job.symbols || !relocations || !gelf_getehdr(elf, &ehdr))
		return error_new(IMP_ERR_BAD_DATA, "unreadable relocations");
	struct imp_error *err = own_section(section);
	if (err)
		return err;
	job.bytes = section->owned;
	job.size = section->size;
	job.machine = ehdr.e_machine;
	job.swap = (ehdr.e_ident[EI_DATA] == ELFDATA2MSB) !=
		   (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	apply_table(&job, relocations, header);
	return NULL;
}

struct imp_error *debug_section_relocate(Elf *elf, size_t index,
					 const struct section_addresses *addresses,
					 struct section *section)
{
	for (Elf_Scn *scn = elf_nextscn(elf, NULL); scn; scn = elf_nextscn(elf, scn)) {
		GElf_Shdr header;
		if (!gelf_getshdr(scn, &header) || header.sh_info != index ||
		    (header.sh_type != SHT_RELA && header.sh_type != SHT_REL))
			continue;
		struct imp_error *err = relocate_by(elf, scn, &header, addresses, section);
		if (err)
			return err;
	}
	return NULL;
}
