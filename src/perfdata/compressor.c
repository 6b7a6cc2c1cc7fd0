// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Streaming zstd into records of type 81.
#include "perfdata/compressor.h"

#include <string.h>
#include <zstd.h>

#include "perfdata/record.h"

// A record's size is 16 bits; perf 6.1 writes at most this much after the header.
enum { HEADER_SIZE = 8, PAYLOAD_MOST = 65535 - HEADER_SIZE - 1 };

struct compressor {
	ZSTD_CCtx *stream;
};

void compressor_free(struct compressor *compressor)
{
	if (!compressor)
		return;
	ZSTD_freeCCtx(compressor->stream);
	free(compressor);
}

DEFINE_CLEANUP(struct compressor *, compressor, compressor_free)

static struct imp_error *zstd_error(size_t code)
{
	return error_new(IMP_ERR_SYSTEM, "zstd: %s", ZSTD_getErrorName(code));
}

struct imp_error *compressor_new(int level, struct compressor **ret)
{
	_cleanup_(cleanup_compressor) struct compressor *compressor = calloc(1, sizeof *compressor);
	if (!compressor)
		return &imp_error_no_memory;
	compressor->stream = ZSTD_createCCtx();
	if (!compressor->stream)
		return &imp_error_no_memory;
	size_t code = ZSTD_CCtx_setParameter(compressor->stream, ZSTD_c_compressionLevel, level);
	if (ZSTD_isError(code))
		return zstd_error(code);
	*ret = steal(compressor);
	return NULL;
}

static void write_header(uint8_t *at, size_t payload)
{
	uint32_t type = RECORD_COMPRESSED;
	uint16_t size = (uint16_t)(HEADER_SIZE + payload);
	memcpy(at, &type, sizeof type);
	memset(at + 4, 0, 2);
	memcpy(at + 6, &size, sizeof size);
}

struct imp_error *compressor_add(struct compressor *compressor, const void *bytes, size_t size,
				 struct buffer *out)
{
	ZSTD_inBuffer in = { .src = bytes, .size = size };
	for (size_t left = 1; left;) {
		uint8_t *at = buffer_extend(out, HEADER_SIZE + PAYLOAD_MOST);
		if (!at)
			return &imp_error_no_memory;
		ZSTD_outBuffer piece = { .dst = at + HEADER_SIZE, .size = PAYLOAD_MOST };
		left = ZSTD_compressStream2(compressor->stream, &piece, &in, ZSTD_e_flush);
		out->size -= PAYLOAD_MOST - piece.pos;
		if (ZSTD_isError(left))
			return zstd_error(left);
		if (piece.pos)
			write_header(at, piece.pos);
		else
			out->size -= HEADER_SIZE;
	}
	return NULL;
}
