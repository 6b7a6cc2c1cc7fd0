// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// What stands before the samples of each file: the kernel, its modules, what runs already.
#include "record/recorder_parts.h"

#include "perfdata/record_build.h"

static struct imp_error *synthesize_kernel_side(struct recorder *recorder, struct buffer *out)
{
	struct kernel kernel;
	struct kernel_text text;
	struct kernel_modules modules = { 0 };
	struct imp_error *err = synthesize_kernel(recorder->synthesizer, &kernel, &text, out);
	if (err)
		return err;
	recorder->outcome->kernel_is_hidden = !text.start;
	tracker_see_kernel(recorder->tracker, &kernel, &text);
	recorder->walk.kernel_start = text.start;
	recorder->walk.kernel_size = text.end > text.start ? text.end - text.start : 0;
	if (recorder->keeper)
		keeper_keep_kernel(recorder->keeper, &kernel, !text.start);
	err = kernel_modules_read(recorder->proc, NULL, &modules);
	for (size_t i = 0; !err && i < modules.count; i++) {
		synthesize_module(&modules.items[i], NULL, out);
		tracker_see_module(recorder->tracker, &modules.items[i]);
	}
	if (!err && series_is_first(&recorder->series)) {
		recorder->modules.read_ns = recorder_now_ns();
		err = module_watch_begin(&recorder->modules, recorder->proc, &modules,
					 recorder->target.cpus.items, recorder->target.cpus.count);
	}
	kernel_modules_fini(&modules);
	return err;
}

// Only the command is recorded, and it has not begun.
static bool is_before_exec(const struct recorder *recorder)
{
	const struct target *target = &recorder->target;
	return recorder->launch.pid && !recorder->launch.has_gone && target->threads.count == 1 &&
	       target->threads.items[0] == (uint32_t)recorder->launch.pid;
}

// Hands on what was gathered: large machines have MBs of it.
static struct imp_error *flush(struct recorder *recorder, struct buffer *out)
{
	if (out->failed)
		return &imp_error_no_memory;
	struct imp_error *err =
		writer_records(series_writer(&recorder->series), out->bytes, out->size);
	out->size = 0;
	return err;
}

static struct imp_error *synthesize_pids(struct recorder *recorder, const struct pids *pids,
					 struct buffer *out)
{
	enum { GATHERED_BYTES = 128 << 10 };
	struct imp_error *err = NULL;
	for (size_t i = 0; !err && i < pids->count; i++) {
		err = synthesize_process(recorder->synthesizer, pids->items[i], out);
		if (!err && out->size >= GATHERED_BYTES)
			err = flush(recorder, out);
	}
	return err;
}

// All that runs, or (of a further file) what the recording knows to run.
static struct imp_error *synthesize_many(struct recorder *recorder, struct buffer *out)
{
	_cleanup_pids_ struct pids pids = { 0 };
	struct imp_error *err = recorder->target.is_system_wide
					? process_list(recorder->proc, &pids)
					: tracker_pids(recorder->tracker, &pids);
	return err ? err : synthesize_pids(recorder, &pids, out);
}

struct imp_error *recorder_write_prologue(struct recorder *recorder)
{
	_cleanup_buffer_ struct buffer out = { 0 };
	const struct target *target = &recorder->target;
	struct imp_error *err = synthesize_kernel_side(recorder, &out);
	bool is_first = series_is_first(&recorder->series);
	if (!err && !target->is_system_wide && is_before_exec(recorder))
		err = synthesize_before_exec(recorder->synthesizer, (uint32_t)recorder->launch.pid,
					     &out);
	else if (!err && !target->is_system_wide && is_first)
		err = synthesize_threads(recorder->synthesizer, target->threads.items,
					 target->threads.count, &out);
	else if (!err)
		err = synthesize_many(recorder, &out);
	record_build_plain(&out, RECORD_FINISHED_INIT, 0, NULL, 0);
	if (!err)
		err = flush(recorder, &out);
	return err ? err : writer_checkpoint(series_writer(&recorder->series));
}
