// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// `imprint store verify`: reads everything, hash and build ID, and puts right what can be.
#include "base/units.h"
#include "cli/command.h"
#include "cli/store_use.h"
#include "elf/elf_image.h"

extern const struct command command_store_verify;

struct verify_options {
	const char *dir;
	bool only_looks;
	uint64_t workers;
};

static const struct option verify_options[] = {
	STORE_OPTION(struct verify_options, dir),
	{ .kind = OPTION_FLAG,
	  .letter = 'n',
	  .name = "dry-run",
	  .help = "only look: set nothing aside, put nothing right",
	  .offset = offsetof(struct verify_options, only_looks) },
	{ .kind = OPTION_THREADS,
	  .letter = 'j',
	  .name = "jobs",
	  .argument = "N",
	  .help = "threads to read with (one for each processor)",
	  .offset = offsetof(struct verify_options, workers) },
	{ .kind = OPTION_END },
};

static bool has_its_id(void *arg, const struct store_object *object, int fd)
{
	(void)arg;
	if (object->role != STORE_EXECUTABLE && object->role != STORE_DEBUG &&
	    object->role != STORE_VDSO)
		return true;
	struct build_id id = { 0 };
	_cleanup_error_ struct imp_error *err = elf_build_id_read_fd(fd, "object", 0, &id);
	return !err && (build_id_is_none(&object->id) ? build_id_is_none(&id)
						      : build_id_equal(&id, &object->id));
}

static int verify_run(const struct invocation *invocation, struct imp_error **err)
{
	const struct verify_options *options = invocation->options;
	_cleanup_store_ struct store *store = NULL;
	*err = store_use(options->dir, STORE_READ, invocation->log, &store);
	if (!*err && !options->only_looks) {
		store_free(store);
		store = NULL;
		*err = store_use(options->dir, STORE_WRITE, invocation->log, &store);
	}
	struct store_verify_options verify = { .workers = (unsigned)options->workers,
					       .is_right = has_its_id };
	struct store_verify_counts counts;
	if (!*err)
		*err = store_verify(store, &verify, &counts);
	if (*err)
		return EXIT_FAILED;
	printf("%zu objects (%s) in %zu entries: %zu damaged\n", counts.objects,
	       units_size(counts.bytes).text, counts.entries, counts.damaged);
	if (counts.names || counts.leftovers)
		printf("put right: %zu names of what is gone, %zu unfinished files\n", counts.names,
		       counts.leftovers);
	return counts.damaged ? EXIT_FAILED : EXIT_DONE;
}

const struct command command_store_verify = {
	.name = "verify",
	.summary = "Read every object: its hash and its build ID",
	.usage = "store verify [--dry-run] [-j N]",
	.description = "Damaged objects are set aside in .imprint/damaged of the store, links and\n"
		       "files that an interrupted writer left are put right. Status 1 when there\n"
		       "was damage.",
	.options = verify_options,
	.options_size = sizeof(struct verify_options),
	.run = verify_run,
};
