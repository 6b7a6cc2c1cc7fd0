// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Laying out the tiny library.
#include "make/tiny_library.h"

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct head {
	Elf64_Ehdr header;
	Elf64_Phdr segments[3];
	struct {
		Elf64_Nhdr head;
		char owner[4];
		uint8_t bytes[64];
	} id;
	struct {
		Elf64_Nhdr head;
		char owner[4];
		char json[256];
	} package;
	Elf64_Dyn dynamic[3];
	char strings[64];
};

static void make_segments(struct head *head, const struct tiny_library *library)
{
	head->segments[0] = (Elf64_Phdr){ .p_type = PT_LOAD,
					  .p_flags = PF_R | PF_X,
					  .p_filesz = TINY_LIBRARY_SIZE,
					  .p_memsz = TINY_LIBRARY_SIZE,
					  .p_align = 4096 };
	head->segments[1] = (Elf64_Phdr){ .p_type = PT_NOTE,
					  .p_offset = offsetof(struct head, id),
					  .p_vaddr = offsetof(struct head, id),
					  .p_filesz = sizeof head->id + sizeof head->package,
					  .p_align = 4 };
	head->segments[2] = (Elf64_Phdr){ .p_type = PT_DYNAMIC,
					  .p_offset = offsetof(struct head, dynamic),
					  .p_vaddr = offsetof(struct head, dynamic),
					  .p_filesz = sizeof head->dynamic,
					  .p_align = 8 };
	head->dynamic[0] = (Elf64_Dyn){ DT_STRTAB, { offsetof(struct head, strings) } };
	head->dynamic[1] =
		(Elf64_Dyn){ library->soname ? DT_SONAME : DT_DEBUG, { library->soname ? 1 : 0 } };
}

void tiny_library_make(const struct tiny_library *library, uint8_t *bytes)
{
	memset(bytes, 0, TINY_LIBRARY_SIZE);
	struct head head = { .header = { .e_type = ET_DYN,
					 .e_machine = EM_X86_64,
					 .e_version = EV_CURRENT,
					 .e_phoff = offsetof(struct head, segments),
					 .e_ehsize = sizeof(Elf64_Ehdr),
					 .e_phentsize = sizeof(Elf64_Phdr),
					 .e_phnum = 3 },
			     .id = { .owner = "GNU" },
			     .package = { .owner = "FDO" } };
	memcpy(head.header.e_ident, ELFMAG, SELFMAG);
	head.header.e_ident[EI_CLASS] = ELFCLASS64;
	head.header.e_ident[EI_DATA] = ELFDATA2LSB;
	head.header.e_ident[EI_VERSION] = EV_CURRENT;
	make_segments(&head, library);
	head.id.head = (Elf64_Nhdr){ 4, (Elf64_Word)library->id_size,
				     library->id_size ? NT_GNU_BUILD_ID : 0x1000 };
	memset(head.id.bytes, library->id, library->id_size);
	if (library->soname)
		memcpy(head.strings + 1, library->soname, strlen(library->soname));
	memcpy(bytes, &head, sizeof head);
	// The second note follows the ID without a gap.
	size_t at = offsetof(struct head, id.bytes) + (library->id_size + 3) / 4 * 4;
	if (library->package) {
		head.package.head = (Elf64_Nhdr){ 4, sizeof head.package.json, 0xcafe1a7e };
		memcpy(head.package.json, library->package, strlen(library->package));
	}
	memcpy(bytes + at, &head.package, sizeof head.package);
	memset(bytes + TINY_LIBRARY_SIZE / 2, library->code, TINY_LIBRARY_SIZE / 2);
}

void tiny_library_write(const struct tiny_library *library, const char *path)
{
	uint8_t bytes[TINY_LIBRARY_SIZE];
	tiny_library_make(library, bytes);
	unlink(path);
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
	if (fd < 0 || write(fd, bytes, sizeof bytes) != (ssize_t)sizeof bytes || close(fd))
		abort();
}
