// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// From what a finder lacks to jobs for debuginfod servers.
#include "cli/wishes.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "cli/places.h"
#include "cli/temporary.h"

static volatile sig_atomic_t interrupts;

static void interrupt(int number)
{
	(void)number;
	interrupts = 1;
}

static bool is_stopped(void *arg)
{
	(void)arg;
	return interrupts;
}

void wishes_fini(struct wishes *wishes)
{
	for (size_t i = 0; i < wishes->jobs.count; i++) {
		fetch_job_fini(&wishes->jobs.items[i]);
		free(wishes->paths.items[i]);
	}
	array_fini(&wishes->jobs);
	array_fini(&wishes->paths);
	free(wishes->servers);
	free(wishes->server_text);
}

static struct imp_error *add_job(struct wishes *wishes, const struct image *image,
				 enum fetch_part part)
{
	for (size_t i = 0; i < wishes->jobs.count; i++)
		if (wishes->jobs.items[i].part == part &&
		    build_id_equal(&wishes->jobs.items[i].id, &image->id))
			return NULL;
	if (!array_reserve(&wishes->jobs, 1) || !array_reserve(&wishes->paths, 1))
		return &imp_error_no_memory;
	char *path = image->path ? strdup(image->path) : NULL;
	if (!path && image->path)
		return &imp_error_no_memory;
	*array_add(&wishes->jobs) = (struct fetch_job){ .id = image->id, .part = part };
	*array_add(&wishes->paths) = path;
	return NULL;
}

struct imp_error *wishes_add(struct wishes *wishes, struct finder *finder,
			     const struct image *image)
{
	const struct finding *finding;
	struct imp_error *err = finder_find(finder, image, &finding);
	if (err)
		return err;
	bool has_lines = finding->debug && find_rank_of(finding->debug) == RANK_DWARF;
	// A kernel's program is its debug file: servers have nothing else of it.
	if (!finding->image && image->kind != IMAGE_KERNEL)
		err = add_job(wishes, image, FETCH_EXECUTABLE);
	if (!err && !has_lines && !wishes->no_debug)
		err = add_job(wishes, image, FETCH_DEBUGINFO);
	return err;
}

static bool can_be_fetched(const struct image *image)
{
	return identity_is_usable(image->identity) && image->id.size &&
	       (image->kind == IMAGE_USER || image->kind == IMAGE_KERNEL ||
		image->kind == IMAGE_MODULE);
}

// The images that samples were taken in.
static struct imp_error *add_sampled(struct wishes *wishes, struct finder *finder,
				     const struct survey *survey, struct hits *hits)
{
	uint64_t total = 0;
	struct imp_error *err = NULL;
	for (size_t i = 0; i < hits->image_count; i++)
		total += hits->samples[i];
	while (!err) {
		size_t most = 0;
		for (size_t i = 1; i < hits->image_count; i++)
			if (hits->samples[i] > hits->samples[most])
				most = i;
		uint64_t samples = hits->image_count ? hits->samples[most] : 0;
		if (!samples)
			break;
		hits->samples[most] = 0;
		hits->is_hit[most] = false;
		const struct image *image = timeline_image(survey->timeline, (uint32_t)most);
		bool is_heavy = (double)samples * 100 >= wishes->min_percent * (double)total;
		if (is_heavy && can_be_fetched(image))
			err = wishes_add(wishes, finder, image);
	}
	return err;
}

struct imp_error *wishes_add_hits(struct wishes *wishes, struct finder *finder,
				  const struct survey *survey, struct hits *hits)
{
	struct imp_error *err = add_sampled(wishes, finder, survey, hits);
	for (size_t i = 0; i < hits->image_count && !err; i++) {
		const struct image *image = timeline_image(survey->timeline, (uint32_t)i);
		if (hits->is_hit[i] && can_be_fetched(image))
			err = wishes_add(wishes, finder, image);
	}
	return err;
}

struct imp_error *wishes_add_recording(struct wishes *wishes, struct finder *finder,
				       const char *path, const struct log *log)
{
	const struct recording_options how = { .log = log,
					       .temporary_directory = temporary_directory() };
	struct recording *recording = NULL;
	struct survey *survey = NULL;
	struct hits *hits = NULL;
	struct imp_error *err = recording_open(path, &how, &recording);
	if (!err)
		err = survey_new(recording, log, &survey);
	if (!err)
		err = hits_count(recording, survey, &hits);
	if (!err)
		err = wishes_add_hits(wishes, finder, survey, hits);
	hits_free(hits);
	survey_free(survey);
	recording_close(recording);
	return err;
}

struct imp_error *wishes_choose_servers(struct wishes *wishes, const struct option_list *list)
{
	_cleanup_buffer_ struct buffer text = { 0 };
	const char *urls = getenv("DEBUGINFOD_URLS");
	for (size_t i = 0; i < list->count; i++)
		buffer_format(&text, "%s ", list->items[i]);
	if (!list->count && urls)
		buffer_text(&text, urls);
	buffer_append(&text, "", 1);
	if (text.failed)
		return &imp_error_no_memory;
	struct imp_error *err =
		fetch_servers((const char *)text.bytes, &wishes->servers, &wishes->server_text);
	if (!err && !wishes->servers[0])
		err = error_new(IMP_ERR_USAGE,
				"no server is named: give --server URL or set DEBUGINFOD_URLS");
	return err;
}

struct imp_error *wishes_fetch(struct wishes *wishes, const struct log *log, double timeout_s,
			       unsigned parallel, bool *was_interrupted)
{
	_cleanup_free_ char *cache = places_debuginfod_cache();
	*was_interrupted = false;
	if (!wishes->jobs.count)
		return NULL;
	if (!cache)
		return error_new(IMP_ERR_USAGE, "where to? Set HOME or DEBUGINFOD_CACHE_PATH");
	const struct fetch_options how = { .log = log,
					   .servers = wishes->servers,
					   .cache_dir = cache,
					   .timeout_s = timeout_s,
					   .parallel = parallel,
					   .is_stopped = is_stopped };
	interrupts = 0;
	signal(SIGINT, interrupt);
	struct imp_error *err = fetch(&how, wishes->jobs.items, wishes->jobs.count);
	signal(SIGINT, SIG_DFL);
	*was_interrupted = interrupts;
	return err;
}
