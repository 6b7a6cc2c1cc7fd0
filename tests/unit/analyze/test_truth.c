// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Names, in recordings of which it is known what really ran: functions of build 1 are called v1_*,
// those of build 2 v2_*.
//
// One table tells, for each scene, which part of the samples in the programs under test got a name
// of the build that ran, of the other build, another name (main, _init), or none: by us, and by the
// perf that made the recording, on the machine where it was made.
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "harness/tap.h"
#include "unit/analyze/named.h"

struct verdicts {
	uint64_t right, wrong, other, unknown;
};

struct truth {
	int32_t pid;
	char comm[16];
	unsigned build;
};

struct scene {
	const char *name;
	char *folder;
	struct truth truths[4];
	size_t truth_count;
	// Ours by the identity of the image; perf's.
	struct verdicts ours[IDENTITIES];
	struct verdicts perfs;
};

static void read_truth(struct scene *scene)
{
	_cleanup_free_ char *path = NULL;
	REQUIRE(asprintf(&path, "%s/truth.txt", scene->folder) > 0);
	_cleanup_file_ FILE *file = fopen(path, "re");
	REQUIRE(file);
	struct truth *truth = scene->truths;
	while (scene->truth_count < 4 &&
	       fscanf(file, "%d %15s build%u", &truth->pid, truth->comm, &truth->build) == 3) {
		scene->truth_count++;
		truth++;
	}
}

static bool is_under_test(const char *path)
{
	return strstr(path, "libfoo.so") || strstr(path, "svc") || strstr(path, "memfd:");
}

// NAME is NULL or a number where there is none.
static void judge(struct verdicts *verdicts, unsigned build, const char *name, uint64_t samples)
{
	if (!name || !strncmp(name, "0x", 2))
		verdicts->unknown += samples;
	else if (name[0] != 'v' || (name[1] != '1' && name[1] != '2') || name[2] != '_')
		verdicts->other += samples;
	else if (name[1] == (char)('0' + build))
		verdicts->right += samples;
	else
		verdicts->wrong += samples;
}

static const struct truth *truth_of(const struct scene *scene, int32_t pid)
{
	for (size_t i = 0; i < scene->truth_count; i++)
		if (scene->truths[i].pid == pid)
			return &scene->truths[i];
	return NULL;
}

static void judge_our_row(void *arg, const struct named_row *row)
{
	struct scene *scene = arg;
	const struct truth *truth = truth_of(scene, row->task->pid);
	if (truth && row->object && is_under_test(row->object->image.path))
		judge(&scene->ours[row->object->image.identity], truth->build, row->function,
		      row->samples);
}

static void judge_ours(struct scene *scene, const char *images)
{
	const char *const image_dirs[] = { images, NULL };
	_cleanup_free_ char *path = NULL;
	REQUIRE(asprintf(&path, "%s/perf.data", scene->folder) > 0);
	_cleanup_profile_ struct profile *profile = named_profile(path, image_dirs, NULL);
	REQUIRE(profile);
	named_rows(profile, judge_our_row, scene);
}

static void judge_perfs(struct scene *scene)
{
	_cleanup_free_ char *path = NULL, *line = NULL;
	REQUIRE(asprintf(&path, "%s/report.txt", scene->folder) > 0);
	_cleanup_file_ FILE *file = fopen(path, "re");
	REQUIRE(file);
	size_t room = 0;
	struct perfs_row row;
	while (getline(&line, &room, file) > 0) {
		if (!perfs_row_read(line, &row) || !is_under_test(row.object))
			continue;
		for (size_t i = 0; i < scene->truth_count; i++)
			if (!strcmp(scene->truths[i].comm, row.comm))
				judge(&scene->perfs, scene->truths[i].build, row.symbol,
				      row.samples);
	}
}

static struct verdicts all_of(const struct scene *scene)
{
	struct verdicts all = { 0 };
	for (unsigned i = 0; i < IDENTITIES; i++) {
		all.right += scene->ours[i].right;
		all.wrong += scene->ours[i].wrong;
		all.other += scene->ours[i].other;
		all.unknown += scene->ours[i].unknown;
	}
	return all;
}

