// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
#include "serve/serve.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "harness/tap.h"
#include "unit/serve/client.h"

static const uint8_t id_a[20] = { 0xaa, 1, 2, 3 };
static const uint8_t id_b[20] = { 0xbb, 1, 2, 3 };
static const char executable_a[] = "/buildid/aa01020300000000000000000000000000000000/executable";
static const char debuginfo_a[] = "/buildid/aa01020300000000000000000000000000000000/debuginfo";
static const char executable_b[] = "/buildid/bb01020300000000000000000000000000000000/executable";

static bool can_serve(void)
{
	if (!serve_is_built_in())
		tap_skip("built without serving");
	return serve_is_built_in();
}

// The status of a GET; the answer stays in ANSWER.
static unsigned get(const struct scene *scene, const char *target, const char *headers,
		    struct buffer *answer)
{
	client_get(serve_url(scene->server), target, headers, answer);
	return answer_status(answer);
}

static bool body_is(const struct buffer *answer, const uint8_t *bytes, size_t size)
{
	size_t got;
	const char *body = answer_body(answer, &got);
	return got == size && !memcmp(body, bytes, size);
}

TEST(a_file_is_served_whole_with_its_name_and_size)
{
	struct scene scene;
	_cleanup_buffer_ struct buffer library = { 0 }, answer = { 0 };
	if (!can_serve())
		return;
	scene_init(&scene);
	scene_add(&scene, id_a, 20, "a_", &library);
	scene_start(&scene);
	CHECK_UINT(get(&scene, executable_a, "", &answer), 200);
	CHECK(body_is(&answer, library.bytes, library.size));
	CHECK_UINT(atoi(answer_header(&answer, "X-DEBUGINFOD-SIZE")), library.size);
	CHECK_UINT(atoi(answer_header(&answer, "Content-Length")), library.size);
	CHECK_TEXT(answer_header(&answer, "X-DEBUGINFOD-FILE"), "lib%20x%0A.so");
	CHECK_TEXT(answer_header(&answer, "Accept-Ranges"), "bytes");
	CHECK_TEXT(answer_header(&answer, "Content-Type"), "application/octet-stream");
	CHECK_UINT(get(&scene, debuginfo_a, "", &answer), 200);
	CHECK_UINT(get(&scene, executable_b, "", &answer), 404);
	scene_fini(&scene);
}

TEST(ranges_are_answered_by_their_bytes)
{
	struct scene scene;
	_cleanup_buffer_ struct buffer library = { 0 }, answer = { 0 };
	if (!can_serve())
		return;
	scene_init(&scene);
	scene_add(&scene, id_a, 20, "a_", &library);
	scene_start(&scene);
	CHECK_UINT(get(&scene, executable_a, "Range: bytes=16-31\r\n", &answer), 206);
	CHECK(body_is(&answer, library.bytes + 16, 16));
	char expected[64];
	snprintf(expected, sizeof expected, "bytes 16-31/%zu", library.size);
	CHECK_TEXT(answer_header(&answer, "Content-Range"), expected);
	CHECK_UINT(get(&scene, executable_a, "Range: bytes=-5\r\n", &answer), 206);
	CHECK(body_is(&answer, library.bytes + library.size - 5, 5));
	CHECK_UINT(get(&scene, executable_a, "Range: bytes=99999999-\r\n", &answer), 416);
	snprintf(expected, sizeof expected, "bytes */%zu", library.size);
	CHECK_TEXT(answer_header(&answer, "Content-Range"), expected);
	CHECK_UINT(get(&scene, executable_a, "Range: bytes=1-2,4-5\r\n", &answer), 200);
	CHECK_UINT(
		get(&scene, executable_a, "Range: bytes=1-2\r\nIf-Range: \"other\"\r\n", &answer),
		200);
	scene_fini(&scene);
}

