// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
#include "live/cgroup.h"

#include "harness/tap.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static const struct {
	const char *text, *path, *unit, *runtime, *container;
} cases[] = {
	{ "0::/system.slice/ssh.service\n", "/system.slice/ssh.service", "ssh.service", NULL, "" },
	{ "0::/user.slice/user-1000.slice/session-3.scope\n",
	  "/user.slice/user-1000.slice/session-3.scope", "session-3.scope", NULL, "" },
	{ "0::/user.slice/user-1000.slice/user@1000.service/app.slice/emacs.service\n",
	  "/user.slice/user-1000.slice/user@1000.service/app.slice/emacs.service",
	  "user@1000.service/emacs.service", NULL, "" },
	{ "0::/system.slice/docker-" ID ".scope\n", "/system.slice/docker-" ID ".scope", "",
	  "docker", ID },
	{ "12:cpu:/docker/" ID "\n1:name=systemd:/docker/" ID "\n0::/\n", "/docker/" ID, "",
	  "docker", ID },
	{ "0::/kubepods/besteffort/pod1b2c/" ID "\n", "/kubepods/besteffort/pod1b2c/" ID, "",
	  "kubernetes", ID },
	{ "0::/kubepods.slice/kubepods-pod1.slice/cri-containerd-" ID ".scope\n",
	  "/kubepods.slice/kubepods-pod1.slice/cri-containerd-" ID ".scope", "", "containerd", ID },
	{ "0::/machine.slice/libpod-" ID ".scope/container\n",
	  "/machine.slice/libpod-" ID ".scope/container", "", "podman", ID },
	{ "0::/machine.slice/machine-web.scope/payload/system.slice/nginx.service\n",
	  "/machine.slice/machine-web.scope/payload/system.slice/nginx.service", "nginx.service",
	  "nspawn", "web" },
	{ "0::/lxc.payload.web/system.slice/nginx.service\n",
	  "/lxc.payload.web/system.slice/nginx.service", "nginx.service", "lxc", "web" },
	{ "0::/\n", "/", "", NULL, "" },
	{ "4:memory:/a\n", "/a", "", NULL, "" },
	{ "", "", "", NULL, "" },
	{ "nonsense\n::\n", "", "", NULL, "" },
};

TEST(units_and_containers_are_named_by_their_paths)
{
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct cgroup cgroup;
		cgroup_parse(cases[i].text, &cgroup);
		CHECK_TEXT(cgroup.path, cases[i].path);
		CHECK_TEXT(cgroup.unit, cases[i].unit);
		CHECK_TEXT(cgroup.container, cases[i].container);
		CHECK(!cgroup.runtime == !cases[i].runtime);
		if (cgroup.runtime && cases[i].runtime)
			CHECK_TEXT(cgroup.runtime, cases[i].runtime);
	}
}
