// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// `imprint store push`: what a store elsewhere has not.
#include <inttypes.h>
#include <signal.h>
#include <string.h>

#include "base/json.h"
#include "base/units.h"
#include "cli/command.h"
#include "cli/remote_use.h"
#include "cli/store_use.h"
#include "cli/terminal.h"

extern const struct command command_store_push;

enum { PUSH_JSON_VERSION = 1, EXIT_INTERRUPTED = 130 };

struct push_options {
	const char *dir;
	double timeout_s;
	uint64_t jobs;
	bool json;
	bool is_quiet;
	unsigned verbose;
};

#define ROW(kind_, letter_, name_, argument_, field, help_)                             \
	{                                                                               \
		.kind = kind_, .letter = letter_, .name = name_, .argument = argument_, \
		.help = help_, .offset = offsetof(struct push_options, field)           \
	}

static const struct option push_rows[] = {
	STORE_OPTION(struct push_options, dir),
	ROW(OPTION_REAL, 0, "timeout", "SECONDS", timeout_s, "for everything together (no end)"),
	ROW(OPTION_NUMBER, 'j', "jobs", "N", jobs, "how many objects at once (8)"),
	ROW(OPTION_FLAG, 0, "json", NULL, json, "as JSON"),
	ROW(OPTION_FLAG, 'q', "quiet", NULL, is_quiet, "no warnings and no progress"),
	ROW(OPTION_COUNT, 'v', "verbose", NULL, verbose, "say more (-vv: for debugging)"),
	{ .kind = OPTION_END },
};

static volatile sig_atomic_t was_interrupted;

static void interrupt(int number)
{
	(void)number;
	was_interrupted = 1;
}

static bool is_stopped(void *arg)
{
	(void)arg;
	return was_interrupted;
}

struct ids {
	ARRAY_OF(struct build_id);
};

static struct imp_error *read_ids(struct store *store, const struct operands *words,
				  struct ids *ret)
{
	struct imp_error *err = NULL;
	for (size_t i = 1; i < words->count && !err; i++) {
		struct store_ref ref;
		err = store_use_entry(store, words->items[i], &ref);
		if (!err && build_id_is_none(&ref.id))
			err = error_new(IMP_ERR_USAGE, "%s: has no build ID", words->items[i]);
		struct build_id *slot = err ? NULL : array_add(ret);
		if (slot)
			*slot = ref.id;
		else if (!err)
			err = &imp_error_no_memory;
	}
	return err;
}

static void print(const struct remote_push_counts *counts, bool as_json)
{
	if (!as_json) {
		printf("%zu pushed (%s), %zu known", counts->pushed,
		       units_size(counts->pushed_bytes).text, counts->known);
		printf(counts->failed ? ", %zu not pushed\n" : "\n", counts->failed);
		return;
	}
	struct json json = { .out = stdout };
	json_begin_object(&json);
	json_member_string(&json, "format", "imprint-store-push");
	json_member_uint(&json, "version", PUSH_JSON_VERSION);
	json_member_uint(&json, "pushed", counts->pushed);
	json_member_uint(&json, "pushed_bytes", counts->pushed_bytes);
	json_member_uint(&json, "known", counts->known);
	json_member_uint(&json, "failed", counts->failed);
	json_end_object(&json);
}

static struct imp_error *check(const struct push_options *options, const struct operands *words)
{
	enum { JOBS_MOST = 64, SECONDS_MOST = 1000000 };
	if (!words->count)
		return error_new(IMP_ERR_USAGE, "where to? A URL or a directory is expected");
	if (options->jobs > JOBS_MOST)
		return error_new(IMP_ERR_USAGE, "--jobs is at most %d", JOBS_MOST);
	if (!(options->timeout_s >= 0) || options->timeout_s > SECONDS_MOST)
		return error_new(IMP_ERR_USAGE, "--timeout is a number of seconds above 0");
	return NULL;
}

static struct imp_error *push(const struct push_options *options,
			      const struct invocation *invocation, struct store *store,
			      struct remote_push_counts *counts)
{
	_cleanup_credentials_ struct credentials credentials;
	_cleanup_remote_ struct remote *remote = NULL;
	struct ids ids = { 0 };
	struct imp_error *err = credentials_read(&credentials);
	const struct remote_options how = { .log = invocation->log,
					    .url = invocation->operands.items[0],
					    .credentials = credentials.remote,
					    .timeout_s = options->timeout_s,
					    .parallel = (unsigned)options->jobs,
					    .is_stopped = is_stopped };
	if (!err)
		err = remote_new(&how, &remote);
	if (!err)
		err = read_ids(store, &invocation->operands, &ids);
	signal(SIGINT, interrupt);
	signal(SIGTERM, interrupt);
	if (!err)
		err = remote_push(remote, store, ids.items, ids.count, counts);
	array_fini(&ids);
	return err;
}

static int push_run(const struct invocation *invocation, struct imp_error **err)
{
	const struct push_options *options = invocation->options;
	_cleanup_store_ struct store *store = NULL;
	struct remote_push_counts counts = { 0 };
	terminal_set_level(options->is_quiet, options->verbose);
	*err = check(options, &invocation->operands);
	if (!*err)
		*err = store_use_readable(options->dir, invocation->log, &store);
	if (!*err)
		*err = push(options, invocation, store, &counts);
	terminal_end_progress();
	if (*err)
		return EXIT_FAILED;
	print(&counts, options->json);
	if (was_interrupted)
		return EXIT_INTERRUPTED;
	return counts.failed ? EXIT_FAILED : EXIT_DONE;
}

const struct command command_store_push = {
	.name = "push",
	.summary = "Push what a store elsewhere has not",
	.usage = "store push [OPTIONS] URL|DIR [ID|PATH...]",
	.description = "To a bucket that speaks the S3 protocol (s3://BUCKET[/PREFIX], or\n"
		       "http[s]://HOST[:PORT]/BUCKET[/PREFIX]) or to a directory: all programs,\n"
		       "libraries and debug files, or those that are named. Nothing that is there\n"
		       "already is sent again, so an interrupted push goes on where it was.",
	.options = push_rows,
	.options_size = sizeof(struct push_options),
	.run = push_run,
};
