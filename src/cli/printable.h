// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Foreign texts on a terminal: names of files and processes may hold anything.
#ifndef CLI_PRINTABLE_H
#define CLI_PRINTABLE_H

#include <stdio.h>

// Writes TEXT with control characters as \n, \t, \xNN, so that it stays on its line and cannot
// steer a terminal. Other bytes pass as they are.
void printable(FILE *out, const char *text);

#endif
