// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Images of recordings by other people's recorders, beside what was expected of them and what perf
// 6.12 lists. Each difference is explained in docs/differences.md.
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/hits.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "harness/tap.h"

DEFINE_CLEANUP(struct recording *, recording, recording_close)
DEFINE_CLEANUP(struct survey *, survey, survey_free)
DEFINE_CLEANUP(struct hits *, hits, hits_free)

// Lines "ID PATH", sorted, each once.
struct lines {
	ARRAY_OF(char *) all;
};

static void lines_fini(struct lines *lines)
{
	for (size_t i = 0; i < lines->all.count; i++)
		free(lines->all.items[i]);
	array_fini(&lines->all);
}

static void lines_add(struct lines *lines, const char *id, const char *path)
{
	char *line = NULL;
	char **slot = array_add(&lines->all);
	REQUIRE(slot && asprintf(&line, "%s %s", id, path) > 0);
	*slot = line;
}

static int compare_lines(const void *one, const void *other)
{
	return strcmp(*(char *const *)one, *(char *const *)other);
}

static bool lines_have(const struct lines *lines, char *line)
{
	return lines->all.count && bsearch(&line, lines->all.items, lines->all.count,
					   sizeof *lines->all.items, compare_lines);
}

static void lines_sort(struct lines *lines)
{
	if (lines->all.count)
		qsort(lines->all.items, lines->all.count, sizeof *lines->all.items, compare_lines);
}

// What another tool listed: its lines without an ID are of no interest.
static void read_expected(struct lines *lines, const char *file, const char *suffix)
{
	_cleanup_free_ char *path = NULL;
	REQUIRE(asprintf(&path, "%s%s", file, suffix) > 0);
	_cleanup_buffer_ struct buffer buffer = { 0 };
	REQUIRE_OK(file_slurp_path(path, 1 << 20, &buffer));
	buffer_append(&buffer, "", 1);
	char *rest = NULL;
	for (char *line = strtok_r((char *)buffer.bytes, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest)) {
		size_t digits = strspn(line, "0123456789abcdef");
		if (!digits || line[digits] != ' ')
			continue;
		line[digits] = 0;
		struct build_id id;
		// perf shows an ID of zeros as one.
		if (build_id_parse(line, &id))
			lines_add(lines, line, line + digits + 1 + strspn(line + digits + 1, " "));
	}
	lines_sort(lines);
}

static void list(struct lines *lines, const struct survey *survey, const struct hits *hits)
{
	for (uint32_t i = 0; i < timeline_image_count(survey->timeline); i++) {
		const struct image *image = timeline_image(survey->timeline, i);
		if (identity_is_usable(image->identity) && (!hits || hits->is_hit[i]))
			lines_add(lines, build_id_text(&image->id).text, image->path);
	}
	lines_sort(lines);
}

// What differs and why, as docs/differences.md tells.
struct difference {
	const char *file;
	bool has_more, has_less;
};

// perf cannot read these at all or not to their end; that one names the kernel by a file.
static const struct difference list_differences[] = {
	{ "perf_with_trace_offcpu.data", true, false },
	{ "perf_with_trace_offcpu.data.6d0c5e0", true, false },
	{ "perf_with_trace_offcpu_v2.data", true, false },
	{ "perf-vmlinux.data", true, true },
};

static const struct difference hit_differences[] = {
	{ "perf_with_trace_offcpu.data", true, false },
	{ "perf_with_trace_offcpu.data.6d0c5e0", true, false },
	{ "perf_with_trace_offcpu_v2.data", true, false },
	{ "perf_for_build_id_check.data", true, false },
	{ "perf_with_symbols.data.4c0dfe6", true, false },
	{ "perf_with_symbols.data.8571a96", true, false },
	{ "perf_with_symbols.data.8e51145", true, false },
	{ "perf-vmlinux.data", true, true },
	// Hit by call chains.
	{ "perf_merge1.data", true, false },
	{ "perf_with_ip_zero_in_callchain.data", true, false },
	{ "perf_with_kernel_symbols_available_false.data", true, false },
	{ "perf_with_long_callchain.data", true, false },
	{ "runtest_two_functions_arm64_perf.data", true, false },
	// In the kernel, of which no map was recorded.
	{ "sleep.data", true, false },
	// AUX traces: perf then lists everything.
	{ "etm__perf_etm.data", false, true },
	{ "etm__perf_with_recording_process.data", false, true },
	{ "etm__perf_with_unformatted_trace.data", false, true },
	{ "etm__perf_with_unformatted_trace.data.dcd4c62", false, true },
	{ "perf.data.intel_pt-4.14", false, true },
};

static struct difference difference_of(const struct difference *known, size_t count,
				       const char *file)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(known[i].file, file))
			return known[i];
	return (struct difference){ file, false, false };
}

