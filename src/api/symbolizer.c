// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The public face of symbolization.
#include "imprint/symbolizer.h"

#include <stdlib.h>

#include "api/recording.h"
#include "symbolize/symbolizer.h"

struct imp_symbolizer {
	struct finder *finder;
	struct symbolizer *symbolizer;
};

// What imp_symbolize() lends, one for each thread.
static _Thread_local struct imp_frame lent[64];

void imp_symbolizer_free(struct imp_symbolizer *symbolizer)
{
	if (!symbolizer)
		return;
	if (symbolizer->symbolizer)
		symbolizer_free(symbolizer->symbolizer);
	if (symbolizer->finder)
		finder_free(symbolizer->finder);
	free(symbolizer);
}

DEFINE_CLEANUP(struct imp_symbolizer *, imp_symbolizer, imp_symbolizer_free)

struct imp_error *imp_symbolizer_new(const struct imp_symbolizer_options *options,
				     struct imp_symbolizer **ret)
{
	static const struct imp_symbolizer_options defaults = { .size = sizeof defaults };
	options = options ? options : &defaults;
	if (options->size < sizeof *options)
		return error_new(IMP_ERR_USAGE, "imp_symbolizer_options: size is %zu",
				 options->size);
	_cleanup_(cleanup_imp_symbolizer) struct imp_symbolizer *made = calloc(1, sizeof *made);
	if (!made)
		return &imp_error_no_memory;
	struct finder_options where = {
		.image_dirs = options->image_dirs,
		.store_dir = options->store_dir,
		.buildid_dir = options->buildid_dir,
		.debug_dirs = options->debug_dirs,
	};
	struct symbolizer_options how = { .no_demangle = options->no_demangle,
					  .no_inline = options->no_inline };
	struct imp_error *err = finder_new(&where, &made->finder);
	if (!err)
		err = symbolizer_new(made->finder, &how, &made->symbolizer);
	if (!err)
		*ret = steal(made);
	return err;
}

struct imp_error *imp_symbolize(struct imp_symbolizer *symbolizer,
				const struct imp_recording *recording, size_t image,
				uint64_t offset, bool is_return, struct imp_frames *ret)
{
	if (image >= imp_recording_image_count(recording))
		return error_new(IMP_ERR_USAGE, "there is no image %zu", image);
	struct frames frames;
	struct imp_error *err =
		symbolize(symbolizer->symbolizer,
			  timeline_image(recording->survey->timeline, (uint32_t)image),
			  file_off_of(offset), is_return, &frames);
	if (err)
		return err;
	// A chain of inlined calls deeper than this is cut at its outer end.
	size_t most = sizeof lent / sizeof *lent;
	size_t count = frames.count < most ? frames.count : most;
	for (size_t i = 0; i < count; i++)
		lent[i] = (struct imp_frame){
			.function = frames.items[i].function,
			.file = frames.items[i].file,
			.line = frames.items[i].line,
			.column = frames.items[i].column,
			.offset = frames.items[i].offset,
			.is_inlined = frames.items[i].is_inlined,
		};
	*ret = (struct imp_frames){ lent, count, unknown_reason_name(frames.unknown) };
	return NULL;
}