static uint64_t sum_of(const struct verdicts *verdicts)
{
	return verdicts->right + verdicts->wrong + verdicts->other + verdicts->unknown;
}

static double percent(uint64_t part, const struct verdicts *verdicts)
{
	uint64_t whole = sum_of(verdicts);
	return whole ? 100 * (double)part / (double)whole : 0;
}

static void print_row(const struct scene *scene, const struct verdicts *all)
{
	const struct verdicts *perfs = &scene->perfs;
	printf("# %-26s %7llu | %6.2f %6.2f %6.2f %7.2f | %6.2f %6.2f %6.2f %7.2f\n", scene->name,
	       (unsigned long long)sum_of(all), percent(all->right, all), percent(all->wrong, all),
	       percent(all->other, all), percent(all->unknown, all), percent(perfs->right, perfs),
	       percent(perfs->wrong, perfs), percent(perfs->other, perfs),
	       percent(perfs->unknown, perfs));
}

// Only an identity from a table that was made afterwards may name the other build; what the
// recording contradicts names nothing.
static void check_verdicts(const struct scene *scene, const struct verdicts *all, bool has_ids)
{
	const struct verdicts *ours = scene->ours;
	CHECK_UINT(ours[IDENTITY_MAP_TIME].wrong, 0);
	CHECK_UINT(ours[IDENTITY_SYNTHESIZED].wrong, 0);
	for (unsigned i = IDENTITY_AMBIGUOUS; i <= IDENTITY_NONE; i++)
		CHECK_UINT(ours[i].right + ours[i].wrong + ours[i].other, 0);
	if (has_ids) {
		uint64_t count = sum_of(all);
		CHECK(count > 50);
		// Other names are what both builds have: the C library in a static program.
		CHECK((all->right + all->other) * 100 >= count * 99);
		CHECK(all->other * 20 < count);
	}
}

static void judge_scene(const char *folder, const char *name, const char *images)
{
	struct scene scene = { .name = name };
	_cleanup_free_ char *path = NULL, *recording = NULL;
	REQUIRE(asprintf(&path, "%s/%s", folder, name) > 0);
	REQUIRE(asprintf(&recording, "%s/perf.data", path) > 0);
	// Kernel 5.10 has no IDs to give.
	if (access(recording, R_OK))
		return;
	scene.folder = path;
	read_truth(&scene);
	judge_ours(&scene, images);
	judge_perfs(&scene);
	struct verdicts all = all_of(&scene);
	print_row(&scene, &all);
	// The kernel puts an ID into each mapping made while it records.
	bool has_ids = strstr(folder, "vm-6.1") && strstr(name, ".bmmap") &&
		       strncmp(name, "attach_", 7) != 0;
	check_verdicts(&scene, &all, has_ids);
}

static void judge_folder(const char *shared, const char *machine)
{
	_cleanup_free_ char *folder = NULL, *images = NULL;
	REQUIRE(asprintf(&folder, "%s/recordings/%s/scen", shared, machine) > 0);
	REQUIRE(asprintf(&images, "%s/recordings/bin", shared) > 0);
	struct dirent **entries = NULL;
	int count = scandir(folder, &entries, NULL, alphasort);
	CHECK(count > 4);
	printf("# %-26s         |       imprint, per cent       |         perf, per cent\n"
	       "# %-26s samples |  right  wrong  other unknown |  right  wrong  other unknown\n",
	       machine, "");
	for (int i = 0; i < count; i++) {
		if (entries[i]->d_name[0] != '.')
			judge_scene(folder, entries[i]->d_name, images);
		free(entries[i]);
	}
	free(entries);
}

TEST(no_sample_is_given_a_function_of_the_other_build)
{
	const char *shared = tap_shared();
	if (shared)
		judge_folder(shared, "vm-6.1-user");
}

TEST(no_sample_is_given_a_function_of_the_other_build_on_a_kernel_without_ids)
{
	const char *shared = tap_shared();
	if (shared)
		judge_folder(shared, "vm-5.10");
}
