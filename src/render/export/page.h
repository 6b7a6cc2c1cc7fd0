// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// flamegraph.html as it stands in the source tree, with one "@DATA@" where its data go.
#ifndef RENDER_EXPORT_PAGE_H
#define RENDER_EXPORT_PAGE_H

#include <stddef.h>

extern const unsigned char page_html[];
extern const size_t page_html_size;

#endif
