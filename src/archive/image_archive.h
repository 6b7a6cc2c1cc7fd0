// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// An archive in place of a directory of images: one of ours, or any tar (of `perf archive`, of a
// package's debug files), for as long as it is open. Nothing is written by a member's own name, and
// whoever reads the images asks each for its own build ID.
#ifndef ARCHIVE_IMAGE_ARCHIVE_H
#define ARCHIVE_IMAGE_ARCHIVE_H

#include "base/error.h"
#include "base/log.h"

struct image_archive;

// Unpacks the images in the file at PATH below TMP_DIR. IMP_ERR_BAD_DATA when it is no archive.
// More than 64 GiB in it are refused. LOG (or NULL) is lent.
struct imp_error *image_archive_open(const char *path, const char *tmp_dir, const struct log *log,
				     struct image_archive **ret) MUST_CHECK;
void image_archive_close(struct image_archive *archive);

// The directory with the images; lent.
const char *image_archive_dir(const struct image_archive *archive);

#endif