TEST(the_tag_is_the_content_and_spares_the_bytes)
{
	struct scene scene;
	_cleanup_buffer_ struct buffer library = { 0 }, answer = { 0 };
	if (!can_serve())
		return;
	scene_init(&scene);
	scene_add(&scene, id_a, 20, "a_", &library);
	scene_start(&scene);
	CHECK_UINT(get(&scene, executable_a, "", &answer), 200);
	char tag[STORE_HASH_TEXT_SIZE + 2], headers[512];
	struct store_hash hash;
	CHECK_OK(store_hash_of_memory(library.bytes, library.size, &hash));
	snprintf(tag, sizeof tag, "\"%s\"", store_hash_text(&hash).text);
	CHECK_TEXT(answer_header(&answer, "ETag"), tag);
	snprintf(headers, sizeof headers, "If-None-Match: %s\r\n", tag);
	CHECK_UINT(get(&scene, executable_a, headers, &answer), 304);
	CHECK(body_is(&answer, library.bytes, 0));
	CHECK_TEXT(answer_header(&answer, "ETag"), tag);
	snprintf(headers, sizeof headers, "If-Match: %s\r\nRange: bytes=0-3\r\nIf-Range: %s\r\n",
		 tag, tag);
	CHECK_UINT(get(&scene, executable_a, headers, &answer), 206);
	CHECK_UINT(get(&scene, executable_a, "If-Match: \"other\"\r\n", &answer), 412);
	CHECK_UINT(get(&scene, executable_a, "X-DEBUGINFOD-MAXSIZE: 10\r\n", &answer), 406);
	CHECK_UINT(get(&scene, executable_a, "X-DEBUGINFOD-MAXSIZE: 10000000\r\n", &answer), 200);
	scene_fini(&scene);
}

TEST(head_tells_all_but_the_bytes_and_other_methods_are_refused)
{
	static const char head[] = "HEAD %s HTTP/1.1\r\nHost: x\r\nRange: bytes=0-3\r\n"
				   "Connection: close\r\n\r\n";
	static const char post[] = "POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc";
	static const char put[] = "DELETE %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
	struct scene scene;
	_cleanup_buffer_ struct buffer library = { 0 }, answer = { 0 };
	char request[512];
	if (!can_serve())
		return;
	scene_init(&scene);
	scene_add(&scene, id_a, 20, "a_", &library);
	scene_start(&scene);
	int length = snprintf(request, sizeof request, head, executable_a);
	client_exchange(serve_url(scene.server), request, (size_t)length, &answer);
	CHECK_UINT(answer_status(&answer), 200);
	CHECK_UINT(atoi(answer_header(&answer, "Content-Length")), library.size);
	CHECK(body_is(&answer, library.bytes, 0));
	answer.size = 0;
	length = snprintf(request, sizeof request, post, executable_a);
	client_exchange(serve_url(scene.server), request, (size_t)length, &answer);
	CHECK_UINT(answer_status(&answer), 413);
	answer.size = 0;
	length = snprintf(request, sizeof request, put, executable_a);
	client_exchange(serve_url(scene.server), request, (size_t)length, &answer);
	CHECK_UINT(answer_status(&answer), 405);
	CHECK_TEXT(answer_header(&answer, "Allow"), "GET, HEAD");
	scene_fini(&scene);
}

TEST(a_section_is_served_as_it_stands_in_the_file)
{
	struct scene scene;
	_cleanup_buffer_ struct buffer library = { 0 }, answer = { 0 };
	if (!can_serve())
		return;
	scene_init(&scene);
	scene_add(&scene, id_a, 20, "a_", &library);
	scene_start(&scene);
	CHECK_UINT(get(&scene,
		       "/buildid/aa01020300000000000000000000000000000000/section/.shstrtab", "",
		       &answer),
		   200);
	size_t size;
	const char *body = answer_body(&answer, &size);
	CHECK(size > 10 && !body[0] && memmem(body, size, ".shstrtab", 10));
	CHECK(strstr(answer_header(&answer, "ETag"), "-.shstrtab\""));
	CHECK_UINT(get(&scene, "/buildid/aa01020300000000000000000000000000000000/section/.none",
		       "", &answer),
		   404);
	scene_fini(&scene);
}

