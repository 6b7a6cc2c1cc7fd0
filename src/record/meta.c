// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// One thread, a buffer, a lock.
#include "record/meta.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include "perfdata/record_build.h"

// After a drain the thread rests, so that a storm of mmaps is read in batches: the longer, the
// longer nothing new was told. An image is lost to the recording only if within that time its
// process ends and its file leaves its path.
enum { REST_LEAST_MS = 1, REST_MOST_MS = 32, READER_NICE = -15 };

struct order {
	uint64_t time;
	size_t at;
};

struct meta {
	struct rings *rings;
	meta_see *see;
	void *arg;
	pthread_t thread;
	pthread_mutex_t lock;
	int stop_fd;
	struct pollfd *polled;
	struct buffer pending;
	ARRAY_OF(struct order) order;
	uint64_t lost;
	bool is_over, has_news;
};

static uint16_t size_of_record(const uint8_t *record)
{
	uint16_t size;
	memcpy(&size, record + 6, sizeof size);
	return size;
}

static uint32_t type_of_record(const uint8_t *record)
{
	uint32_t type;
	memcpy(&type, record, sizeof type);
	return type;
}

static uint64_t time_of_record(const uint8_t *record, size_t size)
{
	enum { TIME_FROM_END = WRITTEN_TRAILER_SIZE - 8 };
	uint64_t time;
	memcpy(&time, record + size - TIME_FROM_END, sizeof time);
	return time;
}

static int by_time(const void *a, const void *b)
{
	const struct order *left = a, *right = b;
	if (left->time != right->time)
		return left->time < right->time ? -1 : 1;
	return (left->at > right->at) - (left->at < right->at);
}

static void count_lost(struct meta *meta, const uint8_t *record, size_t size)
{
	uint64_t lost;
	if (type_of_record(record) != RECORD_LOST || size < 24)
		return;
	memcpy(&lost, record + 16, sizeof lost);
	meta->lost += lost;
}

// Shows the records from START on, which come from several rings, in the order of time.
static void show(struct meta *meta, size_t start)
{
	meta->order.count = 0;
	for (size_t at = start; at < meta->pending.size;) {
		const uint8_t *record = meta->pending.bytes + at;
		size_t size = size_of_record(record);
		if (size < 8 + WRITTEN_TRAILER_SIZE || size > meta->pending.size - at)
			break;
		struct order *item = array_add(&meta->order);
		if (!item)
			break;
		*item = (struct order){ time_of_record(record, size), at };
		count_lost(meta, record, size);
		at += size;
	}
	if (meta->order.count)
		qsort(meta->order.items, meta->order.count, sizeof *meta->order.items, by_time);
	for (size_t i = 0; i < meta->order.count; i++) {
		uint8_t *record = meta->pending.bytes + meta->order.items[i].at;
		meta->has_news |= meta->see(meta->arg, record, size_of_record(record));
	}
}

// Empties the rings into `pending`; the lock is held.
static void drain(struct meta *meta)
{
	size_t start = meta->pending.size;
	for (size_t i = 0; i < meta->rings->count; i++) {
		struct iovec parts[2];
		int count;
		size_t size = ring_waiting(&meta->rings->items[i], parts, &count);
		for (int part = 0; part < count; part++)
			buffer_append(&meta->pending, parts[part].iov_base, parts[part].iov_len);
		if (size)
			ring_consume(&meta->rings->items[i], size);
	}
	if (meta->pending.failed || meta->pending.size == start)
		return;
	show(meta, start);
}

// Takes rings out of the poll whose tasks have ended; the lock is held.
static void drop_ended(struct meta *meta)
{
	bool is_over = true;
	for (size_t i = 0; i < meta->rings->count; i++) {
		if (meta->polled[i].revents & (POLLHUP | POLLERR))
			meta->polled[i].fd = -1;
		is_over &= meta->polled[i].fd < 0;
	}
	meta->is_over = is_over;
}

