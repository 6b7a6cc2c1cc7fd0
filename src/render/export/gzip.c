// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Writing bytes as a gzip file.
#include "render/export/gzip.h"

#include <stdint.h>
#define ZLIB_CONST
#include <zlib.h>

enum { STEP = 1 << 20, WINDOW_BITS = 15, AS_GZIP = 16, MEMORY_LEVEL = 8 };

// Puts in what is left of the input, as much of it as zlib counts at once.
static int deflate_step(z_stream *stream, const uint8_t **bytes, size_t *size)
{
	if (!stream->avail_in && *size) {
		uInt step = *size > STEP ? STEP : (uInt)*size;
		stream->next_in = *bytes;
		stream->avail_in = step;
		*bytes += step;
		*size -= step;
	}
	return deflate(stream, *size ? Z_NO_FLUSH : Z_FINISH);
}

struct imp_error *gzip_write(FILE *out, const void *bytes, size_t size)
{
	uint8_t room[64 * 1024];
	const uint8_t *rest = bytes;
	z_stream stream = { .zalloc = Z_NULL };
	if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, WINDOW_BITS + AS_GZIP,
			 MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK)
		return &imp_error_no_memory;
	int status = Z_OK;
	while (status == Z_OK || status == Z_BUF_ERROR) {
		stream.next_out = room;
		stream.avail_out = sizeof room;
		status = deflate_step(&stream, &rest, &size);
		fwrite(room, 1, sizeof room - stream.avail_out, out);
	}
	deflateEnd(&stream);
	return status == Z_STREAM_END
		       ? NULL
		       : error_new(IMP_ERR_SYSTEM, "cannot compress: zlib says %d", status);
}
