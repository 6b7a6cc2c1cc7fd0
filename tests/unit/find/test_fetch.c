// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
#include "find/fetch.h"

#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/tap.h"
#include "make/elf.h"

static const uint8_t id_a[20] = { 0xaa, 1, 2, 3 };
static const uint8_t id_b[20] = { 0xbb, 1, 2, 3 };

enum habit {
	// Has the library of id_a, and 404 for the rest.
	SERVES,
	// Has the library of id_b under every ID.
	LIES,
	// 500 always.
	BROKEN,
	// Takes connections and never says a word.
	SILENT
};

// A server on loopback, in a thread of its own.
struct server {
	enum habit habit;
	int listener, stop[2];
	pthread_t thread;
	char url[64];
	atomic_uint requests;
};

static void reply(struct server *server, int connection)
{
	char request[4096] = "";
	if (recv(connection, request, sizeof request - 1, 0) <= 0)
		return;
	atomic_fetch_add(&server->requests, 1);
	struct build_id id = build_id_of(id_a, 20);
	bool has = server->habit == LIES ||
		   (server->habit == SERVES && strstr(request, build_id_text(&id).text));
	_cleanup_buffer_ struct buffer body = { 0 };
	_cleanup_buffer_ struct buffer answer = { 0 };
	if (has)
		make_library(server->habit == LIES ? id_b : id_a, 20, "x_", &body);
	buffer_format(&answer, "HTTP/1.1 %s\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n",
		      has			? "200 OK"
		      : server->habit == BROKEN ? "500 Broken"
						: "404 Not Found",
		      body.size);
	if (body.size)
		buffer_append(&answer, body.bytes, body.size);
	for (size_t done = 0; done < answer.size;) {
		ssize_t n = send(connection, answer.bytes + done, answer.size - done, MSG_NOSIGNAL);
		if (n <= 0)
			break;
		done += (size_t)n;
	}
}

static void *serve(void *arg)
{
	enum { HELD_MOST = 64 };
	struct server *server = arg;
	int held[HELD_MOST], held_count = 0;
	for (;;) {
		struct pollfd fds[] = { { .fd = server->listener, .events = POLLIN },
					{ .fd = server->stop[0], .events = POLLIN } };
		if (poll(fds, 2, -1) < 0 || fds[1].revents)
			break;
		int connection = accept(server->listener, NULL, NULL);
		if (connection < 0)
			continue;
		if (server->habit == SILENT && held_count < HELD_MOST) {
			held[held_count++] = connection;
			atomic_fetch_add(&server->requests, 1);
			continue;
		}
		reply(server, connection);
		close(connection);
	}
	while (held_count)
		close(held[--held_count]);
	return NULL;
}

static void server_start(struct server *server, enum habit habit)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	socklen_t size = sizeof address;
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	server->habit = habit;
	server->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	atomic_init(&server->requests, 0);
	if (server->listener < 0 ||
	    bind(server->listener, (struct sockaddr *)&address, sizeof address) ||
	    listen(server->listener, 64) ||
	    getsockname(server->listener, (struct sockaddr *)&address, &size) ||
	    pipe(server->stop) || pthread_create(&server->thread, NULL, serve, server))
		abort();
	snprintf(server->url, sizeof server->url, "http://127.0.0.1:%d", ntohs(address.sin_port));
}

static void server_stop(struct server *server)
{
	if (write(server->stop[1], "", 1) != 1)
		abort();
	pthread_join(server->thread, NULL);
	close(server->listener);
	close(server->stop[0]);
	close(server->stop[1]);
}

// Fetches the executables of both IDs from the servers given, at most two.
struct run {
	char *dir;
	const char *servers[3];
	struct fetch_options options;
	struct fetch_job jobs[2];
};

static void run_init(struct run *run, const struct server *first, const struct server *second)
{
	*run = (struct run){ .dir = make_directory() };
	run->servers[0] = first->url;
	run->servers[1] = second ? second->url : NULL;
	run->options = (struct fetch_options){ .servers = run->servers,
					       .cache_dir = run->dir,
					       .timeout_s = 60 };
	run->jobs[0].id = build_id_of(id_a, 20);
	run->jobs[1].id = build_id_of(id_b, 20);
}

static void run_fini(struct run *run)
{
	for (size_t i = 0; i < 2; i++)
		fetch_job_fini(&run->jobs[i]);
	make_directory_free(run->dir);
}

