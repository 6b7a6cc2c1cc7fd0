// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// An image as a recording, a process or a core file knows it: its kind, its identity, and how sure
// that is.
#ifndef MODEL_IMAGE_H
#define MODEL_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/build_id.h"

// What an offset in an image counts: for USER a file offset; for VDSO the distance from the image's
// first byte; for KERNEL and GUEST_KERNEL the distance from the reference symbol (_text or _stext)
// of the running kernel, as a wrapping difference; for MODULE and GUEST_MODULE the distance from
// the base that /proc/modules names; for JIT of a process the position of the code in the
// jit-PID.dump that tells of it; for other JIT, ANON and SPECIAL the absolute address itself.
enum image_kind {
	IMAGE_KERNEL,
	IMAGE_MODULE,
	IMAGE_GUEST_KERNEL,
	IMAGE_GUEST_MODULE,
	// An executable, a library, or any other mapped file.
	IMAGE_USER,
	IMAGE_VDSO,
	// Code made at run time that something names: a jit-PID.dump (pid is not 0), or the kernel
	// by a record of its own (BPF programs).
	IMAGE_JIT,
	IMAGE_ANON,
	// [vsyscall], [heap], [stack], [uprobes] and the like.
	IMAGE_SPECIAL,
	IMAGE_KINDS
};

// "kernel", "module", "guest-kernel", "guest-module", "user", "vdso", "jit", "anon", "special".
const char *image_kind_name(enum image_kind kind);

static inline bool image_kind_is_kernel_side(enum image_kind kind)
{
	return kind <= IMAGE_GUEST_MODULE;
}

// Where an identity comes from, from the surest to none.
enum identity {
	// The kernel or the recorder put it in the mmap event.
	IDENTITY_MAP_TIME,
	// In a record made when the recorder began, for what ran already: read by path then.
	IDENTITY_SYNTHESIZED,
	// In a table written when the recording ended: read by path, so possibly another build.
	IDENTITY_AFTER_THE_FACT,
	// What is mapped is anonymous, in a hole between two mappings of one file, as when a
	// program moves its own code to huge pages: taken for that file's.
	IDENTITY_INFERRED,
	// The recording itself shows that the table cannot be right: one path, several inodes, one
	// ID.
	IDENTITY_AMBIGUOUS,
	IDENTITY_NONE,
	IDENTITIES
};

// "map-time", "synthesized", "after-the-fact", "inferred", "ambiguous", "none".
const char *identity_name(enum identity identity);

// An identity that may be used to find a file. Ambiguous and none never are.
static inline bool identity_is_usable(enum identity identity)
{
	return identity <= IDENTITY_INFERRED;
}

// The inode behind a mapping, where it was recorded. An mmap event with a build ID has none.
struct file_key {
	uint32_t major;
	uint32_t minor;
	uint64_t inode;
	uint64_t generation;
	bool is_known;
};

// One image under one path. Two are the same image when their build IDs are equal; without one,
// when file key and path are. Strings are lent by whoever owns the struct.
struct image {
	enum image_kind kind;
	enum identity identity;
	// None when identity is IDENTITY_NONE. Kept, but not to be used, when it is
	// IDENTITY_AMBIGUOUS.
	struct build_id id;
	// The ID's length was not recorded, and so may be shorter than id.size by its trailing
	// zeros.
	bool id_is_padded;
	// The mapping is anonymous (see IDENTITY_INFERRED, which its identity is when there is
	// any).
	bool is_inferred;
	struct file_key file;
	const char *path;
	// The process whose code this is, for JIT and ANON; 0 otherwise.
	uint32_t pid;
	// For KERNEL and GUEST_KERNEL: the symbol that offsets count from ("_text", "_stext"; NULL
	// when not recorded) and its address when recorded; 0 when the kernel hid it.
	const char *reference_symbol;
	uint64_t reference_address;
};

// "/a/b.so.1" -> "b.so.1"; bracketed names as they are.
const char *image_short_name(const char *path);

// The kind that a mapping's recorded name and cpumode (PERF_RECORD_MISC_CPUMODE_MASK bits) say it
// is. Rules: tools/perf/util/dso.c of Linux 6.12, plus .ko.zst and .ko.bz2.
enum image_kind image_kind_of(const char *path, unsigned cpumode);

// Writes the canonical name of a module from its recorded one ("/lib/…/snd-pcm.ko.xz" and
// "[snd_pcm]" both give "snd_pcm") to NAME of SIZE bytes, cut to fit.
void module_name_of(const char *path, char *name, unsigned long size);

#endif
