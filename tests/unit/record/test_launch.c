// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
#include "record/launch.h"

#include <poll.h>

#include "harness/tap.h"

// Runs ARGV to its end; the exit status a shell would give.
static int run(char *const argv[])
{
	struct launch launch = { 0 };
	struct launch_options options = { .argv = argv };
	int status = -1;
	if (!tap_check_ok(__FILE__, __LINE__, "prepare", launch_prepare(&options, &launch)))
		return status;
	_cleanup_error_ struct imp_error *err = launch_go(&launch, argv, &status);
	while (!launch_has_ended(&launch))
		poll(NULL, 0, 1);
	return err ? status : launch_exit_status(&launch);
}

TEST(the_exit_status_is_the_commands_or_that_of_its_signal)
{
	char shell[] = "sh", option[] = "-c", three[] = "exit 3", dies[] = "kill -9 $$";
	CHECK_UINT(run((char *[]){ shell, option, three, NULL }), 3);
	CHECK_UINT(run((char *[]){ shell, option, dies, NULL }), 128 + 9);
}

TEST(what_cannot_be_run_gives_the_status_of_a_shell)
{
	char missing[] = "/nonexistent/program", directory[] = "/tmp";
	CHECK_UINT(run((char *[]){ missing, NULL }), 127);
	CHECK_UINT(run((char *[]){ directory, NULL }), 126);
}

TEST(a_command_that_was_never_let_go_ends_with_the_recorder)
{
	char name[] = "true";
	char *argv[] = { name, NULL };
	struct launch launch = { 0 };
	struct launch_options options = { .argv = argv };
	REQUIRE_OK(launch_prepare(&options, &launch));
	launch_end(&launch);
	CHECK(launch_has_ended(&launch));
	CHECK(launch_exit_status(&launch) != 0);
}
