// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Asking other servers, each question once at a time.
#include "serve/upstream.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "base/hex.h"
#include "elf/elf_brief.h"
#include "find/fetch.h"
#include "find/intake.h"
#include "serve/conditions.h"
#include "store/store.h"

enum {
	FLIGHTS_MOST = 32,
	// How many absences are remembered, and how long.
	ABSENT_MOST = 1024,
	ABSENT_SECONDS = 300,
	DEFAULT_SECONDS = 30,
	// As debuginfod has it.
	HOPS_MOST = 8,
	TOKEN_BYTES = 8,
	WAY_SIZE = 512,
};

// No file of a build is larger.
static const uint64_t most_bytes = UINT64_C(16) << 30;

// A question that is being asked; free when nobody waits for it.
struct flight {
	struct build_id id;
	enum serve_part part;
	enum upstream_outcome outcome;
	bool is_done;
	unsigned waiting;
};

struct absence {
	struct build_id id;
	enum serve_part part;
	time_t until;
};

struct upstream {
	const struct serve_options *options;
	double seconds;
	// By which this server knows its own questions when they come back to it.
	char token[2 * TOKEN_BYTES + 16];
	pthread_mutex_t lock;
	pthread_cond_t landed;
	struct flight flights[FLIGHTS_MOST];
	struct absence absent[ABSENT_MOST];
	size_t next_absent;
	atomic_bool is_stopped;
};

struct imp_error *upstream_new(const struct serve_options *options, struct upstream **ret)
{
	if (!fetch_is_built_in())
		return error_new(
			IMP_ERR_UNSUPPORTED,
			"this imprint was built without fetching: it can have no upstream");
	if (!store_is_writable(options->store))
		return error_new(IMP_ERR_USAGE,
				 "%s: not writable, so nothing can be fetched into it",
				 store_dir(options->store));
	uint8_t random[TOKEN_BYTES];
	if (getrandom(random, sizeof random, 0) != sizeof random)
		return error_system(errno, "no random numbers");
	struct upstream *upstream = calloc(1, sizeof *upstream);
	if (!upstream)
		return &imp_error_no_memory;
	upstream->options = options;
	upstream->seconds = options->upstream_s > 0 ? options->upstream_s : DEFAULT_SECONDS;
	memcpy(upstream->token, "imprint-", 8);
	hex_format(random, sizeof random, upstream->token + 8);
	(void)pthread_mutex_init(&upstream->lock, NULL);
	(void)pthread_cond_init(&upstream->landed, NULL);
	*ret = upstream;
	return NULL;
}

void upstream_stop(struct upstream *upstream)
{
	atomic_store(&upstream->is_stopped, true);
}

void upstream_free(struct upstream *upstream)
{
	if (!upstream)
		return;
	(void)pthread_cond_destroy(&upstream->landed);
	(void)pthread_mutex_destroy(&upstream->lock);
	free(upstream);
}

static bool is_stopped(void *arg)
{
	struct upstream *upstream = arg;
	return atomic_load(&upstream->is_stopped);
}

static time_t now_s(void)
{
	struct timespec now;
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

static bool is_absent(const struct upstream *upstream, const struct build_id *id,
		      enum serve_part part)
{
	time_t now = now_s();
	for (size_t i = 0; i < ABSENT_MOST; i++) {
		const struct absence *absence = &upstream->absent[i];
		if (absence->part == part && absence->until > now &&
		    build_id_equal(&absence->id, id))
			return true;
	}
	return false;
}

static void note_absent(struct upstream *upstream, const struct build_id *id, enum serve_part part)
{
	upstream->absent[upstream->next_absent++ % ABSENT_MOST] =
		(struct absence){ .id = *id, .part = part, .until = now_s() + ABSENT_SECONDS };
}

// Takes the file at PATH into the store as what its own headers say it is.
static struct imp_error *take_in(struct upstream *upstream, const char *path,
				 const struct build_id *id)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return error_system(errno, "%s: cannot open", path);
	struct elf_brief brief;
	struct store_item item = { .id = *id };
	struct imp_error *err = elf_brief_read_fd(fd, path, &brief);
	if (err)
		return err;
	intake_describe(&brief, &item);
	return store_add_fd(upstream->options->store, &item, fd, NULL);
}

// Executables and debug files arrive in directories apart, so that neither is removed under the
// other.
static char *scratch_of(const struct upstream *upstream, enum fetch_part part)
{
	char *dir = NULL;
	return asprintf(&dir, "%s/%s", upstream->options->scratch_dir, fetch_part_name(part)) < 0
		       ? NULL
		       : dir;
}

static void scratch_clear(const char *scratch, const struct fetch_job *job)
{
	_cleanup_free_ char *dir = NULL;
	_cleanup_free_ char *file = NULL;
	if (asprintf(&dir, "%s/%s", scratch, build_id_text(&job->id).text) < 0)
		dir = NULL;
	if (dir && asprintf(&file, "%s/%s", dir, fetch_part_name(job->part)) < 0)
		file = NULL;
	if (file)
		(void)unlink(file);
	if (dir)
		(void)rmdir(dir);
}

