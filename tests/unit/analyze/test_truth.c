// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Names, in recordings of which it is known what really ran: functions of build 1 are called v1_*,
// those of build 2 v2_*.
//
// One table tells, for each scene, how many samples in the programs under test got a name of the
// build that ran, of the other build, another name (main, _init), or none: by us, and by the perf
// that made the recording, on the machine where it was made.
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/analysis.h"
#include "analyze/spot_names.h"
#include "harness/tap.h"

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

static void judge_node(struct scene *scene, const struct profile *profile, const struct task *task,
		       const struct stack_node *node)
{
	const struct truth *truth = truth_of(scene, task->pid);
	const struct profile_object *object =
		profile_object_of(profile, &profile->tally.spots.items[node->spot]);
	if (!truth || !object || !is_under_test(object->image.path))
		return;
	const struct spot_name *name = &profile->names[node->spot];
	const char *function =
		name->count ? profile_string(profile, profile->frames.items[name->first].function)
			    : NULL;
	judge(&scene->ours[object->image.identity], truth->build, function, node->samples);
}

// The profile of PATH by files in IMAGES alone.
static struct profile *named_profile(const char *path, const char *images)
{
	const char *const image_dirs[] = { images, NULL }, *const no_dirs[] = { NULL };
	struct finder_options finder_options = { .image_dirs = image_dirs,
						 .debug_dirs = no_dirs,
						 .symfs = "/nonexistent" };
	struct analysis_options options = { .by_pid = true };
	struct symbolizer_options symbolizer_options = { .no_inline = true };
	struct profile *profile = NULL;
	struct finder *finder = NULL;
	struct symbolizer *symbolizer = NULL;
	bool is_done = CHECK_OK(analyze(path, &options, &profile)) &&
		       CHECK_OK(finder_new(&finder_options, &finder)) &&
		       CHECK_OK(symbolizer_new(finder, &symbolizer_options, &symbolizer)) &&
		       CHECK_OK(spots_name(profile, symbolizer, 1));
	symbolizer_free(symbolizer);
	finder_free(finder);
	if (is_done)
		return profile;
	profile_free(profile);
	return NULL;
}

static void judge_ours(struct scene *scene, const char *images)
{
	_cleanup_free_ char *path = NULL;
	REQUIRE(asprintf(&path, "%s/perf.data", scene->folder) > 0);
	_cleanup_profile_ struct profile *profile = named_profile(path, images);
	REQUIRE(profile);
	const struct tally *tally = &profile->tally;
	for (uint32_t i = 0; i < tally->nodes.count; i++) {
		const struct stack_node *node = &tally->nodes.items[i];
		if (stack_node_is_root(node) || !node->samples)
			continue;
		// Without chains every node stands below its root.
		const struct stack_root *root =
			&tally->roots.items[tally->nodes.items[node->parent].spot];
		judge_node(scene, profile, &tally->tasks.items[root->task], node);
	}
}

// A row of perf's: " 433  |appB  |libfoo.so  |[.] v2_crypt".
static void judge_perfs_row(struct scene *scene, char *row)
{
	unsigned long long samples;
	char comm[64], object[256], level[8], symbol[256];
	if (sscanf(row, " %llu |%63[^|]|%255[^|]|%7s %255s", &samples, comm, object, level,
		   symbol) != 5)
		return;
	comm[strcspn(comm, " ")] = '\0';
	for (size_t i = 0; i < scene->truth_count; i++)
		if (!strcmp(scene->truths[i].comm, comm) && is_under_test(object))
			judge(&scene->perfs, scene->truths[i].build, symbol, samples);
}

static void judge_perfs(struct scene *scene)
{
	_cleanup_free_ char *path = NULL, *line = NULL;
	REQUIRE(asprintf(&path, "%s/report.txt", scene->folder) > 0);
	_cleanup_file_ FILE *file = fopen(path, "re");
	REQUIRE(file);
	size_t room = 0;
	while (getline(&line, &room, file) > 0)
		judge_perfs_row(scene, line);
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

static void print_row(const struct scene *scene, const struct verdicts *all)
{
	const struct verdicts *perfs = &scene->perfs;
	printf("# %-26s | %5llu %5llu %5llu %7llu | %5llu %5llu %5llu %7llu\n", scene->name,
	       (unsigned long long)all->right, (unsigned long long)all->wrong,
	       (unsigned long long)all->other, (unsigned long long)all->unknown,
	       (unsigned long long)perfs->right, (unsigned long long)perfs->wrong,
	       (unsigned long long)perfs->other, (unsigned long long)perfs->unknown);
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
		uint64_t count = all->right + all->wrong + all->other + all->unknown;
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
	printf("# %-26s |            imprint         |             perf\n"
	       "# %-26s | right wrong other unknown | right wrong other unknown\n",
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
