// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The kernel's and its modules' samples in recordings of a machine of which /proc/modules,
// /proc/kallsyms and all build IDs were kept: in which module they were, and what they are called,
// beside the names that perf gave them on that machine.
#include <stdlib.h>
#include <string.h>

#include "analyze/survey.h"
#include "base/array.h"
#include "base/cleanup.h"
#include "harness/tap.h"
#include "perfdata/sample.h"
#include "unit/analyze/named.h"

DEFINE_CLEANUP(struct recording *, recording, recording_close)
DEFINE_CLEANUP(struct survey *, survey, survey_free)

// A line of /proc/modules.
struct loaded {
	char name[64];
	unsigned long long start, size;
};

struct loaded_modules {
	ARRAY_OF(struct loaded);
};

static void loaded_read(const char *path, struct loaded_modules *ret)
{
	_cleanup_free_ char *line = NULL;
	_cleanup_file_ FILE *file = fopen(path, "re");
	REQUIRE(file);
	size_t room = 0;
	while (getline(&line, &room, file) > 0) {
		struct loaded *module = array_add(ret);
		REQUIRE(module);
		CHECK_UINT(sscanf(line, "%63s %llu %*s %*s %*s %llx", module->name, &module->size,
				  &module->start),
			   3);
	}
}

// Where the module's text may be: its size counts data, too, and modules do not overlap.
static const char *loaded_at(const struct loaded_modules *modules, uint64_t address)
{
	for (size_t i = 0; i < modules->count; i++)
		if (address - modules->items[i].start < modules->items[i].size)
			return modules->items[i].name;
	return "kernel";
}

struct placing {
	const struct survey *survey;
	struct loaded_modules modules;
	uint64_t in_kernel, in_modules;
};

static void check_place(struct placing *placing, const struct record *record)
{
	struct sample sample;
	if (!CHECK_OK(sample_read(placing->survey->events, record, &sample)) ||
	    sample.cpumode != MISC_KERNEL)
		return;
	struct place place = timeline_locate(placing->survey->timeline, sample.pid, sample.time,
					     sample.cpumode, abs_addr_of(sample.ip), NULL);
	const char *expected = loaded_at(&placing->modules, sample.ip);
	char name[64] = "nothing";
	if (place.image != NO_IMAGE) {
		const struct image *image = timeline_image(placing->survey->timeline, place.image);
		if (image->kind == IMAGE_KERNEL)
			strcpy(name, "kernel");
		if (image->kind == IMAGE_MODULE)
			module_name_of(image->path, name, sizeof name);
	}
	CHECK_TEXT(name, expected);
	if (strcmp(expected, "kernel") != 0)
		placing->in_modules++;
	else
		placing->in_kernel++;
}

static struct imp_error *check_places(void *arg, unsigned worker, struct chunk *chunk)
{
	struct record record;
	(void)worker;
	while (chunk_next(chunk, &record))
		if (record.type == RECORD_SAMPLE)
			check_place(arg, &record);
	return NULL;
}

static void check_modules(const char *shared, const char *scene, const char *modules)
{
	_cleanup_free_ char *path = NULL, *list = NULL;
	_cleanup_(cleanup_recording) struct recording *recording = NULL;
	_cleanup_(cleanup_survey) struct survey *survey = NULL;
	REQUIRE(asprintf(&path, "%s/recordings/%s/perf.data", shared, scene) > 0);
	REQUIRE(asprintf(&list, "%s/recordings/%s", shared, modules) > 0);
	struct recording_options options = { .workers = 1 };
	REQUIRE_OK(recording_open(path, &options, &recording));
	REQUIRE_OK(survey_new(recording, NULL, &survey));
	struct placing placing = { .survey = survey };
	loaded_read(list, &placing.modules);
	CHECK_OK(recording_visit(recording, check_places, &placing));
	printf("# %-32s %5llu samples in the kernel, %4llu in modules\n", scene,
	       (unsigned long long)placing.in_kernel, (unsigned long long)placing.in_modules);
	CHECK(placing.in_kernel > 100 && placing.in_modules > 20);
	array_fini(&placing.modules);
}

