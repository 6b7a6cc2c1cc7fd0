// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Identities in recordings of which the truth is known: which build of a program each process ran.
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/survey.h"
#include "base/cleanup.h"
#include "harness/tap.h"
#include "perfdata/sample.h"

DEFINE_CLEANUP(struct recording *, recording, recording_close)
DEFINE_CLEANUP(struct survey *, survey, survey_free)

struct program {
	const char *name;
	const char *id;
};

// By build: what ran as build 1, and as build 2.
static const struct program programs[2][3] = {
	{ { "libfoo.so", "4cda07b4aba7d32ef2ac1d4643231ec3da3b70ad" },
	  { "exe", "66a53bd7f60691690ea3d66d67dde661dd061601" },
	  { "static exe", "c3011fa1f03306690082c321a6289827e7606bb8" } },
	{ { "libfoo.so", "0248f69eea666a0c389c37b6f7dc4b03f18579d7" },
	  { "exe", "7fec49b80dcbeb81de9d80841ed667e346cf7a7a" },
	  { "static exe", "8bae384cd9ff7b6d072804ed9a07d3157c234ee2" } },
};

// The build that runs in a process, as truth.txt says: "136 appA build1".
struct truth {
	uint32_t pid;
	unsigned build;
};

struct scene {
	const struct survey *survey;
	struct truth truths[4];
	size_t truth_count;
	// Samples in the programs under test, by the identity of their image.
	uint64_t right[IDENTITIES], wrong[IDENTITIES];
};

static void read_truth(struct scene *scene, const char *folder)
{
	_cleanup_free_ char *path = NULL;
	REQUIRE(asprintf(&path, "%s/truth.txt", folder) > 0);
	_cleanup_file_ FILE *file = fopen(path, "re");
	REQUIRE(file);
	struct truth *truth = scene->truths;
	while (scene->truth_count < 4 &&
	       fscanf(file, "%u %*s build%u", &truth->pid, &truth->build) == 2) {
		scene->truth_count++;
		truth++;
	}
}

static bool is_of_build(const struct image *image, unsigned build)
{
	for (size_t i = 0; i < 3; i++)
		if (!strcmp(build_id_text(&image->id).text, programs[build - 1][i].id))
			return true;
	return false;
}

static bool is_under_test(const char *path)
{
	return strstr(path, "/libfoo.so") || strstr(path, "/bin/svc") || strstr(path, "/memfd:");
}

static void take_sample(struct scene *scene, const struct record *record)
{
	struct sample sample;
	if (!tap_check_ok(__FILE__, __LINE__, "sample",
			  sample_read(scene->survey->events, record, &sample)))
		return;
	struct place place = timeline_locate(scene->survey->timeline, sample.pid, sample.time,
					     sample.cpumode, abs_addr_of(sample.ip), NULL);
	if (place.image == NO_IMAGE)
		return;
	const struct image *image = timeline_image(scene->survey->timeline, place.image);
	for (size_t i = 0; i < scene->truth_count; i++) {
		if (scene->truths[i].pid != sample.pid || !is_under_test(image->path))
			continue;
		if (!identity_is_usable(image->identity) ||
		    is_of_build(image, scene->truths[i].build))
			scene->right[image->identity]++;
		else
			scene->wrong[image->identity]++;
	}
}

static struct imp_error *take_chunk(void *arg, unsigned worker, struct chunk *chunk)
{
	struct scene *scene = arg;
	(void)worker;
	struct record record;
	while (chunk_next(chunk, &record))
		if (record.type == RECORD_SAMPLE)
			take_sample(scene, &record);
	return NULL;
}

static void check_scene(const char *folder, const char *name)
{
	struct scene scene = { 0 };
	_cleanup_free_ char *path = NULL;
	_cleanup_(cleanup_recording) struct recording *recording = NULL;
	_cleanup_(cleanup_survey) struct survey *survey = NULL;
	REQUIRE(asprintf(&path, "%s/perf.data", folder) > 0);
	// Kernel 5.10 has no IDs to give.
	if (access(path, R_OK))
		return;
	struct recording_options options = { .workers = 1 };
	REQUIRE_OK(recording_open(path, &options, &recording));
	REQUIRE_OK(survey_new(recording, NULL, &survey));
	scene.survey = survey;
	read_truth(&scene, folder);
	REQUIRE_OK(recording_visit(recording, take_chunk, &scene));
	uint64_t all = 0;
	for (size_t i = 0; i < IDENTITIES; i++)
		all += scene.right[i] + scene.wrong[i];
	printf("# %-28s %5llu samples: %llu map-time, %llu synthesized, %llu after the fact (%llu of another build), %llu without\n",
	       name, (unsigned long long)all, (unsigned long long)scene.right[IDENTITY_MAP_TIME],
	       (unsigned long long)scene.right[IDENTITY_SYNTHESIZED],
	       (unsigned long long)scene.right[IDENTITY_AFTER_THE_FACT],
	       (unsigned long long)scene.wrong[IDENTITY_AFTER_THE_FACT],
	       (unsigned long long)(scene.right[IDENTITY_AMBIGUOUS] + scene.right[IDENTITY_NONE]));
	// What was written by path when the recording ended may be of another build, and says so.
	CHECK_UINT(scene.wrong[IDENTITY_MAP_TIME], 0);
	CHECK_UINT(scene.wrong[IDENTITY_SYNTHESIZED], 0);
	// On 5.10 the processes attached to had not begun when the recorder did.
	CHECK(all > 50 || !strncmp(name, "attach_", 7));
	// The kernel puts an ID into each mapping of an ELF file that has one.
	bool has_ids = strstr(name, ".bmmap") && strncmp(name, "attach_", 7) &&
		       strstr(folder, "vm-6.1");
	if (has_ids)
		CHECK(scene.right[IDENTITY_MAP_TIME] * 100 >= all * 99);
}

