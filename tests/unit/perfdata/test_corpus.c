// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Recordings by other people's tools: every file is read, and the records counted by type are those
// that perf 6.12 counted, wherever it read the file whole. docs/differences.md explains the others.
#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>

#include "harness/tap.h"
#include "perfdata/recording.h"
#include "perfdata/sample.h"
#include "unit/perfdata/read_back.h"

// Files in which perf 6.12 stopped early; what it did count, we count, too.
static const char *const not_read_whole_by_perf[] = {
	"etm__perf_etm.data",
	"etm__perf_with_recording_process.data",
	"etm__perf_with_unformatted_trace.data",
	"etm__perf_with_unformatted_trace.data.dcd4c62",
	"perf_for_build_id_check.data",
	"perf_with_symbols.data.4c0dfe6",
	"perf_with_symbols.data.8571a96",
	"perf_with_symbols.data.8e51145",
	"perf_with_trace_offcpu.data",
	"perf_with_trace_offcpu.data.6d0c5e0",
	"perf_with_trace_offcpu_v2.data",
	"poc-c53034701abf35f2cb30d80ea967a540ad3d4eb208e17c78e7159f3df3dae191",
	"fibo.compressed2.pipe.data",
};

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), end_length = strlen(end);
	return length >= end_length && !strcmp(text + length - end_length, end);
}

static bool is_recording(const char *name)
{
	return !strstr(name, ".perf612-") && !strstr(name, ".golden-") &&
	       !ends_with(name, "INDEX.md") && name[0] != '.';
}

static bool is_read_whole_by_perf(const char *path)
{
	for (size_t i = 0; i < sizeof not_read_whole_by_perf / sizeof *not_read_whole_by_perf; i++)
		if (ends_with(path, not_read_whole_by_perf[i]))
			return false;
	return true;
}

// perf calls HEADER_ATTR and its like ATTR and so on.
static uint32_t type_of_perf_name(const char *name)
{
	for (uint32_t type = 1; type < 128; type++) {
		const char *ours = record_type_name(type);
		if (ours && (!strcmp(ours, name) ||
			     (!strncmp(ours, "HEADER_", 7) && !strcmp(ours + 7, name))))
			return type;
	}
	return 0;
}

static bool read_perf_counts(const char *path, uint64_t counts[128])
{
	_cleanup_free_ char *name = NULL;
	if (asprintf(&name, "%s.perf612-dump-counts", path) < 0)
		return false;
	_cleanup_file_ FILE *file = fopen(name, "r");
	if (!file)
		return false;
	uint64_t count;
	char type[64];
	while (fscanf(file, "%" SCNu64 " PERF_RECORD_%63s", &count, type) == 2)
		counts[type_of_perf_name(type)] += count;
	// 0: lines that are no record's type.
	counts[0] = 0;
	return true;
}

static void compare_counts(const char *path, const struct read_back *back)
{
	uint64_t perf[128] = { 0 };
	if (!read_perf_counts(path, perf))
		return;
	bool is_whole = is_read_whole_by_perf(path);
	for (uint32_t type = 1; type < 128; type++) {
		uint64_t ours = back->by_type[type];
		bool is_same = is_whole ? ours == perf[type] : ours >= perf[type];
		// perf prints the attr of a file with AUXTRACE as if it were a record.
		if (!is_same && !(type == RECORD_HEADER_ATTR && !is_whole))
			tap_fail(__FILE__, __LINE__, "%s: %" PRIu64 " %s, perf 6.12 has %" PRIu64,
				 path, ours, record_type_name(type), perf[type]);
	}
}

static void check_samples(const char *path, const struct read_back *back)
{
	const struct events *events = recording_events(back->recording);
	for (size_t i = 0; i < back->count && events->count; i++) {
		struct sample sample;
		struct imp_error *err = NULL;
		if (back->items[i].record.type == RECORD_SAMPLE)
			err = sample_read(events, &back->items[i].record, &sample);
		if (err)
			tap_fail(__FILE__, __LINE__, "%s: %s", path, imp_error_message(err));
		imp_error_free(err);
	}
}

static void read_one(const char *path)
{
	struct read_back back;
	struct imp_error *err = read_back_path(path, 2, &back);
	if (err) {
		tap_fail(__FILE__, __LINE__, "%s", imp_error_message(err));
		imp_error_free(err);
	} else {
		compare_counts(path, &back);
		check_samples(path, &back);
		if (!read_back_visits_the_same(&back))
			tap_fail(__FILE__, __LINE__, "%s: the second pass differs", path);
	}
	read_back_fini(&back);
}

// Reads all recordings of DIRECTORY and how many they are; subdirectories are answered by depth.
static unsigned read_directory(const char *directory)
{
	_cleanup_dir_ DIR *dir = opendir(directory);
	unsigned count = 0;
	struct dirent *entry;
	while (dir && (entry = readdir(dir))) {
		_cleanup_free_ char *path = NULL;
		if (entry->d_type != DT_REG || !is_recording(entry->d_name) ||
		    asprintf(&path, "%s/%s", directory, entry->d_name) < 0)
			continue;
		read_one(path);
		count++;
	}
	return count;
}

TEST(reads_every_recording_of_the_corpus_as_perf_does)
{
	static const char *const folders[] = {
		"GrapheneOS+platform_system_extras",
		"colemickens+platform2-sommelier",
		"google+autofdo",
		"google+perf_data_converter",
		"google+perf_data_converter/fuzz",
		"llvm+llvm-lnt",
		"microsoft+LinuxTracepoints",
		"mstange+linux-perf-data",
		"openharmony+developtools_hiperf",
	};
	const char *shared = tap_shared();
	unsigned count = 0;
	for (size_t i = 0; shared && i < sizeof folders / sizeof *folders; i++) {
		_cleanup_free_ char *path = NULL;
		if (asprintf(&path, "%s/corpus/%s", shared, folders[i]) >= 0)
			count += read_directory(path);
	}
	CHECK(!shared || count >= 80);
}

TEST(reads_every_recording_from_our_machines)
{
	static const char *const names[] = {
		"vm-6.1-kernel/sys-all/perf.data",
		"vm-6.1-kernel/sys-bmmap/perf.data",
		"vm-6.1-kernel/sys-dir/perf.data.dir",
		"vm-6.1-kernel/sys-overwrite/perf.data",
		"vm-6.1-kernel/sys-pipe/perf.data",
		"vm-6.1-kernel/sys-pipe-bmmap/perf.data",
		"vm-6.1-kernel/sys-plain/perf.data",
		"vm-6.1-kernel/sys-tp/perf.data",
		"vm-6.1-kernel/sys-zstd/perf.data",
		"vm-6.1-modules/sys-kcore/perf.data",
		"vm-6.1-modules/modreload-kcore-bmmap/perf.data",
		"vm-5.10/sys-plain/perf.data",
	};
	const char *shared = tap_shared();
	for (size_t i = 0; shared && i < sizeof names / sizeof *names; i++) {
		_cleanup_free_ char *path = NULL;
		struct read_back back;
		if (asprintf(&path, "%s/recordings/%s", shared, names[i]) < 0 ||
		    !tap_check_ok(__FILE__, __LINE__, names[i], read_back_path(path, 2, &back)))
			continue;
		CHECK(back.by_type[RECORD_SAMPLE] > 0);
		if (recording_warning_count(back.recording))
			tap_fail(__FILE__, __LINE__, "%s", recording_warning(back.recording, 0));
		check_samples(path, &back);
		CHECK(read_back_visits_the_same(&back));
		read_back_fini(&back);
	}
}
