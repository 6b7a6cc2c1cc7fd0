// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The server: libmicrohttpd's threads around answer().
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "serve/answer.h"
#include "serve/listener.h"
#include "serve/serve.h"

enum {
	CONNECTIONS = 256,
	SILENCE_SECONDS = 30,
	UPSTREAM_SECONDS = 30,
	// For the head of a request, and for sending.
	MEMORY_BYTES = 32 * 1024,
	STACK_BYTES = 512 * 1024,
};

struct server {
	struct serve_options options;
	struct listener listener;
	struct answering answering;
	struct MHD_Daemon *daemon;
	unsigned silence_s;
};

const char *serve_url(const struct server *server)
{
	return server->listener.url;
}

bool serve_is_public(const struct server *server)
{
	return !server->listener.is_loopback;
}

static struct watched *watched_of(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *told =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	return told ? told->socket_context : NULL;
}

// As libmicrohttpd wants it. NOLINTNEXTLINE(readability-function-size)
static enum MHD_Result handle(void *arg, struct MHD_Connection *connection, const char *target,
			      const char *method, const char *version, const char *body,
			      size_t *body_size, void **context)
{
	static int seen;
	struct server *server = arg;
	(void)version, (void)body, (void)body_size;
	// Answered at the first call, when only the head is there, the connection could not be used
	// again; which is right for a request that brings a body.
	if (!*context && !answer_brings_body(connection)) {
		*context = &seen;
		return MHD_YES;
	}
	return answer(&server->answering, connection, watched_of(connection), method, target);
}

static void change_connection(void *arg, struct MHD_Connection *connection, void **context,
			      enum MHD_ConnectionNotificationCode what)
{
	struct server *server = arg;
	if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
		watch_leave(server->answering.watch, *context);
		*context = NULL;
		atomic_fetch_sub(&server->answering.metrics.connections, 1);
		return;
	}
	const union MHD_ConnectionInfo *told =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	atomic_fetch_add(&server->answering.metrics.connections, 1);
	*context = told ? watch_enter(server->answering.watch, told->connect_fd, server->silence_s)
			: NULL;
}

// The next request has as long as the first.
static void complete(void *arg, struct MHD_Connection *connection, void **context,
		     enum MHD_RequestTerminationCode how)
{
	struct server *server = arg;
	struct watched *watched = watched_of(connection);
	(void)context, (void)how;
	if (watched)
		watch_allow(server->answering.watch, watched, server->silence_s);
}

// Targets are decoded by serve/request.h, which knows what it looks at.
static size_t leave_encoded(void *arg, struct MHD_Connection *connection, char *text)
{
	(void)arg, (void)connection;
	return strlen(text);
}

__attribute__((format(printf, 2, 0))) static void hear(void *arg, const char *format, va_list rest)
{
	struct server *server = arg;
	char text[512];
	(void)vsnprintf(text, sizeof text, format, rest);
	text[strcspn(text, "\n")] = 0;
	log_message(server->options.log, LOG_DEBUG, "http: %s", text);
}

static struct MHD_Daemon *daemon_start(struct server *server)
{
	const struct serve_options *options = &server->options;
	unsigned most = options->connections ? options->connections : CONNECTIONS;
	unsigned flags = MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION |
			 MHD_USE_POLL | MHD_USE_ITC | MHD_USE_ERROR_LOG;
	if (server->listener.is_ipv6)
		flags |= MHD_USE_IPv6;
	return MHD_start_daemon(
		flags, 0, NULL, NULL, handle, server, MHD_OPTION_EXTERNAL_LOGGER, hear, server,
		MHD_OPTION_LISTEN_SOCKET, server->listener.fd, MHD_OPTION_CONNECTION_LIMIT, most,
		MHD_OPTION_PER_IP_CONNECTION_LIMIT,
		options->connections_each ? options->connections_each : most,
		MHD_OPTION_CONNECTION_TIMEOUT, server->silence_s,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MEMORY_BYTES,
		MHD_OPTION_THREAD_STACK_SIZE, (size_t)STACK_BYTES, MHD_OPTION_STRICT_FOR_CLIENT, 1,
		MHD_OPTION_UNESCAPE_CALLBACK, leave_encoded, server, MHD_OPTION_NOTIFY_CONNECTION,
		change_connection, server, MHD_OPTION_NOTIFY_COMPLETED, complete, server,
		MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1, MHD_OPTION_END);
}

static struct imp_error *start(struct server *server)
{
	const struct serve_options *options = &server->options;
	struct answering *answering = &server->answering;
	struct listener_words words;
	answering->log = options->log;
	answering->upstream_s = options->upstream_s > 0 ? options->upstream_s : UPSTREAM_SECONDS;
	server->silence_s = options->silence_s ? options->silence_s : SILENCE_SECONDS;
	struct imp_error *err = late_microhttpd_load();
	if (!err)
		err = listener_parse(options->address, &words);
	if (!err)
		err = listener_open(&words, &server->listener);
	if (!err)
		err = holdings_new(options->store, options->log, &answering->holdings);
	if (!err && options->upstreams && options->upstreams[0])
		err = upstream_new(&server->options, &answering->upstream);
	if (!err)
		err = watch_new(&answering->watch);
	if (err)
		return err;
	server->daemon = daemon_start(server);
	return server->daemon ? NULL : error_new(IMP_ERR_SYSTEM, "the server does not start");
}

void serve_stop(struct server *server)
{
	if (!server)
		return;
	if (server->answering.upstream)
		upstream_stop(server->answering.upstream);
	// Closes the listening socket, too.
	if (server->daemon)
		MHD_stop_daemon(server->daemon);
	else if (server->listener.fd >= 0)
		close(server->listener.fd);
	watch_free(server->answering.watch);
	upstream_free(server->answering.upstream);
	holdings_free(server->answering.holdings);
	free(server);
}

struct imp_error *serve_start(const struct serve_options *options, struct server **ret)
{
	struct server *server = calloc(1, sizeof *server);
	if (!server)
		return &imp_error_no_memory;
	server->options = *options;
	server->listener.fd = -1;
	struct imp_error *err = start(server);
	if (err)
		serve_stop(server);
	else
		*ret = server;
	return err;
}
