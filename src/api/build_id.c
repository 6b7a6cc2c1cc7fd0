// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The public face of build IDs.
#include "imprint/build_id.h"

#include <string.h>

#include "api/build_id.h"
#include "elf/elf_image.h"

struct imp_build_id api_build_id(const struct build_id *id)
{
	struct imp_build_id public = { .size = id->size };
	memcpy(public.bytes, id->bytes, sizeof public.bytes);
	return public;
}

struct imp_error *imp_build_id_of_file(const char *path, struct imp_build_id *ret)
{
	struct build_id id;
	struct imp_error *err = elf_build_id_read(path, &id);
	if (!err)
		*ret = api_build_id(&id);
	return err;
}

void imp_build_id_format(const struct imp_build_id *id, char *text)
{
	struct build_id inner = build_id_of(id->bytes, id->size);
	strcpy(text, build_id_text(&inner).text);
}

bool imp_build_id_parse(const char *text, struct imp_build_id *ret)
{
	struct build_id id;
	bool is_id = build_id_parse(text, &id);
	*ret = api_build_id(&id);
	return is_id;
}

bool imp_build_id_equal(const struct imp_build_id *a, const struct imp_build_id *b)
{
	struct build_id first = build_id_of(a->bytes, a->size);
	struct build_id second = build_id_of(b->bytes, b->size);
	return build_id_equal(&first, &second);
}
