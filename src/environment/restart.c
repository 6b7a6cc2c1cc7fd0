// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Who is restarted together, and by which command.
#include <stdio.h>
#include <string.h>

#include "environment/stale.h"

struct stale_group_name stale_group_name(const struct snapshot_process *process)
{
	struct stale_group_name name;
	if (*process->container)
		snprintf(name.text, sizeof name.text, "%s container %s", process->runtime,
			 process->container);
	else if (*process->unit)
		snprintf(name.text, sizeof name.text, "%s", process->unit);
	else
		snprintf(name.text, sizeof name.text, "process %u (%s)", process->pid,
			 process->comm);
	return name;
}

// NAME as one word of a shell's command. Control groups may be named by anybody: what cannot be
// written plainly gives false.
static bool quote(const char *name, size_t length, char *word, size_t size)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "@:._/-";
	bool needs_quotes = name[0] == '-';
	for (size_t i = 0; i < length; i++) {
		unsigned char c = (unsigned char)name[i];
		if (c < ' ' || c >= 0x7f || c == '\'')
			return false;
		needs_quotes = needs_quotes || !strchr(plain, c);
	}
	const char *mark = needs_quotes ? "'" : "";
	snprintf(word, size, "%s%.*s%s", mark, (int)length, name, mark);
	return length > 0;
}

static const struct runtime_restart {
	const char *runtime;
	// With the container's ID or name.
	const char *command;
	// IDs are usually shown with 12 digits.
	size_t most_digits;
} runtime_restarts[] = {
	{ "docker", "docker restart", 12 },
	{ "podman", "podman restart", 12 },
	// The kubelet starts a new one.
	{ "kubernetes", "crictl stop", 13 },
	{ "containerd", "crictl stop", 13 },
	{ "crio", "crictl stop", 13 },
	{ "lxc", "lxc-stop --reboot --name", 127 },
	{ "nspawn", "machinectl reboot", 127 },
};

static void container_restart(const struct snapshot_process *process,
			      struct restart_command *command)
{
	for (size_t i = 0; i < sizeof runtime_restarts / sizeof *runtime_restarts; i++) {
		const struct runtime_restart *row = &runtime_restarts[i];
		char word[256];
		size_t length = strnlen(process->container, row->most_digits);
		if (!strcmp(row->runtime, process->runtime) &&
		    quote(process->container, length, word, sizeof word))
			snprintf(command->text, sizeof command->text, "%s %s", row->command, word);
	}
}

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), end_length = strlen(end);
	return length > end_length && !strcmp(text + length - end_length, end);
}

static void unit_restart(const char *unit, struct restart_command *command)
{
	unsigned user;
	int consumed = 0;
	char word[300];
	bool is_users = sscanf(unit, "user@%u.service/%n", &user, &consumed) == 1 && consumed;
	if (!quote(unit + consumed, strlen(unit + consumed), word, sizeof word))
		return;
	if (is_users)
		snprintf(command->text, sizeof command->text,
			 "systemctl --user --machine=%u@ restart %s", user, word);
	else if (!strcmp(unit, "init.scope"))
		snprintf(command->text, sizeof command->text, "systemctl daemon-reexec");
	else if (!strncmp(unit, "session-", 8) && ends_with(unit, ".scope"))
		snprintf(command->text, sizeof command->text, "loginctl terminate-session %.*s",
			 (int)(strlen(word) - 8 - 6), word + 8);
	else if (!ends_with(unit, ".scope"))
		snprintf(command->text, sizeof command->text, "systemctl restart %s", word);
}

struct restart_command stale_restart_command(const struct snapshot_process *process)
{
	struct restart_command command = { "" };
	if (*process->container)
		container_restart(process, &command);
	else if (*process->unit)
		unit_restart(process->unit, &command);
	return command;
}
