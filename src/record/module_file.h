// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The file that a kernel module was loaded from, as far as modules.dep tells.
#ifndef RECORD_MODULE_FILE_H
#define RECORD_MODULE_FILE_H

#include "base/error.h"

// Opens the file of module NAME ("snd_pcm" or "[snd_pcm]") below DIR ("/lib/modules/RELEASE"). *FD
// is -1 when modules.dep does not know it or it is not there; *PATH is where it is, and the
// caller's to free. Which build it is is not looked at.
struct imp_error *module_file_open(const char *dir, const char *name, int *fd,
				   char **path) MUST_CHECK;

#endif
