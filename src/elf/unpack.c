// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// One table of compressions, each known by its first bytes.
#include "elf/unpack.h"

#include <bzlib.h>
#include <lzma.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "base/cursor.h"
#include "elf/unpack_lz4.h"

enum { STEP = 1 << 20 };

// Room for one more step of output; NULL with *err set when LIMIT is reached or memory ran out.
static uint8_t *next_step(struct buffer *ret, size_t start, size_t limit, struct imp_error **err)
{
	if (ret->size - start >= limit) {
		*err = error_new(IMP_ERR_BAD_DATA, "unpacks to more than %zu bytes", limit);
		return NULL;
	}
	uint8_t *step = buffer_extend(ret, STEP);
	if (!step)
		*err = &imp_error_no_memory;
	return step;
}

static struct imp_error *unpack_gzip(const void *bytes, size_t size, size_t limit,
				     struct buffer *ret)
{
	z_stream stream = { .next_in = (z_const Bytef *)(uintptr_t)bytes };
	size_t start = ret->size, left = size;
	struct imp_error *err = NULL;
	if (inflateInit2(&stream, 16 + MAX_WBITS) != Z_OK)
		return &imp_error_no_memory;
	int state = Z_OK;
	while (state == Z_OK && !err) {
		uint8_t *step = next_step(ret, start, limit, &err);
		if (!step)
			break;
		uInt in = left > UINT_MAX ? UINT_MAX : (uInt)left;
		stream.avail_in = in;
		stream.next_out = step;
		stream.avail_out = STEP;
		state = inflate(&stream, Z_NO_FLUSH);
		left -= in - stream.avail_in;
		ret->size -= stream.avail_out;
		if (state == Z_BUF_ERROR || (state == Z_OK && stream.avail_out && !left))
			err = error_new(IMP_ERR_BAD_DATA, "truncated gzip data");
	}
	inflateEnd(&stream);
	if (!err && state != Z_STREAM_END)
		err = error_new(IMP_ERR_BAD_DATA, "damaged gzip data");
	return err;
}

static struct imp_error *run_lzma(lzma_stream *stream, size_t limit, struct buffer *ret)
{
	size_t start = ret->size;
	struct imp_error *err = NULL;
	lzma_ret state = LZMA_OK;
	while (state == LZMA_OK && !err) {
		uint8_t *step = next_step(ret, start, limit, &err);
		if (!step)
			break;
		stream->next_out = step;
		stream->avail_out = STEP;
		state = lzma_code(stream, LZMA_RUN);
		ret->size -= stream->avail_out;
		if (state == LZMA_OK && stream->avail_out && !stream->avail_in)
			state = LZMA_BUF_ERROR;
	}
	lzma_end(stream);
	if (err || state == LZMA_STREAM_END)
		return err;
	if (state == LZMA_MEM_ERROR)
		return &imp_error_no_memory;
	return error_new(IMP_ERR_BAD_DATA, "%s xz data",
			 state == LZMA_BUF_ERROR ? "truncated" : "damaged");
}

// More memory than any preset of xz asks for.
static const uint64_t lzma_memory = UINT64_C(256) << 20;

struct imp_error *unpack_xz(const void *bytes, size_t size, size_t limit, struct buffer *ret)
{
	lzma_stream stream = LZMA_STREAM_INIT;
	if (lzma_stream_decoder(&stream, lzma_memory, 0) != LZMA_OK)
		return &imp_error_no_memory;
	stream.next_in = bytes;
	stream.avail_in = size;
	return run_lzma(&stream, limit, ret);
}

static struct imp_error *unpack_lzma(const void *bytes, size_t size, size_t limit,
				     struct buffer *ret)
{
	lzma_stream stream = LZMA_STREAM_INIT;
	if (lzma_alone_decoder(&stream, lzma_memory) != LZMA_OK)
		return &imp_error_no_memory;
	stream.next_in = bytes;
	stream.avail_in = size;
	return run_lzma(&stream, limit, ret);
}

static struct imp_error *unpack_zstd(const void *bytes, size_t size, size_t limit,
				     struct buffer *ret)
{
	ZSTD_DStream *stream = ZSTD_createDStream();
	if (!stream)
		return &imp_error_no_memory;
	// Kernels are packed with windows of up to 128 MiB ("zstd -22 --ultra").
	ZSTD_DCtx_setParameter(stream, ZSTD_d_windowLogMax, 27);
	size_t start = ret->size, left = 1;
	struct imp_error *err = NULL;
	ZSTD_inBuffer in = { bytes, size, 0 };
	while (left && !err) {
		uint8_t *step = next_step(ret, start, limit, &err);
		if (!step)
			break;
		ZSTD_outBuffer out = { step, STEP, 0 };
		left = ZSTD_decompressStream(stream, &out, &in);
		ret->size -= STEP - out.pos;
		if (ZSTD_isError(left))
			err = error_new(IMP_ERR_BAD_DATA, "damaged zstd data: %s",
					ZSTD_getErrorName(left));
		else if (left && out.pos < STEP && in.pos == in.size)
			err = error_new(IMP_ERR_BAD_DATA, "truncated zstd data");
	}
	ZSTD_freeDStream(stream);
	return err;
}

