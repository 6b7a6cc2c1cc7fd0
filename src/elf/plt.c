// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// NAME@plt for the entries of procedure linkage tables, which no symbol names.
//
// An entry jumps through a slot of the global offset table, and a relocation says whose address the
// slot gets. The entries are decoded rather than counted: .plt, .plt.sec (CET) and .plt.got, of GNU
// ld and of lld, lie differently, but each must load its slot.
#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "elf/symbols_build.h"

enum { NO_SLOT = -1, ENTRY_MOST = 1 << 20, R_ARM64_IRELATIVE = 1032 };

// What a relocation puts into a slot.
struct slot {
	uint64_t address;
	// The symbol's name; or NULL, and the resolver's address (an indirect function).
	const char *name;
	uint64_t resolver;
};

struct plt_reading {
	struct symbols *symbols;
	const struct elf_image *image;
	// By address.
	ARRAY_OF(struct slot) slots;
	// Those of .rela.plt in its order, which lazy entries push the number of.
	ARRAY_OF(struct slot) lazy;
	uint64_t table_base;
	uint16_t machine;
};

// One entry, decoded: it loads the slot at ADDRESS, or pushes the number LAZY.
struct target {
	uint64_t address;
	int64_t lazy;
	bool is_known;
};

static bool is_indirect(uint16_t machine, uint32_t type)
{
	switch (machine) {
	case EM_X86_64:
		return type == R_X86_64_IRELATIVE;
	case EM_386:
		return type == R_386_IRELATIVE;
	case EM_AARCH64:
		return type == R_ARM64_IRELATIVE;
	default:
		return false;
	}
}

static const char *symbol_name(const struct elf_image *image, const struct elf_section *table,
			       uint32_t index)
{
	bool wide = elf_image_is_64bit(image);
	if (table->link >= elf_image_section_count(image))
		return NULL;
	struct cursor symbols = elf_image_section_bytes(image, table);
	struct cursor names = elf_image_section_bytes(image, elf_image_section(image, table->link));
	if (!cursor_skip(&symbols, (size_t)index * (wide ? 24 : 16)))
		return NULL;
	uint32_t at = cursor_u32(&symbols);
	if (symbols.failed || !cursor_skip(&names, at))
		return NULL;
	const char *name = cursor_string(&names);
	return name && *name ? name : NULL;
}

static bool add_slot(struct plt_reading *reading, struct slot slot, bool is_lazy)
{
	struct slot *ours = array_add(&reading->slots);
	if (ours)
		*ours = slot;
	struct slot *numbered = is_lazy ? array_add(&reading->lazy) : ours;
	if (numbered)
		*numbered = slot;
	return ours && numbered;
}

static bool read_relocations(struct plt_reading *reading, const struct elf_section *section)
{
	const struct elf_image *image = reading->image;
	bool wide = elf_image_is_64bit(image), has_addend = section->type == SHT_RELA;
	bool is_lazy = !strcmp(section->name, ".rela.plt") || !strcmp(section->name, ".rel.plt");
	size_t each = (wide ? 8u : 4u) * (has_addend ? 3u : 2u);
	struct cursor bytes = elf_image_section_bytes(image, section);
	const struct elf_section *table = section->link < elf_image_section_count(image)
						  ? elf_image_section(image, section->link)
						  : NULL;
	while (cursor_left(&bytes) >= each) {
		struct slot slot = { .address = wide ? cursor_u64(&bytes) : cursor_u32(&bytes) };
		uint64_t how = wide ? cursor_u64(&bytes) : cursor_u32(&bytes);
		if (has_addend)
			slot.resolver = wide ? cursor_u64(&bytes) : cursor_u32(&bytes);
		uint32_t symbol = (uint32_t)(wide ? how >> 32 : how >> 8);
		uint32_t type = (uint32_t)(wide ? how : how & 0xff);
		if (symbol && table)
			slot.name = symbol_name(image, table, symbol);
		bool is_named = slot.name || (has_addend && is_indirect(reading->machine, type));
		if (!is_named)
			slot.resolver = 0;
		if ((is_named || is_lazy) && !add_slot(reading, slot, is_lazy))
			return false;
	}
	return true;
}

