// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Reading archives, of which nothing is believed: only members that the manifest lists, with the
// sizes, hashes and build IDs that it says; nothing is ever written by a member's own name.
#ifndef ARCHIVE_BUNDLE_H
#define ARCHIVE_BUNDLE_H

#include "archive/manifest.h"

// Whether the file at PATH begins as an archive of ours does. False also when it cannot be read.
bool bundle_is(const char *path);

// Where the parts go. All members but `arg` may be NULL: such parts are passed over.
struct bundle_target {
	// Objects are verified and added here, all or (when the archive is refused) none of the
	// last few thousand.
	struct store *store;
	// Gives the file that RECORDING is to be written to in *ret (-1: it is not wanted), which
	// is closed afterwards.
	struct imp_error *(*begin)(void *arg, const struct manifest_recording *recording, int *ret);
	// RECORDING is whole and was verified, or (IS_WHOLE false) is not.
	struct imp_error *(*end)(void *arg, const struct manifest_recording *recording,
				 bool is_whole);
	void *arg;
	// More than so many bytes in all are refused; 0: 256 GiB.
	uint64_t most_bytes;
};

// Reads the manifest alone.
struct imp_error *bundle_manifest(const char *path, struct manifest *ret) MUST_CHECK;

// Reads the whole archive at PATH to TARGET. An error names the member that is at fault.
struct imp_error *bundle_read(const char *path, const struct bundle_target *target,
			      struct manifest *ret) MUST_CHECK;

// An archive in place of a recording: one of its recordings, and its images in a directory of their
// own, for as long as it is open.
struct bundle;

// Opens the recording NAME (NULL: the only one) of the archive at PATH. What has to be unpacked
// goes below TMP_DIR. Close it with bundle_close(), also before _exit().
struct imp_error *bundle_open(const char *path, const char *name, const char *tmp_dir,
			      const struct log *log, struct bundle **ret) MUST_CHECK;
void bundle_close(struct bundle *bundle);
DEFINE_CLEANUP(struct bundle *, bundle, bundle_close)

// Lent. The recording is a file without a name in any directory: "/proc/self/fd/N".
const char *bundle_recording_path(const struct bundle *bundle);
// A store: serves as --store, --buildid-dir and --images.
const char *bundle_images_dir(const struct bundle *bundle);

#endif
