// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The section is a path that ends with a zero byte, then the ID.
#include "elf/altlink.h"

bool elf_altlink(const struct elf_image *image, struct build_id *id, const char **path)
{
	const struct elf_section *section = elf_image_section_named(image, ".gnu_debugaltlink");
	if (!section)
		return false;
	struct cursor bytes = elf_image_section_bytes(image, section);
	const char *name = cursor_string(&bytes);
	size_t size = cursor_left(&bytes);
	if (!name || !size || size > BUILD_ID_MOST_BYTES)
		return false;
	*id = build_id_of(cursor_bytes(&bytes, size), (uint32_t)size);
	*path = name;
	return id->size != 0;
}
