// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
#include "serve/upstream.h"

#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "find/fetch.h"
#include "harness/tap.h"
#include "make/elf.h"
#include "unit/serve/client.h"

static const uint8_t id_a[20] = { 0xaa, 1, 2, 3 };
static const uint8_t id_b[20] = { 0xbb, 1, 2, 3 };
static const char executable_a[] = "/buildid/aa01020300000000000000000000000000000000/executable";
static const char executable_b[] = "/buildid/bb01020300000000000000000000000000000000/executable";

static bool can_ask(void)
{
	bool can = serve_is_built_in() && fetch_is_built_in();
	if (!can)
		tap_skip("built without serving or fetching");
	return can;
}

static size_t objects_of(const struct scene *scene, const uint8_t *id)
{
	_cleanup_store_objects_ struct store_objects objects = { 0 };
	const struct build_id wanted = build_id_of(id, 20);
	CHECK_OK(store_find_all(scene->store, &wanted, &objects));
	return objects.count;
}

TEST(what_an_upstream_has_is_kept_and_served)
{
	struct scene far, near;
	_cleanup_buffer_ struct buffer library = { 0 }, answer = { 0 };
	if (!can_ask())
		return;
	scene_init(&far);
	scene_add(&far, id_a, 20, "a_", &library);
	scene_start(&far);
	scene_init(&near);
	const char *const upstreams[] = { serve_url(far.server), NULL };
	near.options.upstreams = upstreams;
	scene_start(&near);
	client_get(serve_url(near.server), executable_a, "", &answer);
	CHECK_UINT(answer_status(&answer), 200);
	size_t size;
	const char *body = answer_body(&answer, &size);
	CHECK(size == library.size && !memcmp(body, library.bytes, size));
	CHECK_UINT(objects_of(&near, id_a), 1);
	client_get(serve_url(near.server), executable_b, "", &answer);
	CHECK_UINT(answer_status(&answer), 404);
	// From now on without it.
	serve_stop(far.server);
	far.server = NULL;
	client_get(serve_url(near.server), executable_a, "", &answer);
	CHECK_UINT(answer_status(&answer), 200);
	scene_fini(&near);
	scene_fini(&far);
}

// A listening socket at a port of its own, whose URL is written to URL.
static int listen_anywhere(char *url, size_t size)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	socklen_t length = sizeof address;
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) || listen(fd, 16) ||
	    getsockname(fd, (struct sockaddr *)&address, &length))
		abort();
	snprintf(url, size, "http://127.0.0.1:%d", ntohs(address.sin_port));
	return fd;
}

TEST(an_upstream_that_cannot_be_reached_is_no_answer)
{
	struct scene near;
	char url[64];
	_cleanup_buffer_ struct buffer answer = { 0 };
	if (!can_ask())
		return;
	close(listen_anywhere(url, sizeof url));
	scene_init(&near);
	const char *const upstreams[] = { url, NULL };
	near.options.upstreams = upstreams;
	scene_add(&near, id_a, 20, "a_", NULL);
	scene_start(&near);
	client_get(serve_url(near.server), executable_b, "", &answer);
	CHECK_UINT(answer_status(&answer), 502);
	client_get(serve_url(near.server), executable_a, "", &answer);
	CHECK_UINT(answer_status(&answer), 200);
	// No DWARF here, none to be had there: what there is serves.
	client_get(serve_url(near.server),
		   "/buildid/aa01020300000000000000000000000000000000/debuginfo", "", &answer);
	CHECK_UINT(answer_status(&answer), 200);
	scene_fini(&near);
}

TEST(another_build_is_neither_kept_nor_served)
{
	struct scene near;
	char url[64];
	_cleanup_buffer_ struct buffer answer = { 0 }, library = { 0 }, reply = { 0 };
	if (!can_ask())
		return;
	int listener = listen_anywhere(url, sizeof url);
	scene_init(&near);
	const char *const upstreams[] = { url, NULL };
	near.options.upstreams = upstreams;
	scene_start(&near);
	int client = client_connect(serve_url(near.server));
	char request[256];
	int length = snprintf(request, sizeof request,
			      "GET %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
			      executable_a);
	CHECK(client_send(client, request, (size_t)length));
	int asked = accept(listener, NULL, NULL);
	char question[2048] = "";
	CHECK(recv(asked, question, sizeof question - 1, 0) > 0);
	CHECK(strstr(question, "Via: 1.1 imprint-") &&
	      strstr(question, "X-Forwarded-For: 127.0.0.1"));
	make_library(id_b, 20, "b_", &library);
	buffer_format(&reply, "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n",
		      library.size);
	buffer_append(&reply, library.bytes, library.size);
	CHECK(client_send(asked, reply.bytes, reply.size));
	close(asked);
	client_read(client, &answer);
	close(client);
	CHECK_UINT(answer_status(&answer), 502);
	CHECK_UINT(objects_of(&near, id_a), 0);
	CHECK_UINT(objects_of(&near, id_b), 0);
	close(listener);
	scene_fini(&near);
}

TEST(a_question_that_comes_back_is_not_asked_again)
{
	struct scene one, two;
	char url[64];
	_cleanup_buffer_ struct buffer answer = { 0 };
	if (!can_ask())
		return;
	// The port is free again when the second server takes it.
	close(listen_anywhere(url, sizeof url));
	scene_init(&one);
	const char *const second[] = { url, NULL };
	one.options.upstreams = second;
	scene_start(&one);
	scene_init(&two);
	const char *const first[] = { serve_url(one.server), NULL };
	two.options.upstreams = first;
	two.options.address = strrchr(url, ':') + 1;
	scene_start(&two);
	client_get(serve_url(one.server), executable_a, "", &answer);
	CHECK_UINT(answer_status(&answer), 404);
	client_get(serve_url(two.server), executable_b, "", &answer);
	CHECK_UINT(answer_status(&answer), 404);
	scene_fini(&two);
	scene_fini(&one);
}

TEST(stopping_does_not_wait_for_an_upstream_that_is_silent)
{
	struct scene near;
	char url[64], request[256];
	if (!can_ask())
		return;
	int listener = listen_anywhere(url, sizeof url);
	scene_init(&near);
	const char *const upstreams[] = { url, NULL };
	near.options.upstreams = upstreams;
	near.options.upstream_s = 3600;
	scene_start(&near);
	int client = client_connect(serve_url(near.server));
	int length = snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n",
			      executable_a);
	CHECK(client_send(client, request, (size_t)length));
	// It is being asked now.
	int asked = accept(listener, NULL, NULL);
	scene_fini(&near);
	close(asked);
	close(client);
	close(listener);
}
