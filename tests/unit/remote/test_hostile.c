// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "harness/tap.h"
#include "make/elf.h"
#include "remote/remote.h"
#include "store/layout.h"
#include "store/store.h"

static const uint8_t id_a[20] = { 0xaa, 1, 2, 3 };

enum habit {
	// Takes connections and never says a word.
	SILENT,
	// 500 always.
	BROKEN,
	// Sends every request elsewhere.
	REDIRECTS,
	// Every page of its list says that there is another one.
	LISTS_WITHOUT_END,
	// A list of more bytes than any page has.
	FLOODS,
	// Lists the library as smaller than it is.
	SENDS_MORE,
	// Lists the library as larger than it is.
	SENDS_LESS,
	// Has what it says.
	HONEST,
};

// A bucket on loopback, in a thread of its own.
struct bucket {
	enum habit habit;
	int listener, stop[2];
	pthread_t thread;
	char url[64];
	struct buffer library;
	char key[512];
	atomic_uint requests;
};

static void send_all(int fd, const void *bytes, size_t size)
{
	const char *at = bytes;
	while (size) {
		ssize_t sent = send(fd, at, size, MSG_NOSIGNAL);
		if (sent <= 0)
			return;
		at += sent;
		size -= (size_t)sent;
	}
}

static void send_text(int fd, const char *status, const void *bytes, size_t size)
{
	_cleanup_buffer_ struct buffer answer = { 0 };
	buffer_format(&answer, "HTTP/1.1 %s\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n",
		      status, size);
	buffer_append(&answer, bytes, size);
	send_all(fd, answer.bytes, answer.size);
}

static void list(struct bucket *bucket, int fd)
{
	_cleanup_buffer_ struct buffer xml = { 0 };
	long change = bucket->habit == SENDS_MORE ? -100 : bucket->habit == SENDS_LESS ? 100 : 0;
	bool is_endless = bucket->habit == LISTS_WITHOUT_END;
	buffer_text(&xml, "<ListBucketResult>");
	for (unsigned i = 0; bucket->habit == FLOODS && i < 400000; i++)
		buffer_text(&xml, "<Owner>nobody</Owner>");
	buffer_format(
		&xml,
		"<Contents><Key>%s</Key><Size>%ld</Size></Contents><IsTruncated>%s</IsTruncated>",
		bucket->key, (long)bucket->library.size + change, is_endless ? "true" : "false");
	if (is_endless)
		buffer_text(&xml, "<NextContinuationToken>more</NextContinuationToken>");
	buffer_text(&xml, "</ListBucketResult>");
	send_text(fd, "200 OK", xml.bytes, xml.size);
}

static void reply(struct bucket *bucket, int fd)
{
	char request[4096] = "";
	if (recv(fd, request, sizeof request - 1, 0) <= 0)
		return;
	atomic_fetch_add(&bucket->requests, 1);
	if (bucket->habit == BROKEN)
		send_text(fd, "500 Broken", "", 0);
	else if (bucket->habit == REDIRECTS)
		send_text(fd, "307 There\r\nLocation: http://127.0.0.1:1/", "", 0);
	else if (strstr(request, "list-type=2"))
		list(bucket, fd);
	else
		send_text(fd, "200 OK", bucket->library.bytes, bucket->library.size);
}

static void *serve(void *arg)
{
	enum { HELD_MOST = 16 };
	struct bucket *bucket = arg;
	int held[HELD_MOST], held_count = 0;
	for (;;) {
		struct pollfd fds[] = { { .fd = bucket->listener, .events = POLLIN },
					{ .fd = bucket->stop[0], .events = POLLIN } };
		if (poll(fds, 2, -1) < 0 || fds[1].revents)
			break;
		int fd = accept(bucket->listener, NULL, NULL);
		if (fd >= 0 && bucket->habit == SILENT && held_count < HELD_MOST) {
			held[held_count++] = fd;
			atomic_fetch_add(&bucket->requests, 1);
		} else if (fd >= 0) {
			reply(bucket, fd);
			close(fd);
		}
	}
	while (held_count)
		close(held[--held_count]);
	return NULL;
}

static void bucket_start(struct bucket *bucket, enum habit habit)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	socklen_t size = sizeof address;
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	*bucket = (struct bucket){ .habit = habit };
	make_library(id_a, 20, "a_", &bucket->library);
	struct store_object object = { .id = build_id_of(id_a, 20),
				       .role = STORE_EXECUTABLE,
				       .rank = STORE_SYMTAB };
	struct entry_name entry = entry_name_of(&object.id, NULL);
	CHECK_OK(store_hash_of_memory(bucket->library.bytes, bucket->library.size, &object.hash));
	snprintf(bucket->key, sizeof bucket->key, "%s/%s", entry_dir_of(&entry).text,
		 object_name_of(&object).text);
	bucket->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (bucket->listener < 0 ||
	    bind(bucket->listener, (struct sockaddr *)&address, sizeof address) ||
	    listen(bucket->listener, 16) ||
	    getsockname(bucket->listener, (struct sockaddr *)&address, &size) ||
	    pipe(bucket->stop) || pthread_create(&bucket->thread, NULL, serve, bucket))
		abort();
	snprintf(bucket->url, sizeof bucket->url, "http://127.0.0.1:%d/b", ntohs(address.sin_port));
}

