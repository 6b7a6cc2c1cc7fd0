// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// A path as the value of a header: printable ASCII, all else as %XX.
#ifndef REMOTE_PATH_TEXT_H
#define REMOTE_PATH_TEXT_H

// PATH so written, the caller's; NULL when memory ran out or it is longer than a bucket keeps.
char *path_text_write(const char *path);

// The path that TEXT says, the caller's; NULL when it is neither absolute nor in brackets, or
// memory ran out.
char *path_text_read(const char *text);

#endif
