// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Reading the link and asking the finder for the build it names.
#include "symbolize/alt_link.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"

// A link's path counts from the directory of the file that holds it.
static void resolve(const char *holder, const char *link, struct buffer *ret)
{
	const char *slash = strrchr(holder, '/');
	if (link[0] != '/' && slash)
		buffer_append(ret, holder, (size_t)(slash + 1 - holder));
	buffer_append(ret, link, strlen(link) + 1);
}

static struct imp_error *find(struct finder *finder, const char *path, const struct build_id *id,
			      const struct elf_image **ret)
{
	struct image image = {
		.kind = IMAGE_USER, .identity = IDENTITY_SYNTHESIZED, .id = *id, .path = path
	};
	const struct finding *finding;
	struct imp_error *err = finder_find(finder, &image, &finding);
	if (err)
		return err;
	bool is_debug = finding->debug && elf_image_has_dwarf(finding->debug);
	*ret = is_debug ? finding->debug : finding->image;
	return NULL;
}

struct imp_error *alt_link_open(struct finder *finder, const struct elf_image *image,
				const struct log *log, struct debug_sections *ret)
{
	const struct elf_section *section = elf_image_section_named(image, ".gnu_debugaltlink");
	if (!section)
		return NULL;
	struct cursor link = elf_image_section_bytes(image, section);
	const char *name = cursor_string(&link);
	size_t id_size = cursor_left(&link);
	if (!name || id_size > BUILD_ID_MOST_BYTES)
		return NULL;
	struct build_id id = build_id_of(cursor_bytes(&link, id_size), (uint32_t)id_size);
	_cleanup_buffer_ struct buffer path = { 0 };
	resolve(elf_image_path(image), name, &path);
	if (path.failed)
		return &imp_error_no_memory;
	const struct elf_image *alt = NULL;
	struct imp_error *err = NULL;
	if (!build_id_is_none(&id))
		err = find(finder, (const char *)path.bytes, &id, &alt);
	if (err)
		return err;
	if (alt)
		return debug_sections_open(alt, ret);
	log_message(log, LOG_WARNING, "%s: some inlined functions have no name: %s [%s] is missing",
		    elf_image_path(image), name, build_id_text(&id).text);
	return NULL;
}
