// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The command to record: started, but held in front of its exec until the events are open.
#ifndef RECORD_LAUNCH_H
#define RECORD_LAUNCH_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

// Zero-initialised is no command.
struct launch {
	pid_t pid;
	int go_fd;
	int error_fd;
	bool has_gone;
	bool has_ended;
	// As waitpid(2) gives it, when has_ended.
	int wait_status;
};

struct launch_options {
	char *const *argv;
	// The signal mask it gets; NULL: ours.
	const sigset_t *mask;
	// Our standard output is the recording: what the command prints goes to standard error.
	bool keeps_stdout_free;
};

// Forks a child that will run the command, with SIGPIPE as it usually is. It waits for launch_go(),
// and goes away when we do.
struct imp_error *launch_prepare(const struct launch_options *options,
				 struct launch *ret) MUST_CHECK;

// Lets the command run. When it cannot be run, *exit_status is what a shell would give (127 not
// found, 126 otherwise) and the error says why.
struct imp_error *launch_go(struct launch *launch, char *const argv[], int *exit_status) MUST_CHECK;

// True when the command has ended; never waits.
bool launch_has_ended(struct launch *launch);

// Ends a command that has not gone or still runs: SIGTERM, and after about a second without effect
// it is left alone.
void launch_end(struct launch *launch);

// What a shell would give: the exit status, or 128 and the signal.
int launch_exit_status(const struct launch *launch);

#endif
