// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Sockets and answers.
#include "unit/serve/client.h"

#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "harness/tap.h"
#include "make/elf.h"

void scene_init(struct scene *scene)
{
	*scene = (struct scene){ .dir = make_directory() };
	char path[256];
	snprintf(path, sizeof path, "%s/store", scene->dir);
	if (!tap_check_ok(__FILE__, __LINE__, "store_open",
			  store_open(path, STORE_WRITE, NULL, &scene->store)))
		abort();
	scene->options.store = scene->store;
	scene->options.address = "0";
	scene->options.scratch_dir = scene->dir;
}

void scene_start(struct scene *scene)
{
	if (!tap_check_ok(__FILE__, __LINE__, "serve_start",
			  serve_start(&scene->options, &scene->server)))
		abort();
}

void scene_fini(struct scene *scene)
{
	serve_stop(scene->server);
	store_free(scene->store);
	make_directory_free(scene->dir);
}

void scene_add(struct scene *scene, const void *id, uint32_t size, const char *prefix,
	       struct buffer *bytes)
{
	_cleanup_buffer_ struct buffer library = { 0 };
	make_library(id, size, prefix, &library);
	const struct store_item item = { .id = build_id_of(id, size),
					 .role = STORE_EXECUTABLE,
					 .rank = STORE_SYMTAB,
					 .path = "/usr/lib/lib x\n.so" };
	if (!tap_check_ok(__FILE__, __LINE__, "store_add_memory",
			  store_add_memory(scene->store, &item, library.bytes, library.size, NULL)))
		abort();
	if (bytes)
		buffer_append(bytes, library.bytes, library.size);
}

int client_connect(const char *url)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	address.sin_port = htons((uint16_t)atoi(strrchr(url, ':') + 1));
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	// A test that waits for ever is a test that fails.
	const struct timeval patience = { .tv_sec = 60 };
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) ||
	    connect(fd, (struct sockaddr *)&address, sizeof address))
		abort();
	return fd;
}

bool client_send(int fd, const void *bytes, size_t size)
{
	const char *at = bytes;
	while (size) {
		ssize_t sent = send(fd, at, size, MSG_NOSIGNAL);
		if (sent <= 0)
			return false;
		at += sent;
		size -= (size_t)sent;
	}
	return true;
}

void client_read(int fd, struct buffer *ret)
{
	char bytes[16384];
	for (ssize_t got; (got = recv(fd, bytes, sizeof bytes, 0)) > 0;)
		buffer_append(ret, bytes, (size_t)got);
	buffer_append(ret, "", 1);
	ret->size--;
}

void client_exchange(const char *url, const void *bytes, size_t size, struct buffer *ret)
{
	int fd = client_connect(url);
	(void)client_send(fd, bytes, size);
	(void)shutdown(fd, SHUT_WR);
	client_read(fd, ret);
	close(fd);
}

void client_get(const char *url, const char *target, const char *headers, struct buffer *ret)
{
	_cleanup_buffer_ struct buffer request = { 0 };
	buffer_format(&request, "GET %s HTTP/1.1\r\nHost: x\r\n%sConnection: close\r\n\r\n", target,
		      headers);
	ret->size = 0;
	int fd = client_connect(url);
	(void)client_send(fd, request.bytes, request.size);
	client_read(fd, ret);
	close(fd);
}

unsigned answer_status(const struct buffer *answer)
{
	unsigned status = 0;
	return sscanf((const char *)answer->bytes, "HTTP/1.1 %u", &status) == 1 ? status : 0;
}

const char *answer_header(const struct buffer *answer, const char *name)
{
	static char value[2048];
	const char *at = (const char *)answer->bytes;
	const char *end = strstr(at, "\r\n\r\n");
	for (; end && at < end && (at = strstr(at, "\r\n")) && at < end;) {
		at += 2;
		size_t length = strlen(name);
		if (strncasecmp(at, name, length) != 0 || at[length] != ':')
			continue;
		at += length + 2;
		snprintf(value, sizeof value, "%.*s", (int)strcspn(at, "\r"), at);
		return value;
	}
	return "";
}

const char *answer_body(const struct buffer *answer, size_t *size)
{
	const char *text = (const char *)answer->bytes;
	const char *end = strstr(text, "\r\n\r\n");
	const char *body = end ? end + 4 : text + answer->size;
	*size = (size_t)(text + answer->size - body);
	return body;
}