static struct imp_error *unpack_bzip2(const void *bytes, size_t size, size_t limit,
				      struct buffer *ret)
{
	bz_stream stream = { .next_in = (char *)(uintptr_t)bytes };
	size_t start = ret->size, left = size;
	struct imp_error *err = NULL;
	if (BZ2_bzDecompressInit(&stream, 0, 0) != BZ_OK)
		return &imp_error_no_memory;
	int state = BZ_OK;
	while (state == BZ_OK && !err) {
		uint8_t *step = next_step(ret, start, limit, &err);
		if (!step)
			break;
		unsigned in = left > UINT_MAX ? UINT_MAX : (unsigned)left;
		stream.avail_in = in;
		stream.next_out = (char *)step;
		stream.avail_out = STEP;
		state = BZ2_bzDecompress(&stream);
		left -= in - stream.avail_in;
		ret->size -= stream.avail_out;
		if (state == BZ_OK && stream.avail_out && !left)
			err = error_new(IMP_ERR_BAD_DATA, "truncated bzip2 data");
	}
	BZ2_bzDecompressEnd(&stream);
	if (!err && state != BZ_STREAM_END)
		err = error_new(IMP_ERR_BAD_DATA, "damaged bzip2 data");
	return err;
}

static struct imp_error *unpack_bzimage(const void *bytes, size_t size, size_t limit,
					struct buffer *ret);

static const struct form_def {
	const char *magic;
	size_t size;
	// Where the magic stands.
	size_t at;
	struct imp_error *(*unpack)(const void *bytes, size_t size, size_t limit,
				    struct buffer *ret);
} forms[] = {
	{ "\x1f\x8b\x08", 3, 0, unpack_gzip },
	{ "\xfd"
	  "7zXZ\0",
	  6, 0, unpack_xz },
	{ "\x28\xb5\x2f\xfd", 4, 0, unpack_zstd },
	{ "BZh", 3, 0, unpack_bzip2 },
	// The frame that kernels are packed with, not that of .lz4 files.
	{ "\x02\x21\x4c\x18", 4, 0, unpack_lz4 },
	{ "HdrS", 4, 0x202, unpack_bzimage },
	{ "\x5d\0\0", 3, 0, unpack_lzma },
};

static const struct form_def *form_of(const void *bytes, size_t size)
{
	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
		const struct form_def *form = &forms[i];
		if (size >= form->at + form->size &&
		    !memcmp((const uint8_t *)bytes + form->at, form->magic, form->size))
			return form;
	}
	return NULL;
}

// Documentation/arch/x86/boot.rst: setup_sects at 0x1f1, version at 0x206, and since 2.08
// payload_offset at 0x248 (counted from the protected-mode code) and payload_length at 0x24c.
static struct imp_error *unpack_bzimage(const void *bytes, size_t size, size_t limit,
					struct buffer *ret)
{
	struct cursor cursor = cursor_over(bytes, size);
	cursor.swap = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	cursor_skip(&cursor, 0x1f1);
	uint64_t sectors = cursor_u8(&cursor);
	cursor_skip(&cursor, 0x206 - 0x1f2);
	uint16_t version = cursor_u16(&cursor);
	cursor_skip(&cursor, 0x248 - 0x208);
	uint64_t offset = cursor_u32(&cursor);
	uint64_t length = cursor_u32(&cursor);
	if (cursor.failed)
		return cursor_error(&cursor, "bzImage header");
	if (version < 0x208)
		return error_new(IMP_ERR_UNSUPPORTED, "bzImage of boot protocol %u.%02u",
				 version >> 8, version & 0xff);
	offset += ((sectors ? sectors : 4) + 1) * 512;
	if (offset > size || length > size - offset)
		return error_new(IMP_ERR_BAD_DATA, "the payload of the bzImage is cut off");
	const uint8_t *payload = (const uint8_t *)bytes + offset;
	const struct form_def *form = form_of(payload, (size_t)length);
	if (!form || form->unpack == unpack_bzimage)
		return error_new(IMP_ERR_UNSUPPORTED,
				 "the bzImage is compressed in a way that is not known");
	return form->unpack(payload, (size_t)length, limit, ret);
}

bool unpack_knows(const void *bytes, size_t size)
{
	return form_of(bytes, size) != NULL;
}

struct imp_error *unpack(const void *bytes, size_t size, size_t limit, struct buffer *ret)
{
	const struct form_def *form = form_of(bytes, size);
	if (!form)
		return error_new(IMP_ERR_UNSUPPORTED, "no compression that is known");
	return form->unpack(bytes, size, limit, ret);
}
