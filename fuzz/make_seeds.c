// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Makes seeds: make_seeds DIRECTORY OBJECT... writes DIRECTORY/TARGET/NAME, in code and from files
// with DWARF that a compiler made.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "dwarf/dwarf.h"
#include "make/elf.h"
#include "make/recording.h"

static void write_seed(const char *directory, const char *target, const char *name,
		       const struct buffer *bytes)
{
	char path[4096];
	snprintf(path, sizeof path, "%s/%s", directory, target);
	mkdir(path, 0777);
	snprintf(path, sizeof path, "%s/%s/%s", directory, target, name);
	FILE *file = fopen(path, "w");
	if (!file || fwrite(bytes->bytes, 1, bytes->size, file) != bytes->size || fclose(file))
		abort();
}

static const struct event_attr attr = {
	.type = 1,
	.sample_type = SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME | SAMPLE_ID | SAMPLE_CALLCHAIN |
		       SAMPLE_PERIOD,
	.flags = BUILT_FLAGS,
};

static void add_records(struct recording_builder *builder)
{
	struct built_stamp stamp = built_at(10, 10, 100);
	static const uint64_t chain[] = { (uint64_t)-512, 0x401000, 0x402000 };
	static const uint64_t links[][2] = { { 3, 4 }, { 5, 6 } };
	build_comm(builder, stamp, &(struct comm_record){ 10, 10, true, "app" });
	build_mmap2(builder, stamp, MISC_USER,
		    &(struct mmap_record){ .pid = 10,
					   .start = 0x400000,
					   .length = 0x3000,
					   .id = build_id_of("0123456789abcdefghij", 20),
					   .path = "/bin/app" });
	build_mmap(builder, stamp, MISC_KERNEL,
		   &(struct mmap_record){ .pid = UINT32_MAX, .path = "[kernel.kallsyms]_text" });
	build_fork(builder, stamp, &(struct task_record){ 11, 10, 11, 10, 101 });
	build_exit(builder, stamp, &(struct task_record){ 11, 10, 11, 10, 102 });
	build_namespaces(builder, stamp, 10, 10, links, 2);
	build_cgroup(builder, stamp, &(struct cgroup_record){ 7, "/a" });
	build_ksymbol(builder, stamp, &(struct ksymbol_record){ .start = 1, .name = "bpf_prog" });
	build_lost(builder, stamp, 7, 3);
	build_lost_samples(builder, stamp, 4);
	build_build_id(builder, &(struct build_id_record){ .misc = MISC_USER,
							   .id = build_id_of("abc", 3),
							   .path = "/b" });
	build_finished_round(builder);
	build_sample(builder, 0,
		     &(struct built_sample){ .ip = 0x401000,
					     .pid = 10,
					     .tid = 10,
					     .time = 200,
					     .id = 7,
					     .chain = chain,
					     .chain_count = 3 });
}

static void make_recording(const char *directory, const char *name,
			   const struct recording_builder_shape *shape, uint32_t compressed)
{
	struct recording_builder *builder = recording_builder_new_of(shape);
	uint64_t id = 7;
	build_event(builder, &attr, "cpu-clock", &id, 1);
	id = 8;
	build_event(builder, &attr, "cycles", &id, 1);
	build_event_desc(builder);
	build_string_feature(builder, FEATURE_HOSTNAME, "host");
	if (!shape->is_pipe)
		build_table_entry(builder, &(struct build_id_record){ .misc = MISC_USER,
								      .id = build_id_of("abc", 3),
								      .path = "/b" });
	if (compressed)
		build_compressed_begin(builder);
	add_records(builder);
	if (compressed)
		build_compressed_end(builder, compressed, 100);
	struct buffer bytes = recording_builder_finish(builder);
	write_seed(directory, "perfdata_recording", name, &bytes);
	buffer_fini(&bytes);
}

static void make_recordings(const char *directory)
{
	make_recording(directory, "file", &(struct recording_builder_shape){ 0 }, 0);
	make_recording(directory, "file-big-endian",
		       &(struct recording_builder_shape){ .is_big_endian = true }, 0);
	make_recording(directory, "pipe", &(struct recording_builder_shape){ .is_pipe = true }, 0);
	make_recording(directory, "pipe-big-endian",
		       &(struct recording_builder_shape){ .is_pipe = true, .is_big_endian = true },
		       0);
	make_recording(directory, "unfinished",
		       &(struct recording_builder_shape){ .is_unfinished = true }, 0);
	make_recording(directory, "attrs-last",
		       &(struct recording_builder_shape){ .has_attrs_last = true }, 0);
	make_recording(directory, "version-1",
		       &(struct recording_builder_shape){ .is_version_1 = true, .attr_size = 72 },
		       0);
	make_recording(directory, "compressed", &(struct recording_builder_shape){ 0 },
		       RECORD_COMPRESSED);
	make_recording(directory, "compressed2",
		       &(struct recording_builder_shape){ .is_pipe = true }, RECORD_COMPRESSED2);
}

