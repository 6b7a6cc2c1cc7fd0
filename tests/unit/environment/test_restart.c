// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
#include "environment/stale.h"

#include "harness/tap.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static const struct {
	const char *unit, *runtime, *container, *group, *command;
} cases[] = {
	{ "ssh.service", "", "", "ssh.service", "systemctl restart ssh.service" },
	{ "dev\\x2dx.service", "", "", "dev\\x2dx.service",
	  "systemctl restart 'dev\\x2dx.service'" },
	{ "a';reboot;'.service", "", "", "a';reboot;'.service", "" },
	{ "user@1000.service/emacs.service", "", "", "user@1000.service/emacs.service",
	  "systemctl --user --machine=1000@ restart emacs.service" },
	{ "session-3.scope", "", "", "session-3.scope", "loginctl terminate-session 3" },
	{ "init.scope", "", "", "init.scope", "systemctl daemon-reexec" },
	{ "run-u7.scope", "", "", "run-u7.scope", "" },
	{ "nginx.service", "docker", ID, "docker container " ID, "docker restart 0123456789ab" },
	{ "", "nspawn", "web", "nspawn container web", "machinectl reboot web" },
	{ "", "kubernetes", ID, "kubernetes container " ID, "crictl stop 0123456789abc" },
	{ "", "", "", "process 7 (sh)", "" },
};

TEST(what_is_restarted_together_has_one_name_and_one_command)
{
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct snapshot_process process = { .pid = 7,
						    .comm = "sh",
						    .unit = cases[i].unit,
						    .runtime = cases[i].runtime,
						    .container = cases[i].container };
		CHECK_TEXT(stale_group_name(&process).text, cases[i].group);
		CHECK_TEXT(stale_restart_command(&process).text, cases[i].command);
	}
}