static void check_outcomes(const struct run *run, const char *first, const char *second)
{
	CHECK_TEXT(fetch_outcome_name(run->jobs[0].outcome), first);
	CHECK_TEXT(fetch_outcome_name(run->jobs[1].outcome), second);
}

static bool can_fetch(void)
{
	if (!fetch_is_built_in())
		tap_skip("built without fetching");
	return fetch_is_built_in();
}

TEST(what_a_server_has_is_kept_and_what_it_lacks_remembered)
{
	struct server server;
	struct run run;
	if (!can_fetch())
		return;
	server_start(&server, SERVES);
	run_init(&run, &server, NULL);
	CHECK_OK(fetch(&run.options, run.jobs, 2));
	check_outcomes(&run, "fetched", "absent");
	CHECK_UINT(server.requests, 2);
	CHECK(run.jobs[0].path && access(run.jobs[0].path, R_OK) == 0);
	fetch_job_fini(&run.jobs[0]);
	CHECK_OK(fetch(&run.options, run.jobs, 2));
	check_outcomes(&run, "known", "absent");
	CHECK_UINT(server.requests, 2);
	run_fini(&run);
	server_stop(&server);
}

TEST(a_file_of_another_build_is_thrown_away_and_the_next_server_asked)
{
	struct server liar, server;
	struct run run;
	if (!can_fetch())
		return;
	server_start(&liar, LIES);
	server_start(&server, SERVES);
	run_init(&run, &liar, &server);
	CHECK_OK(fetch(&run.options, run.jobs, 1));
	CHECK_TEXT(fetch_outcome_name(run.jobs[0].outcome), "fetched");
	CHECK_TEXT(run.jobs[0].server, server.url);
	run_fini(&run);
	run_init(&run, &liar, NULL);
	CHECK_OK(fetch(&run.options, run.jobs, 2));
	check_outcomes(&run, "wrong-build", "fetched");
	run_fini(&run);
	server_stop(&liar);
	server_stop(&server);
}

TEST(a_server_that_failed_is_not_asked_again)
{
	struct server broken, server;
	struct run run;
	if (!can_fetch())
		return;
	server_start(&broken, BROKEN);
	server_start(&server, SERVES);
	run_init(&run, &broken, &server);
	run.options.parallel = 1;
	CHECK_OK(fetch(&run.options, run.jobs, 2));
	// Who knows what the broken one would have had: nothing is remembered.
	check_outcomes(&run, "fetched", "failed");
	CHECK_UINT(broken.requests, 1);
	CHECK_UINT(server.requests, 2);
	CHECK_OK(fetch(&run.options, run.jobs + 1, 1));
	CHECK_UINT(broken.requests, 2);
	run_fini(&run);
	server_stop(&broken);
	server_stop(&server);
}

TEST(a_silent_server_costs_no_more_than_the_deadline)
{
	struct server silent;
	struct run run;
	if (!can_fetch())
		return;
	server_start(&silent, SILENT);
	run_init(&run, &silent, NULL);
	run.options.timeout_s = 0.3;
	CHECK_OK(fetch(&run.options, run.jobs, 2));
	check_outcomes(&run, "stopped", "stopped");
	run_fini(&run);
	server_stop(&silent);
}

static bool stop_at_once(void *arg)
{
	(void)arg;
	return true;
}

TEST(stopping_leaves_nothing_behind)
{
	struct server silent;
	struct run run;
	if (!can_fetch())
		return;
	server_start(&silent, SILENT);
	run_init(&run, &silent, NULL);
	run.options.is_stopped = stop_at_once;
	CHECK_OK(fetch(&run.options, run.jobs, 2));
	check_outcomes(&run, "stopped", "stopped");
	char path[512];
	struct build_id_text text = build_id_text(&run.jobs[0].id);
	snprintf(path, sizeof path, "%s/%s", run.dir, text.text);
	// The directory is empty again: no half of a file.
	CHECK(rmdir(path) == 0);
	run_fini(&run);
	server_stop(&silent);
}

TEST(policies_are_no_servers)
{
	const char **servers;
	char *storage;
	REQUIRE_OK(fetch_servers(" ima:enforcing http://a/  ima:ignore https://b//\n", &servers,
				 &storage));
	CHECK_TEXT(servers[0], "http://a");
	CHECK_TEXT(servers[1], "https://b");
	CHECK(servers[2] == NULL);
	free(servers);
	free(storage);
}