static void check_scenes(const char *machine)
{
	const char *shared = tap_shared();
	if (!shared)
		return;
	_cleanup_free_ char *path = NULL;
	REQUIRE(asprintf(&path, "%s/recordings/%s/scen", shared, machine) > 0);
	struct dirent **entries;
	int count = scandir(path, &entries, NULL, alphasort);
	REQUIRE(count > 0);
	for (int i = 0; i < count; i++) {
		_cleanup_free_ char *folder = NULL;
		if (strchr(entries[i]->d_name, '.') && entries[i]->d_name[0] != '.' &&
		    asprintf(&folder, "%s/%s", path, entries[i]->d_name) > 0)
			check_scene(folder, entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
}

TEST(no_sample_of_one_build_is_taken_for_the_other_where_ids_come_with_the_mappings)
{
	check_scenes("vm-6.1-user");
}

TEST(the_same_where_the_kernel_cannot_give_ids)
{
	check_scenes("vm-5.10");
}

// The identity of all images whose path contains PART; IDENTITIES when they differ or there is
// none.
static enum identity identity_in(const char *file, const char *part)
{
	enum identity found = IDENTITIES;
	_cleanup_free_ char *path = NULL;
	_cleanup_(cleanup_recording) struct recording *recording = NULL;
	_cleanup_(cleanup_survey) struct survey *survey = NULL;
	if (asprintf(&path, "%s/recordings/%s/perf.data", tap_shared(), file) < 0 ||
	    !tap_check_ok(__FILE__, __LINE__, path, recording_open(path, NULL, &recording)) ||
	    !tap_check_ok(__FILE__, __LINE__, path, survey_new(recording, NULL, &survey)))
		return IDENTITIES;
	for (uint32_t i = 0; i < timeline_image_count(survey->timeline); i++) {
		const struct image *image = timeline_image(survey->timeline, i);
		if (!strstr(image->path, part))
			continue;
		if (found != IDENTITIES && found != image->identity)
			return IDENTITIES;
		found = image->identity;
	}
	return found;
}

TEST(what_the_recording_contradicts_is_ambiguous)
{
	if (!tap_shared())
		return;
	static const char *const files[] = {
		"vm-6.1-user/scen/replace_live.plain",
		"vm-6.1-user/scen/unlink_create.plain",
		"vm-6.1-user/scen/mntns.plain",
		"vm-5.10/scen/replace_live.plain",
		"vm-5.10/scen/mntns.plain",
	};
	for (size_t i = 0; i < sizeof files / sizeof *files; i++)
		CHECK_TEXT(identity_name(identity_in(files[i], "libfoo.so")), "ambiguous");
	CHECK_TEXT(identity_name(identity_in("vm-6.1-user/scen/chroot.plain", "/bin/svc")),
		   "ambiguous");
	CHECK_TEXT(identity_name(identity_in("vm-6.1-user/scen/deleted.plain", "/bin/svc")),
		   "none");
	CHECK_TEXT(identity_name(identity_in("vm-6.1-user/scen/single.plain", "libfoo.so")),
		   "after-the-fact");
}

// "kernel ID", "module ID": of the image of KIND whose path contains PART.
static const char *id_in(const char *file, enum image_kind kind, const char *part)
{
	static struct build_id_text text;
	text.text[0] = 0;
	_cleanup_free_ char *path = NULL;
	_cleanup_(cleanup_recording) struct recording *recording = NULL;
	_cleanup_(cleanup_survey) struct survey *survey = NULL;
	if (asprintf(&path, "%s/recordings/%s", tap_shared(), file) < 0 ||
	    !tap_check_ok(__FILE__, __LINE__, path, recording_open(path, NULL, &recording)) ||
	    !tap_check_ok(__FILE__, __LINE__, path, survey_new(recording, NULL, &survey)))
		return "";
	for (uint32_t i = 0; i < timeline_image_count(survey->timeline); i++) {
		const struct image *image = timeline_image(survey->timeline, i);
		if (image->kind == kind && strstr(image->path, part) &&
		    identity_is_usable(image->identity))
			text = build_id_text(&image->id);
	}
	return text.text;
}

TEST(kernel_and_modules_are_told_apart_and_have_their_ids)
{
	if (!tap_shared())
		return;
	static const char kernel[] = "01d2640d3a13145ee314eb05b155f141b7b7058b";
	static const char *const files[] = {
		"vm-6.1-kernel/sys-plain/perf.data",	  "vm-6.1-kernel/sys-bmmap/perf.data",
		"vm-6.1-kernel/sys-pipe-bmmap/perf.data", "vm-6.1-kernel/sys-all/perf.data",
		"vm-6.1-modules/sys-kcore/perf.data",	  "vm-6.1-modules/sys-nokcore/perf.data",
	};
	for (size_t i = 0; i < sizeof files / sizeof *files; i++)
		CHECK_TEXT(id_in(files[i], IMAGE_KERNEL, "[kernel.kallsyms]"), kernel);
	CHECK_TEXT(
		id_in("vm-6.1-modules/modreload-nokcore-bmmap/perf.data", IMAGE_MODULE, "vmfixmod"),
		"38163d5d15529f266b57149fed1e2065901b5ce2");
	CHECK_TEXT(id_in("vm-6.1-kernel/sys-bmmap/perf.data", IMAGE_MODULE, "virtio_ring"),
		   "bd72603b3412a78a9d895a2222eab95bec6bc058");
}
