// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// `imprint store rm` and `imprint store pin`: what goes now, and what never goes by itself.
#include "cli/command.h"
#include "cli/needs.h"
#include "cli/store_use.h"

extern const struct command command_store_rm, command_store_pin;

struct rm_options {
	const char *dir;
	bool unpin;
};

static const struct option rm_options[] = {
	STORE_OPTION(struct rm_options, dir),
	{ .kind = OPTION_END },
};

static const struct option pin_options[] = {
	STORE_OPTION(struct rm_options, dir),
	{ .kind = OPTION_FLAG,
	  .letter = 'u',
	  .name = "unpin",
	  .help = "let it go again",
	  .offset = offsetof(struct rm_options, unpin) },
	{ .kind = OPTION_END },
};

typedef struct imp_error *entry_action(struct store *store, const struct store_ref *ref,
				       bool is_unpin, bool *found);

static struct imp_error *remove_entry(struct store *store, const struct store_ref *ref,
				      bool is_unpin, bool *found)
{
	(void)is_unpin;
	return store_remove(store, &ref->id, &ref->hash, found);
}

static struct imp_error *pin_entry(struct store *store, const struct store_ref *ref, bool is_unpin,
				   bool *found)
{
	struct needs_ids ids = { 0 };
	struct build_id *own = array_add(&ids);
	struct imp_error *err = own ? NULL : &imp_error_no_memory;
	if (own)
		*own = ref->id;
	if (!err)
		err = store_pin(store, &ref->id, !is_unpin, found);
	if (!err)
		err = needs_add_alts(store, &ids);
	// What its debug files refer to may not be there.
	for (size_t i = 1; !err && i < ids.count; i++) {
		bool is_there;
		err = store_pin(store, &ids.items[i], !is_unpin, &is_there);
	}
	array_fini(&ids);
	return err;
}

// Pins, or no longer, what a recording needs. What the store does not have is counted.
static struct imp_error *pin_needs(struct store *store, const struct invocation *invocation,
				   const char *recording)
{
	const struct rm_options *options = invocation->options;
	struct needs_ids ids = { 0 };
	struct imp_error *err = needs_collect(recording, invocation->log, &ids);
	size_t count = ids.count;
	if (!err)
		err = needs_add_alts(store, &ids);
	size_t missing = 0;
	for (size_t i = 0; !err && i < ids.count; i++) {
		bool found = false;
		err = store_pin(store, &ids.items[i], !options->unpin, &found);
		missing += !found && i < count;
	}
	if (!err && missing)
		log_message(invocation->log, LOG_WARNING,
			    "%s: %zu of %zu images are not in the store ('imprint store add' takes "
			    "a recording's in)",
			    recording, missing, count);
	array_fini(&ids);
	return err;
}

static struct imp_error *for_each(const struct invocation *invocation, entry_action *act)
{
	const struct rm_options *options = invocation->options;
	if (!invocation->operands.count)
		return error_new(IMP_ERR_USAGE, "an ID or path is expected");
	_cleanup_store_ struct store *store = NULL;
	struct imp_error *err = store_use(options->dir, STORE_READ, invocation->log, &store);
	store_free(store);
	store = NULL;
	if (!err)
		err = store_use(options->dir, STORE_WRITE, invocation->log, &store);
	for (size_t i = 0; !err && i < invocation->operands.count; i++) {
		const char *word = invocation->operands.items[i];
		struct store_ref ref;
		bool found = false;
		if (act == pin_entry && needs_is_recording(word)) {
			err = pin_needs(store, invocation, word);
			continue;
		}
		err = store_use_entry(store, word, &ref);
		if (!err)
			err = act(store, &ref, options->unpin, &found);
		if (!err && !found)
			err = error_new(IMP_ERR_SYSTEM, "%s: not in the store", word);
	}
	return err;
}

static int rm_run(const struct invocation *invocation, struct imp_error **err)
{
	*err = for_each(invocation, remove_entry);
	return *err ? EXIT_FAILED : EXIT_DONE;
}

static int pin_run(const struct invocation *invocation, struct imp_error **err)
{
	*err = for_each(invocation, pin_entry);
	return *err ? EXIT_FAILED : EXIT_DONE;
}

const struct command command_store_rm = {
	.name = "rm",
	.summary = "Take entries out of the store",
	.usage = "store rm [--store DIR] ID|PATH...",
	.options = rm_options,
	.options_size = sizeof(struct rm_options),
	.run = rm_run,
};

const struct command command_store_pin = {
	.name = "pin",
	.summary = "Keep entries from gc",
	.usage = "store pin [--unpin] ID|PATH|RECORDING...",
	.description = "Of a RECORDING, all images that its samples hit.",
	.options = pin_options,
	.options_size = sizeof(struct rm_options),
	.run = pin_run,
};
