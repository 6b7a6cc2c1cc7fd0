// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Several downloads at once, over one loop.
//
// Each job asks the servers in turn. A server that cannot be reached, stops sending or answers with
// an error of its own has failed: whoever is waiting for it goes on to the next, and nobody asks it
// again.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/late/late_curl.h"
#include "find/fetch.h"
#include "find/fetch_cache.h"

enum {
	PARALLEL = 8,
	PARALLEL_MOST = 64,
	// To open a connection, and without a byte while one is open.
	CONNECT_SECONDS = 5,
	SILENCE_SECONDS = 20,
	POLL_MS = 100,
	HTTP_OK = 200,
	HTTP_NOT_FOUND = 404,
	HTTP_GONE = 410
};

struct server {
	const char *url;
	bool has_failed;
};

// One job on its way.
struct transfer {
	struct fetching *fetching;
	struct fetch_job *job;
	CURL *handle;
	size_t server;
	int fd;
	char *temporary;
	uint64_t received;
	// Some server failed before it could be asked.
	bool saw_failure;
	bool saw_wrong;
};

struct fetching {
	const struct fetch_options *options;
	CURLM *multi;
	struct curl_slist *headers;
	struct server *servers;
	size_t server_count;
	struct fetch_job *jobs;
	size_t job_count, next_job;
	struct transfer transfers[PARALLEL_MOST];
	unsigned parallel, active;
	uint64_t received;
	double deadline;
	struct imp_error *err;
};

static double now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static size_t receive(char *bytes, size_t size, size_t count, void *arg)
{
	struct transfer *transfer = arg;
	size_t left = size * count;
	uint64_t most = transfer->fetching->options->most_bytes;
	if (most && transfer->received + left > most)
		return 0;
	while (left) {
		ssize_t written = write(transfer->fd, bytes + (size * count - left), left);
		if (written <= 0)
			return 0;
		left -= (size_t)written;
	}
	transfer->received += size * count;
	transfer->fetching->received += size * count;
	log_progress(transfer->fetching->options->log, "bytes fetched",
		     transfer->fetching->received, 0);
	return size * count;
}

static void drop_file(struct transfer *transfer)
{
	if (transfer->fd >= 0)
		close(transfer->fd);
	if (transfer->temporary)
		unlink(transfer->temporary);
	free(transfer->temporary);
	transfer->temporary = NULL;
	transfer->fd = -1;
}

static void drop_handle(struct transfer *transfer)
{
	if (!transfer->handle)
		return;
	curl_multi_remove_handle(transfer->fetching->multi, transfer->handle);
	curl_easy_cleanup(transfer->handle);
	transfer->handle = NULL;
}

static void end(struct transfer *transfer, enum fetch_outcome outcome)
{
	drop_handle(transfer);
	drop_file(transfer);
	transfer->job->outcome = outcome;
	transfer->job = NULL;
	transfer->fetching->active--;
}

static bool set_options(CURL *handle, struct transfer *transfer, const char *url, long left_ms)
{
	return !curl_easy_setopt(handle, CURLOPT_URL, url) &&
	       !curl_easy_setopt(handle, CURLOPT_HTTPHEADER, transfer->fetching->headers) &&
	       !curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, receive) &&
	       !curl_easy_setopt(handle, CURLOPT_WRITEDATA, transfer) &&
	       !curl_easy_setopt(handle, CURLOPT_PRIVATE, transfer) &&
	       !curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L) &&
	       !curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https") &&
	       !curl_easy_setopt(handle, CURLOPT_REDIR_PROTOCOLS_STR, "http,https") &&
	       !curl_easy_setopt(handle, CURLOPT_FOLLOWLOCATION, 1L) &&
	       !curl_easy_setopt(handle, CURLOPT_MAXREDIRS, 5L) &&
	       !curl_easy_setopt(handle, CURLOPT_FAILONERROR, 1L) &&
	       !curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_SECONDS) &&
	       !curl_easy_setopt(handle, CURLOPT_LOW_SPEED_LIMIT, 1L) &&
	       !curl_easy_setopt(handle, CURLOPT_LOW_SPEED_TIME, (long)SILENCE_SECONDS) &&
	       !curl_easy_setopt(handle, CURLOPT_TIMEOUT_MS, left_ms) &&
	       !curl_easy_setopt(handle, CURLOPT_USERAGENT, "imprint");
}