static uint32_t little_u32(const uint8_t *bytes)
{
	return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
	       (uint32_t)bytes[3] << 24;
}

static struct target decode_x86(const struct plt_reading *reading, const uint8_t *code, size_t size,
				uint64_t address)
{
	bool wide = reading->machine == EM_X86_64;
	size_t at = 0;
	// endbr64 or endbr32, then bnd.
	if (size >= 4 && code[0] == 0xf3 && code[1] == 0x0f && code[2] == 0x1e)
		at = 4;
	if (at + 5 <= size && code[at] == 0x68)
		return (struct target){ .lazy = little_u32(code + at + 1) / (wide ? 1 : 8),
					.address = UINT64_MAX,
					.is_known = true };
	if (at < size && code[at] == 0xf2)
		at++;
	if (at + 6 > size || code[at] != 0xff)
		return (struct target){ 0 };
	uint64_t value = little_u32(code + at + 2);
	struct target target = { .lazy = NO_SLOT, .is_known = true };
	if (wide && code[at + 1] == 0x25)
		target.address = address + at + 6 + (uint64_t)(int64_t)(int32_t)value;
	else if (!wide && code[at + 1] == 0x25)
		target.address = value;
	else if (!wide && code[at + 1] == 0xa3)
		target.address = (uint32_t)(reading->table_base + value);
	else
		target.is_known = false;
	return target;
}

// [bti c] adrp x16, PAGE; ldr x17, [x16, #OFFSET]
static struct target decode_arm64(const uint8_t *code, size_t size, uint64_t address)
{
	size_t at = size >= 4 && little_u32(code) == 0xd503245f ? 4 : 0;
	if (at + 8 > size)
		return (struct target){ 0 };
	uint32_t adrp = little_u32(code + at), ldr = little_u32(code + at + 4);
	if ((adrp & 0x9f00001f) != 0x90000010 || (ldr & 0xffc003ff) != 0xf9400211)
		return (struct target){ 0 };
	uint64_t pages = (uint64_t)((adrp >> 5 & 0x7ffff) << 2 | (adrp >> 29 & 3));
	// A signed number of 21 bits.
	pages = (pages ^ 0x100000) - 0x100000;
	uint64_t page = ((address + at) & ~UINT64_C(0xfff)) + (pages << 12);
	return (struct target){ .address = page + ((ldr >> 10 & 0xfff) << 3),
				.lazy = NO_SLOT,
				.is_known = true };
}

// auipc t3, HIGH; l[wd] t3, LOW(t3)
static struct target decode_riscv(const uint8_t *code, size_t size, uint64_t address)
{
	if (size < 8)
		return (struct target){ 0 };
	uint32_t auipc = little_u32(code), load = little_u32(code + 4);
	if ((auipc & 0xfff) != 0xe17 || (load & 0xfefff) != (0xe2e03 | (load & 0x1000)))
		return (struct target){ 0 };
	uint64_t high = (uint64_t)(int64_t)(int32_t)(auipc & 0xfffff000);
	uint64_t low = (uint64_t)((int64_t)(int32_t)load >> 20);
	return (struct target){ .address = address + high + low,
				.lazy = NO_SLOT,
				.is_known = true };
}

static struct target decode(const struct plt_reading *reading, const uint8_t *code, size_t size,
			    uint64_t address)
{
	switch (reading->machine) {
	case EM_X86_64:
	case EM_386:
		return decode_x86(reading, code, size, address);
	case EM_AARCH64:
		return decode_arm64(code, size, address);
	case EM_RISCV:
		return decode_riscv(code, size, address);
	default:
		return (struct target){ 0 };
	}
}

static int compare_slots(const void *left, const void *right)
{
	const struct slot *a = left, *b = right;
	return (a->address > b->address) - (a->address < b->address);
}

static const struct slot *slot_of(const struct plt_reading *reading, const struct target *target)
{
	if (target->lazy >= 0)
		return (size_t)target->lazy < reading->lazy.count
			       ? &reading->lazy.items[target->lazy]
			       : NULL;
	struct slot key = { .address = target->address };
	return reading->slots.count ? bsearch(&key, reading->slots.items, reading->slots.count,
					      sizeof key, compare_slots)
				    : NULL;
}

