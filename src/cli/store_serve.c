// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// `imprint store serve`: the store by debuginfod's protocol, until it is told to stop.
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buffer.h"
#include "cli/command.h"
#include "cli/store_use.h"
#include "cli/terminal.h"
#include "find/fetch.h"
#include "serve/serve.h"

extern const struct command command_store_serve;

struct serve_verb_options {
	const char *dir;
	struct option_list upstreams;
	double upstream_s;
	uint64_t connections;
	uint64_t connections_each;
	uint64_t silence_s;
	bool is_quiet;
	unsigned verbose;
};

#define ROW(kind_, letter_, name_, argument_, field, help_)                             \
	{                                                                               \
		.kind = kind_, .letter = letter_, .name = name_, .argument = argument_, \
		.help = help_, .offset = offsetof(struct serve_verb_options, field)     \
	}

static const struct option serve_rows[] = {
	STORE_OPTION(struct serve_verb_options, dir),
	ROW(OPTION_LIST, 0, "upstream", "URL", upstreams,
	    "a debuginfod server to ask for what the store has not, and to keep it (may be "
	    "repeated)"),
	ROW(OPTION_REAL, 0, "upstream-timeout", "SECONDS", upstream_s,
	    "for one question to all upstreams (30)"),
	ROW(OPTION_NUMBER, 0, "connections", "N", connections, "how many at once (256)"),
	ROW(OPTION_NUMBER, 0, "connections-each", "N", connections_each,
	    "how many at once from one address (as many)"),
	ROW(OPTION_NUMBER, 0, "timeout", "SECONDS", silence_s,
	    "how long a connection may be silent, or a request take to arrive (30)"),
	ROW(OPTION_FLAG, 'q', "quiet", NULL, is_quiet, "no warnings"),
	ROW(OPTION_COUNT, 'v', "verbose", NULL, verbose, "tell each request (-vv: for debugging)"),
	{ .kind = OPTION_END },
};

static void serve_defaults(void *values)
{
	struct serve_verb_options *options = values;
	options->upstream_s = 30;
	options->connections = 256;
	options->silence_s = 30;
}

static struct imp_error *check(const struct serve_verb_options *options,
			       const struct operands *words)
{
	enum { CONNECTIONS_MOST = 10000, SECONDS_MOST = 86400 };
	if (words->count > 1)
		return error_new(IMP_ERR_USAGE, "one address at most");
	if (!options->connections || options->connections > CONNECTIONS_MOST ||
	    options->connections_each > CONNECTIONS_MOST)
		return error_new(IMP_ERR_USAGE, "connections are 1 to 10000");
	if (!options->silence_s || options->silence_s > SECONDS_MOST ||
	    !(options->upstream_s > 0) || options->upstream_s > SECONDS_MOST)
		return error_new(IMP_ERR_USAGE, "a timeout is above 0, and at most 86400 seconds");
	return NULL;
}

// The upstreams without slashes at their ends, and a directory for what they send; all the
// caller's.
struct upstreams {
	const char **list;
	char *storage;
	char *scratch;
};

static void upstreams_fini(struct upstreams *upstreams)
{
	// Empty but for what a server that was ended in the middle of it has left.
	if (upstreams->scratch) {
		static const char *const rooms[] = { "executable", "debuginfo" };
		for (size_t i = 0; i < 2; i++) {
			_cleanup_free_ char *room = NULL;
			if (asprintf(&room, "%s/%s", upstreams->scratch, rooms[i]) < 0)
				room = NULL;
			if (room)
				(void)rmdir(room);
		}
		(void)rmdir(upstreams->scratch);
	}
	free(upstreams->scratch);
	free(upstreams->list);
	free(upstreams->storage);
}

static struct imp_error *upstreams_init(const struct option_list *urls, struct upstreams *ret)
{
	_cleanup_buffer_ struct buffer text = { 0 };
	const char *tmp = getenv("TMPDIR");
	if (!urls->count)
		return NULL;
	for (size_t i = 0; i < urls->count; i++)
		buffer_format(&text, "%s ", urls->items[i]);
	buffer_append(&text, "", 1);
	if (text.failed)
		return &imp_error_no_memory;
	struct imp_error *err = fetch_servers((const char *)text.bytes, &ret->list, &ret->storage);
	if (err)
		return err;
	if (asprintf(&ret->scratch, "%s/imprint-serve-XXXXXX", tmp && *tmp ? tmp : "/var/tmp") <
	    0) {
		ret->scratch = NULL;
		return &imp_error_no_memory;
	}
	if (mkdtemp(ret->scratch))
		return NULL;
	err = error_system(errno, "%s: cannot make the directory", ret->scratch);
	free(ret->scratch);
	ret->scratch = NULL;
	return err;
}

// Serves until SIGINT or SIGTERM, which are blocked (as in all threads).
static struct imp_error *serve_until(const struct serve_options *how, const sigset_t *signals)
{
	struct server *server;
	struct imp_error *err = serve_start(how, &server);
	if (err)
		return err;
	printf("%s\n", serve_url(server));
	(void)fflush(stdout);
	if (serve_is_public(server))
		log_message(how->log, LOG_WARNING,
			    "other machines can read what the store has: no question who asks");
	int which;
	while (sigwait(signals, &which))
		;
	serve_stop(server);
	return NULL;
}

static struct imp_error *run(const struct serve_verb_options *options,
			     const struct invocation *invocation)
{
	const struct operands *words = &invocation->operands;
	_cleanup_store_ struct store *store = NULL;
	_cleanup_(upstreams_fini) struct upstreams upstreams = { 0 };
	sigset_t signals;
	(void)sigemptyset(&signals);
	(void)sigaddset(&signals, SIGINT);
	(void)sigaddset(&signals, SIGTERM);
	struct imp_error *err = check(options, words);
	if (!err)
		err = store_use_readable(options->dir, invocation->log, &store);
	if (err)
		return err;
	(void)sigprocmask(SIG_BLOCK, &signals, NULL);
	err = upstreams_init(&options->upstreams, &upstreams);
	const struct serve_options how = { .log = invocation->log,
					   .store = store,
					   .address = words->count ? words->items[0] : NULL,
					   .upstreams = upstreams.list,
					   .scratch_dir = upstreams.scratch,
					   .upstream_s = options->upstream_s,
					   .connections = (unsigned)options->connections,
					   .connections_each = (unsigned)options->connections_each,
					   .silence_s = (unsigned)options->silence_s };
	return err ? err : serve_until(&how, &signals);
}

static int serve_run(const struct invocation *invocation, struct imp_error **err)
{
	struct serve_verb_options *options = invocation->options;
	terminal_set_level(options->is_quiet, options->verbose);
	*err = run(options, invocation);
	array_fini(&options->upstreams);
	return *err ? EXIT_FAILED : EXIT_DONE;
}

const struct command command_store_serve = {
	.name = "serve",
	.summary = "Serve the store to debuginfod's clients",
	.usage = "store serve [--upstream URL]... [OPTIONS] [[ADDRESS:]PORT]",
	.description =
		"Prints its URL for DEBUGINFOD_URLS and answers until SIGTERM or Ctrl-C. Only\n"
		"this machine reaches it, at port 8002, unless an address is given; port 0\n"
		"is any free one. Whoever reaches it may read what the store has.",
	.options = serve_rows,
	.options_size = sizeof(struct serve_verb_options),
	.defaults = serve_defaults,
	.run = serve_run,
};
