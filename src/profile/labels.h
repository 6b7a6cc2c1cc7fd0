// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Which objects are the same image, and names for them that nobody can mix up.
#ifndef PROFILE_LABELS_H
#define PROFILE_LABELS_H

#include "profile/profile.h"

// Fills in `same` and `label` of every object. An image known by one build ID under several paths
// is one; a label is the file's short name, its path where others have that name, and the path with
// the build ID's first digits where a path had several builds.
struct imp_error *objects_label(struct profile *profile) MUST_CHECK;

#endif