TEST(a_sample_in_the_kernel_falls_into_the_module_that_was_loaded_there)
{
	const char *shared = tap_shared();
	if (!shared)
		return;
	static const char *const here[] = { "sys-plain", "sys-bmmap",	   "sys-zstd",
					    "sys-pipe",	 "sys-pipe-bmmap", "sys-tp",
					    "sys-all",	 "sys-overwrite" };
	for (size_t i = 0; i < sizeof here / sizeof *here; i++) {
		_cleanup_free_ char *scene = NULL;
		REQUIRE(asprintf(&scene, "vm-6.1-kernel/%s", here[i]) > 0);
		check_modules(shared, scene, "vm-6.1-kernel/state/modules");
	}
	check_modules(shared, "vm-6.1-modules/sys-kcore",
		      "vm-6.1-modules/modreload-kcore-bmmap/modules.after");
	check_modules(shared, "vm-6.1-modules/sys-nokcore",
		      "vm-6.1-modules/modreload-nokcore-bmmap/modules.after");
}

// Samples in kernel mode under one command and function name; perf counts modules as the kernel.
struct named_count {
	char comm[32], function[256];
	uint64_t ours_kernel, ours_module, perfs;
};

struct part {
	uint64_t samples, named, as_perf;
};

struct naming {
	ARRAY_OF(struct named_count) counts;
	const struct profile *profile;
	struct part kernel, modules;
	// In modules: without a build ID that may be used; of another build than the one whose
	// symbols are there, and of those the named.
	uint64_t without_identity, other_build, named_otherwise;
};

static struct named_count *count_of(struct naming *naming, const char *comm, const char *function)
{
	for (size_t i = 0; i < naming->counts.count; i++) {
		struct named_count *count = &naming->counts.items[i];
		if (!strcmp(count->comm, comm) && !strcmp(count->function, function))
			return count;
	}
	struct named_count *count = array_add(&naming->counts);
	if (!count)
		return NULL;
	snprintf(count->comm, sizeof count->comm, "%s", comm);
	snprintf(count->function, sizeof count->function, "%s", function);
	return count;
}

// The build of vmfixmod that was loaded when the symbols were copied. Most scenes had the first.
static bool is_other_vmfixmod(const struct image *image)
{
	static const char second[] = "06fb1b839a3f212c6a5711f675ac2cc926910ff9";
	return strstr(image->path, "vmfixmod") &&
	       strcmp(build_id_text(&image->id).text, second) != 0;
}

static void take_module(struct naming *naming, const struct named_row *row)
{
	const struct image *image = &row->object->image;
	if (!identity_is_usable(image->identity))
		naming->without_identity += row->samples;
	else if (is_other_vmfixmod(image))
		naming->other_build += row->samples;
	else
		naming->modules.samples += row->samples;
	bool is_nameable = identity_is_usable(image->identity) && !is_other_vmfixmod(image);
	if (row->function && !is_nameable)
		naming->named_otherwise += row->samples;
	else if (row->function)
		naming->modules.named += row->samples;
}

static void take_row(void *arg, const struct named_row *row)
{
	struct naming *naming = arg;
	enum image_kind kind = row->object ? row->object->image.kind : IMAGE_KINDS;
	if (kind == IMAGE_MODULE)
		take_module(naming, row);
	if (kind == IMAGE_KERNEL) {
		naming->kernel.samples += row->samples;
		naming->kernel.named += row->function ? row->samples : 0;
	}
	if ((kind != IMAGE_MODULE && kind != IMAGE_KERNEL) || !row->function)
		return;
	char number[16];
	const char *comm = profile_string(naming->profile, row->task->comm);
	snprintf(number, sizeof number, ":%d", row->task->pid);
	struct named_count *count = count_of(naming, comm ? comm : number, row->function);
	REQUIRE(count);
	if (kind == IMAGE_MODULE)
		count->ours_module += row->samples;
	else
		count->ours_kernel += row->samples;
}

static void take_perfs(struct naming *naming, const char *path)
{
	_cleanup_free_ char *line = NULL;
	_cleanup_file_ FILE *file = fopen(path, "re");
	REQUIRE(file);
	size_t room = 0;
	struct perfs_row row;
	while (getline(&line, &room, file) > 0) {
		if (!perfs_row_read(line, &row) || !row.is_kernel)
			continue;
		struct named_count *count = count_of(naming, row.comm, row.symbol);
		REQUIRE(count);
		count->perfs += row.samples;
	}
}

static void compare_names(struct naming *naming)
{
	for (size_t i = 0; i < naming->counts.count; i++) {
		struct named_count *count = &naming->counts.items[i];
		uint64_t ours = count->ours_kernel + count->ours_module;
		if (ours && ours == count->perfs) {
			naming->kernel.as_perf += count->ours_kernel;
			naming->modules.as_perf += count->ours_module;
		} else if (ours) {
			printf("#     %s: %s: %llu samples, by perf %llu\n", count->comm,
			       count->function, (unsigned long long)ours,
			       (unsigned long long)count->perfs);
		}
	}
}

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100 * (double)part / (double)whole : 100;
}

