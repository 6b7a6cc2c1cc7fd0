// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Questions to a bucket.
#include "remote/bucket.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	PARALLEL = 8,
	// Of one answer to "what is there" (a thousand objects), and of all for one prefix.
	LISTING_BYTES = 4 * 1024 * 1024,
	LISTED_MOST = 4 * 1000 * 1000,
	HTTP_OK = 200,
	HTTP_NOT_FOUND = 404,
};

struct imp_error *bucket_take(struct remote *remote, struct exchanger **ret)
{
	struct exchanger *idle = NULL;
	pthread_mutex_lock(&remote->lock);
	if (remote->idle.count)
		idle = remote->idle.items[--remote->idle.count];
	pthread_mutex_unlock(&remote->lock);
	if (!idle)
		return exchanger_new(ret);
	*ret = idle;
	return NULL;
}

void bucket_give_back(struct remote *remote, struct exchanger *exchanger)
{
	if (!exchanger)
		return;
	pthread_mutex_lock(&remote->lock);
	struct exchanger **slot = array_add(&remote->idle);
	if (slot)
		*slot = exchanger;
	pthread_mutex_unlock(&remote->lock);
	if (!slot)
		exchanger_free(exchanger);
}

struct exchange_options bucket_options(struct remote *remote)
{
	return (struct exchange_options){ .credentials = &remote->options.credentials,
					  .deadline_s = remote_deadline_s(remote),
					  .parallel = remote->options.parallel
							      ? remote->options.parallel
							      : PARALLEL,
					  .is_stopped = remote->options.is_stopped,
					  .stop_arg = remote->options.arg };
}

char *bucket_url(const struct remote *remote, const char *key)
{
	char *url = NULL;
	return asprintf(&url, "%s/%s%s", remote->address.url, remote->address.prefix, key) < 0
		       ? NULL
		       : url;
}

void bucket_give_up(struct remote *remote, const struct exchange *exchange)
{
	char why[64];
	(void)snprintf(why, sizeof why, "answered %ld%s", exchange->status,
		       exchange->status == 401 || exchange->status == 403
			       ? " (are the credentials right?)"
			       : "");
	remote_give_up(remote, exchange->status ? why : exchange->why);
}

// Appends TEXT as it stands in a query.
static void append_escaped(struct buffer *out, const char *text)
{
	for (; *text; text++) {
		unsigned char byte = (unsigned char)*text;
		bool is_plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
				(byte >= '0' && byte <= '9') || strchr("-._~", byte);
		if (is_plain)
			buffer_append(out, text, 1);
		else
			buffer_format(out, "%%%02X", byte);
	}
}

// One question of a list.
struct page {
	struct remote *remote;
	const char *prefix;
	struct listing *listing;
	bool is_asked, has_failed;
};

// The parameters stand in the order of their names, as the signature wants them.
static struct imp_error *next_page(void *arg, struct exchange *ret, bool *more)
{
	struct page *page = arg;
	_cleanup_buffer_ struct buffer url = { 0 };
	*more = !page->is_asked;
	if (page->is_asked)
		return NULL;
	page->is_asked = true;
	buffer_format(&url, "%s/?", page->remote->address.url);
	if (page->listing->next) {
		buffer_text(&url, "continuation-token=");
		append_escaped(&url, page->listing->next);
		buffer_text(&url, "&");
	}
	buffer_text(&url, "list-type=2&max-keys=1000&prefix=");
	append_escaped(&url, page->remote->address.prefix);
	append_escaped(&url, page->prefix);
	buffer_append(&url, "", 1);
	ret->url = url.failed ? NULL : strdup((const char *)url.bytes);
	ret->size = LISTING_BYTES;
	return ret->url ? NULL : &imp_error_no_memory;
}

static struct imp_error *take_page(void *arg, struct exchange *exchange)
{
	struct page *page = arg;
	free(page->listing->next);
	page->listing->next = NULL;
	if (exchange->status != HTTP_OK) {
		page->has_failed = true;
		bucket_give_up(page->remote, exchange);
		return NULL;
	}
	struct imp_error *err =
		listing_parse((char *)exchange->body.bytes, exchange->body.size, page->listing);
	if (!err || imp_error_code(err) == IMP_ERR_NO_MEMORY)
		return err;
	page->has_failed = true;
	remote_give_up(page->remote, imp_error_message(err));
	imp_error_free(err);
	return NULL;
}

// Takes the remote's own prefix off the keys from FIRST on; others' keys are dropped.
static void strip_prefix(const struct remote *remote, size_t first, struct listing *listing)
{
	size_t length = strlen(remote->address.prefix);
	size_t kept = first;
	for (size_t i = first; i < listing->count; i++) {
		struct listed *listed = &listing->items[i];
		if (strncmp(listed->key, remote->address.prefix, length) != 0) {
			free(listed->key);
			continue;
		}
		memmove(listed->key, listed->key + length, strlen(listed->key + length) + 1);
		listing->items[kept++] = *listed;
	}
	listing->count = kept;
}

struct imp_error *bucket_list(struct remote *remote, struct exchanger *exchanger,
			      const char *prefix, struct listing *ret, bool *failed)
{
	struct page page = { .remote = remote, .prefix = prefix, .listing = ret };
	struct imp_error *err = NULL;
	bool is_first = true;
	*failed = false;
	while (!err && !page.has_failed && (is_first || ret->next)) {
		struct exchange_options options = bucket_options(remote);
		size_t first = ret->count;
		is_first = page.is_asked = false;
		options.next = next_page;
		options.done = take_page;
		options.arg = &page;
		err = exchanges_run(exchanger, &options);
		strip_prefix(remote, first, ret);
		// Neither asked nor answered: the time is over. And no list is without end.
		if (!page.is_asked || ret->count > LISTED_MOST ||
		    (ret->next && ret->count == first)) {
			remote_give_up(remote,
				       page.is_asked ? "lists without end" : "the time is over");
			page.has_failed = true;
		}
	}
	*failed = page.has_failed;
	return err;
}
