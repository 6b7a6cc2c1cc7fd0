// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Answers: what is asked for, on the client's terms, with debuginfod's headers.
#include "serve/answer.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <string.h>

#include "serve/conditions.h"

enum {
	// An answer may take so long, and what its bytes take at the slowest rate.
	ANSWER_SECONDS = 60,
	SLOWEST_BYTES_PER_SECOND = 16 * 1024,
};

struct asked {
	struct answering *answering;
	struct MHD_Connection *connection;
	struct watched *watched;
	struct request request;
	bool is_head;
	// It brings a body, which is not read: the connection cannot be used again.
	bool has_body;
};

bool answer_brings_body(struct MHD_Connection *connection)
{
	const char *length = MHD_lookup_connection_value(connection, MHD_HEADER_KIND,
							 MHD_HTTP_HEADER_CONTENT_LENGTH);
	return (length && strcmp(length, "0") != 0) ||
	       MHD_lookup_connection_value(connection, MHD_HEADER_KIND,
					   MHD_HTTP_HEADER_TRANSFER_ENCODING);
}

static const char *header(const struct asked *asked, const char *name)
{
	return MHD_lookup_connection_value(asked->connection, MHD_HEADER_KIND, name);
}

static bool add_number(struct MHD_Response *response, const char *name, uint64_t value)
{
	char text[24];
	(void)snprintf(text, sizeof text, "%" PRIu64, value);
	return MHD_add_response_header(response, name, text) == MHD_YES;
}

struct client_text {
	char text[INET6_ADDRSTRLEN];
};

static struct client_text client_of(struct MHD_Connection *connection)
{
	struct client_text client = { "unknown" };
	const union MHD_ConnectionInfo *told =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	const struct sockaddr *address = told ? told->client_addr : NULL;
	if (address && address->sa_family == AF_INET) {
		struct sockaddr_in in;
		memcpy(&in, address, sizeof in);
		(void)inet_ntop(AF_INET, &in.sin_addr, client.text, sizeof client.text);
	} else if (address && address->sa_family == AF_INET6) {
		struct sockaddr_in6 in6;
		memcpy(&in6, address, sizeof in6);
		(void)inet_ntop(AF_INET6, &in6.sin6_addr, client.text, sizeof client.text);
	}
	return client;
}

static void log_answer(const struct asked *asked, unsigned status, uint64_t bytes)
{
	const struct request *request = &asked->request;
	log_message(asked->answering->log, LOG_NOTE, "%s: %u %s %s, %" PRIu64 " bytes",
		    client_of(asked->connection).text, status, serve_part_name(request->part),
		    build_id_text(&request->id).text, bytes);
}

// Sends RESPONSE (taken; NULL when memory ran out) with BYTES of content.
static enum MHD_Result send_response(const struct asked *asked, unsigned status,
				     struct MHD_Response *response, uint64_t bytes)
{
	if (!response)
		return MHD_NO;
	if (asked->has_body)
		(void)MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
	if (asked->watched)
		watch_allow(asked->answering->watch, asked->watched,
			    ANSWER_SECONDS + bytes / SLOWEST_BYTES_PER_SECOND);
	uint64_t sent = asked->is_head ? 0 : bytes;
	metrics_count(&asked->answering->metrics, asked->request.part, status, sent);
	log_answer(asked, status, sent);
	enum MHD_Result result = MHD_queue_response(asked->connection, status, response);
	MHD_destroy_response(response);
	return result;
}

static struct MHD_Response *text_response(const char *text)
{
	// MHD does not write to it in this mode.
	struct MHD_Response *response = MHD_create_response_from_buffer(
		strlen(text), (void *)(uintptr_t)text, MHD_RESPMEM_PERSISTENT);
	if (response)
		(void)MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, "text/plain");
	return response;
}

static enum MHD_Result answer_text(const struct asked *asked, unsigned status, const char *text)
{
	struct MHD_Response *response = text_response(text);
	if (response && status == MHD_HTTP_METHOD_NOT_ALLOWED)
		(void)MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	if (response && status == MHD_HTTP_SERVICE_UNAVAILABLE)
		(void)MHD_add_response_header(response, MHD_HTTP_HEADER_RETRY_AFTER, "5");
	return send_response(asked, status, response, strlen(text));
}

static enum MHD_Result answer_metrics(const struct asked *asked)
{
	_cleanup_buffer_ struct buffer text = { 0 };
	metrics_print(&asked->answering->metrics, &text);
	if (text.failed)
		return MHD_NO;
	struct MHD_Response *response =
		MHD_create_response_from_buffer(text.size, text.bytes, MHD_RESPMEM_MUST_COPY);
	if (response)
		(void)MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE,
					      "text/plain; version=0.0.4; charset=utf-8");
	return send_response(asked, MHD_HTTP_OK, response, text.size);
}