// All records of a file, each as a seed for the target of single records.
static void make_records(const char *directory)
{
	struct recording_builder *builder = recording_builder_new();
	build_event(builder, &attr, NULL, NULL, 0);
	add_records(builder);
	struct buffer bytes = recording_builder_finish(builder);
	// Header and attr stand before.
	for (size_t at = 104 + 144, number = 0; at + 8 <= bytes.size; number++) {
		size_t size = bytes.bytes[at + 6] | (size_t)bytes.bytes[at + 7] << 8;
		struct buffer seed = { 0 };
		uint32_t shape[] = { 0, (uint32_t)attr.sample_type };
		char name[32];
		snprintf(name, sizeof name, "record-%zu", number);
		buffer_append(&seed, shape, sizeof shape);
		buffer_append(&seed, bytes.bytes + at, size);
		write_seed(directory, "perfdata_record", name, &seed);
		buffer_fini(&seed);
		at += size;
	}
	buffer_fini(&bytes);
}

// A sample of all fields.
static void make_sample(const char *directory)
{
	struct event_attr full = { .sample_type = SAMPLE_KNOWN_BITS & ~(uint64_t)(SAMPLE_READ),
				   .sample_regs_user = 3 };
	full.sample_type &=
		~(uint64_t)(SAMPLE_WEIGHT_STRUCT | SAMPLE_DATA_SRC | SAMPLE_TRANSACTION |
			    SAMPLE_REGS_INTR | SAMPLE_PHYS_ADDR | SAMPLE_AUX | SAMPLE_CGROUP |
			    SAMPLE_DATA_PAGE_SIZE | SAMPLE_CODE_PAGE_SIZE);
	static const uint64_t words[] = { 1, 2, 3, 4, 5, 6 };
	struct recording_builder *builder = recording_builder_new();
	build_event(builder, &full, NULL, NULL, 0);
	build_sample(builder, 0,
		     &(struct built_sample){ .id = 1,
					     .chain = words,
					     .chain_count = 6,
					     .raw = (const uint8_t *)words,
					     .raw_size = 12,
					     .branches = words,
					     .branch_count = 2,
					     .user_abi = 2,
					     .user_regs = words,
					     .stack = (const uint8_t *)words,
					     .stack_size = 16,
					     .stack_valid = 8 });
	struct buffer bytes = recording_builder_finish(builder);
	struct buffer seed = { 0 };
	uint64_t shape[6] = { 0, full.sample_type, 0, 0, full.sample_regs_user, 0 };
	buffer_append(&seed, shape, sizeof shape);
	buffer_append(&seed, bytes.bytes + 104 + 144, bytes.size - 104 - 144);
	write_seed(directory, "perfdata_sample", "all-fields", &seed);
	buffer_fini(&seed);
	seed = (struct buffer){ 0 };
	uint8_t swap = 0;
	buffer_append(&seed, &swap, 1);
	buffer_append(&seed, bytes.bytes + 104, 128);
	write_seed(directory, "perfdata_attr", "attr", &seed);
	buffer_fini(&seed);
	buffer_fini(&bytes);
}

// For each feature a payload of small numbers and strings, which most take as something.
static void make_features(const char *directory)
{
	struct recording_builder *shape = recording_builder_new();
	for (unsigned bit = 1; bit < FEATURE_BITS; bit++) {
		if (!feature_name(bit))
			continue;
		struct buffer seed = { 0 };
		uint8_t head[] = { (uint8_t)bit, 0, 2 };
		buffer_append(&seed, head, sizeof head);
		for (unsigned i = 0; i < 6; i++) {
			build_put(shape, &seed, 1, 4);
			build_put(shape, &seed, 8, 4);
			buffer_append(&seed, "text\0\0\0\0", 8);
		}
		write_seed(directory, "perfdata_feature", feature_name(bit), &seed);
		buffer_fini(&seed);
	}
	struct buffer unused = recording_builder_finish(shape);
	buffer_fini(&unused);
}

