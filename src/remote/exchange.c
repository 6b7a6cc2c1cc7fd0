// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// libcurl's loop, and its signatures (AWS SigV4).
#include "remote/exchange.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "base/late/late_curl.h"

enum {
	PARALLEL_MOST = 64,
	// To open a connection, and without a byte while one is open.
	CONNECT_SECONDS = 10,
	SILENCE_SECONDS = 30,
	POLL_MS = 100,
	PATH_MOST = 4096,
};

static const char path_header[] = "x-amz-meta-path";

// SHA-256 of nothing. Buckets want the hash of the body told and signed; libcurl does not tell it
// by itself before 8.
static const char empty_hash[] = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

struct exchanger {
	CURLM *multi;
};

// One on its way.
struct flight {
	struct exchange exchange;
	CURL *handle;
	struct curl_slist *headers;
	uint64_t sent;
	char error[CURL_ERROR_SIZE];
};

struct running {
	struct exchanger *exchanger;
	const struct exchange_options *options;
	struct flight *flights;
	unsigned parallel, active;
	bool has_more;
	struct imp_error *err;
};

double exchange_now_s(void)
{
	struct timespec time;
	(void)clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

void exchange_fini(struct exchange *exchange)
{
	free(exchange->url);
	free(exchange->hash);
	free(exchange->path);
	buffer_fini(&exchange->body);
	cleanup_close(&exchange->fd);
	*exchange = (struct exchange){ .fd = -1 };
}

struct imp_error *exchanger_new(struct exchanger **ret)
{
	struct imp_error *err = late_curl_load();
	if (err)
		return err;
	if (curl_global_init(CURL_GLOBAL_DEFAULT))
		return &imp_error_no_memory;
	struct exchanger *exchanger = calloc(1, sizeof *exchanger);
	if (exchanger)
		exchanger->multi = curl_multi_init();
	if (!exchanger || !exchanger->multi) {
		free(exchanger);
		curl_global_cleanup();
		return &imp_error_no_memory;
	}
	*ret = exchanger;
	return NULL;
}

void exchanger_free(struct exchanger *exchanger)
{
	if (!exchanger)
		return;
	curl_multi_cleanup(exchanger->multi);
	free(exchanger);
	curl_global_cleanup();
}

static size_t receive(char *bytes, size_t size, size_t count, void *arg)
{
	struct exchange *exchange = &((struct flight *)arg)->exchange;
	size_t left = size * count;
	if (left > exchange->size - exchange->received)
		return 0;
	exchange->received += left;
	if (exchange->fd < 0 || exchange->is_put) {
		buffer_append(&exchange->body, bytes, left);
		return exchange->body.failed ? 0 : left;
	}
	while (left) {
		ssize_t written = write(exchange->fd, bytes + (size * count - left), left);
		if (written <= 0)
			return 0;
		left -= (size_t)written;
	}
	return size * count;
}

static size_t give(char *bytes, size_t size, size_t count, void *arg)
{
	struct flight *flight = arg;
	ssize_t got = pread(flight->exchange.fd, bytes, size * count, (off_t)flight->sent);
	if (got < 0)
		return CURL_READFUNC_ABORT;
	flight->sent += (uint64_t)got;
	return (size_t)got;
}

static int seek(void *arg, curl_off_t offset, int origin)
{
	struct flight *flight = arg;
	if (origin != SEEK_SET || offset < 0)
		return CURL_SEEKFUNC_CANTSEEK;
	flight->sent = (uint64_t)offset;
	return CURL_SEEKFUNC_OK;
}

// Keeps the path that came with the object.
static size_t hear_header(char *bytes, size_t size, size_t count, void *arg)
{
	struct exchange *exchange = &((struct flight *)arg)->exchange;
	size_t length = size * count;
	size_t name = sizeof path_header - 1;
	if (exchange->is_put || exchange->path || length <= name || length > PATH_MOST ||
	    bytes[name] != ':' || strncasecmp(bytes, path_header, name) != 0)
		return length;
	const char *value = bytes + name + 1;
	const char *end = bytes + length;
	while (value < end && *value == ' ')
		value++;
	while (end > value && (end[-1] == '\r' || end[-1] == '\n' || end[-1] == ' '))
		end--;
	exchange->path = strndup(value, (size_t)(end - value));
	return length;
}

static bool add_header(struct flight *flight, const char *format, const char *value)
{
	_cleanup_free_ char *line = NULL;
	size_t size = strlen(format) + strlen(value) + 3;
	line = malloc(size);
	if (!line)
		return false;
	(void)snprintf(line, size, "%s%s", format, value);
	struct curl_slist *longer = curl_slist_append(flight->headers, line);
	if (!longer)
		return false;
	flight->headers = longer;
	return true;
}

static bool sign(struct flight *flight, const struct remote_credentials *credentials)
{
	if (!credentials->access_key || !credentials->secret_key)
		return true;
	char provider[128];
	(void)snprintf(provider, sizeof provider, "aws:amz:%s:s3",
		       credentials->region ? credentials->region : "us-east-1");
	return add_header(flight, "x-amz-content-sha256: ",
			  flight->exchange.is_put ? flight->exchange.hash : empty_hash) &&
	       (!credentials->session_token ||
		add_header(flight, "x-amz-security-token: ", credentials->session_token)) &&
	       !curl_easy_setopt(flight->handle, CURLOPT_AWS_SIGV4, provider) &&
	       !curl_easy_setopt(flight->handle, CURLOPT_USERNAME, credentials->access_key) &&
	       !curl_easy_setopt(flight->handle, CURLOPT_PASSWORD, credentials->secret_key);
}

static bool set_put(struct flight *flight)
{
	const struct exchange *exchange = &flight->exchange;
	CURL *handle = flight->handle;
	return add_header(flight, "Content-Type: ", "application/octet-stream") &&
	       (!exchange->path || add_header(flight, "x-amz-meta-path: ", exchange->path)) &&
	       !curl_easy_setopt(handle, CURLOPT_UPLOAD, 1L) &&
	       !curl_easy_setopt(handle, CURLOPT_READFUNCTION, give) &&
	       !curl_easy_setopt(handle, CURLOPT_READDATA, flight) &&
	       !curl_easy_setopt(handle, CURLOPT_SEEKFUNCTION, seek) &&
	       !curl_easy_setopt(handle, CURLOPT_SEEKDATA, flight) &&
	       !curl_easy_setopt(handle, CURLOPT_INFILESIZE_LARGE, (curl_off_t)exchange->size);
}

static bool set_options(struct flight *flight, const struct exchange_options *options)
{
	CURL *handle = flight->handle;
	double left = options->deadline_s - exchange_now_s();
	// Nothing is followed: a signature is for one host.
	return !curl_easy_setopt(handle, CURLOPT_URL, flight->exchange.url) &&
	       !curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, receive) &&
	       !curl_easy_setopt(handle, CURLOPT_WRITEDATA, flight) &&
	       !curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, hear_header) &&
	       !curl_easy_setopt(handle, CURLOPT_HEADERDATA, flight) &&
	       !curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, flight->error) &&
	       !curl_easy_setopt(handle, CURLOPT_PRIVATE, flight) &&
	       !curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L) &&
	       !curl_easy_setopt(handle, CURLOPT_PATH_AS_IS, 1L) &&
	       !curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https") &&
	       !curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_SECONDS) &&
	       !curl_easy_setopt(handle, CURLOPT_LOW_SPEED_LIMIT, 1L) &&
	       !curl_easy_setopt(handle, CURLOPT_LOW_SPEED_TIME, (long)SILENCE_SECONDS) &&
	       !curl_easy_setopt(handle, CURLOPT_TIMEOUT_MS,
				 left > 0 ? (long)ceil(left * 1000) : 1L) &&
	       !curl_easy_setopt(handle, CURLOPT_USERAGENT, "imprint") &&
	       sign(flight, options->credentials) &&
	       (!flight->exchange.is_put || set_put(flight)) &&
	       !curl_easy_setopt(handle, CURLOPT_HTTPHEADER, flight->headers);
}

