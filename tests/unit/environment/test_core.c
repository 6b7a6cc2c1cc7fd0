// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
#include "environment/core.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/tap.h"
#include "make/tiny_library.h"

enum { LIBRARY = 0x7f0000000000, SECOND = 0x7f0000100000, ANON = 0x500000, VDSO = 0x7ffe0000 };

// The core of a process that maps two libraries, one with its headers dumped, and has a vdso.
struct core_bytes {
	Elf64_Ehdr header;
	Elf64_Phdr segments[6];
	struct {
		Elf64_Nhdr head;
		char owner[8];
		struct {
			char state[8];
			uint64_t flags;
			uint32_t uid, gid, pid, parent, group, session;
			char comm[16], command[80];
		} bytes;
	} __attribute__((packed, aligned(4))) process;
	struct {
		Elf64_Nhdr head;
		char owner[8];
		uint64_t values[4];
	} __attribute__((packed, aligned(4))) auxv;
	struct {
		Elf64_Nhdr head;
		char owner[8];
		uint64_t count, page_size, ranges[3][3];
		char names[40];
	} __attribute__((packed, aligned(4))) files;
	uint8_t library[TINY_LIBRARY_SIZE];
	uint8_t vdso[TINY_LIBRARY_SIZE];
};

static Elf64_Phdr load(uint64_t address, uint64_t size, uint64_t offset, uint64_t file_size,
		       uint32_t flags)
{
	return (Elf64_Phdr){ .p_type = PT_LOAD,
			     .p_flags = flags,
			     .p_offset = offset,
			     .p_vaddr = address,
			     .p_filesz = file_size,
			     .p_memsz = size };
}

static void make_core(struct core_bytes *core)
{
	memset(core, 0, sizeof *core);
	core->header = (Elf64_Ehdr){ .e_type = ET_CORE,
				     .e_machine = EM_X86_64,
				     .e_phoff = offsetof(struct core_bytes, segments),
				     .e_phentsize = sizeof(Elf64_Phdr),
				     .e_phnum = 6 };
	memcpy(core->header.e_ident, ELFMAG, SELFMAG);
	core->header.e_ident[EI_CLASS] = ELFCLASS64;
	core->header.e_ident[EI_DATA] = ELFDATA2LSB;
	uint64_t notes = offsetof(struct core_bytes, process);
	core->segments[0] =
		(Elf64_Phdr){ .p_type = PT_NOTE,
			      .p_offset = notes,
			      .p_filesz = offsetof(struct core_bytes, library) - notes };
	uint64_t library = offsetof(struct core_bytes, library);
	core->segments[1] = load(LIBRARY, 0x1000, library, 0x1000, PF_R);
	core->segments[2] = load(LIBRARY + 0x1000, 0x3000, 0, 0, PF_R | PF_X);
	core->segments[3] = load(SECOND, 0x1000, 0, 0, PF_R | PF_X);
	core->segments[4] = load(VDSO, TINY_LIBRARY_SIZE, offsetof(struct core_bytes, vdso),
				 TINY_LIBRARY_SIZE, PF_R | PF_X);
	core->segments[5] = load(ANON, 0x1000, 0, 0, PF_R | PF_W | PF_X);
	core->process.head = (Elf64_Nhdr){ 5, sizeof core->process.bytes, NT_PRPSINFO };
	memcpy(core->process.owner, "CORE", 5);
	core->process.bytes.uid = 33;
	core->process.bytes.pid = 1234;
	core->process.bytes.parent = 1;
	memcpy(core->process.bytes.comm, "crashed", 7);
	memcpy(core->process.bytes.command, "./crashed -x ", 13);
	core->auxv.head = (Elf64_Nhdr){ 5, sizeof core->auxv.values, NT_AUXV };
	memcpy(core->auxv.owner, "CORE", 5);
	core->auxv.values[0] = AT_SYSINFO_EHDR;
	core->auxv.values[1] = VDSO;
	core->files.head = (Elf64_Nhdr){ 5, sizeof core->files - 20, NT_FILE };
	memcpy(core->files.owner, "CORE", 5);
	core->files.count = 3;
	core->files.page_size = 0x1000;
	const uint64_t ranges[3][3] = { { LIBRARY, LIBRARY + 0x1000, 0 },
					{ LIBRARY + 0x1000, LIBRARY + 0x4000, 1 },
					{ SECOND, SECOND + 0x1000, 0 } };
	memcpy(core->files.ranges, ranges, sizeof ranges);
	memcpy(core->files.names, "/lib/a.so\0/lib/a.so\0/lib/b.so", 29);
	tiny_library_make(&(struct tiny_library){ .id_size = 20, .id = 0xaa, .soname = "a.so" },
			  core->library);
	tiny_library_make(&(struct tiny_library){ .id_size = 16, .id = 0xdd }, core->vdso);
}