// A library, a list of symbols, packed bytes.
static void make_images(const char *directory)
{
	static const char symbols[] = "ffffffff81000000 T _text\nffffffffc0000000 t f\t[m]\n";
	static const uint8_t lz4[] = { 2,   0x21, 0x4c, 0x18, 12,   0,	 0,   0,   0x3b, 'a',
				       'b', 'c',  3,	0,    0x50, 'x', 'y', 'z', 'z',	 'y' };
	struct buffer library = { 0 }, list = { 0 }, packed = { 0 };
	make_library("0123456789abcdefghij", 20, "", &library);
	buffer_text(&list, symbols);
	buffer_append(&packed, lz4, sizeof lz4);
	write_seed(directory, "elf_image", "library", &library);
	write_seed(directory, "elf_kallsyms", "list", &list);
	write_seed(directory, "elf_unpack", "lz4", &packed);
	buffer_fini(&library);
	buffer_fini(&list);
	buffer_fini(&packed);
}

// One of each word, and headers, a line each.
static void make_requests(const char *directory)
{
	struct buffer seed = { 0 };
	buffer_text(&seed, "/buildid/0123456789abcdef/executable\n/buildid/01/debuginfo\n"
			   "/buildid/01/section/.debug_info\n/metrics\n"
			   "/buildid/01/source/usr/src/./a/../b%20c.c\n");
	buffer_text(&seed, "bytes=1-2\nbytes=-5\nbytes=7-\nW/\"ab\", \"ab\"\n*\n10.0.0.1, ::1\n"
			   "[::1]:80\n127.0.0.1:8002\n12345\n");
	write_seed(directory, "serve_request", "words", &seed);
	buffer_fini(&seed);
}

static void make_jit_dump(const char *directory)
{
	static const uint32_t header[] = { 0x4a695444, 1, 40, 62, 0, 77, 1, 0, 0, 0 };
	static const uint32_t load[] = { 0, 16 + 40 + 5 + 3, 5, 0, 77, 77, 0x1000,
					 0, 0x1000,	     0, 3, 0,  1,  0 };
	static const uint32_t move[] = { 1,	 16 + 48, 6,	  0, 77, 77, 0x1000, 0,
					 0x1000, 0,	  0x2000, 0, 3,	 0,  1,	     0 };
	struct buffer bytes = { 0 };
	buffer_append(&bytes, header, sizeof header);
	buffer_append(&bytes, load, sizeof load);
	buffer_append(&bytes, "name\0\xcc\xcc\xcc", 8);
	buffer_append(&bytes, move, sizeof move);
	write_seed(directory, "perfdata_jit_dump", "load-and-move", &bytes);
	buffer_fini(&bytes);
}

static void make_listing(const char *directory)
{
	struct buffer seed = { 0 };
	buffer_text(
		&seed,
		"<ListBucketResult><IsTruncated>true</IsTruncated><Contents><Key>a/b-1.2</Key>"
		"<Size>12</Size></Contents><Contents><Size>0</Size><Key>c d</Key></Contents>"
		"<NextContinuationToken>1&amp;&lt;2</NextContinuationToken></ListBucketResult>");
	write_seed(directory, "remote_listing", "page", &seed);
	buffer_fini(&seed);
}

static void write_text(const char *directory, const char *target, const char *name,
		       const char *text)
{
	struct buffer seed = { 0 };
	buffer_text(&seed, text);
	write_seed(directory, target, name, &seed);
	buffer_fini(&seed);
}

static void make_texts(const char *directory)
{
#define HASH "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	write_text(directory, "live_maps", "process",
		   "55d0c0000000-55d0c0001000 r-xp 00001000 fe:01 42    /bin/a b (deleted)\n"
		   "7f0000000000-7f0000001000 rw-s 00000000 00:05 7  /memfd:x\\012y\n"
		   "7ffe00000000-7ffe00001000 r-xp 00000000 00:00 0      [vdso]\n"
		   "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 [vsyscall]\n\n");
	write_text(directory, "symbolize_perf_map", "overlapping",
		   "100 40 first function\n110 10 second\n0x200 8 third\n108 20 fourth\n");
	write_text(
		directory, "archive_manifest", "whole",
		"{\"format\": \"imprint-archive\", \"version\": 1, \"recordings\": [{\"name\": "
		"\"perf.data\", \"size\": 3, \"sha256\": \"" HASH
		"\"}], \"objects\": [{\"sha256\": "
		"\"" HASH "\", \"size\": 5, \"build_id\": \"abcdef\", \"role\": \"debug\", "
		"\"rank\": \"dwarf\", \"path\": \"/bin/a\"}], \"missing\": [{\"build_id\": \"01\", "
		"\"path\": \"/b\"}]}");
	write_text(
		directory, "environment_snapshot", "whole",
		"{\"type\":\"snapshot\",\"version\":1,\"source\":\"live\",\"host\":\"h\"}\n"
		"{\"type\":\"kernel\",\"release\":\"6.1.0\",\"id\":\"0102\"}\n"
		"{\"type\":\"module\",\"name\":\"loop\",\"id\":\"0304\",\"address\":\"0xfff0\","
		"\"size\":4096}\n"
		"{\"type\":\"image\",\"image\":0,\"kind\":\"file\",\"path\":\"/a\",\"id\":\"aabb\","
		"\"soname\":\"a\",\"device\":\"fe:0a\",\"inode\":42,\"size\":8192}\n"
		"{\"type\":\"process\",\"pid\":7,\"parent\":1,\"start\":"
		"\"2026-12-01T03:00:00.500000000Z\",\"comm\":\"x\",\"uid\":33,\"mappings\":"
		"[\"7f0000000000 2000 0 0\"]}\n"
		"{\"type\":\"end\",\"images\":1,\"processes\":1,\"kernel_threads\":5,\"gone\":2}\n");
