// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Where what must be unpacked or copied goes while it is used.
#include "cli/temporary.h"

#include <stdlib.h>

const char *temporary_directory(void)
{
	const char *directory = getenv("TMPDIR");
	return directory && *directory ? directory : "/tmp";
}
