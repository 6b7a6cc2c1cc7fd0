// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// What `imprint --version` says: the version and the parts built in.
#ifndef CLI_VERSION_H
#define CLI_VERSION_H

#include <stdio.h>

void version_print(FILE *out);

#endif
