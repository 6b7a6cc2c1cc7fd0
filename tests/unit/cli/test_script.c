// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The order of records, and whose they are, beside what the perf that made the recordings printed.
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/replay.h"
#include "cli/script_line.h"
#include "harness/tap.h"

DEFINE_CLEANUP(struct recording *, recording, recording_close)
DEFINE_CLEANUP(struct survey *, survey, survey_free)

static struct imp_error *take(void *arg, const struct record *record)
{
	struct script_lines *lines = arg;
	return record->type == RECORD_SAMPLE ? script_print_sample(lines, record)
					     : script_print_meta(lines, record);
}

// Prints the recording at PATH into a new string.
static char *script_text(const char *path, bool has_cpus)
{
	struct recording_options recording_options = { .workers = 1 };
	_cleanup_(cleanup_recording) struct recording *recording = NULL;
	_cleanup_(cleanup_survey) struct survey *survey = NULL;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	struct script_lines lines = {
		.out = out,
		.shows = { [SCRIPT_COMM] = true,
			   [SCRIPT_TID] = true,
			   [SCRIPT_CPU] = has_cpus,
			   [SCRIPT_TIME] = true,
			   [SCRIPT_IP] = true },
	};
	struct replay_options options = {
		.types = UINT64_C(1) << RECORD_SAMPLE | UINT64_C(1) << RECORD_MMAP |
			 UINT64_C(1) << RECORD_MMAP2,
		.take = take,
		.arg = &lines,
	};
	bool is_open = CHECK_OK(recording_open(path, &recording_options, &recording)) &&
		       CHECK_OK(survey_new(recording, NULL, &survey));
	lines.survey = survey;
	if (is_open)
		CHECK_OK(replay(recording, survey, &options));
	script_lines_fini(&lines);
	fclose(out);
	return text;
}

// The next line of *AT that begins a record, up to the colon behind the time: its length in *SIZE;
// NULL at the end.
static const char *next_head(const char **at, size_t *size)
{
	while (**at) {
		const char *line = *at;
		size_t length = strcspn(line, "\n");
		*at += length + (line[length] == '\n');
		if (!length || line[0] == '\t')
			continue;
		// Six digits and a colon end the time; names may have colons, too.
		for (size_t i = 7; i < length; i++)
			if (line[i] == ':' && line[i - 7] == '.' &&
			    strspn(line + i - 6, "0123456789") == 6) {
				*size = i;
				return line;
			}
	}
	return NULL;
}

static char *perfs_text(const char *path)
{
	_cleanup_free_ char *command = NULL;
	char *text = NULL;
	size_t size = 0;
	if (asprintf(&command, "xzcat '%s'", path) < 0)
		return NULL;
	FILE *in = popen(command, "r");
	FILE *out = open_memstream(&text, &size);
	char part[4096];
	size_t got;
	while (in && out && (got = fread(part, 1, sizeof part, in)) > 0)
		fwrite(part, 1, got, out);
	CHECK(in && !pclose(in));
	fclose(out);
	return text;
}

static void compare(const char *name, const char *ours, const char *perfs)
{
	for (unsigned line = 1;; line++) {
		size_t our_size = 0, perf_size = 0;
		const char *our_head = next_head(&ours, &our_size);
		const char *perf_head = next_head(&perfs, &perf_size);
		if (!our_head && !perf_head)
			return;
		if (our_head && perf_head && our_size == perf_size &&
		    !memcmp(our_head, perf_head, our_size))
			continue;
		tap_fail(__FILE__, __LINE__, "%s: record %u is \"%.*s\", perf has \"%.*s\"", name,
			 line, (int)our_size, our_head ? our_head : "", (int)perf_size,
			 perf_head ? perf_head : "");
		return;
	}
}

static unsigned compared;

static int visit_file(const char *path, const struct stat *status, int type, struct FTW *where)
{
	(void)status;
	static const char name[] = "script.txt.xz";
	if (type != FTW_F || strcmp(path + where->base, name) != 0)
		return 0;
	_cleanup_free_ char *recording = NULL;
	if (asprintf(&recording, "%.*sperf.data", where->base, path) < 0)
		return -1;
	if (access(recording, R_OK))
		return 0;
	_cleanup_free_ char *perfs = perfs_text(path);
	if (!perfs || !*perfs)
		return 0;
	size_t first = strcspn(perfs, "\n");
	_cleanup_free_ char *ours =
		script_text(recording, memchr(perfs, '[', first) && strstr(perfs, " [0"));
	if (ours)
		compare(recording, ours, perfs);
	compared++;
	return 0;
}

TEST(records_come_in_the_order_in_which_perf_prints_them)
{
	const char *shared = tap_shared();
	_cleanup_free_ char *recordings = NULL;
	if (!shared)
		return;
	if (access("/usr/bin/xzcat", X_OK)) {
		tap_skip("no xzcat");
		return;
	}
	REQUIRE(asprintf(&recordings, "%s/recordings", shared) > 0);
	compared = 0;
	CHECK(!nftw(recordings, visit_file, 16, FTW_PHYS));
	printf("# %u recordings compared\n", compared);
	CHECK(compared > 20);
}
