// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// One line of progress, and messages that do not tear it.
#include "cli/terminal.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static struct terminal {
	pthread_mutex_t lock;
	bool is_quiet;
	unsigned verbose;
	bool has_line;
	uint64_t last_ms;
} terminal = { .lock = PTHREAD_MUTEX_INITIALIZER };

static uint64_t now_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void clear_line(void)
{
	if (terminal.has_line)
		fputs("\r\033[K", stderr);
	terminal.has_line = false;
}

static void show_message(void *arg, enum log_level level, const char *text)
{
	(void)arg;
	pthread_mutex_lock(&terminal.lock);
	bool is_shown = level == LOG_WARNING ? !terminal.is_quiet
					     : terminal.verbose >= (unsigned)level;
	if (is_shown) {
		clear_line();
		fprintf(stderr, "%s%s\n", level == LOG_WARNING ? "warning: " : "", text);
	}
	pthread_mutex_unlock(&terminal.lock);
}

static void show_progress(void *arg, const char *what, uint64_t done, uint64_t total)
{
	(void)arg;
	enum { EVERY_MS = 200 };
	if (terminal.is_quiet || !isatty(STDERR_FILENO))
		return;
	pthread_mutex_lock(&terminal.lock);
	uint64_t now = now_ms();
	if (now - terminal.last_ms >= EVERY_MS) {
		terminal.last_ms = now;
		if (total)
			fprintf(stderr, "\r\033[K%s: %3u%%", what,
				(unsigned)(100 * (double)done / (double)total));
		else
			fprintf(stderr, "\r\033[K%s: %llu", what, (unsigned long long)done);
		fflush(stderr);
		terminal.has_line = true;
	}
	pthread_mutex_unlock(&terminal.lock);
}

const struct log *terminal_log(void)
{
	static const struct log log = { .message = show_message, .progress = show_progress };
	return &log;
}

void terminal_set_level(bool is_quiet, unsigned verbose)
{
	terminal.is_quiet = is_quiet;
	terminal.verbose = verbose;
}

void terminal_end_progress(void)
{
	pthread_mutex_lock(&terminal.lock);
	clear_line();
	fflush(stderr);
	pthread_mutex_unlock(&terminal.lock);
}