static void name_scene(const char *shared, const char *scene, struct naming *ret)
{
	_cleanup_free_ char *path = NULL, *report = NULL, *kallsyms = NULL;
	const char *const no_dirs[] = { NULL };
	REQUIRE(asprintf(&path, "%s/recordings/%s/perf.data", shared, scene) > 0);
	REQUIRE(asprintf(&report, "%s/recordings/%s/report.txt", shared, scene) > 0);
	REQUIRE(asprintf(&kallsyms, "%s/recordings/vm-6.1-kernel/state/kallsyms.xz", shared) > 0);
	_cleanup_profile_ struct profile *profile = named_profile(path, no_dirs, kallsyms);
	REQUIRE(profile);
	ret->profile = profile;
	named_rows(profile, take_row, ret);
	take_perfs(ret, report);
	compare_names(ret);
	array_fini(&ret->counts);
	const struct part *kernel = &ret->kernel, *modules = &ret->modules;
	printf("# %-38s | %5llu %6.2f %6.2f | %5llu %6.2f %6.2f | %5llu %5llu\n", scene,
	       (unsigned long long)kernel->samples, percent(kernel->named, kernel->samples),
	       percent(kernel->as_perf, kernel->samples), (unsigned long long)modules->samples,
	       percent(modules->named, modules->samples),
	       percent(modules->as_perf, modules->samples), (unsigned long long)ret->other_build,
	       (unsigned long long)ret->without_identity);
}

static void print_heading(void)
{
	printf("# %-38s |        kernel        |       modules        |  modules of\n"
	       "# %-38s |    of  named as perf |    of  named as perf | other    no ID\n",
	       "per cent", "");
}

// What perf calls by another of several names at one address.
static bool is_nearly_all(uint64_t part, uint64_t whole)
{
	return part * 1000 >= whole * 995;
}

static void check_named(const char *shared, const char *scene)
{
	struct naming naming = { .profile = NULL };
	name_scene(shared, scene, &naming);
	CHECK(naming.kernel.samples > 100);
	CHECK_UINT(naming.kernel.named, naming.kernel.samples);
	CHECK(is_nearly_all(naming.kernel.as_perf, naming.kernel.samples));
	CHECK_UINT(naming.modules.named, naming.modules.samples);
	CHECK(is_nearly_all(naming.modules.as_perf, naming.modules.samples));
	CHECK_UINT(naming.named_otherwise, 0);
	// The recordings that have IDs of modules have them of all.
	bool has_module_ids = strstr(scene, "bmmap") || strstr(scene, "nokcore");
	if (has_module_ids)
		CHECK_UINT(naming.without_identity, 0);
	else
		CHECK(naming.without_identity > 0);
	if (has_module_ids && strstr(scene, "sys-"))
		CHECK(naming.modules.samples > 20);
}

TEST(kallsyms_of_the_machine_name_kernel_and_modules)
{
	const char *shared = tap_shared();
	if (!shared)
		return;
	static const char *const scenes[] = {
		"vm-6.1-kernel/sys-plain",
		"vm-6.1-kernel/sys-bmmap",
		"vm-6.1-kernel/sys-pipe-bmmap",
		"vm-6.1-kernel/sys-all",
		"vm-6.1-kernel/sys-tp",
		"vm-6.1-kernel/sys-overwrite",
		"vm-6.1-kernel/modreload-plain",
		"vm-6.1-kernel/modreload-bmmap",
		"vm-6.1-modules/sys-kcore",
		"vm-6.1-modules/sys-nokcore",
		"vm-6.1-modules/modreload-kcore-plain",
		"vm-6.1-modules/modreload-kcore-bmmap",
		"vm-6.1-modules/modreload-nokcore-plain",
		"vm-6.1-modules/modreload-nokcore-bmmap",
	};
	print_heading();
	for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++)
		check_named(shared, scenes[i]);
}

TEST(a_recording_without_the_kernels_id_is_not_named_by_any_kallsyms)
{
	const char *shared = tap_shared();
	if (!shared)
		return;
	static const char *const scenes[] = { "vm-6.1-kernel/sys-zstd", "vm-6.1-kernel/sys-pipe" };
	print_heading();
	for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
		struct naming naming = { .profile = NULL };
		name_scene(shared, scenes[i], &naming);
		CHECK(naming.kernel.samples > 100);
		CHECK_UINT(naming.kernel.named, 0);
		CHECK_UINT(naming.named_otherwise, 0);
	}
}
