// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// From a recording by way of its survey to a snapshot.
#include "cli/recording_snapshot.h"

#include "analyze/survey.h"
#include "cli/archived.h"
#include "cli/temporary.h"
#include "environment/recorded.h"

struct imp_error *recording_snapshot(const char *path, const struct log *log, struct snapshot **ret)
{
	_cleanup_(cleanup_bundle) struct bundle *archive = NULL;
	struct recording_options how = { .log = log, .temporary_directory = temporary_directory() };
	struct recording *recording = NULL;
	struct survey *survey = NULL;
	struct imp_error *err = archived_open(&path, NULL, log, &archive);
	if (!err)
		err = recording_open(path, &how, &recording);
	if (!err)
		err = survey_new(recording, log, &survey);
	if (!err)
		err = recorded_snapshot(recording, survey->timeline,
					survey->has_times ? survey->last_time_ns : 0, ret);
	survey_free(survey);
	recording_close(recording);
	return err;
}
