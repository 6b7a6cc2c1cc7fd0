// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Image kinds and names.
#include "model/image.h"

#include <stddef.h>
#include <string.h>

static const char *const kind_names[IMAGE_KINDS] = {
	[IMAGE_KERNEL] = "kernel",
	[IMAGE_MODULE] = "module",
	[IMAGE_GUEST_KERNEL] = "guest-kernel",
	[IMAGE_GUEST_MODULE] = "guest-module",
	[IMAGE_USER] = "user",
	[IMAGE_VDSO] = "vdso",
	[IMAGE_JIT] = "jit",
	[IMAGE_ANON] = "anon",
	[IMAGE_SPECIAL] = "special",
};

static const char *const identity_names[IDENTITIES] = {
	[IDENTITY_MAP_TIME] = "map-time",
	[IDENTITY_SYNTHESIZED] = "synthesized",
	[IDENTITY_AFTER_THE_FACT] = "after-the-fact",
	[IDENTITY_INFERRED] = "inferred",
	[IDENTITY_AMBIGUOUS] = "ambiguous",
	[IDENTITY_NONE] = "none",
};

const char *image_kind_name(enum image_kind kind)
{
	return kind_names[kind];
}

const char *identity_name(enum identity identity)
{
	return identity_names[identity];
}

static bool starts_with(const char *text, const char *start)
{
	return !strncmp(text, start, strlen(start));
}

const char *image_short_name(const char *path)
{
	if (path[0] == '[' || starts_with(path, "//"))
		return path;
	const char *slash = strrchr(path, '/');
	return slash && slash[1] ? slash + 1 : path;
}

// The length of NAME without ".ko" and a compression suffix, or 0 when it is no module file.
static size_t module_stem(const char *name)
{
	static const char *const endings[] = { ".ko",	  ".ko.gz",  ".ko.xz",
					       ".ko.zst", ".ko.bz2", ".ko.debug" };
	size_t length = strlen(name);
	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
		size_t end = strlen(endings[i]);
		if (length > end && !strcmp(name + length - end, endings[i]))
			return length - end;
	}
	return 0;
}

static bool is_vdso(const char *path)
{
	return !strcmp(path, "[vdso]") || !strcmp(path, "[vdso32]") || !strcmp(path, "[vdsox32]");
}

static enum image_kind kernel_side_kind(const char *path, bool is_guest)
{
	enum image_kind module = is_guest ? IMAGE_GUEST_MODULE : IMAGE_MODULE;
	enum image_kind kernel = is_guest ? IMAGE_GUEST_KERNEL : IMAGE_KERNEL;
	if (starts_with(path, "[guest.kernel."))
		return IMAGE_GUEST_KERNEL;
	if (starts_with(path, "[kernel."))
		return kernel;
	if (is_vdso(path))
		return IMAGE_VDSO;
	if (starts_with(path, "[vsyscall]"))
		return IMAGE_SPECIAL;
	if (path[0] == '[')
		return module;
	return module_stem(image_short_name(path)) ? module : kernel;
}

static enum image_kind user_side_kind(const char *path)
{
	if (is_vdso(path))
		return IMAGE_VDSO;
	if (starts_with(path, "//anon") || starts_with(path, "/dev/zero") ||
	    starts_with(path, "/anon_hugepage") || starts_with(path, "[anon") || !path[0])
		return IMAGE_ANON;
	if (path[0] == '[' || starts_with(path, "//") || starts_with(path, "/SYSV"))
		return IMAGE_SPECIAL;
	return IMAGE_USER;
}

enum image_kind image_kind_of(const char *path, unsigned cpumode)
{
	enum { UNKNOWN, KERNEL, USER, HYPERVISOR, GUEST_KERNEL, GUEST_USER };
	switch (cpumode & 7) {
	case KERNEL:
	case HYPERVISOR:
		return kernel_side_kind(path, false);
	case GUEST_KERNEL:
		return kernel_side_kind(path, true);
	case UNKNOWN:
		// Old perf left the mode out of the records it synthesized; only a kernel-side name
		// is believed.
		if (starts_with(path, "[kernel.") || starts_with(path, "[guest.kernel."))
			return kernel_side_kind(path, false);
		if (module_stem(image_short_name(path)))
			return IMAGE_MODULE;
		return user_side_kind(path);
	case USER:
	case GUEST_USER:
	default:
		return user_side_kind(path);
	}
}

void module_name_of(const char *path, char *name, unsigned long size)
{
	const char *start = image_short_name(path);
	size_t length = strlen(start);
	if (start[0] == '[') {
		start++;
		length = strcspn(start, "]");
	} else if (module_stem(start)) {
		length = module_stem(start);
	}
	if (!size)
		return;
	if (length > size - 1)
		length = size - 1;
	for (size_t i = 0; i < length; i++)
		name[i] = start[i] == '-' ? '_' : start[i];
	name[length] = 0;
}