// The headers of an answer about HOLDING, whatever its status.
static bool add_headers(struct MHD_Response *response, const struct holding *holding)
{
	return MHD_add_response_header(response, MHD_HTTP_HEADER_ETAG, holding->tag) == MHD_YES &&
	       MHD_add_response_header(response, MHD_HTTP_HEADER_ACCEPT_RANGES, "bytes") ==
		       MHD_YES &&
	       // A better file may come under the same ID: whoever keeps it asks again.
	       MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL,
				       "public, no-cache") == MHD_YES;
}

// An answer about HOLDING without its bytes.
static enum MHD_Result answer_about(const struct asked *asked, const struct holding *holding,
				    unsigned status)
{
	const char *text = status == MHD_HTTP_NOT_MODIFIED ? "" : "not on these terms\n";
	struct MHD_Response *response = text_response(text);
	if (response && !add_headers(response, holding)) {
		MHD_destroy_response(response);
		response = NULL;
	}
	if (response && status == MHD_HTTP_RANGE_NOT_SATISFIABLE) {
		char range[64];
		(void)snprintf(range, sizeof range, "bytes */%" PRIu64, holding->size_bytes);
		(void)MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_RANGE, range);
	}
	return send_response(asked, status, response, strlen(text));
}

// Sends COUNT bytes of HOLDING from FIRST on; its descriptor is taken.
static enum MHD_Result answer_bytes(const struct asked *asked, const struct holding *holding,
				    uint64_t first, uint64_t count)
{
	struct MHD_Response *response = MHD_create_response_from_fd_at_offset64(
		count, holding->fd, holding->offset + first);
	if (!response) {
		close(holding->fd);
		return MHD_NO;
	}
	bool is_part = count != holding->size_bytes;
	unsigned status = is_part ? MHD_HTTP_PARTIAL_CONTENT : MHD_HTTP_OK;
	bool is_complete = add_headers(response, holding) &&
			   MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE,
						   "application/octet-stream") == MHD_YES &&
			   add_number(response, "X-DEBUGINFOD-SIZE", holding->size_bytes) &&
			   MHD_add_response_header(response, "X-DEBUGINFOD-FILE", holding->file) ==
				   MHD_YES;
	if (is_complete && is_part) {
		char range[96];
		(void)snprintf(range, sizeof range, "bytes %" PRIu64 "-%" PRIu64 "/%" PRIu64, first,
			       first + count - 1, holding->size_bytes);
		is_complete = MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_RANGE,
						      range) == MHD_YES;
	}
	if (is_complete)
		return send_response(asked, status, response, count);
	MHD_destroy_response(response);
	return MHD_NO;
}

// The status that the client's terms ask for instead of the bytes; 0 when they allow them.
static unsigned refusal(const struct asked *asked, const struct holding *holding)
{
	const char *match = header(asked, MHD_HTTP_HEADER_IF_MATCH);
	const char *none = header(asked, MHD_HTTP_HEADER_IF_NONE_MATCH);
	const char *most = header(asked, "X-DEBUGINFOD-MAXSIZE");
	uint64_t most_bytes;
	if (match && !tag_is_listed(match, holding->tag, false))
		return MHD_HTTP_PRECONDITION_FAILED;
	if (none && tag_is_listed(none, holding->tag, true))
		return MHD_HTTP_NOT_MODIFIED;
	if (most && decimal_parse(most, &most_bytes) && most_bytes &&
	    most_bytes < holding->size_bytes)
		return MHD_HTTP_NOT_ACCEPTABLE;
	return 0;
}

// HOLDING's descriptor is taken.
static enum MHD_Result answer_holding(const struct asked *asked, const struct holding *holding)
{
	const char *wanted = asked->is_head ? NULL : header(asked, MHD_HTTP_HEADER_RANGE);
	const char *only_if = header(asked, MHD_HTTP_HEADER_IF_RANGE);
	if (only_if && !tag_is_listed(only_if, holding->tag, false))
		wanted = NULL;
	uint64_t first = 0, count = holding->size_bytes;
	enum range range = range_parse(wanted, holding->size_bytes, &first, &count);
	unsigned status = refusal(asked, holding);
	if (!status && range == RANGE_OUTSIDE)
		status = MHD_HTTP_RANGE_NOT_SATISFIABLE;
	if (!status)
		return answer_bytes(asked, holding, first, count);
	close(holding->fd);
	return answer_about(asked, holding, status);
}

