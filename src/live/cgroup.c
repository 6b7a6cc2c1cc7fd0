// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Naming units and containers by the conventions of cgroup paths.
#include "live/cgroup.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

static void copy(char *to, size_t size, const char *from, size_t length)
{
	if (length >= size)
		length = size - 1;
	memcpy(to, from, length);
	to[length] = 0;
}

// Chooses the line that tells most: the unified hierarchy, else systemd's own, else the first.
static void choose_path(const char *text, struct cgroup *ret)
{
	int best = 0;
	while (*text) {
		size_t length = strcspn(text, "\n");
		const char *controllers = memchr(text, ':', length);
		const char *path = controllers ? memchr(controllers + 1, ':',
							length - (size_t)(controllers + 1 - text))
					       : NULL;
		if (path) {
			bool is_systemd = !strncmp(controllers + 1, "name=systemd:", 13);
			int rank = path == controllers + 1 ? 2 : is_systemd ? 3 : 1;
			// On mixed machines the unified hierarchy is empty: "/".
			if (path[1] == '/' && text + length == path + 2)
				rank = 1;
			if (rank > best) {
				best = rank;
				copy(ret->path, sizeof ret->path, path + 1,
				     length - (size_t)(path + 1 - text));
			}
		}
		text += length + (text[length] == '\n');
	}
}

static bool ends_with(const char *text, size_t length, const char *end)
{
	size_t end_length = strlen(end);
	return length > end_length && !memcmp(text + length - end_length, end, end_length);
}

static bool begins_with(const char *text, size_t length, const char *begin)
{
	return length > strlen(begin) && !memcmp(text, begin, strlen(begin));
}

static bool is_unit(const char *name, size_t length)
{
	return ends_with(name, length, ".service") || ends_with(name, length, ".scope") ||
	       ends_with(name, length, ".socket") || ends_with(name, length, ".mount");
}

static bool is_container_id(const char *name, size_t length)
{
	if (length != 64)
		return false;
	for (size_t i = 0; i < length; i++)
		if (!isxdigit((unsigned char)name[i]))
			return false;
	return true;
}

// "docker-HEX.scope" and the like of the systemd cgroup drivers.
static const struct scope_prefix {
	const char *prefix;
	const char *runtime;
} scope_prefixes[] = {
	{ "docker-", "docker" },
	{ "libpod-", "podman" },
	{ "cri-containerd-", "containerd" },
	{ "crio-", "crio" },
};

static bool container_of_scope(const char *name, size_t length, struct cgroup *ret)
{
	if (!ends_with(name, length, ".scope"))
		return false;
	size_t stem = length - strlen(".scope");
	for (size_t i = 0; i < sizeof scope_prefixes / sizeof *scope_prefixes; i++) {
		const struct scope_prefix *row = &scope_prefixes[i];
		size_t skip = strlen(row->prefix);
		if (!begins_with(name, stem, row->prefix) ||
		    !is_container_id(name + skip, stem - skip))
			continue;
		ret->runtime = row->runtime;
		copy(ret->container, sizeof ret->container, name + skip, stem - skip);
		return true;
	}
	if (!begins_with(name, stem, "machine-"))
		return false;
	// systemd-nspawn escapes the dashes of the machine's name as \x2d; the name is kept so.
	ret->runtime = "nspawn";
	copy(ret->container, sizeof ret->container, name + 8, stem - 8);
	return true;
}

// Takes the path's component NAME, which follows PARENT.
static void take_component(const char *parent, size_t parent_length, const char *name,
			   size_t length, struct cgroup *ret)
{
	if (container_of_scope(name, length, ret))
		return;
	if (is_container_id(name, length)) {
		bool in_docker = parent_length == 6 && !memcmp(parent, "docker", 6);
		bool in_pod = begins_with(parent, parent_length, "pod");
		ret->runtime = in_docker ? "docker" : in_pod ? "kubernetes" : "containerd";
		copy(ret->container, sizeof ret->container, name, length);
		return;
	}
	bool is_lxc_payload = begins_with(name, length, "lxc.payload.");
	if (is_lxc_payload || (parent_length == 3 && !memcmp(parent, "lxc", 3))) {
		size_t skip = is_lxc_payload ? strlen("lxc.payload.") : 0;
		ret->runtime = "lxc";
		copy(ret->container, sizeof ret->container, name + skip, length - skip);
		return;
	}
	// Inside a container, and below a user's own manager, further units may follow.
	if (!is_unit(name, length))
		return;
	size_t at = 0;
	if (!strncmp(ret->unit, "user@", 5)) {
		at = strcspn(ret->unit, "/");
		if (at + 2 > sizeof ret->unit)
			return;
		ret->unit[at++] = '/';
	}
	if (ret->runtime && ret->unit[0])
		return;
	copy(ret->unit + at, sizeof ret->unit - at, name, length);
}

void cgroup_parse(const char *text, struct cgroup *ret)
{
	*ret = (struct cgroup){ 0 };
	choose_path(text, ret);
	const char *parent = "";
	size_t parent_length = 0;
	for (const char *at = ret->path; *at;) {
		at += *at == '/';
		size_t length = strcspn(at, "/");
		take_component(parent, parent_length, at, length, ret);
		parent = at;
		parent_length = length;
		at += length;
	}
}
