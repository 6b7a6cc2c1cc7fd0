// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// `imprint store get` and `imprint store path`: an object's bytes, or where they are.
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/command.h"
#include "cli/store_use.h"

extern const struct command command_store_get, command_store_path;

struct get_options {
	const char *dir;
	const char *role;
	const char *output;
	bool gdb;
};

static const struct option get_options[] = {
	STORE_OPTION(struct get_options, dir),
	{ .kind = OPTION_TEXT,
	  .letter = 'o',
	  .name = "output",
	  .argument = "FILE",
	  .help = "where to write to; - or none: standard output",
	  .offset = offsetof(struct get_options, output) },
	{ .kind = OPTION_TEXT,
	  .name = "role",
	  .argument = "ROLE",
	  .help = "executable (the default), debug, vdso, kallsyms, modules, kcore, index",
	  .offset = offsetof(struct get_options, role) },
	{ .kind = OPTION_END },
};

static const struct option path_options[] = {
	STORE_OPTION(struct get_options, dir),
	{ .kind = OPTION_TEXT,
	  .name = "role",
	  .argument = "ROLE",
	  .help = "executable (the default), debug, vdso, kallsyms, modules, kcore, index",
	  .offset = offsetof(struct get_options, role) },
	{ .kind = OPTION_FLAG,
	  .name = "gdb",
	  .help = "as a command of gdb",
	  .offset = offsetof(struct get_options, gdb) },
	{ .kind = OPTION_END },
};

static struct imp_error *role_of(const char *name, enum store_role *ret)
{
	*ret = STORE_EXECUTABLE;
	for (unsigned role = 0; name && role < STORE_ROLES; role++)
		if (!strcmp(store_role_name((enum store_role)role), name)) {
			*ret = (enum store_role)role;
			return NULL;
		}
	return name ? error_new(IMP_ERR_USAGE, "'%s' is not a role", name) : NULL;
}

// The best object of the entry WORD for ROLE.
static struct imp_error *find_object(struct store *store, const char *word, const char *role_name,
				     struct store_object *ret)
{
	struct store_ref ref;
	struct store_query query = { .path = word[0] == '/' ? word : NULL };
	struct imp_error *err = role_of(role_name, &query.role);
	if (!err)
		err = store_use_entry(store, word, &ref);
	_cleanup_store_objects_ struct store_objects found = { 0 };
	if (!err && build_id_is_none(&ref.id)) {
		err = store_find_hash(store, &ref.hash, &found);
	} else if (!err) {
		query.id = ref.id;
		err = store_find(store, &query, &found);
	}
	if (!err && !found.count)
		err = error_new(IMP_ERR_SYSTEM, "%s: the store has no %s of it", word,
				role_name ? role_name : "executable");
	if (!err)
		*ret = found.items[0];
	return err;
}

static struct imp_error *copy_out(int in, int out, const char *path)
{
	enum { STEP = 256 * 1024 };
	_cleanup_free_ uint8_t *bytes = malloc(STEP);
	if (!bytes)
		return &imp_error_no_memory;
	struct imp_error *err = NULL;
	for (size_t got = STEP; !err && got == STEP;) {
		err = file_read(in, "store", bytes, STEP, &got);
		if (!err)
			err = file_write(out, path, bytes, got);
	}
	return err;
}

static struct imp_error *write_object(int in, const char *output)
{
	if (!output || !strcmp(output, "-"))
		return copy_out(in, STDOUT_FILENO, "standard output");
	_cleanup_close_ int out = open(output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (out < 0)
		return error_system(errno, "%s: cannot create", output);
	struct imp_error *err = copy_out(in, out, output);
	if (!err && close(steal_fd(&out)) < 0)
		err = error_system(errno, "%s: cannot write", output);
	return err;
}

static int get_run(const struct invocation *invocation, struct imp_error **err)
{
	const struct get_options *options = invocation->options;
	if (invocation->operands.count != 1) {
		*err = error_new(IMP_ERR_USAGE, "one ID or path is expected");
		return EXIT_USAGE;
	}
	_cleanup_store_ struct store *store = NULL;
	*err = store_use(options->dir, STORE_WRITE, invocation->log, &store);
	struct store_object object;
	if (!*err)
		*err = find_object(store, invocation->operands.items[0], options->role, &object);
	_cleanup_close_ int fd = -1;
	if (!*err)
		*err = store_object_open(store, &object, &fd);
	if (!*err)
		*err = write_object(fd, options->output);
	return *err ? EXIT_FAILED : EXIT_DONE;
}

static void print_root(const struct store *store, bool for_gdb)
{
	_cleanup_free_ char *root = realpath(store_dir(store), NULL);
	const char *dir = root ? root : store_dir(store);
	printf("%s%s/executables:%s\n", for_gdb ? "set debug-file-directory " : "", dir, dir);
}

static int path_run(const struct invocation *invocation, struct imp_error **err)
{
	const struct get_options *options = invocation->options;
	if (invocation->operands.count > 1) {
		*err = error_new(IMP_ERR_USAGE, "one ID or path at most");
		return EXIT_USAGE;
	}
	_cleanup_store_ struct store *store = NULL;
	*err = store_use(options->dir, STORE_READ, invocation->log, &store);
	if (*err)
		return EXIT_FAILED;
	if (!invocation->operands.count) {
		print_root(store, options->gdb);
		return EXIT_DONE;
	}
	struct store_object object;
	*err = find_object(store, invocation->operands.items[0], options->role, &object);
	_cleanup_free_ char *path = *err ? NULL : store_object_path(store, &object);
	if (path)
		printf("%s%s\n", options->gdb ? "file " : "", path);
	return *err ? EXIT_FAILED : EXIT_DONE;
}

const struct command command_store_get = {
	.name = "get",
	.summary = "Write an object's bytes out",
	.usage = "store get [-o FILE] [--role ROLE] ID|PATH",
	.description = "Of several objects the one that tells most of names is taken.",
	.options = get_options,
	.options_size = sizeof(struct get_options),
	.run = get_run,
};

const struct command command_store_path = {
	.name = "path",
	.summary = "Say where an object is, or what to tell gdb",
	.usage = "store path [--gdb] [--role ROLE] [ID|PATH]",
	.description = "Without an ID: the two directories for gdb's debug-file-directory and the\n"
		       "debuginfo path of elfutils.",
	.options = path_options,
	.options_size = sizeof(struct get_options),
	.run = path_run,
};
