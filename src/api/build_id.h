// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// From the build ID inside to the one that callers of the library see.
#ifndef API_BUILD_ID_H
#define API_BUILD_ID_H

#include "imprint/build_id.h"
#include "model/build_id.h"

struct imp_build_id api_build_id(const struct build_id *id);

#endif
