// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// `imprint store`: the table of its verbs.
#include "cli/command.h"

extern const struct command command_store, command_store_add, command_store_ls, command_store_get,
	command_store_import, command_store_path, command_store_rm, command_store_pin,
	command_store_verify, command_store_du, command_store_gc, command_store_serve,
	command_store_push;

static const struct command *const subcommands[] = {
	&command_store_add,
	&command_store_ls,
	&command_store_get,
	&command_store_import,
	&command_store_path,
	&command_store_rm,
	&command_store_pin,
	&command_store_gc,
	&command_store_du,
	&command_store_verify,
	&command_store_serve,
	&command_store_push,
	NULL,
};

const struct command command_store = {
	.name = "store",
	.summary = "Keep every build once, where all tools find it by build ID",
	.usage = "store COMMAND [OPTIONS]",
	.subcommands = subcommands,
};
