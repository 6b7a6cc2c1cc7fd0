// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The public face of recordings: opened, surveyed once, then asked.
#include "api/recording.h"

#include <stdlib.h>

#include "api/build_id.h"

void imp_recording_free(struct imp_recording *recording)
{
	if (!recording)
		return;
	if (recording->survey)
		survey_free(recording->survey);
	if (recording->recording)
		recording_close(recording->recording);
	free(recording);
}

DEFINE_CLEANUP(struct imp_recording *, imp_recording, imp_recording_free)

struct imp_error *imp_recording_open(const char *path, const struct imp_recording_options *options,
				     struct imp_recording **ret)
{
	if (options && options->size < sizeof *options)
		return error_new(IMP_ERR_USAGE, "imp_recording_options: size is %zu",
				 options->size);
	_cleanup_(cleanup_imp_recording) struct imp_recording *opened = calloc(1, sizeof *opened);
	if (!opened)
		return &imp_error_no_memory;
	struct recording_options inner = { .workers = options ? options->workers : 0 };
	struct imp_error *err = recording_open(path, &inner, &opened->recording);
	if (!err)
		err = survey_new(opened->recording, NULL, &opened->survey);
	if (!err)
		*ret = steal(opened);
	return err;
}

size_t imp_recording_image_count(const struct imp_recording *recording)
{
	return timeline_image_count(recording->survey->timeline);
}

struct imp_image imp_recording_image(const struct imp_recording *recording, size_t index)
{
	const struct timeline *timeline = recording->survey->timeline;
	const struct image *image = timeline_image(timeline, (uint32_t)index);
	struct imp_image public = {
		.path = image->path,
		.kind = image_kind_name(image->kind),
		.identity = identity_name(image->identity),
		.mappings = timeline_image_mappings(timeline, (uint32_t)index),
	};
	if (identity_is_usable(image->identity))
	public.id = api_build_id(&image->id);
	return public;
}

struct imp_place imp_recording_locate(const struct imp_recording *recording, uint32_t pid,
				      uint64_t time_ns, bool is_kernel, uint64_t address)
{
	struct place place = timeline_locate(recording->survey->timeline, pid, time_ns,
					     is_kernel ? MISC_KERNEL : MISC_USER,
					     abs_addr_of(address), NULL);
	return (struct imp_place){
		.image = place.image == NO_IMAGE ? (size_t)-1 : place.image,
		.offset = place.offset.value,
		.unknown = place.image == NO_IMAGE ? unknown_reason_name(place.reason) : NULL,
	};
}