static struct imp_error *read_core(const void *bytes, size_t size, struct snapshot **ret)
{
	char path[] = "/tmp/imprint-core-XXXXXX";
	int fd = mkstemp(path);
	if (fd < 0 || write(fd, bytes, size) != (ssize_t)size)
		abort();
	close(fd);
	struct imp_error *err = core_snapshot(path, ret);
	unlink(path);
	return err;
}

static const struct snapshot_image *image_at(const struct snapshot *snapshot, uint64_t address)
{
	const struct snapshot_mapping *mapping =
		snapshot_locate(snapshot, &snapshot->processes.items[0], address);
	return mapping ? &snapshot->images.items[mapping->image] : NULL;
}

TEST(ids_come_from_the_headers_in_the_core)
{
	struct core_bytes core;
	make_core(&core);
	_cleanup_snapshot_ struct snapshot *snapshot = NULL;
	REQUIRE_OK(read_core(&core, sizeof core, &snapshot));
	const struct snapshot_process *process = &snapshot->processes.items[0];
	CHECK_UINT(process->pid, 1234);
	CHECK_UINT(process->uid, 33);
	CHECK_TEXT(process->comm, "crashed");
	CHECK_TEXT(process->command, "./crashed -x");
	CHECK_TEXT(snapshot->architecture, "x86_64");
	const struct snapshot_image *image = image_at(snapshot, LIBRARY + 0x1234);
	REQUIRE(image);
	CHECK_TEXT(image->path, "/lib/a.so");
	CHECK_TEXT(image->soname, "a.so");
	CHECK_TEXT(build_id_text(&image->id).text, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
	const struct snapshot_mapping *mapping =
		snapshot_locate(snapshot, process, LIBRARY + 0x1234);
	CHECK_UINT(mapping->offset, 0x1000);
	image = image_at(snapshot, VDSO);
	REQUIRE(image && image->kind == MAPPED_VDSO);
	CHECK_TEXT(build_id_text(&image->id).text, "dddddddddddddddddddddddddddddddd");
	image = image_at(snapshot, ANON);
	CHECK(image && image->kind == MAPPED_ANON);
}

TEST(without_its_headers_an_image_has_its_path_only)
{
	struct core_bytes core;
	make_core(&core);
	_cleanup_snapshot_ struct snapshot *snapshot = NULL;
	REQUIRE_OK(read_core(&core, sizeof core, &snapshot));
	const struct snapshot_image *image = image_at(snapshot, SECOND);
	REQUIRE(image);
	CHECK_TEXT(image->path, "/lib/b.so");
	CHECK(build_id_is_none(&image->id) && !image->id_is_known);
}

TEST(a_file_no_segment_covers_is_mapped_all_the_same)
{
	struct core_bytes core;
	make_core(&core);
	core.segments[2].p_type = PT_NULL;
	_cleanup_snapshot_ struct snapshot *snapshot = NULL;
	REQUIRE_OK(read_core(&core, sizeof core, &snapshot));
	const struct snapshot_image *image = image_at(snapshot, LIBRARY + 0x1234);
	REQUIRE(image);
	CHECK_UINT(image->id.size, 20);
}

TEST(every_truncation_of_a_core_is_survived)
{
	struct core_bytes core;
	make_core(&core);
	for (size_t size = 0; size < sizeof core; size += size < 2048 ? 1 : 997) {
		_cleanup_snapshot_ struct snapshot *snapshot = NULL;
		struct imp_error *err = read_core(&core, size, &snapshot);
		CHECK(size >= offsetof(struct core_bytes, process) ? !err || snapshot == NULL
								   : err != NULL);
		imp_error_free(err);
	}
}

TEST(what_is_no_core_is_refused)
{
	struct snapshot *snapshot = NULL;
	struct core_bytes core;
	make_core(&core);
	core.header.e_type = ET_EXEC;
	CHECK_ERROR(read_core(&core, sizeof core, &snapshot), IMP_ERR_BAD_DATA);
	make_core(&core);
	core.header.e_phentsize = 8;
	CHECK_ERROR(read_core(&core, sizeof core, &snapshot), IMP_ERR_BAD_DATA);
	make_core(&core);
	core.files.count = 1 << 30;
	CHECK_ERROR(read_core(&core, sizeof core, &snapshot), IMP_ERR_BAD_DATA);
	CHECK_ERROR(read_core("PERFILE2", 8, &snapshot), IMP_ERR_BAD_DATA);
}
