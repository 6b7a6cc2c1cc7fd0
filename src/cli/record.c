// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// imprint record: a profile of a command, of processes or of the machine, in which every binary has
// its build ID.
#include <linux/perf_event.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/file.h"
#include "cli/command.h"
#include "cli/places.h"
#include "cli/record_arguments.h"
#include "cli/record_print.h"
#include "cli/terminal.h"
#include "record/recorder.h"
#include "record/sampling.h"
#include "remote/address.h"

#define ROW(kind_, letter_, name_, argument_, field, help_)                             \
	{                                                                               \
		.kind = kind_, .letter = letter_, .name = name_, .argument = argument_, \
		.help = help_, .offset = offsetof(struct record_arguments, field)       \
	}
#define HIDDEN(kind_, letter_, name_, field)                                          \
	{                                                                             \
		.kind = kind_, .letter = letter_, .name = name_, .argument = "X",     \
		.is_hidden = true, .offset = offsetof(struct record_arguments, field) \
	}

static const char *const no_words[] = { NULL };

static const struct option record_options[] = {
	{ .kind = OPTION_HEADING, .help = "What is recorded:" },
	ROW(OPTION_FLAG, 'a', "all-cpus", NULL, is_system_wide, "the whole machine"),
	ROW(OPTION_TEXT, 'p', "pid", "PID,...", processes, "running processes"),
	ROW(OPTION_TEXT, 't', "tid", "TID,...", threads, "running threads"),
	ROW(OPTION_TEXT, 'C', "cpu", "CPUS", cpus, "only on these CPUs (0-3,8)"),
	ROW(OPTION_LIST, 'G', "cgroup", "NAME", cgroups, "what runs in a cgroup (may be repeated)"),
	ROW(OPTION_FLAG, 'i', "no-inherit", NULL, without_children,
	    "not what the command or process starts"),
	ROW(OPTION_TEXT, 'D', "delay", "MSEC", delay,
	    "begin so long after the command; -1: at SIGUSR1"),
	ROW(OPTION_REAL, 0, "duration", "SECONDS", duration, "end after this time"),
	{ .kind = OPTION_HEADING, .help = "Samples:" },
	ROW(OPTION_LIST, 'e', "event", "EVENT,...", events,
	    "what is counted (cycles, or cpu-clock where there are none)"),
	ROW(OPTION_LIST, 0, "filter", "FILTER", filters,
	    "filter of the tracepoints of the -e before it"),
	ROW(OPTION_FLAG, 0, "all-user", NULL, is_user_only, "only in user mode"),
	ROW(OPTION_FLAG, 0, "all-kernel", NULL, is_kernel_only, "only in the kernel"),
	ROW(OPTION_TEXT, 'F', "freq", "HZ", frequency, "samples a second (4000); max"),
	ROW(OPTION_NUMBER, 'c', "count", "N", period, "a sample every N occurrences"),
	ROW(OPTION_FLAG, 'g', NULL, NULL, has_chains, "call chains by frame pointers"),
	ROW(OPTION_TEXT, 0, "call-graph", "HOW", call_graph, "fp, dwarf[,SIZE] or lbr"),
	ROW(OPTION_FLAG, 0, "user-callchains", NULL, has_user_chain_only,
	    "call chains without the kernel's part"),
	ROW(OPTION_FLAG, 0, "kernel-callchains", NULL, has_kernel_chain_only,
	    "call chains of the kernel's part only"),
	ROW(OPTION_FLAG, 'b', "branch-any", NULL, has_branches, "taken branches"),
	ROW(OPTION_TEXT, 'j', "branch-filter", "KIND,...", branches,
	    "branches of these kinds (any_call,u)"),
	ROW(OPTION_FLAG, 'd', "data", NULL, with_addresses, "addresses, and mappings of data"),
	ROW(OPTION_FLAG, 0, "switch-events", NULL, with_switches, "context switches"),
	ROW(OPTION_FLAG, 0, "all-cgroups", NULL, with_cgroups, "names of cgroups"),
	{ .kind = OPTION_HEADING, .help = "The recording:" },
	ROW(OPTION_TEXT, 'o', "output", "FILE", output, "where it goes (perf.data); - is a pipe"),
	{ .kind = OPTION_OPTIONAL_TEXT,
	  .letter = 'z',
	  .name = "compression-level",
	  .argument = "LEVEL",
	  .help = "compress with zstd (1)",
	  .offset = offsetof(struct record_arguments, compress),
	  .fallback = "1",
	  .words = no_words },
	ROW(OPTION_TEXT, 'm', "mmap-pages", "PAGES", ring,
	    "size of a ring, in pages or with B, K, M, G"),
	ROW(OPTION_NUMBER, 0, "max-size", "SIZE", max_bytes, "end when the file is so large"),
	{ .kind = OPTION_OPTIONAL_TEXT,
	  .name = "switch-output",
	  .argument = "WHEN",
	  .help = "begin a new file at SIGUSR2, or every SIZE (100M) or TIME (30s)",
	  .offset = offsetof(struct record_arguments, switch_output),
	  .fallback = "signal",
	  .words = no_words },
	ROW(OPTION_NUMBER, 0, "switch-max-files", "N", switch_files, "keep the last N of them"),
	ROW(OPTION_FLAG, 0, "overwrite", NULL, is_overwriting,
	    "keep what is newest; write it at SIGUSR2 and at the end"),
	{ .kind = OPTION_HEADING, .help = "Images:" },
	ROW(OPTION_TEXT, 0, "capture", "WHICH", capture,
	    "keep the bytes of images: hit (those with samples), all, none"),
	ROW(OPTION_TEXT, 0, "store", "DIR", store_dir, "where they are kept ($IMPRINT_STORE)"),
	{ .kind = OPTION_HEADING, .help = "Messages:" },
	ROW(OPTION_FLAG, 'q', "quiet", NULL, is_quiet, "say nothing but errors"),
	ROW(OPTION_COUNT, 'v', "verbose", NULL, verbose, "say more"),
	// Habits of perf's users that need nothing here.
	HIDDEN(OPTION_FLAG, 'N', "no-buildid-cache", ignored),
	HIDDEN(OPTION_FLAG, 'B', "no-buildid", ignored),
	HIDDEN(OPTION_FLAG, 0, "buildid-all", ignored),
	HIDDEN(OPTION_FLAG, 0, "buildid-mmap", ignored),
	HIDDEN(OPTION_FLAG, 'T', "timestamp", ignored),
	HIDDEN(OPTION_FLAG, 'P', "period", ignored),
	HIDDEN(OPTION_FLAG, 'R', "raw-samples", ignored),
	HIDDEN(OPTION_FLAG, 's', "stat", ignored),
	HIDDEN(OPTION_FLAG, 'f', "force", ignored),
	HIDDEN(OPTION_FLAG, 0, "sample-cpu", ignored),
	HIDDEN(OPTION_FLAG, 0, "namespaces", ignored),
	HIDDEN(OPTION_FLAG, 0, "no-bpf-event", ignored),
	HIDDEN(OPTION_FLAG, 0, "per-thread", ignored),
	HIDDEN(OPTION_FLAG, 0, "tail-synthesize", ignored),
	HIDDEN(OPTION_TEXT, 0, "mmap-flush", ignored_text),
	HIDDEN(OPTION_TEXT, 0, "proc-map-timeout", ignored_text),
	HIDDEN(OPTION_TEXT, 'k', "clockid", ignored_text),
	{ .kind = OPTION_END },
};

