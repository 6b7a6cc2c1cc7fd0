// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// One profile that the tests of all renderers show.
#ifndef RENDER_SCENE_H
#define RENDER_SCENE_H

#include "profile/profile.h"

// Two programs that load two builds of one library, a kernel, two events. main calls zip and crypt;
// zip has copy inlined. IS_REVERSED makes the same in another order, so that all numbers differ.
struct profile *make_scene(bool is_reversed);

#endif
