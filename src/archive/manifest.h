// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// What an archive says of itself in its first member: its recordings, its objects, and what it
// lacks.
//
// An archive is a tar file compressed with zstd (window of at most 128 MiB):
//
//	manifest.json
//	recordings/NAME		as they were
//	objects/SHA256		images and debug files, each content once
#ifndef ARCHIVE_MANIFEST_H
#define ARCHIVE_MANIFEST_H

#include "base/buffer.h"
#include "store/store.h"

#define MANIFEST_FORMAT "imprint-archive"

enum { MANIFEST_VERSION = 1, MANIFEST_MOST_BYTES = 64 << 20 };

struct manifest_recording {
	// A plain file name. Owned.
	char *name;
	uint64_t size_bytes;
	struct store_hash hash;
};

struct manifest_object {
	struct store_hash hash;
	uint64_t size_bytes;
	// None: known by its hash.
	struct build_id id;
	enum store_role role;
	enum store_rank rank;
	// Where it was mapped, as recorded; owned, NULL: not known.
	char *path;
	// Not in this archive: the other side has it (--against).
	bool is_elsewhere;
};

struct manifest_missing {
	struct build_id id;
	char *path;
};

struct manifest {
	struct {
		ARRAY_OF(struct manifest_recording);
	} recordings;
	// As read, sorted by hash; one content may stand under several IDs or paths.
	struct {
		ARRAY_OF(struct manifest_object);
	} objects;
	// Images that were needed and found nowhere.
	struct {
		ARRAY_OF(struct manifest_missing);
	} missing;
};

void manifest_fini(struct manifest *manifest);
#define _cleanup_manifest_ __attribute__((cleanup(manifest_fini)))

// Appends MANIFEST as JSON to RET.
struct imp_error *manifest_write(const struct manifest *manifest, struct buffer *ret) MUST_CHECK;

// Reads and checks SIZE bytes of TEXT; IMP_ERR_BAD_DATA on anything odd.
struct imp_error *manifest_read(const char *text, size_t size, struct manifest *ret) MUST_CHECK;

// A name that makes one file in one directory, and no other: not empty, no slash, not "." or "..",
// no control characters.
bool manifest_name_is_plain(const char *name);

#endif
