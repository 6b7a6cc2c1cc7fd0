// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Frames by libzstd's simple interface: a frame knows how much it holds.
#include "archive/zstd_frame.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/file.h"

// Smaller than bzip2's -9 makes of programs and their debug files. It is done once for each build.
enum { LEVEL = 7 };

struct frame_method frame_method(void)
{
	struct frame_method method;
	(void)snprintf(method.text, sizeof method.text, "zstd%u-%d", ZSTD_versionNumber(), LEVEL);
	return method;
}

void frame_packer_fini(struct frame_packer *packer)
{
	(void)ZSTD_freeCCtx(packer->zstd);
	free(packer->room);
	free(packer->out);
}

struct imp_error *frame_packer_read(struct frame_packer *packer, int fd, const char *name,
				    uint64_t offset, size_t size)
{
	if (!packer->room && !(packer->room = malloc(FRAME_MOST_BYTES)))
		return &imp_error_no_memory;
	size_t got;
	struct imp_error *err = file_pread(fd, name, packer->room, size, offset, &got);
	if (!err && got < size)
		err = error_new(IMP_ERR_SYSTEM, "%s: became shorter while it was read", name);
	return err;
}

static struct imp_error *begin(struct frame_packer *packer)
{
	if (packer->out)
		return NULL;
	ZSTD_CCtx *zstd = packer->zstd ? packer->zstd : ZSTD_createCCtx();
	packer->zstd = zstd;
	if (!zstd || ZSTD_isError(ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, LEVEL)) ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(zstd, ZSTD_c_checksumFlag, 1)))
		return &imp_error_no_memory;
	packer->out = malloc(ZSTD_compressBound(FRAME_MOST_BYTES));
	return packer->out ? NULL : &imp_error_no_memory;
}

struct imp_error *frame_packer_pack(struct frame_packer *packer, const void *bytes, size_t size,
				    struct frame *ret)
{
	struct imp_error *err = begin(packer);
	if (err)
		return err;
	size_t made = ZSTD_compress2(packer->zstd, packer->out,
				     ZSTD_compressBound(FRAME_MOST_BYTES), bytes, size);
	if (ZSTD_isError(made))
		return error_new(IMP_ERR_SYSTEM, "zstd: %s", ZSTD_getErrorName(made));
	ret->bytes = malloc(made);
	if (!ret->bytes)
		return &imp_error_no_memory;
	memcpy(ret->bytes, packer->out, made);
	ret->size = made;
	return NULL;
}
