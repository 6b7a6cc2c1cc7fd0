// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// An open ELF image: what it is, its build ID, its segments and sections.
#ifndef ELF_ELF_IMAGE_H
#define ELF_ELF_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/cursor.h"
#include "base/error.h"
#include "model/address.h"
#include "model/build_id.h"

struct elf_image;

// Opens the ELF file at PATH, or IMP_ERR_BAD_DATA when it is none. Compressed files (.gz .xz .zst
// .bz2, .lz4, vmlinuz) are unpacked in memory, at most 2 GiB. Give it to elf_image_free().
struct imp_error *elf_image_open(const char *path, struct elf_image **ret) MUST_CHECK;

// The same for FD (taken also on failure); PATH is for messages. OFFSET is where the ELF begins in
// it (APK members).
struct imp_error *elf_image_open_fd(int fd, const char *path, uint64_t offset,
				    struct elf_image **ret) MUST_CHECK;

// Over SIZE bytes of BYTES (copied): the vdso, members of archives.
struct imp_error *elf_image_open_memory(const void *bytes, size_t size, const char *name,
					struct elf_image **ret) MUST_CHECK;

void elf_image_free(struct elf_image *image);

DEFINE_CLEANUP(struct elf_image *, elf_image, elf_image_free)
#define _cleanup_elf_image_ __attribute__((cleanup(cleanup_elf_image)))

// Lent by the image.
const char *elf_image_path(const struct elf_image *image);
// None when it has no NT_GNU_BUILD_ID.
const struct build_id *elf_image_id(const struct elf_image *image);

// Only the build ID of the file at PATH, at the cost of a few reads: none when it has none or is no
// ELF file. Errors are for what cannot be opened or read.
struct imp_error *elf_build_id_read(const char *path, struct build_id *ret) MUST_CHECK;
struct imp_error *elf_build_id_read_fd(int fd, const char *path, uint64_t offset,
				       struct build_id *ret) MUST_CHECK;
// The same of a file in memory.
struct build_id elf_build_id_read_memory(const void *bytes, size_t size);

struct load_segment {
	uint64_t offset, address, file_size, memory_size;
	bool is_executable;
};

size_t elf_image_segment_count(const struct elf_image *image);
const struct load_segment *elf_image_segment(const struct elf_image *image, size_t index);

// OFFSET as an ELF address: by the executable load segment that covers it, else by any. False when
// none does.
bool elf_image_address(const struct elf_image *image, file_off offset, elf_addr *ret);

// The program headers tell where the bytes of the code stood in the mapped file, so that
// elf_image_address() can answer. False for split debug files that say 0 there (objcopy
// --only-keep-debug): their stripped twin is needed for it.
bool elf_image_has_layout(const struct elf_image *image);

// How the addresses of two files of one link stand to each other: those of OTHER (a debug file, the
// inside of .gnu_debugdata) are IMAGE's and *shift (0 unless one was prelinked after they were
// parted). False when their code contradicts that: they are not of one link, whatever their IDs
// say. Relocatable files, and those without section headers, contradict nothing.
bool elf_image_shift(const struct elf_image *image, const struct elf_image *other, uint64_t *shift);

struct elf_section {
	// "" when it has none.
	const char *name;
	// In relocatable files, whose sections have no address, the one that module_layout.h gives
	// it.
	uint64_t address;
	uint64_t flags, offset, size, entry_size, alignment;
	uint32_t type, link, info;
};

size_t elf_image_section_count(const struct elf_image *image);
const struct elf_section *elf_image_section(const struct elf_image *image, size_t index);
// The first section of that NAME, or NULL.
const struct elf_section *elf_image_section_named(const struct elf_image *image, const char *name);
// The bytes of SECTION as they stand in the file, as a cursor of the file's byte order; of size 0
// when it has none there.
struct cursor elf_image_section_bytes(const struct elf_image *image,
				      const struct elf_section *section);

// The whole file (unpacked), mapped or in memory: for libdw. Lent by the image.
const void *elf_image_bytes(const struct elf_image *image, size_t *size);

// What fstat(2) said of the file when it was mapped. False when the bytes are not those of a whole
// file as it lies on disk: unpacked, part of another file, or from memory.
bool elf_image_file(const struct elf_image *image, struct stat *ret);

// Tells the kernel that SIZE bytes of the image at BYTES will not be read again soon: the memory of
// a process that reads a big file once stays small. Nothing is lost; bytes that are not mapped from
// a file stay as they are.
void elf_image_release(const struct elf_image *image, const void *bytes, size_t size);

enum elf_image_type { ELF_EXECUTABLE, ELF_SHARED, ELF_RELOCATABLE, ELF_CORE, ELF_OTHER };
enum elf_image_type elf_image_type(const struct elf_image *image);
bool elf_image_is_64bit(const struct elf_image *image);
// The bytes are of the other byte order than this machine's.
bool elf_image_is_swapped(const struct elf_image *image);
// Where the kernel or the dynamic linker lets a program begin; 0 for none.
elf_addr elf_image_entry(const struct elf_image *image);
// e_machine.
uint16_t elf_image_machine(const struct elf_image *image);
// Has function symbols in .symtab, in .dynsym, in an (unpacked) .gnu_debugdata; has DWARF
// (.debug_info, .zdebug_info or compressed).
bool elf_image_has_symtab(const struct elf_image *image);
bool elf_image_has_dynsym(const struct elf_image *image);
bool elf_image_has_debugdata(const struct elf_image *image);
bool elf_image_has_dwarf(const struct elf_image *image);

#endif