static enum upstream_outcome outcome_of(enum fetch_outcome outcome)
{
	if (outcome == FETCH_DONE || outcome == FETCH_KNOWN)
		return UPSTREAM_STORED;
	return outcome == FETCH_ABSENT ? UPSTREAM_ABSENT : UPSTREAM_FAILED;
}

static struct imp_error *fetch_one(struct upstream *upstream, struct fetch_job *job,
				   const struct upstream_way *way, enum upstream_outcome *ret)
{
	char via[WAY_SIZE], forwarded[WAY_SIZE];
	(void)snprintf(via, sizeof via, "Via: %.*s%s1.1 %s", WAY_SIZE / 2, way->via ? way->via : "",
		       way->via ? ", " : "", upstream->token);
	(void)snprintf(forwarded, sizeof forwarded, "X-Forwarded-For: %.*s%s%s", WAY_SIZE / 2,
		       way->forwarded_for ? way->forwarded_for : "", way->forwarded_for ? ", " : "",
		       way->client);
	const char *const headers[] = { via, forwarded, NULL };
	_cleanup_free_ char *scratch = scratch_of(upstream, job->part);
	if (!scratch)
		return &imp_error_no_memory;
	const struct fetch_options options = { .log = upstream->options->log,
					       .servers = upstream->options->upstreams,
					       .cache_dir = scratch,
					       .headers = headers,
					       .most_bytes = most_bytes,
					       .timeout_s = upstream->seconds,
					       .is_stopped = is_stopped,
					       .arg = upstream };
	struct imp_error *err = fetch(&options, job, 1);
	if (!err && job->path)
		err = take_in(upstream, job->path, &job->id);
	if (!err)
		*ret = outcome_of(job->outcome);
	scratch_clear(scratch, job);
	return err;
}

static bool is_looped(const struct upstream *upstream, const struct upstream_way *way)
{
	return (way->via && strstr(way->via, upstream->token)) ||
	       forwarded_hops(way->forwarded_for) >= HOPS_MOST;
}

// The flight that asks this already, else a free place (nobody waits there), else NULL.
static struct flight *find_flight(struct upstream *upstream, const struct build_id *id,
				  enum serve_part part)
{
	struct flight *free_place = NULL;
	for (size_t i = 0; i < FLIGHTS_MOST; i++) {
		struct flight *flight = &upstream->flights[i];
		if (!flight->waiting)
			free_place = flight;
		else if (!flight->is_done && flight->part == part &&
			 build_id_equal(&flight->id, id))
			return flight;
	}
	return free_place;
}

// Called under the lock, which is given up meanwhile.
static struct imp_error *fly(struct upstream *upstream, struct flight *flight,
			     const struct upstream_way *way)
{
	struct fetch_job job = { .id = flight->id,
				 .part = flight->part == SERVE_EXECUTABLE ? FETCH_EXECUTABLE
									  : FETCH_DEBUGINFO };
	enum upstream_outcome outcome = UPSTREAM_FAILED;
	pthread_mutex_unlock(&upstream->lock);
	struct imp_error *err = fetch_one(upstream, &job, way, &outcome);
	fetch_job_fini(&job);
	pthread_mutex_lock(&upstream->lock);
	if (outcome == UPSTREAM_ABSENT)
		note_absent(upstream, &flight->id, flight->part);
	flight->outcome = outcome;
	flight->is_done = true;
	(void)pthread_cond_broadcast(&upstream->landed);
	return err;
}

static struct imp_error *ask_locked(struct upstream *upstream, const struct flight *wanted,
				    const struct upstream_way *way, enum upstream_outcome *ret)
{
	*ret = UPSTREAM_ABSENT;
	if (is_absent(upstream, &wanted->id, wanted->part))
		return NULL;
	struct flight *flight = find_flight(upstream, &wanted->id, wanted->part);
	bool is_first = flight && !flight->waiting;
	*ret = UPSTREAM_BUSY;
	// A server further up may be waiting for the answer to this very question.
	if (!flight || (!is_first && way->forwarded_for))
		return NULL;
	if (is_first)
		*flight = *wanted;
	flight->waiting++;
	struct imp_error *err = is_first ? fly(upstream, flight, way) : NULL;
	while (!flight->is_done)
		(void)pthread_cond_wait(&upstream->landed, &upstream->lock);
	*ret = flight->outcome;
	flight->waiting--;
	return err;
}

struct imp_error *upstream_ask(struct upstream *upstream, const struct build_id *id,
			       enum serve_part part, const struct upstream_way *way,
			       enum upstream_outcome *ret)
{
	const struct flight wanted = { .id = *id, .part = part };
	*ret = UPSTREAM_ABSENT;
	if (is_looped(upstream, way))
		return NULL;
	pthread_mutex_lock(&upstream->lock);
	struct imp_error *err = ask_locked(upstream, &wanted, way, ret);
	pthread_mutex_unlock(&upstream->lock);
	return err;
}