static void *run(void *arg)
{
	struct meta *meta = arg;
	struct pollfd *stop = &meta->polled[meta->rings->count];
	int rest_ms = REST_LEAST_MS;
	(void)setpriority(PRIO_PROCESS, 0, READER_NICE);
	for (;;) {
		int n = poll(meta->polled, meta->rings->count + 1, -1);
		if (n < 0 && errno != EINTR)
			return NULL;
		pthread_mutex_lock(&meta->lock);
		drain(meta);
		drop_ended(meta);
		rest_ms = meta->has_news ? REST_LEAST_MS : rest_ms * 2;
		meta->has_news = false;
		pthread_mutex_unlock(&meta->lock);
		if (rest_ms > REST_MOST_MS)
			rest_ms = REST_MOST_MS;
		if (stop->revents)
			return NULL;
		struct pollfd rest = *stop;
		if (poll(&rest, 1, rest_ms) > 0)
			return NULL;
	}
}

static struct imp_error *allocate(struct rings *rings, struct meta **ret)
{
	struct meta *meta = calloc(1, sizeof *meta);
	if (!meta)
		return &imp_error_no_memory;
	meta->polled = calloc(rings->count + 1, sizeof *meta->polled);
	meta->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (!meta->polled || meta->stop_fd < 0) {
		free(meta->polled);
		free(meta);
		return &imp_error_no_memory;
	}
	for (size_t i = 0; i < rings->count; i++)
		meta->polled[i] = (struct pollfd){ .fd = rings->items[i].fd, .events = POLLIN };
	meta->polled[rings->count] = (struct pollfd){ .fd = meta->stop_fd, .events = POLLIN };
	meta->rings = rings;
	pthread_mutex_init(&meta->lock, NULL);
	*ret = meta;
	return NULL;
}

static void meta_release(struct meta *meta)
{
	pthread_mutex_destroy(&meta->lock);
	close(meta->stop_fd);
	buffer_fini(&meta->pending);
	array_fini(&meta->order);
	free(meta->polled);
	free(meta);
}

static bool see_nothing(void *arg, uint8_t *record, size_t size)
{
	(void)arg;
	(void)record;
	(void)size;
	return false;
}

struct imp_error *meta_start(struct rings *rings, meta_see *see, void *arg, struct meta **ret)
{
	struct meta *meta;
	struct imp_error *err = allocate(rings, &meta);
	if (err)
		return err;
	meta->see = see ? see : see_nothing;
	meta->arg = arg;
	int status = pthread_create(&meta->thread, NULL, run, meta);
	if (status) {
		meta_release(meta);
		return error_system(status, "cannot start a thread");
	}
	*ret = meta;
	return NULL;
}

struct imp_error *meta_take(struct meta *meta, struct buffer *ret)
{
	pthread_mutex_lock(&meta->lock);
	drain(meta);
	bool failed = meta->pending.failed;
	if (!ret->size) {
		struct buffer empty = *ret;
		*ret = meta->pending;
		meta->pending = empty;
	} else {
		buffer_append(ret, meta->pending.bytes, meta->pending.size);
		meta->pending.size = 0;
	}
	pthread_mutex_unlock(&meta->lock);
	return failed || ret->failed ? &imp_error_no_memory : NULL;
}

bool meta_is_over(struct meta *meta)
{
	pthread_mutex_lock(&meta->lock);
	bool is_over = meta->is_over;
	pthread_mutex_unlock(&meta->lock);
	return is_over;
}

uint64_t meta_lost(struct meta *meta)
{
	pthread_mutex_lock(&meta->lock);
	uint64_t lost = meta->lost;
	pthread_mutex_unlock(&meta->lock);
	return lost;
}

void meta_free(struct meta *meta)
{
	if (!meta)
		return;
	eventfd_write(meta->stop_fd, 1);
	pthread_join(meta->thread, NULL);
	meta_release(meta);
}