// Sends the request of TRANSFER to its present server.
static struct imp_error *send_request(struct transfer *transfer)
{
	struct fetching *fetching = transfer->fetching;
	_cleanup_free_ char *url = NULL;
	if (asprintf(&url, "%s/buildid/%s/%s", fetching->servers[transfer->server].url,
		     build_id_text(&transfer->job->id).text,
		     fetch_part_name(transfer->job->part)) < 0) {
		url = NULL;
		return &imp_error_no_memory;
	}
	double left = fetching->deadline - now();
	CURL *handle = curl_easy_init();
	if (!handle)
		return &imp_error_no_memory;
	transfer->handle = handle;
	transfer->received = 0;
	if (ftruncate(transfer->fd, 0) < 0 || lseek(transfer->fd, 0, SEEK_SET) < 0 ||
	    !set_options(handle, transfer, url, left > 0 ? (long)ceil(left * 1000) : 1) ||
	    curl_multi_add_handle(fetching->multi, handle) != CURLM_OK)
		return error_new(IMP_ERR_SYSTEM, "%s: cannot be asked for", url);
	return NULL;
}

// Asks the next server that has not failed, or ends the job.
static void ask_next(struct transfer *transfer)
{
	struct fetching *fetching = transfer->fetching;
	drop_handle(transfer);
	while (transfer->server < fetching->server_count &&
	       fetching->servers[transfer->server].has_failed) {
		transfer->saw_failure = true;
		transfer->server++;
	}
	if (transfer->server < fetching->server_count) {
		struct imp_error *err = send_request(transfer);
		if (!err)
			return;
		if (!fetching->err)
			fetching->err = err;
		else
			imp_error_free(err);
		end(transfer, FETCH_FAILED);
		return;
	}
	if (transfer->saw_wrong) {
		end(transfer, FETCH_WRONG);
	} else if (transfer->saw_failure) {
		end(transfer, FETCH_FAILED);
	} else {
		fetch_cache_note_absent(fetching->options->cache_dir, transfer->job);
		end(transfer, FETCH_ABSENT);
	}
}

// The server of TRANSFER has failed: all that wait for it go on.
static void give_up_server(struct transfer *transfer, const char *why)
{
	struct fetching *fetching = transfer->fetching;
	size_t failed = transfer->server;
	struct server *server = &fetching->servers[failed];
	if (!server->has_failed)
		log_message(fetching->options->log, LOG_WARNING, "%s: %s; not asked again",
			    server->url, why);
	server->has_failed = true;
	for (unsigned i = 0; i < fetching->parallel; i++) {
		struct transfer *other = &fetching->transfers[i];
		if (other->job && other->handle && other->server == failed)
			ask_next(other);
	}
}

// The whole body has arrived.
static void take(struct transfer *transfer)
{
	struct fetching *fetching = transfer->fetching;
	bool is_right = false;
	struct imp_error *err = fetch_cache_publish(fetching->options->cache_dir, transfer->job,
						    transfer->temporary, &is_right);
	if (err && !fetching->err)
		fetching->err = steal(err);
	imp_error_free(err);
	if (is_right) {
		transfer->job->size_bytes = transfer->received;
		transfer->job->server = fetching->servers[transfer->server].url;
		// The name is that of the cache now.
		free(transfer->temporary);
		transfer->temporary = NULL;
		end(transfer, FETCH_DONE);
		return;
	}
	log_message(fetching->options->log, LOG_WARNING,
		    "%s: gave another file for the %s of %s; thrown away",
		    fetching->servers[transfer->server].url, fetch_part_name(transfer->job->part),
		    build_id_text(&transfer->job->id).text);
	transfer->saw_wrong = true;
	transfer->server++;
	ask_next(transfer);
}

static void finish(struct transfer *transfer, CURLcode result)
{
	long status = 0;
	curl_easy_getinfo(transfer->handle, CURLINFO_RESPONSE_CODE, &status);
	if (now() >= transfer->fetching->deadline && result != CURLE_OK) {
		end(transfer, FETCH_STOPPED);
	} else if (result == CURLE_OK && status == HTTP_OK) {
		take(transfer);
	} else if (status == HTTP_NOT_FOUND || status == HTTP_GONE) {
		transfer->server++;
		ask_next(transfer);
	} else {
		char why[64];
		snprintf(why, sizeof why, "answered %ld", status);
		give_up_server(transfer, result == CURLE_HTTP_RETURNED_ERROR
						 ? why
						 : curl_easy_strerror(result));
	}
}

