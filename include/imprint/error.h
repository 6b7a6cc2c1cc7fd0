/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The one error type: a stable code and a message that reads from the outside in. */
#ifndef IMPRINT_ERROR_H
#define IMPRINT_ERROR_H

#ifdef __cplusplus
extern "C" {
#endif

#ifndef IMP_API
#define IMP_API __attribute__((visibility("default")))
#endif

enum imp_error_code {
	IMP_ERR_NO_MEMORY = 1,
	/* A system call failed; the message ends with its reason. */
	IMP_ERR_SYSTEM,
	/* Foreign bytes that cannot be what they claim to be. */
	IMP_ERR_BAD_DATA,
	/* Two things that had to be the same build, are not. */
	IMP_ERR_MISMATCH,
	/* Well formed, but nothing this build can read or do. */
	IMP_ERR_UNSUPPORTED,
	/* The caller asked for something that makes no sense. */
	IMP_ERR_USAGE,
};

struct imp_error;

/* The code of ERROR. */
IMP_API enum imp_error_code imp_error_code(const struct imp_error *error);

/* One line without a newline, lent by ERROR. */
IMP_API const char *imp_error_message(const struct imp_error *error);

/* Gives ERROR back; NULL is allowed. */
IMP_API void imp_error_free(struct imp_error *error);

#ifdef __cplusplus
}
#endif

#endif
