// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// A snapshot: what a machine, a core file or a recording runs, mapping by mapping, each image
// described once.
//
// Made by gather.h (live), core.h and recorded.h; written and read by snapshot_file.h in the form
// of imprint-snapshot(5).
#ifndef ENVIRONMENT_SNAPSHOT_H
#define ENVIRONMENT_SNAPSHOT_H

#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "base/strings.h"
#include "live/mapped_file.h"
#include "model/build_id.h"

enum { CONTENT_HASH_SIZE = 32 };

// All strings of a snapshot are its own, and "" where nothing is known.
struct snapshot_image {
	enum mapped_kind kind;
	// Of the kernel's modules and for the kernel itself the ID stands there.
	struct build_id id;
	// The bytes were looked at: no ID then means that there is none.
	bool id_is_known;
	bool is_deleted;
	// Of recordings, how sure the ID is: identity_name() of model/image.h; "" otherwise.
	const char *identity;
	// SHA-256 of the file, for images without an ID.
	bool has_content_hash;
	uint8_t content_hash[CONTENT_HASH_SIZE];
	uint32_t major, minor;
	uint64_t inode;
	// Of the file in bytes; 0 when not known.
	uint64_t size;
	const char *path;
	const char *soname;
	// The JSON of .note.package.
	const char *package;
};

struct snapshot_mapping {
	uint64_t start, size, offset;
	uint32_t image;
};

struct snapshot_process {
	uint32_t pid, parent;
	// Recordings do not tell the user.
	bool has_uid;
	uint32_t uid;
	// Since boot, and in nanoseconds since 1970; 0 when not known.
	uint64_t start_ticks, start_ns;
	const char *comm;
	// The arguments, separated by spaces, cut at 4 KiB.
	const char *command;
	const char *exe;
	const char *user;
	const char *cgroup, *unit, *runtime, *container;
	// As /proc/PID/root says; "/" for most.
	const char *root;
	// "mnt:[4026531841]" and the like: the numbers, 0 when not known.
	uint64_t mount_namespace, pid_namespace;
	// Why its mappings are missing: "forbidden"; "" when they are not.
	const char *unread;
	// In the snapshot's mappings.
	size_t first_mapping, mapping_count;
};

struct snapshot_module {
	const char *name;
	struct build_id id;
	uint64_t address, size;
};

struct snapshot {
	struct strings strings;
	uint64_t time_ns;
	// "live", "core", "recording".
	const char *source;
	const char *host, *machine_id, *boot_id;
	// ID and VERSION_ID of os-release.
	const char *os, *os_version;
	const char *architecture;
	const char *kernel_release;
	struct build_id kernel_id;
	// What could not be seen.
	uint64_t gone, forbidden, kernel_threads;
	ARRAY_OF(struct snapshot_module) modules;
	ARRAY_OF(struct snapshot_image) images;
	ARRAY_OF(struct snapshot_process) processes;
	ARRAY_OF(struct snapshot_mapping) mappings;
};

struct imp_error *snapshot_new(const char *source, struct snapshot **ret) MUST_CHECK;
void snapshot_free(struct snapshot *snapshot);

DEFINE_CLEANUP(struct snapshot *, snapshot, snapshot_free)
#define _cleanup_snapshot_ __attribute__((cleanup(cleanup_snapshot)))

// The snapshot's own copy of TEXT (NULL: "").
struct imp_error *snapshot_text(struct snapshot *snapshot, const char *text,
				const char **ret) MUST_CHECK;

// New items with all their strings "". NULL when memory ran out.
struct snapshot_image *snapshot_add_image(struct snapshot *snapshot);
struct snapshot_process *snapshot_add_process(struct snapshot *snapshot);
struct snapshot_module *snapshot_add_module(struct snapshot *snapshot);
struct snapshot_mapping *snapshot_add_mapping(struct snapshot *snapshot);

// How an image is called when it must be compared: the build ID in hex, else "sha256:" and the
// content's hash, else "" (unknown). A vdso, too, has an ID.
struct image_identity {
	char text[BUILD_ID_TEXT_SIZE + 8];
};
struct image_identity snapshot_image_identity(const struct snapshot_image *image);

// Both identities are known and equal.
bool snapshot_images_equal(const struct snapshot_image *a, const struct snapshot_image *b);

// PATH of an image as a process with ROOT sees it: inside its own root. PATH itself when it lies
// outside.
const char *snapshot_path_in_root(const char *root, const char *path);

// The string member KEY of an image's package metadata into VALUE; false (and "") without.
bool snapshot_package_member(const struct snapshot_image *image, const char *key, char *value,
			     size_t size);

// The mapping of process PROCESS at ADDRESS, or NULL.
const struct snapshot_mapping *snapshot_locate(const struct snapshot *snapshot,
					       const struct snapshot_process *process,
					       uint64_t address);

// The first process with PID, or NULL.
const struct snapshot_process *snapshot_process_of(const struct snapshot *snapshot, uint32_t pid);

#endif
