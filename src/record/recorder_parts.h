// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// What the parts of the recorder work on: opening, what is written first, the rounds.
#ifndef RECORD_RECORDER_PARTS_H
#define RECORD_RECORDER_PARTS_H

#include <poll.h>

#include "record/keeper.h"
#include "record/launch.h"
#include "record/meta.h"
#include "record/module_watch.h"
#include "record/recorder.h"
#include "record/sample_walk.h"
#include "record/series.h"
#include "record/synthesize.h"

#define SECOND_NS UINT64_C(1000000000)

struct recorder {
	const struct record_options *options;
	struct record_outcome *outcome;
	struct target target;
	struct launch launch;
	struct event_set set;
	struct meta *meta;
	struct proc *proc;
	struct synthesizer *synthesizer;
	struct sample_walk walk;
	struct tracker *tracker;
	struct keeper *keeper;
	struct series series;
	struct module_watch modules;
	struct pollfd *polled;
	size_t polled_count;
	struct buffer taken;
	size_t ring_bytes;
	uint64_t checkpoint_ns, end_ns, start_ns, switch_ns;
	bool is_sampling;
	bool is_done;
};

// By the clock of the recording.
uint64_t recorder_now_ns(void);

// The recording is of the command alone and begins with its exec.
bool recorder_starts_on_exec(const struct recorder *recorder);

// Chooses the target, prepares the command, opens events and output, and starts to look at what is
// mapped. What was opened is closed by record_run().
struct imp_error *recorder_open(struct recorder *recorder) MUST_CHECK;

// Writes what was there before: at the start, and again at the start of each further file.
struct imp_error *recorder_write_prologue(struct recorder *recorder) MUST_CHECK;

#endif