// Checks that WHAT of FILE differs from what was expected as it is known to, and not otherwise.
static void compare(const struct lines *actual, const struct lines *expected,
		    const struct difference *known, const char *what)
{
	bool has_more = false;
	bool has_less = false;
	for (size_t i = 0; i < actual->all.count; i++) {
		if (lines_have(expected, actual->all.items[i]))
			continue;
		has_more = true;
		if (!known->has_more)
			tap_fail(__FILE__, __LINE__, "%s of %s: not expected: %s", what,
				 known->file, actual->all.items[i]);
	}
	for (size_t i = 0; i < expected->all.count; i++) {
		if (lines_have(actual, expected->all.items[i]))
			continue;
		has_less = true;
		if (!known->has_less)
			tap_fail(__FILE__, __LINE__, "%s of %s: missing: %s", what, known->file,
				 expected->all.items[i]);
	}
	if (has_more != known->has_more || has_less != known->has_less)
		tap_fail(__FILE__, __LINE__, "%s of %s: not the difference that is known", what,
			 known->file);
}

static bool exists(const char *file, const char *suffix)
{
	_cleanup_free_ char *path = NULL;
	return asprintf(&path, "%s%s", file, suffix) > 0 && !access(path, R_OK);
}

static void check_with(const char *file, const char *suffix, const struct survey *survey,
		       const struct hits *hits, const struct difference *known)
{
	struct lines expected = { 0 };
	struct lines actual = { 0 };
	if (exists(file, suffix)) {
		read_expected(&expected, file, suffix);
		list(&actual, survey, hits);
		compare(&actual, &expected, known, suffix);
	}
	lines_fini(&expected);
	lines_fini(&actual);
}

// One pass and two find the same.
static void check_quick_hits(const char *file, const struct hits *hits)
{
	_cleanup_(cleanup_recording) struct recording *recording = NULL;
	_cleanup_(cleanup_survey) struct survey *survey = NULL;
	_cleanup_(cleanup_hits) struct hits *quick = NULL;
	REQUIRE_OK(recording_open(file, NULL, &recording));
	REQUIRE_OK(hits_survey(recording, NULL, &survey, &quick));
	REQUIRE(quick->image_count == hits->image_count);
	for (uint32_t i = 0; i < hits->image_count; i++)
		if (quick->is_hit[i] != hits->is_hit[i])
			tap_fail(__FILE__, __LINE__, "%s: %s is %shit in one pass", file,
				 timeline_image(survey->timeline, i)->path,
				 quick->is_hit[i] ? "" : "not ");
}

static void check_file(const char *file, const char *name)
{
	_cleanup_(cleanup_recording) struct recording *recording = NULL;
	_cleanup_(cleanup_survey) struct survey *survey = NULL;
	_cleanup_(cleanup_hits) struct hits *hits = NULL;
	struct imp_error *err = recording_open(file, NULL, &recording);
	if (err) {
		// Only what is no recording at all.
		CHECK(strstr(file, "/fuzz/"));
		imp_error_free(err);
		return;
	}
	REQUIRE_OK(survey_new(recording, NULL, &survey));
	REQUIRE_OK(hits_count(recording, survey, &hits));
	check_quick_hits(file, hits);
	struct difference known = difference_of(
		list_differences, sizeof list_differences / sizeof *list_differences, name);
	struct difference none = { name, false, false };
	check_with(file, ".golden-buildids", survey, NULL, &none);
	check_with(file, ".perf612-buildid-list", survey, NULL, &known);
	known = difference_of(hit_differences, sizeof hit_differences / sizeof *hit_differences,
			      name);
	check_with(file, ".perf612-buildid-list-H", survey, hits, &known);
}

static size_t check_folder(const char *folder, unsigned depth)
{
	struct dirent **entries;
	size_t checked = 0;
	int count = scandir(folder, &entries, NULL, alphasort);
	for (int i = 0; i < count; i++) {
		_cleanup_free_ char *path = NULL;
		const char *name = entries[i]->d_name;
		if (name[0] == '.' || asprintf(&path, "%s/%s", folder, name) < 0) {
			free(entries[i]);
			continue;
		}
		if (exists(path, ".perf612-buildid-list") || exists(path, ".golden-buildids")) {
			check_file(path, name);
			checked++;
		} else if (depth && entries[i]->d_type == DT_DIR) {
			checked += check_folder(path, depth - 1);
		}
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	return checked;
}

TEST(images_of_other_peoples_recordings_are_those_expected)
{
	const char *shared = tap_shared();
	if (!shared)
		return;
	_cleanup_free_ char *folder = NULL;
	REQUIRE(asprintf(&folder, "%s/corpus", shared) > 0);
	size_t checked = check_folder(folder, 2);
	printf("# %zu recordings\n", checked);
	CHECK(checked >= 80);
}
