// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// A store with a server over it, and a client that sends any bytes.
#ifndef UNIT_SERVE_CLIENT_H
#define UNIT_SERVE_CLIENT_H

#include "base/buffer.h"
#include "serve/serve.h"
#include "store/store.h"

struct scene {
	char *dir;
	struct store *store;
	struct serve_options options;
	struct server *server;
};

// Makes the store; the server is not started yet, so that options can be changed.
void scene_init(struct scene *scene);
void scene_start(struct scene *scene);
void scene_fini(struct scene *scene);

// Adds the library that make_library() makes of the ID's SIZE bytes, as ITEM's role and rank say,
// under ID. Its bytes are appended to BYTES when that is not NULL.
void scene_add(struct scene *scene, const void *id, uint32_t size, const char *prefix,
	       struct buffer *bytes);

// A new connection to the server at URL; the test program stops when there is none.
int client_connect(const char *url);
// Sends all of TEXT; false when the other side has closed.
bool client_send(int fd, const void *bytes, size_t size);
// All that comes until the other side closes, with a NUL behind it.
void client_read(int fd, struct buffer *ret);

// Sends SIZE bytes over a connection of their own and reads until it is closed.
void client_exchange(const char *url, const void *bytes, size_t size, struct buffer *ret);

// A GET for TARGET with further header lines (each with its CRLF).
void client_get(const char *url, const char *target, const char *headers, struct buffer *ret);

// Of an answer: its status (0: none), the value of a header ("" without), and its body.
unsigned answer_status(const struct buffer *answer);
const char *answer_header(const struct buffer *answer, const char *name);
const char *answer_body(const struct buffer *answer, size_t *size);

#endif