#undef HASH
}

// A core file with one mapped file, whose first page is there.
static void make_core_file(const char *directory)
{
	struct {
		uint64_t count, page_size, start, end, page;
		char name[16];
	} files = { 1, 0x1000, 0x400000, 0x402000, 0, "/bin/app" };
	struct buffer library = { 0 }, note = { 0 }, seed = { 0 };
	make_library("0123456789abcdefghij", 20, "", &library);
	make_note(&note, false, "CORE", NT_FILE, &files, 5 * 8 + sizeof "/bin/app", 4);
	enum { NOTE_AT = 0x1000, LIBRARY_AT = 0x2000 };
	struct make_elf core = {
		.type = ET_CORE,
		.machine = EM_X86_64,
		.section_count = 2,
		.sections = { { .name = "note",
				.type = SHT_NOTE,
				.bytes = note.bytes,
				.size = note.size,
				.offset = NOTE_AT },
			      { .name = "load",
				.type = SHT_PROGBITS,
				.bytes = library.bytes,
				.size = library.size < 0x1000 ? library.size : 0x1000,
				.offset = LIBRARY_AT } },
		.segment_count = 2,
		.segments = { { .type = PT_NOTE, .offset = NOTE_AT, .file_size = note.size },
			      { .type = PT_LOAD,
				.flags = PF_R | PF_X,
				.offset = LIBRARY_AT,
				.address = 0x400000,
				.file_size = 0x1000,
				.memory_size = 0x2000 } },
	};
	make_elf(&core, &seed);
	write_seed(directory, "environment_core", "one-file", &seed);
	buffer_fini(&library);
	buffer_fini(&note);
	buffer_fini(&seed);
}

// The index of the DWARF in BYTES.
static void make_index(const char *directory, const char *name, const struct buffer *bytes)
{
	struct build_id id = build_id_of("0123456789abcdefghij", 20);
	struct elf_image *image = NULL;
	struct debug_sections sections;
	struct dwarf *dwarf = NULL;
	struct buffer seed = { 0 };
	FILE *file = tmpfile();
	struct dwarf_saving saving = {
		.id = id, .fd = file ? fileno(file) : -1, .path = name, .workers = 1
	};
	if (!file || elf_image_open_memory(bytes->bytes, bytes->size, name, &image) ||
	    debug_sections_open(image, &sections) ||
	    dwarf_new(&sections, NULL, 0, UINT64_MAX, &dwarf) || dwarf_save_index(dwarf, &saving) ||
	    lseek(fileno(file), 0, SEEK_SET) || file_slurp(fileno(file), name, 1 << 20, &seed))
		abort();
	write_seed(directory, "dwarf_index", name, &seed);
	buffer_fini(&seed);
	dwarf_free(dwarf);
	elf_image_free(image);
	fclose(file);
}

// What a compiler made, for all who read DWARF or call frames.
static void take_object(const char *directory, const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	struct buffer bytes = { 0 };
	if (file_slurp_path(path, 1 << 20, &bytes))
		abort();
	write_seed(directory, "dwarf_find", name, &bytes);
	write_seed(directory, "unwind_cfi", name, &bytes);
	make_index(directory, name, &bytes);
	buffer_fini(&bytes);
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	mkdir(argv[1], 0777);
	make_images(argv[1]);
	make_recordings(argv[1]);
	make_records(argv[1]);
	make_sample(argv[1]);
	make_features(argv[1]);
	make_requests(argv[1]);
	make_jit_dump(argv[1]);
	make_texts(argv[1]);
	make_core_file(argv[1]);
	for (int i = 2; i < argc; i++)
		take_object(argv[1], argv[i]);
	make_listing(argv[1]);
	return 0;
}
