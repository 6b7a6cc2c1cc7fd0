// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The first pass over a recording: what is in it, and who mapped what when.
#ifndef ANALYZE_SURVEY_H
#define ANALYZE_SURVEY_H

#include "analyze/jit_code.h"
#include "perfdata/recording.h"
#include "timeline/timeline.h"

enum { SURVEY_TYPES = 128, SURVEY_MOST_PROBLEMS = 20 };

struct survey {
	// Records by type; those of a higher type are in `other_records`.
	uint64_t records[SURVEY_TYPES];
	uint64_t other_records;
	// Records that the ring had no room for, and samples that the kernel dropped, as it says
	// itself.
	uint64_t lost_records, lost_samples;
	// Of the samples; has_times is false when none has a time.
	uint64_t first_time_ns, last_time_ns;
	bool has_times;
	// The recording has no times to order its records by: a record's position is its time (see
	// survey_time()).
	bool uses_positions;
	// Finished. Owned.
	struct timeline *timeline;
	// Meta records that could not be read, and what was wrong with the first of them.
	uint64_t bad_records;
	char *problems[SURVEY_MOST_PROBLEMS];
	// Where run-time compilers say what they made.
	struct jit_mentions jit;
	const struct log *log;
	const struct events *events;
};

// Surveys RECORDING (lent while the survey lives). LOG may be NULL. What run-time compilers wrote
// in jit-PID.dump is read, too.
struct imp_error *survey_new(struct recording *recording, const struct log *log,
			     struct survey **ret) MUST_CHECK;
void survey_free(struct survey *survey);

// The time of a sample for the questions to the timeline.
static inline uint64_t survey_time(const struct survey *survey, const struct record *record,
				   uint64_t time)
{
	return survey->uses_positions ? record->position : time;
}

// For who makes another pass of the first: parts of a survey, one for each chunk, made of its
// records on any thread and given to the survey in the order of the file.
//
//	survey_begin() … for each chunk: survey_part_new(), survey_part_take() each record; in
//	order: survey_commit(), survey_part_free() … survey_finish()
struct survey_part;
struct imp_error *survey_begin(struct recording *recording, const struct log *log,
			       struct survey **ret) MUST_CHECK;
struct imp_error *survey_part_new(const struct survey *survey, struct survey_part **ret) MUST_CHECK;
void survey_part_free(struct survey_part *part);
struct imp_error *survey_part_take(struct survey_part *part,
				   const struct record *record) MUST_CHECK;
struct imp_error *survey_commit(struct survey *survey, const struct survey_part *part) MUST_CHECK;
struct imp_error *survey_finish(struct survey *survey) MUST_CHECK;

#endif
