// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The list of connections and the thread that looks at it once a second.
#include "serve/watch.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

struct watched {
	int fd;
	// INT64_MAX when it was cut off.
	int64_t until_s;
	struct watched *before, *after;
};

struct watch {
	pthread_mutex_t lock;
	pthread_cond_t ended;
	pthread_t thread;
	bool is_ending;
	// Without content; its neighbours are the first and the last.
	struct watched list;
};

static struct timespec now(void)
{
	struct timespec time;
	(void)clock_gettime(CLOCK_MONOTONIC, &time);
	return time;
}

static void cut_late(struct watch *watch, int64_t now_s)
{
	for (struct watched *at = watch->list.after; at != &watch->list; at = at->after)
		if (at->until_s <= now_s) {
			(void)shutdown(at->fd, SHUT_RDWR);
			at->until_s = INT64_MAX;
		}
}

static void *watch_run(void *arg)
{
	struct watch *watch = arg;
	pthread_mutex_lock(&watch->lock);
	while (!watch->is_ending) {
		struct timespec next = now();
		cut_late(watch, next.tv_sec);
		next.tv_sec++;
		(void)pthread_cond_timedwait(&watch->ended, &watch->lock, &next);
	}
	pthread_mutex_unlock(&watch->lock);
	return NULL;
}

struct imp_error *watch_new(struct watch **ret)
{
	struct watch *watch = calloc(1, sizeof *watch);
	pthread_condattr_t attributes;
	if (!watch || pthread_condattr_init(&attributes)) {
		free(watch);
		return &imp_error_no_memory;
	}
	watch->list.before = watch->list.after = &watch->list;
	(void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	(void)pthread_cond_init(&watch->ended, &attributes);
	(void)pthread_condattr_destroy(&attributes);
	(void)pthread_mutex_init(&watch->lock, NULL);
	int error = pthread_create(&watch->thread, NULL, watch_run, watch);
	if (error) {
		(void)pthread_cond_destroy(&watch->ended);
		(void)pthread_mutex_destroy(&watch->lock);
		free(watch);
		return error_system(error, "cannot start a thread");
	}
	*ret = watch;
	return NULL;
}

void watch_free(struct watch *watch)
{
	if (!watch)
		return;
	pthread_mutex_lock(&watch->lock);
	watch->is_ending = true;
	(void)pthread_cond_signal(&watch->ended);
	pthread_mutex_unlock(&watch->lock);
	(void)pthread_join(watch->thread, NULL);
	(void)pthread_cond_destroy(&watch->ended);
	(void)pthread_mutex_destroy(&watch->lock);
	free(watch);
}

struct watched *watch_enter(struct watch *watch, int fd, unsigned seconds)
{
	struct watched *watched = calloc(1, sizeof *watched);
	if (!watched)
		return NULL;
	watched->fd = fd;
	watched->until_s = now().tv_sec + seconds;
	pthread_mutex_lock(&watch->lock);
	watched->after = watch->list.after;
	watched->before = &watch->list;
	watched->after->before = watched;
	watch->list.after = watched;
	pthread_mutex_unlock(&watch->lock);
	return watched;
}

void watch_allow(struct watch *watch, struct watched *watched, uint64_t seconds)
{
	pthread_mutex_lock(&watch->lock);
	if (watched->until_s != INT64_MAX)
		watched->until_s = now().tv_sec + (int64_t)(seconds & INT32_MAX);
	pthread_mutex_unlock(&watch->lock);
}

void watch_leave(struct watch *watch, struct watched *watched)
{
	if (!watched)
		return;
	pthread_mutex_lock(&watch->lock);
	watched->before->after = watched->after;
	watched->after->before = watched->before;
	pthread_mutex_unlock(&watch->lock);
	free(watched);
}