static void bucket_stop(struct bucket *bucket)
{
	if (write(bucket->stop[1], "", 1) != 1)
		abort();
	pthread_join(bucket->thread, NULL);
	close(bucket->listener);
	close(bucket->stop[0]);
	close(bucket->stop[1]);
	buffer_fini(&bucket->library);
}

// What pulling A twice gives, and how many objects the store has then.
struct pulled {
	enum remote_outcome first, second;
	size_t objects;
	unsigned requests;
};

static struct pulled pull_from(enum habit habit, double timeout_s)
{
	struct bucket bucket;
	struct pulled pulled = { 0 };
	char *dir = make_directory(), path[256];
	struct store *store = NULL;
	struct remote *remote = NULL;
	const struct build_id id = build_id_of(id_a, 20);
	bucket_start(&bucket, habit);
	snprintf(path, sizeof path, "%s/store", dir);
	const struct remote_options options = { .url = bucket.url, .timeout_s = timeout_s };
	CHECK_OK(store_open(path, STORE_WRITE, NULL, &store));
	CHECK_OK(remote_new(&options, &remote));
	CHECK_OK(remote_pull(remote, &id, true, true, store, &pulled.first));
	CHECK_OK(remote_pull(remote, &id, true, true, store, &pulled.second));
	struct store_objects objects = { 0 };
	CHECK_OK(store_find_all(store, &id, &objects));
	pulled.objects = objects.count;
	pulled.requests = atomic_load(&bucket.requests);
	store_objects_fini(&objects);
	remote_free(remote);
	store_free(store);
	bucket_stop(&bucket);
	make_directory_free(dir);
	return pulled;
}

static bool can_pull(void)
{
	if (!remote_is_built_in())
		tap_skip("built without object stores");
	return remote_is_built_in();
}

TEST(an_honest_bucket_is_pulled_from_once)
{
	if (!can_pull())
		return;
	struct pulled pulled = pull_from(HONEST, 60);
	CHECK(pulled.first == REMOTE_PULLED && pulled.second == REMOTE_ABSENT);
	CHECK_UINT(pulled.objects, 1);
	CHECK_UINT(pulled.requests, 3);
}

TEST(who_does_not_answer_as_it_should_is_asked_once)
{
	static const enum habit habits[] = { BROKEN, REDIRECTS, FLOODS, SENDS_MORE, SENDS_LESS };
	if (!can_pull())
		return;
	for (size_t i = 0; i < sizeof habits / sizeof *habits; i++) {
		struct pulled pulled = pull_from(habits[i], 60);
		bool is_short = habits[i] == SENDS_LESS;
		// Fewer bytes than were listed, but those that the name says: it is the file.
		CHECK(pulled.first == (is_short ? REMOTE_PULLED : REMOTE_FAILED));
		CHECK(pulled.second == (is_short ? REMOTE_ABSENT : REMOTE_FAILED));
		CHECK_UINT(pulled.objects, is_short);
		CHECK(pulled.requests <= 3);
	}
}

TEST(a_silent_bucket_is_waited_for_until_the_deadline_only)
{
	if (!can_pull())
		return;
	struct pulled pulled = pull_from(SILENT, 0.3);
	CHECK(pulled.first == REMOTE_FAILED && pulled.second == REMOTE_FAILED);
	CHECK_UINT(pulled.requests, 1);
}

TEST(a_list_without_end_ends_with_the_deadline)
{
	if (!can_pull())
		return;
	struct pulled pulled = pull_from(LISTS_WITHOUT_END, 0.5);
	CHECK(pulled.first == REMOTE_FAILED && pulled.second == REMOTE_FAILED);
	CHECK_UINT(pulled.objects, 0);
}

TEST(a_bucket_that_fails_gets_nothing)
{
	if (!can_pull())
		return;
	struct bucket bucket;
	char *dir = make_directory(), path[256];
	struct store *store = NULL;
	struct remote *remote = NULL;
	struct remote_push_counts counts;
	bucket_start(&bucket, BROKEN);
	snprintf(path, sizeof path, "%s/store", dir);
	const struct remote_options options = { .url = bucket.url, .timeout_s = 60 };
	const struct store_item item = { .id = build_id_of(id_a, 20), .role = STORE_EXECUTABLE };
	CHECK_OK(store_open(path, STORE_WRITE, NULL, &store));
	CHECK_OK(store_add_memory(store, &item, bucket.library.bytes, bucket.library.size, NULL));
	CHECK_OK(remote_new(&options, &remote));
	CHECK_OK(remote_push(remote, store, NULL, 0, &counts));
	CHECK(!counts.pushed && !counts.known && counts.failed == 1);
	remote_free(remote);
	store_free(store);
	bucket_stop(&bucket);
	make_directory_free(dir);
}