static void record_defaults(void *values)
{
	struct record_arguments *arguments = values;
	arguments->output = "perf.data";
}

// Sets FILTER on the tracepoints of EVENTS from number FIRST on.
static struct imp_error *set_filter(const char *filter, size_t first, struct wanted_events *events)
{
	bool is_set = false;
	for (size_t i = first; i < events->count; i++) {
		struct wanted_event *event = &events->items[i];
		if (!event->is_tracepoint)
			continue;
		if (event->filter)
			return error_new(IMP_ERR_USAGE, "event %s: it has a filter already",
					 event->name);
		event->filter = strdup(filter);
		if (!event->filter)
			return &imp_error_no_memory;
		is_set = true;
	}
	return is_set ? NULL
		      : error_new(IMP_ERR_USAGE, "the filter '%s' follows no tracepoint (-e)",
				  filter);
}

// A filter belongs to the tracepoints of the -e before it. The words of a command line stand in
// memory as they were typed, which tells what came before what.
static struct imp_error *read_filters(const struct record_arguments *arguments, size_t number,
				      size_t first, struct wanted_events *events)
{
	const struct option_list *names = &arguments->events, *filters = &arguments->filters;
	uintptr_t from = number ? (uintptr_t)names->items[number - 1] : 0;
	uintptr_t to = number < names->count ? (uintptr_t)names->items[number] : UINTPTR_MAX;
	for (size_t i = 0; i < filters->count; i++) {
		uintptr_t at = (uintptr_t)filters->items[i];
		if (at < from || at >= to)
			continue;
		struct imp_error *err = set_filter(filters->items[i], first, events);
		if (err)
			return err;
	}
	return NULL;
}

static struct imp_error *read_events(const struct record_arguments *arguments,
				     const struct log *log, struct wanted_events *ret)
{
	bool fell_back = false;
	struct imp_error *err = read_filters(arguments, 0, 0, ret);
	for (size_t i = 0; !err && i < arguments->events.count; i++) {
		size_t first = ret->count;
		err = event_names_parse(arguments->events.items[i], ret);
		if (!err)
			err = read_filters(arguments, i + 1, first, ret);
	}
	if (!err && !ret->count)
		err = event_default(ret, &fell_back);
	if (fell_back)
		log_message(log, LOG_WARNING,
			    "this machine does not count cycles: time is sampled (cpu-clock)");
	return err;
}

// Many events on many CPUs take many files.
static void raise_file_limit(void)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &limit);
}

