// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Watches the meta records as they come: pins each new image's file while it can be reached, puts
// build IDs where the kernel had none to give, and knows which images were hit by samples.
//
// Called from the thread of the meta stream, from the one that drains samples, and from the one
// that keeps images; it locks for itself.
#ifndef RECORD_TRACKER_H
#define RECORD_TRACKER_H

#include "base/buffer.h"
#include "base/log.h"
#include "live/kernel.h"
#include "live/maps.h"
#include "live/process.h"
#include "record/images.h"
#include "record/sample_walk.h"

struct tracker;

enum capture {
	// Bytes of no image are kept.
	CAPTURE_NONE,
	// Of those with samples.
	CAPTURE_HIT,
	// Of all that were mapped to be executed.
	CAPTURE_ALL,
};

struct tracker_options {
	const struct proc *proc;
	enum capture capture;
	// Is told which processes have mapped something (sample_walk_forget()).
	struct sample_walk *walk;
	// So many files may be held open.
	size_t most_open;
};

struct imp_error *tracker_new(const struct tracker_options *options,
			      struct tracker **ret) MUST_CHECK;
void tracker_free(struct tracker *tracker);

// For meta_start(): sees one record, and may give it a build ID; true when it told of an image not
// met before. ARG is the tracker.
bool tracker_see(void *arg, uint8_t *record, size_t size);
// For synthesizer_new(): what was mapped before. ARG is the tracker.
void tracker_see_mapped(void *arg, struct process_view *view, const struct mapped_file *file,
			const struct mapping *mapping);
// The kernel's text, and its modules.
void tracker_see_kernel(struct tracker *tracker, const struct kernel *kernel,
			const struct kernel_text *text);
void tracker_see_module(struct tracker *tracker, const struct kernel_module *module);

// Marks the images that PAGES lie in as hit. Pages of which nothing is known yet stay in PAGES, for
// a few rounds; the others are taken out. Once a round.
void tracker_resolve(struct tracker *tracker, struct code_pages *pages);

// Appends records that tell of files changed in place since the last call.
void tracker_take(struct tracker *tracker, struct buffer *ret);

// The header's BUILD_ID table of the images that were hit.
void tracker_build_ids(struct tracker *tracker, struct buffer *ret);

// The processes that have something mapped and have not ended, appended to RET.
struct imp_error *tracker_pids(struct tracker *tracker, struct pids *ret) MUST_CHECK;

struct tracker_counts {
	size_t met, hit, with_id, kept, refused, unreachable, changed;
	// Files could not all be held open.
	bool was_full;
};
struct tracker_counts tracker_count(struct tracker *tracker);

// What became of images in sentences, one of each kind of trouble and image: "PATH: reason".
// Appends NUL-ended lines.
size_t tracker_notes(struct tracker *tracker, struct buffer *ret);

// For the thread that keeps images. A piece of work: its file is the thread's own.
struct keep_job {
	uint32_t image;
	int fd;
	struct build_id id;
	struct stat pinned;
	char *path;
	// PATH is "[NAME]", and FD -1.
	bool is_module;
};
// Waits for work; false when there will be none any more (tracker_end_jobs() was called and all is
// done), or after WAIT_MS with *has_job false.
bool tracker_next_job(struct tracker *tracker, int wait_ms, struct keep_job *ret, bool *has_job);
void tracker_job_done(struct tracker *tracker, uint32_t image, const char *refusal);
// No more hits will come.
void tracker_end_jobs(struct tracker *tracker);
// Looks whether pinned files were changed in place.
void tracker_check_files(struct tracker *tracker);

#endif