// Begins the next job in a free place, unless the cache settles it.
static struct imp_error *begin(struct fetching *fetching, struct transfer *transfer)
{
	struct fetch_job *job = &fetching->jobs[fetching->next_job++];
	job->outcome = FETCH_WAITING;
	struct imp_error *err = fetch_cache_ask(fetching->options->cache_dir, job);
	if (err || job->outcome != FETCH_WAITING)
		return err;
	*transfer = (struct transfer){ .fetching = fetching, .fd = -1 };
	err = fetch_cache_create(fetching->options->cache_dir, job, &transfer->fd,
				 &transfer->temporary);
	if (err)
		return err;
	transfer->job = job;
	fetching->active++;
	ask_next(transfer);
	return NULL;
}

static struct imp_error *fill(struct fetching *fetching)
{
	struct imp_error *err = NULL;
	for (unsigned i = 0; i < fetching->parallel && !err; i++)
		while (!err && !fetching->transfers[i].job &&
		       fetching->next_job < fetching->job_count)
			err = begin(fetching, &fetching->transfers[i]);
	return err;
}

static void collect(struct fetching *fetching)
{
	int left;
	for (CURLMsg *message; (message = curl_multi_info_read(fetching->multi, &left));) {
		if (message->msg != CURLMSG_DONE)
			continue;
		char *arg = NULL;
		CURLcode result = message->data.result;
		curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &arg);
		struct transfer *transfer = (struct transfer *)(void *)arg;
		if (transfer && transfer->job && transfer->handle == message->easy_handle)
			finish(transfer, result);
	}
}

static bool is_over(const struct fetching *fetching)
{
	const struct fetch_options *options = fetching->options;
	return fetching->err || now() >= fetching->deadline ||
	       (options->is_stopped && options->is_stopped(options->arg));
}

static struct imp_error *run(struct fetching *fetching)
{
	for (;;) {
		struct imp_error *err = fill(fetching);
		if (err || !fetching->active || is_over(fetching))
			return err;
		int running;
		if (curl_multi_perform(fetching->multi, &running) != CURLM_OK ||
		    curl_multi_poll(fetching->multi, NULL, 0, POLL_MS, NULL) != CURLM_OK)
			return error_new(IMP_ERR_SYSTEM, "the downloads cannot go on");
		collect(fetching);
	}
}

static void close_all(struct fetching *fetching)
{
	for (unsigned i = 0; i < fetching->parallel; i++)
		if (fetching->transfers[i].job)
			end(&fetching->transfers[i], FETCH_STOPPED);
	for (size_t i = fetching->next_job; i < fetching->job_count; i++)
		fetching->jobs[i].outcome = FETCH_STOPPED;
	if (fetching->multi)
		curl_multi_cleanup(fetching->multi);
	curl_slist_free_all(fetching->headers);
	free(fetching->servers);
	curl_global_cleanup();
}

static struct imp_error *list_headers(struct fetching *fetching)
{
	const char *const *headers = fetching->options->headers;
	for (size_t i = 0; headers && headers[i]; i++) {
		struct curl_slist *longer = curl_slist_append(fetching->headers, headers[i]);
		if (!longer)
			return &imp_error_no_memory;
		fetching->headers = longer;
	}
	return NULL;
}

struct imp_error *fetch(const struct fetch_options *options, struct fetch_job *jobs, size_t count)
{
	struct fetching fetching = { .options = options, .jobs = jobs, .job_count = count };
	fetching.deadline = now() + options->timeout_s;
	fetching.parallel = options->parallel ? options->parallel : PARALLEL;
	if (fetching.parallel > PARALLEL_MOST)
		fetching.parallel = PARALLEL_MOST;
	while (options->servers[fetching.server_count])
		fetching.server_count++;
	struct imp_error *err = late_curl_load();
	if (err)
		return err;
	if (curl_global_init(CURL_GLOBAL_DEFAULT))
		return &imp_error_no_memory;
	fetching.multi = curl_multi_init();
	fetching.servers = calloc(fetching.server_count + 1, sizeof *fetching.servers);
	err = fetching.multi && fetching.servers ? NULL : &imp_error_no_memory;
	for (size_t i = 0; i < fetching.server_count && !err; i++)
		fetching.servers[i].url = options->servers[i];
	if (!err)
		err = list_headers(&fetching);
	if (!err)
		err = run(&fetching);
	close_all(&fetching);
	if (err)
		imp_error_free(fetching.err);
	return err ? err : fetching.err;
}
