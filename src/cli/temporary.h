// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Where what must be unpacked or copied goes while it is used.
#ifndef CLI_TEMPORARY_H
#define CLI_TEMPORARY_H

// $TMPDIR, or /tmp.
const char *temporary_directory(void);

#endif
