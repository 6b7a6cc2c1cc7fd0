/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* A recording (perf.data): which images were mapped, how sure that is, and where an address was. */
#ifndef IMPRINT_RECORDING_H
#define IMPRINT_RECORDING_H

#include <stddef.h>

#include <imprint/build_id.h>

#ifdef __cplusplus
extern "C" {
#endif

struct imp_recording;

struct imp_recording_options {
	/* sizeof(struct imp_recording_options) */
	size_t size;
	/* Threads to read with; 0: one for each processor. */
	unsigned workers;
};

/* Opens the recording at PATH ("-" for standard input) and reads it through once. OPTIONS may be
 * NULL. *ret is the caller's; give it to imp_recording_free(). IMP_ERR_BAD_DATA when it is no
 * recording; what is damaged is read as far as it goes. */
IMP_API struct imp_error *imp_recording_open(const char *path,
					     const struct imp_recording_options *options,
					     struct imp_recording **ret);
IMP_API void imp_recording_free(struct imp_recording *recording);

/* One image under one path. Strings are lent by the recording. */
struct imp_image {
	/* As recorded: "/usr/bin/ls", "[kernel.kallsyms]", "[vdso]". */
	const char *path;
	/* "kernel", "module", "guest-kernel", "guest-module", "user", "vdso", "jit", "anon",
	 * "special" */
	const char *kind;
	/* "map-time", "synthesized", "after-the-fact", "inferred", "ambiguous", "none" */
	const char *identity;
	/* None when identity is "ambiguous" or "none". */
	struct imp_build_id id;
	uint64_t mappings;
};

IMP_API size_t imp_recording_image_count(const struct imp_recording *recording);
/* INDEX is below the count. */
IMP_API struct imp_image imp_recording_image(const struct imp_recording *recording, size_t index);

/* Where an address was. */
struct imp_place {
	/* Index of an image, or (size_t)-1. */
	size_t image;
	/* In the image: a file offset for files; see docs/json.md for the other kinds. */
	uint64_t offset;
	/* Why there is no image ("unmapped", "no-process", …); NULL when there is one. */
	const char *unknown;
};

/* Where ADDRESS was in process PID at TIME_NS of the recording's clock; IS_KERNEL for an address of
 * the kernel. Safe from many threads. */
IMP_API struct imp_place imp_recording_locate(const struct imp_recording *recording, uint32_t pid,
					      uint64_t time_ns, bool is_kernel, uint64_t address);

#ifdef __cplusplus
}
#endif

#endif
