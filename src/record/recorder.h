// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Recording, from the opening of the events to the last byte of the file.
#ifndef RECORD_RECORDER_H
#define RECORD_RECORDER_H

#include <signal.h>

#include "base/log.h"
#include "record/event_set.h"
#include "record/tracker.h"
#include "store/store.h"

enum record_switch { SWITCH_NEVER, SWITCH_SIGNAL, SWITCH_SIZE, SWITCH_TIME };

struct record_options {
	// Lent; NULL for silence.
	const struct log *log;
	// What the user typed, for the file's header.
	const char *const *command_line;
	size_t command_line_count;
	// The command to record, ended with NULL; NULL for none. MASK is the signal mask it gets.
	char *const *command;
	const sigset_t *command_mask;
	// A signalfd(2): SIGINT and SIGTERM end the recording, SIGCHLD tells that the command may
	// have ended, SIGUSR1 stops and restarts sampling, SIGUSR2 begins a new file or (overwrite)
	// writes what the rings hold.
	int signal_fd;
	// "PID,…", "TID,…", "0-3,…", and names of cgroups; NULL for none.
	const char *processes, *threads, *cpus;
	const char *const *cgroups;
	size_t cgroup_count;
	bool is_system_wide;
	const struct wanted_event *events;
	size_t event_count;
	const char *output;
	int zstd_level;
	// 0: as much as suits.
	size_t ring_bytes;
	uint64_t max_bytes;
	enum record_switch switch_when;
	uint64_t switch_bytes, switch_ns;
	// How many files of a series are kept; 0 is all.
	unsigned switch_files;
	bool is_overwriting;
	// Sampling begins so long after the command; SIGUSR1 begins it when `starts_off`.
	uint64_t delay_ns, duration_ns;
	bool starts_off;
	bool without_children;
	bool with_data, with_switches, with_cgroups;
	enum capture capture;
	// Lent; NULL is CAPTURE_NONE.
	struct store *store;
	// So many files of images may be held open.
	size_t most_open;
};

struct record_outcome {
	uint64_t samples, lost, bytes;
	// Records of mappings and processes that the kernel had no room for.
	uint64_t lost_meta;
	struct tracker_counts images;
	struct store_batch_counts kept;
	// Processes already running that we could not look at.
	size_t forbidden;
	// What the kernel did not give; see perf_refusal_text().
	struct perf_refusals refusals;
	bool kernel_is_hidden;
	// A signal ended the recording.
	int signal;
	// The command's, or 0.
	int exit_status;
	bool has_command;
};

// Records until the command or what else is recorded has ended, or a signal says so. What was
// written before an error stays readable. RET is filled in any case.
struct imp_error *record_run(const struct record_options *options,
			     struct record_outcome *ret) MUST_CHECK;

#endif
