// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// From an ELF address to its source line and the chain of functions inlined there.
//
// Opening reads each unit's root entry only. A unit's tables are built when an address in it is
// first asked for, once, and are then searched; nothing is searched linearly for an address.
#ifndef DWARF_DWARF_H
#define DWARF_DWARF_H

#include "dwarf/sections.h"
#include "model/address.h"
#include "model/build_id.h"

// How many inlined calls at one address are told; deeper ones are left out from the inside.
enum { DWARF_MOST_FRAMES = 256 };

struct dwarf;

// A file that an index is made of: its content, and where that was last seen, so that it need not
// be read again to know it.
struct dwarf_source {
	// SHA-256.
	uint8_t hash[32];
	// The numbers of fstat(2); all but the size are 0 when they say nothing.
	uint64_t size, device, inode;
	int64_t modified_ns, changed_ns;
};

// All zero where there is none.
struct dwarf_sources {
	struct dwarf_source debug, alt;
};

// What one function, or one inlined call, is called and where it stands. Strings are lent by the
// struct dwarf.
struct dwarf_frame {
	// As DWARF has it: the linkage name where there is one. NULL when unknown.
	const char *name;
	// Absolute where the compiler told its directory; NULL when unknown.
	const char *file;
	uint32_t line, column;
	// The call was inlined into the next frame.
	bool is_inlined;
};

// Takes SECTIONS over, also on failure. ALT are the sections of the supplementary file that
// .gnu_debugaltlink names, taken over too, or NULL. CODE_START and CODE_END are the bounds of the
// image's executable segments, 0 and UINT64_MAX when not known.
struct imp_error *dwarf_new(struct debug_sections *sections, struct debug_sections *alt,
			    uint64_t code_start, uint64_t code_end, struct dwarf **ret) MUST_CHECK;
void dwarf_free(struct dwarf *dwarf);

// The frames at ADDRESS, the innermost first, at most DWARF_MOST_FRAMES of them, to FRAMES; their
// number to *COUNT, 0 when DWARF knows nothing of the address. Errors are for memory. Safe from
// many threads.
struct imp_error *dwarf_find(struct dwarf *dwarf, elf_addr address, struct dwarf_frame *frames,
			     uint32_t *count) MUST_CHECK;

// Builds the tables of all units that ADDRESSES lie in, on WORKERS threads.
struct imp_error *dwarf_prepare(struct dwarf *dwarf, const elf_addr *addresses, size_t count,
				unsigned workers) MUST_CHECK;

// What an index is of, and where it is written to.
struct dwarf_saving {
	struct build_id id;
	struct dwarf_sources sources;
	int fd;
	// For messages.
	const char *path;
	unsigned workers;
};

// Writes an index of the whole build for dwarf_open_index(). Tables that nobody asked for are not
// kept in memory.
struct imp_error *dwarf_save_index(struct dwarf *dwarf, const struct dwarf_saving *to) MUST_CHECK;

// Opens an index in place of DWARF: see index_open(). FD is taken, also on failure. *SOURCES
// becomes what it was made of, which is for the caller to judge. A part that turns out to be
// damaged is an error (IMP_ERR_BAD_DATA) of dwarf_find().
struct imp_error *dwarf_open_index(int fd, const char *path, const struct build_id *id,
				   struct dwarf_sources *sources, struct dwarf **ret) MUST_CHECK;

// How many units keep their functions and inlined calls in files of their own (-gsplit-dwarf): in
// IMAGE.dwp, or in .dwo files where they were made or beside the image.
size_t dwarf_split_units(const struct dwarf *dwarf);

// Of how many of those that were asked for there was no such file with the right ID: there only
// lines are known.
struct dwarf_loss {
	size_t unit_count;
	// The first file, and whether any was there with another ID; lent by the struct dwarf.
	const char *path;
	bool is_other;
};
struct dwarf_loss dwarf_split_loss(const struct dwarf *dwarf);

// The answers come from an index.
bool dwarf_is_index(const struct dwarf *dwarf);

// The size of the build's debug information (.debug_info); 0 of an index.
uint64_t dwarf_info_size(const struct dwarf *dwarf);

// How much of the build's debug information was read for the answers so far, from 0 to 1.
double dwarf_share_read(const struct dwarf *dwarf);

#endif
