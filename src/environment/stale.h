// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// What is loaded beside what is there: mappings whose build is no longer the one at their path.
//
// A path is looked up in the process's own root, and builds are compared, never inodes or dates: a
// reinstalled identical file is not stale.
#ifndef ENVIRONMENT_STALE_H
#define ENVIRONMENT_STALE_H

#include "environment/snapshot.h"

enum stale_verdict {
	// The same build is at the path, whatever its inode.
	STALE_CURRENT,
	// Another build is there.
	STALE_REPLACED,
	// Nothing is there any more.
	STALE_ORPHAN,
	// As orphan, but meant to be so: a library unpacked to a temporary directory and unlinked,
	// a
	// memfd.
	STALE_TEMPORARY,
	// Code made at run time.
	STALE_JIT,
	// It could not be found out; the finding says why.
	STALE_UNKNOWN,
	STALE_VERDICTS
};

// "current", "stale", "orphan", "temporary", "jit", "unknown".
const char *stale_verdict_name(enum stale_verdict verdict);

// What is known of one image in one root.
struct stale_finding {
	enum stale_verdict verdict;
	uint32_t image;
	// The path inside the root it was looked up in, lent by the snapshot.
	const char *path;
	// What is at the path now, when that is another build; its path is not set. Its texts are
	// the snapshot's.
	struct snapshot_image now;
	// When what is there now came there, in nanoseconds since 1970; 0 when not known.
	uint64_t since_ns;
	// For STALE_UNKNOWN; a constant.
	const char *why;
};

// Processes that are restarted together: a container's, else a unit's, else one process.
struct stale_group {
	// Lent by the snapshot.
	const char *name;
	// "" when only a person knows how.
	const char *restart;
	// Its part of the uses.
	size_t first_use, use_count;
};

// A process and one of its images that is not current.
struct stale_use {
	// Numbers of the group, of the snapshot's process, of the finding.
	uint32_t group;
	uint32_t process;
	uint32_t finding;
};

// The kernel, or a module: what runs and what is installed.
struct stale_kernel {
	// "kernel", or the module's name.
	const char *name;
	enum stale_verdict verdict;
	struct build_id running_id, installed_id;
	// Kernel releases, or the module's file.
	const char *running, *installed;
};

struct stale_report {
	ARRAY_OF(struct stale_finding) findings;
	// In the order of the first process of each.
	ARRAY_OF(struct stale_group) groups;
	// Group by group, in the order of processes. Current ones are not listed.
	ARRAY_OF(struct stale_use) uses;
	ARRAY_OF(struct stale_kernel) kernels;
	// How many pairs of process and image there were of each verdict.
	uint64_t counts[STALE_VERDICTS];
	// Processes with something stale.
	uint64_t stale_processes;
};

void stale_report_fini(struct stale_report *report);
#define _cleanup_stale_report_ __attribute__((cleanup(stale_report_fini)))

struct stale_options {
	// As in struct gather_options.
	const char *proc_root;
	const char *sys_root;
	// The kernel and its modules are not asked about.
	bool without_kernel;
	// Where IDs of packed kernels and modules are kept from one run to the next; NULL: nowhere.
	const char *known_ids;
};

// Checks SNAPSHOT, which was taken live from the same tree just before. Texts go into the
// snapshot's pool.
struct imp_error *stale_check(struct snapshot *snapshot, const struct stale_options *options,
			      struct stale_report *ret) MUST_CHECK;

// How the processes of one unit, container or session are restarted.
struct restart_command {
	char text[512];
};

// "systemctl restart ssh.service", "docker restart 0123456789ab"; "" when only a person knows how.
struct restart_command stale_restart_command(const struct snapshot_process *process);

// What the processes that are restarted together have in common: the container, else the unit, else
// the process itself.
struct stale_group_name {
	char text[512];
};
struct stale_group_name stale_group_name(const struct snapshot_process *process);

#endif