TEST(what_is_damaged_or_of_another_build_is_not_served)
{
	struct scene scene;
	_cleanup_buffer_ struct buffer library = { 0 }, answer = { 0 };
	if (!can_serve())
		return;
	scene_init(&scene);
	scene_add(&scene, id_a, 20, "a_", &library);
	// A file of A under the ID of B.
	const struct store_item item = { .id = build_id_of(id_b, 20), .role = STORE_EXECUTABLE };
	CHECK_OK(store_add_memory(scene.store, &item, library.bytes, library.size, NULL));
	struct store_objects objects = { 0 };
	const struct build_id a = build_id_of(id_a, 20);
	CHECK_OK(store_find_all(scene.store, &a, &objects));
	REQUIRE(objects.count == 1);
	_cleanup_free_ char *path = store_object_path(scene.store, &objects.items[0]);
	REQUIRE(chmod(path, 0600) == 0);
	FILE *file = fopen(path, "r+");
	REQUIRE(file);
	CHECK(fseek(file, 100, SEEK_SET) == 0 && fputs("damage", file) >= 0 && fclose(file) == 0);
	store_objects_fini(&objects);
	scene_start(&scene);
	CHECK_UINT(get(&scene, executable_a, "", &answer), 404);
	CHECK_UINT(get(&scene, executable_b, "", &answer), 404);
	scene_fini(&scene);
}

TEST(path_tricks_are_not_found)
{
	static const char *const targets[] = {
		"/",
		"/etc/passwd",
		"/../../../../etc/passwd",
		"/buildid/../../../etc/passwd",
		"/buildid/aa01020300000000000000000000000000000000",
		"/buildid/aa01020300000000000000000000000000000000/executable/",
		"/buildid/aa01020300000000000000000000000000000000/executable/../debuginfo",
		"/buildid/aa01020300000000000000000000000000000000/executable%00",
		"/buildid/aa01020300000000000000000000000000000000%2fexecutable",
		"/buildid/aa01020300000000000000000000000000000000/source/etc/passwd",
		"/buildid/aa01020300000000000000000000000000000000/source/../../etc/passwd",
		"/buildid/aa01020300000000000000000000000000000000/source/%2e%2e/%2e%2e/etc/passwd",
		"/buildid/aa01020300000000000000000000000000000000/section/..%2f..%2fetc%2fpasswd",
		"/buildid/aa/executable",
		"/.imprint/version",
		"/buildid/%2e%2e/executable",
	};
	struct scene scene;
	_cleanup_buffer_ struct buffer answer = { 0 };
	if (!can_serve())
		return;
	scene_init(&scene);
	scene_add(&scene, id_a, 20, "a_", NULL);
	scene_start(&scene);
	for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
		CHECK_UINT(get(&scene, targets[i], "", &answer), 404);
	scene_fini(&scene);
}

// The same pseudo-random numbers each time.
static uint32_t next_random(uint32_t *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 8;
}

// A good request with some bytes changed, cut or doubled; or no request at all.
static void make_garbage(uint32_t *state, struct buffer *ret)
{
	buffer_format(
		ret,
		"GET %s HTTP/1.1\r\nHost: x\r\nRange: bytes=1-2\r\nIf-None-Match: \"a\"\r\n\r\n",
		executable_a);
	for (uint32_t changes = next_random(state) % 8; changes; changes--)
		ret->bytes[next_random(state) % ret->size] = (uint8_t)next_random(state);
	switch (next_random(state) % 4) {
	case 0:
		ret->size = next_random(state) % ret->size;
		break;
	case 1:
		for (size_t i = 0; i < ret->size; i++)
			ret->bytes[i] = (uint8_t)next_random(state);
		break;
	case 2:
		for (unsigned i = next_random(state) % 20000; i; i--)
			buffer_append(ret, i % 3 ? "%" : "a", 1);
		break;
	default:
		break;
	}
}

TEST(garbage_never_kills_it)
{
	enum { ROUNDS = 1500 };
	struct scene scene;
	_cleanup_buffer_ struct buffer library = { 0 }, answer = { 0 };
	uint32_t state = 1;
	if (!can_serve())
		return;
	scene_init(&scene);
	scene.options.silence_s = 5;
	scene_add(&scene, id_a, 20, "a_", &library);
	scene_start(&scene);
	for (unsigned i = 0; i < ROUNDS; i++) {
		_cleanup_buffer_ struct buffer garbage = { 0 };
		make_garbage(&state, &garbage);
		answer.size = 0;
		client_exchange(serve_url(scene.server), garbage.bytes, garbage.size, &answer);
		// Whatever it is, an answer is HTTP.
		CHECK(!answer.size || !strncmp((char *)answer.bytes, "HTTP/1.", 7));
	}
	CHECK_UINT(get(&scene, executable_a, "", &answer), 200);
	CHECK(body_is(&answer, library.bytes, library.size));
	scene_fini(&scene);
}

