// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// What a process's control group says of who started it: the systemd unit, the container.
#ifndef LIVE_CGROUP_H
#define LIVE_CGROUP_H

#include <stddef.h>

struct cgroup {
	// The path in the unified hierarchy, else in systemd's, else the first; "" when unknown.
	char path[512];
	// "ssh.service", "session-3.scope", of a user's own manager
	// "user@1000.service/app.service";
	// "" outside of units.
	char unit[256];
	// "docker", "podman", "containerd", "crio", "lxc", "nspawn", "kubernetes" (by an unknown
	// runtime); "" outside of containers.
	const char *runtime;
	// The container's ID or name as the runtime knows it; "" outside of containers.
	char container[128];
};

// Reads the text of /proc/PID/cgroup.
void cgroup_parse(const char *text, struct cgroup *ret);

#endif
