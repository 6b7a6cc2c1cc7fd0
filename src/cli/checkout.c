// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// imprint checkout: the files that processes saw, out of the store again.
#include <inttypes.h>
#include <stdio.h>

#include "cli/command.h"
#include "cli/printable.h"
#include "cli/store_use.h"
#include "environment/checkout.h"
#include "environment/source.h"

struct checkout_options {
	uint64_t pid;
	const char *store;
};

static const struct option checkout_rows[] = {
	{ .kind = OPTION_NUMBER,
	  .letter = 'p',
	  .name = "pid",
	  .argument = "PID",
	  .help = "only what this process saw",
	  .offset = offsetof(struct checkout_options, pid) },
	STORE_OPTION(struct checkout_options, store),
	{ .kind = OPTION_END },
};

static void print_trees(const struct snapshot *snapshot, const struct checkout *checkout,
			const char *dir)
{
	for (size_t i = 0; i < checkout->trees.count; i++) {
		const struct checkout_tree *tree = &checkout->trees.items[i];
		printf("%s%s%s:", dir, *tree->name ? "/" : "", tree->name);
		for (size_t k = 0; k < tree->processes.count; k++)
			printf(" %u", snapshot->processes.items[tree->processes.items[k]].pid);
		putchar('\n');
	}
}

static void print_missing(const struct snapshot *snapshot, const struct checkout *checkout)
{
	for (size_t i = 0; i < checkout->missing.count; i++) {
		const struct checkout_missing *missing = &checkout->missing.items[i];
		const struct snapshot_image *image = &snapshot->images.items[missing->image];
		struct image_identity identity = snapshot_image_identity(image);
		printable(stderr, image->path);
		fprintf(stderr, ": %s%s%s\n", identity.text, *identity.text ? ": " : "",
			missing->why);
	}
}

static int checkout_run(const struct invocation *invocation, struct imp_error **err)
{
	const struct checkout_options *options = invocation->options;
	const struct operands *operands = &invocation->operands;
	if (operands->count != 2 || options->pid > UINT32_MAX) {
		*err = error_new(IMP_ERR_USAGE, "checkout takes a snapshot and a directory");
		return EXIT_USAGE;
	}
	_cleanup_snapshot_ struct snapshot *snapshot = NULL;
	_cleanup_store_ struct store *store = NULL;
	_cleanup_checkout_ struct checkout checkout = { 0 };
	*err = source_snapshot(operands->items[0], NULL, &snapshot);
	if (!*err)
		*err = store_use(options->store, STORE_READ, invocation->log, &store);
	if (!*err)
		*err = checkout_make(snapshot, (uint32_t)options->pid, store, operands->items[1],
				     &checkout);
	if (*err)
		return EXIT_FAILED;
	print_trees(snapshot, &checkout, operands->items[1]);
	print_missing(snapshot, &checkout);
	return checkout.missing.count ? EXIT_FAILED : EXIT_DONE;
}

const struct command command_checkout = {
	.name = "checkout",
	.summary = "Rebuild the files that a snapshot's processes saw, from the store",
	.usage = "checkout [--pid PID] [--store DIR] SNAPSHOT DIR",
	.description =
		"DIR serves as a debugger's sysroot (gdb -ex 'set sysroot DIR') and as perf --symfs.\n"
		"SNAPSHOT may be a core file. Where one path had two builds, there are several trees\n"
		"below DIR; each is printed with its processes.",
	.options = checkout_rows,
	.options_size = sizeof(struct checkout_options),
	.run = checkout_run,
};
