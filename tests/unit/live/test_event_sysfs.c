// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "harness/tap.h"
#include "live/event_source.h"

// A sysfs with one PMU, "core", below a new temporary folder; *root is its path.
static void put_file(const char *root, const char *name, const char *text)
{
	char path[512];
	snprintf(path, sizeof path, "%s/bus/event_source/devices/core/%s", root, name);
	for (char *slash = path + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = 0;
		mkdir(path, 0700);
		*slash = '/';
	}
	_cleanup_file_ FILE *file = fopen(path, "we");
	CHECK(file && fputs(text, file) >= 0);
}

static void make_sysfs(char *root)
{
	CHECK(mkdtemp(root));
	put_file(root, "type", "42\n");
	put_file(root, "format/event", "config:0-7,32-35\n");
	put_file(root, "format/umask", "config:8-15\n");
	put_file(root, "format/ldlat", "config1:0-15\n");
	put_file(root, "format/any", "config:21\n");
	put_file(root, "events/misses", "event=0x1c5,umask=0x2\n");
	put_file(root, "events/loop", "loop\n");
}

static void remove_sysfs(const char *root)
{
	char command[128];
	snprintf(command, sizeof command, "rm -r %s", root);
	CHECK(!system(command));
}

static struct imp_error *encode(const char *root, const char *terms, struct event_attr *attr)
{
	bool is_known = false;
	*attr = (struct event_attr){ 0 };
	return event_from_sysfs(root, "core", terms, attr, &is_known);
}

TEST(terms_fill_the_bits_that_the_format_files_name)
{
	char root[] = "/tmp/sysfs-XXXXXX";
	make_sysfs(root);
	struct event_attr attr;
	CHECK_OK(encode(root, "event=0x1c5,umask=3,any", &attr));
	CHECK_UINT(attr.type, 42);
	CHECK_UINT(attr.config, UINT64_C(0x1000003c5) | 1 << 21);
	CHECK_OK(encode(root, "misses,ldlat=30", &attr));
	CHECK_UINT(attr.config, UINT64_C(0x1000002c5));
	CHECK_UINT(attr.config1, 30);
	CHECK_OK(encode(root, "config=0xff", &attr));
	CHECK_UINT(attr.config, 0xff);
	remove_sysfs(root);
}

TEST(terms_that_do_not_exist_or_do_not_fit_are_errors)
{
	char root[] = "/tmp/sysfs-XXXXXX";
	make_sysfs(root);
	static const char *const wrong[] = { "umask=0x100", "nothing", "nothing=1", "event=",
					     "event=zz",    "loop",    "../type" };
	struct event_attr attr;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		CHECK_ERROR(encode(root, wrong[i], &attr), IMP_ERR_USAGE);
	bool is_known = false;
	CHECK_ERROR(event_from_sysfs(root, "gpu", "x=1", &attr, &is_known), IMP_ERR_USAGE);
	remove_sysfs(root);
}