static void land(struct running *running, struct flight *flight)
{
	if (flight->handle) {
		(void)curl_multi_remove_handle(running->exchanger->multi, flight->handle);
		curl_easy_cleanup(flight->handle);
		running->active--;
	}
	curl_slist_free_all(flight->headers);
	exchange_fini(&flight->exchange);
	*flight = (struct flight){ .exchange.fd = -1 };
}

static void keep_error(struct running *running, struct imp_error *err)
{
	if (running->err)
		imp_error_free(err);
	else
		running->err = err;
}

static void finish(struct running *running, struct flight *flight, CURLcode result)
{
	struct exchange *exchange = &flight->exchange;
	if (result == CURLE_OK)
		(void)curl_easy_getinfo(flight->handle, CURLINFO_RESPONSE_CODE, &exchange->status);
	else
		(void)snprintf(exchange->why, sizeof exchange->why, "%s",
			       flight->error[0] ? flight->error : curl_easy_strerror(result));
	struct imp_error *err = running->options->done(running->options->arg, exchange);
	if (err)
		keep_error(running, err);
	land(running, flight);
}

static struct imp_error *begin(struct running *running, struct flight *flight)
{
	bool more = false;
	struct imp_error *err =
		running->options->next(running->options->arg, &flight->exchange, &more);
	running->has_more = more && !err;
	if (!running->has_more) {
		exchange_fini(&flight->exchange);
		return err;
	}
	flight->handle = curl_easy_init();
	if (!flight->handle)
		return &imp_error_no_memory;
	running->active++;
	if (!set_options(flight, running->options) ||
	    curl_multi_add_handle(running->exchanger->multi, flight->handle) != CURLM_OK)
		return error_new(IMP_ERR_SYSTEM, "%s: cannot be asked", flight->exchange.url);
	return NULL;
}