static const char *target_name(const struct plt_reading *reading, const struct slot *slot)
{
	if (slot->name)
		return slot->name;
	struct symbol resolver;
	if (slot->resolver &&
	    symbols_at(reading->symbols, elf_addr_of(slot->resolver), &resolver) &&
	    resolver.address.value == slot->resolver)
		return resolver.name;
	return NULL;
}

static bool add_entry(struct plt_reading *reading, uint64_t address, uint64_t size,
		      const struct slot *slot)
{
	const char *target = target_name(reading, slot);
	if (!target)
		return true;
	_cleanup_free_ char *text = NULL;
	int length = asprintf(&text, "%s@plt", target);
	if (length < 0) {
		text = NULL;
		return false;
	}
	const char *name = symbols_keep_name(reading->symbols, text, (size_t)length);
	struct symbol_item *item = array_add(&reading->symbols->items);
	if (!name || !item)
		return false;
	*item = (struct symbol_item){ .address = address,
				      .size = size,
				      .name = name,
				      .type = STT_FUNC,
				      .source = SYMBOL_PLT };
	return true;
}

// Entries begin at multiples of 16 bytes, in the .plt.got of x86 without CET of 8.
static bool read_entries(struct plt_reading *reading, const struct elf_section *section)
{
	size_t step = section->entry_size == 8 || section->entry_size == 24
			      ? (size_t)section->entry_size
			      : 16;
	bool is_arm64 = reading->machine == EM_AARCH64;
	struct cursor bytes = elf_image_section_bytes(reading->image, section);
	// Behind a header of 32 bytes come entries of 16 bytes, with BTI or PAC of 24.
	size_t at = is_arm64 && !strcmp(section->name, ".plt") ? 32 : 0;
	if (is_arm64 && bytes.size > at && (bytes.size - at) % 24 == 0 &&
	    decode(reading, bytes.start + at + 24, bytes.size - at - 24, section->address + at + 24)
		    .is_known)
		step = 24;
	for (size_t count = 0; at < bytes.size && count < ENTRY_MOST; at += step, count++) {
		size_t size = bytes.size - at < step ? bytes.size - at : step;
		struct target target =
			decode(reading, bytes.start + at, size, section->address + at);
		const struct slot *slot = target.is_known ? slot_of(reading, &target) : NULL;
		if (slot && !add_entry(reading, section->address + at, size, slot))
			return false;
	}
	return true;
}

static bool is_plt(const struct elf_section *section)
{
	static const char *const names[] = { ".plt", ".plt.sec", ".plt.got", ".iplt" };
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(section->name, names[i]))
			return section->flags & SHF_EXECINSTR;
	return false;
}

static bool read_plt(struct plt_reading *reading)
{
	const struct elf_image *image = reading->image;
	const struct elf_section *base = elf_image_section_named(image, ".got.plt");
	if (!base)
		base = elf_image_section_named(image, ".got");
	reading->table_base = base ? base->address : 0;
	size_t count = elf_image_section_count(image);
	for (size_t i = 0; i < count; i++) {
		const struct elf_section *section = elf_image_section(image, i);
		if ((section->type == SHT_RELA || section->type == SHT_REL) &&
		    section->flags & SHF_ALLOC && !read_relocations(reading, section))
			return false;
	}
	if (reading->slots.count)
		qsort(reading->slots.items, reading->slots.count, sizeof *reading->slots.items,
		      compare_slots);
	for (size_t i = 0; i < count; i++)
		if (is_plt(elf_image_section(image, i)) &&
		    !read_entries(reading, elf_image_section(image, i)))
			return false;
	return true;
}

struct imp_error *symbols_read_plt(struct symbols *symbols, const struct elf_image *image)
{
	if (elf_image_type(image) == ELF_RELOCATABLE)
		return NULL;
	struct plt_reading reading = { .symbols = symbols,
				       .image = image,
				       .machine = elf_image_machine(image) };
	bool done = read_plt(&reading);
	array_fini(&reading.slots);
	array_fini(&reading.lazy);
	return done ? NULL : &imp_error_no_memory;
}
