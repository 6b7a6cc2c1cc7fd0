// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// fork, wait at a pipe, exec.
#include "record/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

enum { STATUS_NOT_FOUND = 127, STATUS_NOT_RUNNABLE = 126, STATUS_SIGNAL = 128 };

__attribute__((noreturn)) static void run_child(const struct launch_options *options, int go,
						int errors)
{
	char byte;
	// The end of the pipe without a byte: the recorder is gone.
	if (read(go, &byte, 1) != 1)
		_exit(STATUS_NOT_RUNNABLE);
	signal(SIGPIPE, SIG_DFL);
	if (options->mask)
		sigprocmask(SIG_SETMASK, options->mask, NULL);
	if (options->keeps_stdout_free)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	execvp(options->argv[0], options->argv);
	int errnum = errno;
	if (write(errors, &errnum, sizeof errnum) < 0)
		_exit(STATUS_NOT_RUNNABLE);
	_exit(errnum == ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_RUNNABLE);
}

static void close_pair(const int pair[2])
{
	close(pair[0]);
	close(pair[1]);
}

struct imp_error *launch_prepare(const struct launch_options *options, struct launch *ret)
{
	int go[2], errors[2];
	if (pipe2(go, O_CLOEXEC))
		return error_system(errno, "cannot make a pipe");
	if (pipe2(errors, O_CLOEXEC)) {
		int errnum = errno;
		close_pair(go);
		return error_system(errnum, "cannot make a pipe");
	}
	pid_t pid = fork();
	if (pid < 0) {
		int errnum = errno;
		close_pair(go);
		close_pair(errors);
		return error_system(errnum, "cannot start a process");
	}
	if (!pid) {
		close(go[1]);
		close(errors[0]);
		run_child(options, go[0], errors[1]);
	}
	close(go[0]);
	close(errors[1]);
	*ret = (struct launch){ .pid = pid, .go_fd = go[1], .error_fd = errors[0] };
	return NULL;
}

static void close_pipes(struct launch *launch)
{
	if (launch->pid && !launch->has_gone) {
		close(launch->go_fd);
		close(launch->error_fd);
	}
	launch->has_gone = true;
}

struct imp_error *launch_go(struct launch *launch, char *const argv[], int *exit_status)
{
	int errnum = 0;
	ssize_t n = write(launch->go_fd, "", 1);
	if (n == 1)
		do
			n = read(launch->error_fd, &errnum, sizeof errnum);
		while (n < 0 && errno == EINTR);
	close_pipes(launch);
	if (n != sizeof errnum)
		return NULL;
	*exit_status = errnum == ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_RUNNABLE;
	return error_system(errnum, "cannot run '%s'", argv[0]);
}

bool launch_has_ended(struct launch *launch)
{
	if (!launch->pid || launch->has_ended)
		return launch->pid;
	pid_t pid;
	do
		pid = waitpid(launch->pid, &launch->wait_status, WNOHANG);
	while (pid < 0 && errno == EINTR);
	launch->has_ended = pid == launch->pid || (pid < 0 && errno == ECHILD);
	return launch->has_ended;
}

void launch_end(struct launch *launch)
{
	enum { TRIES = 100 };
	static const struct timespec pause = { .tv_nsec = 10 * 1000 * 1000 };
	if (!launch->pid)
		return;
	close_pipes(launch);
	if (launch_has_ended(launch))
		return;
	kill(launch->pid, SIGTERM);
	for (int i = 0; i < TRIES && !launch_has_ended(launch); i++)
		nanosleep(&pause, NULL);
}

int launch_exit_status(const struct launch *launch)
{
	if (!launch->has_ended)
		return STATUS_SIGNAL + SIGTERM;
	if (WIFSIGNALED(launch->wait_status))
		return STATUS_SIGNAL + WTERMSIG(launch->wait_status);
	return WEXITSTATUS(launch->wait_status);
}
