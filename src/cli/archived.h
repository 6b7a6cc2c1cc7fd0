// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// An archive named where a recording is expected.
#ifndef CLI_ARCHIVED_H
#define CLI_ARCHIVED_H

#include "archive/bundle.h"
#include "cli/naming.h"

// When *path is an archive ("FILE", or "FILE:NAME" where it has several recordings), opens it:
// *path then is its recording, and NAMING (may be NULL) also looks for images in it. Otherwise *ret
// stays NULL and all is as it was. What *path and NAMING point to lives until bundle_close().
struct imp_error *archived_open(const char **path, struct naming *naming, const struct log *log,
				struct bundle **ret) MUST_CHECK;

// The directory of images that PATH (of --images) stands for: itself, or where the archive at PATH
// is unpacked, until archived_close().
struct imp_error *archived_images(const char *path, const struct log *log,
				  const char **ret) MUST_CHECK;
void archived_close(void);

#endif
