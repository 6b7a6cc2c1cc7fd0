// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Parsing /etc/passwd.
#include "environment/users.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static struct imp_error *take_line(const char *line, struct users *users)
{
	struct user user;
	if (sscanf(line, "%63[^:]:%*[^:]:%" SCNu32, user.name, &user.uid) != 2)
		return NULL;
	struct user *slot = array_add(users);
	if (!slot)
		return &imp_error_no_memory;
	*slot = user;
	return NULL;
}

struct imp_error *users_read(const struct proc *proc, struct users *ret)
{
	_cleanup_buffer_ struct buffer text = { 0 };
	enum proc_outcome outcome;
	struct imp_error *err = proc_slurp(proc, &text, &outcome, "1/root/etc/passwd");
	if (!err && outcome != PROC_READ)
		err = proc_slurp(proc, &text, &outcome, "self/root/etc/passwd");
	if (err)
		return err;
	buffer_append(&text, "", 1);
	if (text.failed)
		return &imp_error_no_memory;
	char *rest = (char *)text.bytes;
	for (char *line; !err && (line = strsep(&rest, "\n"));)
		err = take_line(line, ret);
	return err;
}

void users_fini(struct users *users)
{
	array_fini(users);
}

const char *users_name(const struct users *users, uint32_t uid)
{
	for (size_t i = 0; i < users->count; i++)
		if (users->items[i].uid == uid)
			return users->items[i].name;
	return "";
}