static void collect(struct running *running)
{
	int left;
	for (CURLMsg *message;
	     (message = curl_multi_info_read(running->exchanger->multi, &left));) {
		char *arg = NULL;
		if (message->msg != CURLMSG_DONE)
			continue;
		CURLcode result = message->data.result;
		(void)curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &arg);
		if (arg)
			finish(running, (struct flight *)(void *)arg, result);
	}
}

static bool is_over(const struct running *running)
{
	const struct exchange_options *options = running->options;
	return running->err || exchange_now_s() >= options->deadline_s ||
	       (options->is_stopped && options->is_stopped(options->stop_arg));
}

static void run(struct running *running)
{
	while (!is_over(running)) {
		for (unsigned i = 0; i < running->parallel && running->has_more && !running->err;
		     i++)
			if (!running->flights[i].handle)
				running->err = begin(running, &running->flights[i]);
		int busy;
		if (running->err || !running->active)
			return;
		if (curl_multi_perform(running->exchanger->multi, &busy) != CURLM_OK ||
		    curl_multi_poll(running->exchanger->multi, NULL, 0, POLL_MS, NULL) != CURLM_OK)
			running->err = error_new(IMP_ERR_SYSTEM, "the exchange cannot go on");
		collect(running);
	}
}

struct imp_error *exchanges_run(struct exchanger *exchanger, const struct exchange_options *options)
{
	struct running running = { .exchanger = exchanger,
				   .options = options,
				   .parallel = options->parallel ? options->parallel : 1,
				   .has_more = true };
	if (running.parallel > PARALLEL_MOST)
		running.parallel = PARALLEL_MOST;
	running.flights = calloc(running.parallel, sizeof *running.flights);
	if (!running.flights)
		return &imp_error_no_memory;
	for (unsigned i = 0; i < running.parallel; i++)
		running.flights[i].exchange.fd = -1;
	run(&running);
	for (unsigned i = 0; i < running.parallel; i++) {
		struct flight *flight = &running.flights[i];
		if (flight->handle && !running.err) {
			(void)snprintf(flight->exchange.why, sizeof flight->exchange.why,
				       "the time is over");
			running.err = options->done(options->arg, &flight->exchange);
		}
		land(&running, flight);
	}
	free(running.flights);
	return running.err;
}
