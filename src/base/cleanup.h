// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Guards: what a scope owns is given back when the scope ends.
#ifndef BASE_CLEANUP_H
#define BASE_CLEANUP_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

// Defines cleanup_NAME(TYPE *), which calls FREE on a guarded variable that is not zero.
#define DEFINE_CLEANUP(type, name, free_function)        \
	static inline void cleanup_##name(type *guarded) \
	{                                                \
		if (*guarded)                            \
			(void)free_function(*guarded);   \
	}

static inline void cleanup_free(void *guarded)
{
	free(*(void **)guarded);
}

static inline void cleanup_close(const int *guarded)
{
	if (*guarded >= 0)
		(void)close(*guarded);
}

DEFINE_CLEANUP(FILE *, file, fclose)
DEFINE_CLEANUP(DIR *, dir, closedir)

#define _cleanup_free_ __attribute__((cleanup(cleanup_free)))
#define _cleanup_close_ __attribute__((cleanup(cleanup_close)))
#define _cleanup_file_ __attribute__((cleanup(cleanup_file)))
#define _cleanup_dir_ __attribute__((cleanup(cleanup_dir)))
#define _cleanup_(function) __attribute__((cleanup(function)))

// Takes what a guarded variable owns out of its guard.
#define steal(variable)                                 \
	__extension__({                                 \
		__typeof__(variable) stolen = variable; \
		(variable) = NULL;                      \
		stolen;                                 \
	})

static inline int steal_fd(int *guarded)
{
	int fd = *guarded;
	*guarded = -1;
	return fd;
}

#endif
