// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
#include "live/process.h"

#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "harness/tap.h"

TEST(the_last_parenthesis_ends_the_name)
{
	struct process process;
	REQUIRE(process_parse_stat("7 (a) (b\n) S 1 7 7 0 -1 4194560 9 8 7 6 5 4 3 2 20 0 1 0 "
				   "123456789 0 0",
				   &process));
	CHECK_UINT(process.pid, 7);
	CHECK_TEXT(process.comm, "a) (b\n");
	CHECK(process.state == 'S' && !process.is_kernel_thread);
	CHECK_UINT(process.parent, 1);
	CHECK_UINT(process.start_ticks, 123456789);
}

TEST(kernel_threads_are_known_by_their_flag)
{
	struct process process;
	REQUIRE(process_parse_stat("2 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 5",
				   &process));
	CHECK(process.is_kernel_thread);
}

TEST(what_is_no_stat_file_is_refused)
{
	struct process process;
	CHECK(!process_parse_stat("", &process));
	CHECK(!process_parse_stat("7 (a", &process));
	CHECK(!process_parse_stat("7 )a( S 1", &process));
	CHECK(!process_parse_stat("7 (a)", &process));
}

TEST(the_last_number_is_what_a_process_knows_itself_by)
{
	CHECK_UINT(process_parse_inner_pid("Name:\tx\nNSpid:\t812\t30\t7\nNSsid:\t1\n", 812), 7);
	CHECK_UINT(process_parse_inner_pid("Name:\tx\nNSpid:\t812\nNSsid:\t1\n", 812), 812);
	// Kernels before 4.1 do not say.
	CHECK_UINT(process_parse_inner_pid("Name:\tx\nPid:\t812\n", 812), 812);
	CHECK_UINT(process_parse_inner_pid("", 812), 812);
}

TEST(lists_itself_with_its_threads)
{
	_cleanup_proc_ struct proc *proc = NULL;
	REQUIRE_OK(proc_open(NULL, &proc));
	_cleanup_pids_ struct pids pids = { 0 };
	REQUIRE_OK(process_list(proc, &pids));
	bool is_listed = false;
	for (size_t i = 0; i < pids.count; i++) {
		is_listed = is_listed || pids.items[i] == (uint32_t)getpid();
		CHECK(i == 0 || pids.items[i - 1] < pids.items[i]);
	}
	CHECK(is_listed);

	prctl(PR_SET_NAME, "lists itself");
	struct process process;
	uint32_t self = (uint32_t)getpid();
	CHECK(process_read(proc, self, self, &process) == PROC_READ);
	CHECK_TEXT(process.comm, "lists itself");
	_cleanup_pids_ struct pids threads = { 0 };
	enum proc_outcome outcome;
	REQUIRE_OK(process_threads(proc, self, &threads, &outcome));
	CHECK(outcome == PROC_READ);
	CHECK_UINT(threads.count, 1);
	CHECK_UINT(threads.items[0], self);
}

TEST(a_process_that_ended_is_gone_and_no_error)
{
	pid_t child = fork();
	if (child == 0)
		_exit(0);
	waitpid(child, NULL, 0);
	_cleanup_proc_ struct proc *proc = NULL;
	REQUIRE_OK(proc_open(NULL, &proc));
	struct process process;
	CHECK(process_read(proc, (uint32_t)child, 0, &process) == PROC_GONE);
	_cleanup_pids_ struct pids threads = { 0 };
	enum proc_outcome outcome;
	CHECK_OK(process_threads(proc, (uint32_t)child, &threads, &outcome));
	CHECK(outcome == PROC_GONE);
}