TEST(a_head_without_end_is_cut_off)
{
	struct scene scene;
	_cleanup_buffer_ struct buffer answer = { 0 };
	if (!can_serve())
		return;
	scene_init(&scene);
	scene_start(&scene);
	int fd = client_connect(serve_url(scene.server));
	CHECK(client_send(fd, "GET / HTTP/1.1\r\n", 16));
	size_t sent = 0;
	while (sent < 64 << 20 && client_send(fd, "X-Header: nothing\r\n", 19))
		sent += 19;
	CHECK(sent < 64 << 20);
	close(fd);
	CHECK_UINT(get(&scene, "/metrics", "", &answer), 200);
	scene_fini(&scene);
}

TEST(who_drips_is_cut_off)
{
	struct scene scene;
	if (!can_serve())
		return;
	scene_init(&scene);
	scene.options.silence_s = 1;
	scene_start(&scene);
	int fd = client_connect(serve_url(scene.server));
	bool is_open = client_send(fd, "GET /", 5);
	CHECK(is_open);
	// A byte every tenth of a second, so never silent; a minute of it would be far too much.
	for (unsigned i = 0; i < 600 && is_open; i++) {
		struct timespec tenth = { .tv_nsec = 100000000 };
		(void)nanosleep(&tenth, NULL);
		is_open = client_send(fd, "a", 1);
	}
	CHECK(!is_open);
	close(fd);
	scene_fini(&scene);
}

TEST(connections_beyond_the_limit_are_closed_and_others_live)
{
	enum { LIMIT = 4 };
	struct scene scene;
	_cleanup_buffer_ struct buffer answer = { 0 };
	int held[LIMIT];
	if (!can_serve())
		return;
	scene_init(&scene);
	scene.options.connections = LIMIT;
	scene_start(&scene);
	for (size_t i = 0; i < LIMIT; i++) {
		held[i] = client_connect(serve_url(scene.server));
		CHECK(client_send(held[i], "GET", 3));
	}
	// It is closed without an answer, or waits until a place is free.
	int extra = client_connect(serve_url(scene.server));
	char byte;
	const struct timeval moment = { .tv_sec = 1 };
	(void)setsockopt(extra, SOL_SOCKET, SO_RCVTIMEO, &moment, sizeof moment);
	(void)client_send(extra, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", 34);
	CHECK(recv(extra, &byte, 1, 0) <= 0);
	close(extra);
	for (size_t i = 0; i < LIMIT; i++)
		close(held[i]);
	// The places are free once the server has seen that.
	for (unsigned i = 0; i < 600 && get(&scene, "/metrics", "", &answer) != 200; i++) {
		struct timespec tenth = { .tv_nsec = 100000000 };
		(void)nanosleep(&tenth, NULL);
	}
	CHECK_UINT(answer_status(&answer), 200);
	scene_fini(&scene);
}

TEST(metrics_count_what_was_answered)
{
	struct scene scene;
	_cleanup_buffer_ struct buffer answer = { 0 };
	if (!can_serve())
		return;
	scene_init(&scene);
	scene_add(&scene, id_a, 20, "a_", NULL);
	scene_start(&scene);
	get(&scene, executable_a, "", &answer);
	get(&scene, executable_b, "", &answer);
	get(&scene, "/nonsense", "", &answer);
	CHECK_UINT(get(&scene, "/metrics", "", &answer), 200);
	size_t size;
	const char *body = answer_body(&answer, &size);
	CHECK(strstr(body, "http_requests_total{type=\"executable\"} 2\n"));
	CHECK(strstr(body, "http_requests_total{type=\"other\"} 1\n"));
	CHECK(strstr(body, "http_responses_total{result=\"200\"} 1\n"));
	CHECK(strstr(body, "http_responses_total{result=\"404\"} 2\n"));
	scene_fini(&scene);
}

TEST(stopping_does_not_wait_for_who_is_silent)
{
	struct scene scene;
	if (!can_serve())
		return;
	scene_init(&scene);
	scene.options.silence_s = 3600;
	scene_start(&scene);
	int silent = client_connect(serve_url(scene.server));
	int half = client_connect(serve_url(scene.server));
	CHECK(client_send(half, "GET /", 5));
	scene_fini(&scene);
	close(silent);
	close(half);
}
