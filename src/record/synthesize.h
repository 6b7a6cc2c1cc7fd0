// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// What was there before the recording began, as the records the kernel would have written: the
// kernel and its modules, processes, threads and what they have mapped.
//
// To be called when the meta events are open already: what happens meanwhile is then told twice,
// never not at all.
#ifndef RECORD_SYNTHESIZE_H
#define RECORD_SYNTHESIZE_H

#include "base/buffer.h"
#include "live/kernel.h"
#include "live/maps.h"
#include "perfdata/record_build.h"

struct synthesizer;

// Is told of each executable mapping of a file that was found, so that the file can be kept.
typedef void synthesize_see(void *arg, struct process_view *view, const struct mapped_file *file,
			    const struct mapping *mapping);

struct synthesize_options {
	const struct proc *proc;
	// Mappings that cannot be executed too.
	bool with_data;
	bool with_namespaces;
	synthesize_see *see;
	void *see_arg;
};

// The name of a mapped file as mmap events have it: "/memfd:NAME (deleted)".
enum { RECORDED_PATH_ROOM = 4096 + 64 };
void recorded_path(const struct mapped_file *file, char path[RECORDED_PATH_ROOM]);

struct imp_error *synthesizer_new(const struct synthesize_options *options,
				  struct synthesizer **ret) MUST_CHECK;
void synthesizer_free(struct synthesizer *synthesizer);

// The kernel's text, with its build ID; *KERNEL and *TEXT are what was found.
struct imp_error *synthesize_kernel(struct synthesizer *synthesizer, struct kernel *kernel,
				    struct kernel_text *text, struct buffer *ret) MUST_CHECK;
// One loaded module, as of STAMP (NULL: before everything).
void synthesize_module(const struct kernel_module *module, const struct stamp *stamp,
		       struct buffer *ret);

// Process PID with its threads and mappings; nothing when it has ended.
struct imp_error *synthesize_process(struct synthesizer *synthesizer, uint32_t pid,
				     struct buffer *ret) MUST_CHECK;
// A process that will soon execute another program: what it has mapped does not count.
struct imp_error *synthesize_before_exec(struct synthesizer *synthesizer, uint32_t pid,
					 struct buffer *ret) MUST_CHECK;
// The processes of THREADS, each once.
struct imp_error *synthesize_threads(struct synthesizer *synthesizer, const uint32_t *threads,
				     size_t count, struct buffer *ret) MUST_CHECK;

// Processes that we were not allowed to look at.
size_t synthesizer_forbidden(const struct synthesizer *synthesizer);

#endif
