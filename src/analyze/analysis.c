// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The two passes, one after the other.
#include "analyze/analysis.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/gather.h"
#include "analyze/origin.h"
#include "analyze/survey.h"
#include "analyze/survivors.h"

DEFINE_CLEANUP(struct recording *, recording, recording_close)
DEFINE_CLEANUP(struct survey *, survey, survey_free)
DEFINE_CLEANUP(struct stack_walk *, stack_walk, stack_walk_free)

static struct imp_error *fill_lists(struct profile *profile, const struct recording *recording,
				    const struct timeline *timeline,
				    const struct stack_walk_sums *walked)
{
	const struct events *events = recording_events(recording);
	struct imp_error *err = NULL;
	for (size_t i = 0; i < events->count && !err; i++)
		err = profile_add_event(profile, events->items[i].name);
	for (uint32_t i = 0; i < timeline_image_count(timeline) && !err; i++)
		err = profile_add_object(profile, timeline_image(timeline, i));
	for (size_t i = 0; i < walked->image_count && !err; i++)
		profile->objects.items[i].ended_chains = walked->by_image[i];
	return err;
}

static struct imp_error *fill_origin(struct profile *profile, const struct recording *recording,
				     const struct survey *survey, const struct gathered *gathered)
{
	struct profile_origin *origin = &profile->origin;
	origin->has_times = survey->has_times && gathered->last_time;
	origin->first_ns = gathered->first_time;
	origin->last_ns = gathered->last_time;
	origin->lost_events = survey->lost_records;
	origin->lost_samples = survey->lost_samples;
	origin->unreadable_samples = gathered->unreadable_samples;
	origin->samples_without_address = gathered->samples_without_address;
	origin->left_out = gathered->left_out;
	origin->has_chains = gathered->has_chains;
	memcpy(origin->chain_ends, gathered->walked.samples, sizeof origin->chain_ends);
	memcpy(origin->chain_end_weights, gathered->walked.weight,
	       sizeof origin->chain_end_weights);
	origin->chains_by_frame_pointer = gathered->walked.by_frame_pointer;
	return origin_of(recording, origin);
}

static void warn_of_samples(const struct log *log, const struct gathered *gathered)
{
	if (gathered->first_fault)
		log_message(log, LOG_WARNING, "%" PRIu64 " samples cannot be read: %s",
			    gathered->unreadable_samples, gathered->first_fault);
	if (gathered->unjoined_chains)
		log_message(log, LOG_WARNING,
			    "%" PRIu64 " call chains lack their part in user space: it was to come "
			    "in a later record, and did not",
			    gathered->unjoined_chains);
}

static struct imp_error *gather_into(struct profile *profile, struct recording *recording,
				     const struct survey *survey,
				     const struct analysis_options *options)
{
	struct gather_options gather_options = {
		.with_chains = options->with_chains,
		.objects_only = options->objects_only,
		.by_pid = options->by_pid,
		.by_tid = options->by_tid,
		.by_cpu = options->by_cpu,
		.by_cgroup = options->by_cgroup,
		.by_cgroup_id = options->by_cgroup_id,
		.has_no_times = survey->uses_positions,
		.choice = options->choice,
	};
	_cleanup_(cleanup_stack_walk) struct stack_walk *walk = NULL;
	struct gathered gathered = { .samples = 0 };
	struct deferred_chains *deferred = NULL;
	struct imp_error *err = NULL;
	if (options->choice)
		err = sample_choice_settle(options->choice, recording_features(recording));
	if (!err && options->finder && options->with_chains)
		err = stack_walk_new(recording, survey->timeline, options->finder, &walk);
	if (!err && options->with_chains)
		err = deferred_chains_new(recording, survey, &deferred);
	gather_options.walk = walk;
	gather_options.deferred = deferred;
	if (!err)
		err = gather(recording, survey->timeline, &gather_options, &gathered);
	deferred_chains_free(deferred);
	if (err)
		return err;
	warn_of_samples(options->log, &gathered);
	profile->tally = gathered.tally;
	gathered.tally = (struct tally){ 0 };
	err = fill_origin(profile, recording, survey, &gathered);
	if (!err)
		err = fill_lists(profile, recording, survey->timeline, &gathered.walked);
	gathered_fini(&gathered);
	return err;
}

struct imp_error *analyze(const char *path, const struct analysis_options *options,
			  struct profile **ret)
{
	struct recording_options recording_options = { .log = options->log,
						       .workers = options->workers,
						       .temporary_directory =
							       options->temporary_directory };
	_cleanup_(cleanup_recording) struct recording *recording = NULL;
	_cleanup_(cleanup_survey) struct survey *survey = NULL;
	_cleanup_profile_ struct profile *profile = calloc(1, sizeof *profile);
	if (!profile)
		return &imp_error_no_memory;
	struct imp_error *err = recording_open(path, &recording_options, &recording);
	if (!err)
		err = survey_new(recording, options->log, &survey);
	if (!err && options->finder)
		err = survivors_add(recording, survey, options->finder);
	if (!err)
		err = gather_into(profile, recording, survey, options);
	if (!err)
		err = profile_settle(profile);
	if (err)
		return err;
	*ret = steal(profile);
	return NULL;
}
