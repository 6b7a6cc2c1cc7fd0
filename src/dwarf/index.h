// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// A saved index: the tables of all units of a build in one file, which is mapped and asked without
// its DWARF.
//
// All numbers are of the machine's byte order, which the header tells; a file of the other order,
// or of another version, is not used (it can always be made again). In this order, without gaps but
// for padding to 8 bytes:
//
// header: magic "imprdwix", u32 version, u32 byte order mark, u64 size of the file, u64 checksum of
// the rest of the header, boundaries, units and strings, u32 count of units, u32 count of
// boundaries, u64 offset and u64 size of the strings, u32 size of the build ID, 64 bytes of build
// ID, u32 zero; then, of the debug file it was made of and of the file that dwz moved entries to
// (zeros without one): 32 bytes of SHA-256, u64 size, device, inode, times of modification and
// change in nanoseconds (zeros where they say nothing).
//
// boundaries: u64 begin, u32 unit (all ones: none), u32 zero; true from `begin` to the next one's.
//
// units: u64 base, u64 offset of its tables, u64 their checksum, u32 counts of owners, scopes,
// rows, names and files, u32 zero.
//
// tables: for each unit the arrays of struct unit_tables: owner starts, owners, scopes, row starts,
// rows, and the offsets of names and files in the strings.
//
// strings: each with a NUL at its end.
//
// The header, the list of units and the strings are checked when the file is opened, a unit's
// tables when they are first used. The checksum is against damage; what an attacker writes may give
// wrong names, but never a read outside the file. The version changes with what is read of DWARF,
// too.
#ifndef DWARF_INDEX_H
#define DWARF_INDEX_H

#include "dwarf/dwarf.h"
#include "dwarf/intervals.h"
#include "dwarf/unit_tables.h"
#include "model/build_id.h"

struct index_file;

// Maps the index that FD holds (taken, also on failure). IMP_ERR_MISMATCH when it is of another
// build than ID, IMP_ERR_UNSUPPORTED when of another version or byte order.
struct imp_error *index_open(int fd, const char *path, const struct build_id *id,
			     struct dwarf_sources *sources, struct index_file **ret) MUST_CHECK;
void index_free(struct index_file *index);

size_t index_unit_count(const struct index_file *index);
// Appends the boundaries: owners are indexes of units.
struct imp_error *index_boundaries(const struct index_file *index,
				   struct boundaries *ret) MUST_CHECK;

// The tables of unit UNIT, checked. Strings are lent by the index.
struct imp_error *index_tables(const struct index_file *index, size_t unit,
			       struct unit_tables **ret) MUST_CHECK;

// Writing: units one after the other, then the end.
struct index_writer;
// FD is lent, and written to from its start.
struct imp_error *index_writer_new(int fd, const char *path, const struct build_id *id,
				   const struct dwarf_sources *sources,
				   struct index_writer **ret) MUST_CHECK;
// Before the first unit: their number, and which addresses are whose.
struct imp_error *index_writer_begin(struct index_writer *writer,
				     const struct boundaries *boundaries,
				     size_t unit_count) MUST_CHECK;
void index_writer_free(struct index_writer *writer);
// Writes the tables of the next unit.
struct imp_error *index_writer_add(struct index_writer *writer,
				   const struct unit_tables *tables) MUST_CHECK;
struct imp_error *index_writer_finish(struct index_writer *writer) MUST_CHECK;

#endif
