// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The nodes of a call tree in an order that depends on names and places only, so that what is
// written does not depend on who read which part of the recording.
#ifndef RENDER_TREE_ORDER_H
#define RENDER_TREE_ORDER_H

#include "profile/call_tree.h"

// The tree of PROFILE by OPTIONS (*tree for call_tree_free()) and its nodes' order (*order for
// free()).
struct imp_error *ordered_tree(const struct profile *profile,
			       const struct call_tree_options *options, struct call_tree **tree,
			       uint32_t **order) MUST_CHECK;

// All nodes, each before what it calls: *ret, the caller's to free, has as many as the tree.
struct imp_error *tree_order(const struct call_tree *tree, uint32_t **ret) MUST_CHECK;

#endif
