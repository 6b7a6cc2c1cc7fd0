// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The name of a file that has no build ID: the SHA-256 of its content.
#ifndef ENVIRONMENT_CONTENT_HASH_H
#define ENVIRONMENT_CONTENT_HASH_H

#include <stdbool.h>
#include <stdint.h>

// Hashes the whole of FD into HASH of 32 bytes. False when it cannot be read, or is no regular
// file.
bool content_hash_of(int fd, uint8_t *hash);

#endif
