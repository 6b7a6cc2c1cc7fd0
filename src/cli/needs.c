// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Which images of a recording were hit.
#include "cli/needs.h"

#include "analyze/hits.h"

// Generated code, stacks and the like are no files.
static bool can_be_a_file(enum image_kind kind)
{
	return kind != IMAGE_JIT && kind != IMAGE_ANON && kind != IMAGE_SPECIAL;
}

struct needs {
	struct recording *recording;
	struct survey *survey;
	struct hits *hits;
};

static struct imp_error *visit_images(const struct needs *needs, bool all, needs_visitor *visit,
				      void *arg)
{
	size_t count = timeline_image_count(needs->survey->timeline);
	struct imp_error *err = NULL;
	for (uint32_t i = 0; !err && i < count; i++) {
		const struct image *image = timeline_image(needs->survey->timeline, i);
		if (can_be_a_file(image->kind) && (all || needs->hits->is_hit[i]))
			err = visit(arg, image);
	}
	return err;
}

struct imp_error *needs_visit(const char *path, bool all, const struct log *log,
			      needs_visitor *visit, void *arg)
{
	struct needs needs = { 0 };
	struct recording_options options = { .log = log };
	struct imp_error *err = recording_open(path, &options, &needs.recording);
	if (!err)
		err = survey_new(needs.recording, log, &needs.survey);
	bool has_trace = !err && needs.survey->records[RECORD_AUXTRACE];
	if (has_trace && !all)
		log_message(log, LOG_WARNING,
			    "%s: where its AUX traces went is not decoded: all images are taken",
			    path);
	if (!err && !all)
		err = hits_count(needs.recording, needs.survey, &needs.hits);
	if (!err)
		err = visit_images(&needs, all || has_trace, visit, arg);
	hits_free(needs.hits);
	survey_free(needs.survey);
	recording_close(needs.recording);
	return err;
}