// Asks the upstreams for PART of the request's build.
static struct imp_error *ask_upstream(const struct asked *asked, enum serve_part part,
				      enum upstream_outcome *ret)
{
	enum { SPARE_SECONDS = 30 };
	struct answering *answering = asked->answering;
	struct client_text client = client_of(asked->connection);
	const struct upstream_way way = {
		.via = header(asked, MHD_HTTP_HEADER_VIA),
		.forwarded_for = header(asked, "X-Forwarded-For"),
		.client = client.text,
	};
	// The client is silent while it waits.
	unsigned seconds = (unsigned)answering->upstream_s + SPARE_SECONDS;
	(void)MHD_set_connection_option(asked->connection, MHD_CONNECTION_OPTION_TIMEOUT,
					2 * seconds);
	if (asked->watched)
		watch_allow(answering->watch, asked->watched, 2 * (uint64_t)seconds);
	struct imp_error *err =
		upstream_ask(answering->upstream, &asked->request.id, part, &way, ret);
	if (!err && *ret == UPSTREAM_STORED)
		atomic_fetch_add(&answering->metrics.fetched, 1);
	return err;
}

// Looks in the store, and where that is not enough, upstream and in the store again.
static struct imp_error *find(const struct asked *asked, struct holding *holding, bool *found,
			      enum upstream_outcome *outcome)
{
	struct answering *answering = asked->answering;
	const struct request *request = &asked->request;
	struct imp_error *err = holdings_find(answering->holdings, request, holding, found);
	*outcome = UPSTREAM_ABSENT;
	bool is_best = *found && (request->part != SERVE_DEBUGINFO || holding->has_dwarf);
	if (err || is_best || !answering->upstream)
		return err;
	// A section is cut out of the file that has it.
	bool wants_program = request->part == SERVE_EXECUTABLE;
	err = ask_upstream(asked, wants_program ? SERVE_EXECUTABLE : SERVE_DEBUGINFO, outcome);
	if (err || *outcome != UPSTREAM_STORED)
		return err;
	if (*found)
		close(holding->fd);
	err = holdings_find(answering->holdings, request, holding, found);
	if (err || *found || request->part != SERVE_SECTION)
		return err;
	err = ask_upstream(asked, SERVE_EXECUTABLE, outcome);
	return err || *outcome != UPSTREAM_STORED
		       ? err
		       : holdings_find(answering->holdings, request, holding, found);
}

static enum MHD_Result answer_missing(const struct asked *asked, enum upstream_outcome outcome)
{
	switch (outcome) {
	case UPSTREAM_FAILED:
		return answer_text(asked, MHD_HTTP_BAD_GATEWAY, "no upstream could say\n");
	case UPSTREAM_BUSY:
		return answer_text(asked, MHD_HTTP_SERVICE_UNAVAILABLE, "being asked for\n");
	case UPSTREAM_STORED:
	case UPSTREAM_ABSENT:
	default:
		return answer_text(asked, MHD_HTTP_NOT_FOUND, "not found\n");
	}
}

static enum MHD_Result answer_build(const struct asked *asked)
{
	struct holding holding;
	bool found = false;
	enum upstream_outcome outcome;
	_cleanup_error_ struct imp_error *err = find(asked, &holding, &found, &outcome);
	if (found)
		return answer_holding(asked, &holding);
	if (!err)
		return answer_missing(asked, outcome);
	log_message(asked->answering->log, LOG_WARNING, "%s", imp_error_message(err));
	return answer_text(asked, MHD_HTTP_SERVICE_UNAVAILABLE, "cannot be read\n");
}

enum MHD_Result answer(struct answering *answering, struct MHD_Connection *connection,
		       struct watched *watched, const char *method, const char *target)
{
	struct asked asked = { .answering = answering,
			       .connection = connection,
			       .watched = watched,
			       .is_head = !strcmp(method, MHD_HTTP_METHOD_HEAD) };
	asked.has_body = answer_brings_body(connection);
	if (asked.has_body)
		return answer_text(&asked, MHD_HTTP_CONTENT_TOO_LARGE, "no body is taken\n");
	if (!asked.is_head && strcmp(method, MHD_HTTP_METHOD_GET) != 0)
		return answer_text(&asked, MHD_HTTP_METHOD_NOT_ALLOWED, "GET and HEAD only\n");
	request_parse(target, &asked.request);
	if (asked.request.part == SERVE_METRICS)
		return answer_metrics(&asked);
	if (asked.request.part == SERVE_NOTHING || asked.request.part == SERVE_SOURCE)
		return answer_text(&asked, MHD_HTTP_NOT_FOUND, "not found\n");
	return answer_build(&asked);
}