// Opens the store that images go to. Without one the recording goes on, and says so.
static void open_store(const struct record_arguments *arguments, struct record_options *options,
		       struct store **store)
{
	_cleanup_free_ char *place = arguments->store_dir ? NULL : places_store();
	const char *dir = arguments->store_dir ? arguments->store_dir : place;
	if (options->capture == CAPTURE_NONE)
		return;
	struct imp_error *err = NULL;
	if (!dir)
		err = error_new(IMP_ERR_USAGE, "neither $IMPRINT_STORE nor $HOME is set");
	else if (remote_is_url(dir))
		err = error_new(IMP_ERR_USAGE, "%s: a directory is expected", dir);
	else
		err = store_open(dir, STORE_WRITE, options->log, store);
	if (err)
		log_message(options->log, LOG_WARNING, "no image is kept: %s",
			    imp_error_message(err));
	imp_error_free(err);
	options->store = *store;
}

static int block_signals(sigset_t *before)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGUSR1, SIGUSR2 };
	sigset_t set;
	sigemptyset(&set);
	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
		sigaddset(&set, signals[i]);
	sigprocmask(SIG_BLOCK, &set, before);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

// Three quarters of what may be open, the rest being for events; and no more than is sensible.
static size_t files_to_hold_open(void)
{
	enum { MOST = 65536 };
	struct rlimit limit;
	if (getrlimit(RLIMIT_NOFILE, &limit))
		return 0;
	rlim_t quarter = limit.rlim_cur / 4;
	return quarter * 3 < MOST ? (size_t)(quarter * 3) : MOST;
}

// The words of the command as execvp(3) takes them.
static char **end_with_null(const struct operands *operands)
{
	char **words = calloc(operands->count + 1, sizeof *words);
	for (size_t i = 0; words && i < operands->count; i++)
		words[i] = operands->items[i];
	return words;
}

// What the user typed, as the kernel keeps it; the words are lent by TEXT.
static const char **read_command_line(struct buffer *text, size_t *count)
{
	enum { MOST = 1 << 22 };
	imp_error_free(file_slurp_path("/proc/self/cmdline", MOST, text));
	buffer_append(text, "", 1);
	if (text->failed)
		return NULL;
	size_t words = 0;
	for (size_t at = 0; at + 1 < text->size; at++)
		words += !text->bytes[at];
	const char **items = calloc(words + 1, sizeof *items);
	*count = 0;
	for (size_t at = 0; items && at + 1 < text->size && *count < words;) {
		items[(*count)++] = (const char *)text->bytes + at;
		at += strlen((const char *)text->bytes + at) + 1;
	}
	return items;
}

static struct imp_error *run(const struct invocation *invocation, struct record_options *options,
			     struct record_outcome *outcome)
{
	const struct record_arguments *arguments = invocation->options;
	_cleanup_wanted_events_ struct wanted_events events = { 0 };
	struct sampling sampling;
	sigset_t mask;
	struct imp_error *err = record_arguments_sampling(arguments, &sampling);
	if (!err)
		err = record_arguments_fill(arguments, options);
	if (!err)
		err = read_events(arguments, invocation->log, &events);
	if (!err)
		err = sampling_apply(&sampling, &events, invocation->log);
	if (err)
		return err;
	options->events = events.items;
	options->event_count = events.count;
	_cleanup_close_ int signals = block_signals(&mask);
	options->signal_fd = signals;
	options->command_mask = &mask;
	_cleanup_free_ char **command = end_with_null(&invocation->operands);
	_cleanup_buffer_ struct buffer line = { 0 };
	_cleanup_free_ const char **words = read_command_line(&line, &options->command_line_count);
	if (!command || !words)
		return &imp_error_no_memory;
	options->command_line = words;
	if (invocation->operands.count)
		options->command = command;
	_cleanup_store_ struct store *store = NULL;
	open_store(arguments, options, &store);
	options->most_open = files_to_hold_open();
	err = record_run(options, outcome);
	terminal_end_progress();
	if (!arguments->is_quiet && outcome->bytes)
		record_print(outcome, arguments->output);
	return err;
}

static int record_run_command(const struct invocation *invocation, struct imp_error **err)
{
	const struct record_arguments *arguments = invocation->options;
	struct record_outcome outcome = { 0 };
	terminal_set_level(arguments->is_quiet, arguments->verbose);
	raise_file_limit();
	struct record_options options = { .log = invocation->log, .command_line = NULL };
	*err = run(invocation, &options, &outcome);
	if (!*err || !outcome.exit_status)
		return outcome.exit_status;
	// The command could not be run: its status is a shell's, not ours.
	fprintf(stderr, "imprint record: %s\n", imp_error_message(*err));
	imp_error_free(*err);
	*err = NULL;
	return outcome.exit_status;
}

const struct command command_record = {
	.name = "record",
	.summary = "Record a profile in which every binary has its build ID",
	.usage = "record [OPTIONS] [-- COMMAND [ARGUMENT...]]",
	.description =
		"Writes a perf.data file that perf reads too. Ends with the command, with the\n"
		"last of the processes, or at Ctrl-C; SIGUSR1 stops sampling and starts it\n"
		"again. The exit status is the command's.",
	.options = record_options,
	.options_size = sizeof(struct record_arguments),
	.defaults = record_defaults,
	.stops_at_operand = true,
	.run = record_run_command,
};
