// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Reading addresses of stores.
#include "remote/address.h"

#include <stdio.h>
#include <string.h>

static const char name_chars[] =
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";

bool remote_is_url(const char *text)
{
	size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789+");
	return length && !strncmp(text + length, "://", 3);
}

static const char *after(const char *text, const char *start)
{
	size_t length = strlen(start);
	return strncmp(text, start, length) ? NULL : text + length;
}

static struct imp_error *bad_url(const char *text, const char *why)
{
	return error_new(IMP_ERR_USAGE, "%s: %s", text, why);
}

// Takes the name at *AT, up to a slash or the end; *AT is then behind the slash. 0: there is none
// that may stand in a URL as it is.
static size_t take_name(const char **at, const char **name)
{
	size_t length = strspn(*at, name_chars);
	*name = *at;
	bool is_dots = strspn(*at, ".") == length;
	if (!length || is_dots || ((*at)[length] && (*at)[length] != '/'))
		return 0;
	*at += length;
	*at += **at == '/';
	return length;
}

// The names in AT, each with a slash behind it.
static struct imp_error *take_prefix(const char *text, const char *at, struct remote_address *ret)
{
	size_t size = 0;
	ret->prefix[0] = 0;
	while (*at) {
		const char *name;
		size_t length = take_name(&at, &name);
		if (!length)
			return bad_url(text, "letters, digits, '.', '_' and '-' between slashes "
					     "are expected");
		if (size + length + 2 > sizeof ret->prefix)
			return bad_url(text, "too long");
		memcpy(ret->prefix + size, name, length);
		ret->prefix[size + length] = '/';
		size += length + 1;
		ret->prefix[size] = 0;
	}
	return NULL;
}

static struct imp_error *fits(const char *text, int length)
{
	return length < 0 || length >= REMOTE_URL_SIZE ? bad_url(text, "too long") : NULL;
}

// "HOST[:PORT]" at the start of HOST, which is behind "://"; 0 when it is none.
static size_t host_length(const char *host)
{
	size_t length = *host == '[' ? strcspn(host, "]") + 1 : strspn(host, name_chars);
	if (length && host[length] == ':')
		length += 1 + strspn(host + length + 1, "0123456789");
	return !host[length] || host[length] == '/' ? length : 0;
}

static struct imp_error *parse_http(const char *text, const char *host, struct remote_address *ret)
{
	size_t length = host_length(host);
	const char *at = host + length;
	const char *bucket;
	size_t bucket_length = length && *at++ == '/' ? take_name(&at, &bucket) : 0;
	if (!bucket_length)
		return bad_url(text, "http[s]://HOST[:PORT]/BUCKET[/PREFIX] is expected");
	size_t total = (size_t)(bucket - text) + bucket_length;
	struct imp_error *err =
		fits(text, snprintf(ret->url, sizeof ret->url, "%.*s", (int)total, text));
	return err ? err : take_prefix(text, at, ret);
}

static struct imp_error *parse_s3(const char *text, const char *at,
				  const struct remote_credentials *credentials,
				  struct remote_address *ret)
{
	const char *bucket;
	size_t length = take_name(&at, &bucket);
	if (!length)
		return bad_url(text, "s3://BUCKET[/PREFIX] is expected");
	const char *region = credentials->region ? credentials->region : "us-east-1";
	int written;
	if (credentials->endpoint)
		written = snprintf(ret->url, sizeof ret->url, "%s/%.*s", credentials->endpoint,
				   (int)length, bucket);
	else
		written = snprintf(ret->url, sizeof ret->url, "https://%.*s.s3.%s.amazonaws.com",
				   (int)length, bucket, region);
	struct imp_error *err = fits(text, written);
	return err ? err : take_prefix(text, at, ret);
}

static struct imp_error *check_credentials(const struct remote_credentials *credentials)
{
	const char *region = credentials->region;
	const char *endpoint = credentials->endpoint;
	if (region && (!*region || region[strspn(region, name_chars)]))
		return bad_url(region, "not a region");
	if (!endpoint)
		return NULL;
	const char *host = after(endpoint, "https://");
	if (!host)
		host = after(endpoint, "http://");
	size_t length = host ? host_length(host) : 0;
	return length && !host[length] ? NULL
				       : bad_url(endpoint, "as endpoint http[s]://HOST[:PORT] is "
							   "expected");
}

struct imp_error *remote_address_parse(const char *text,
				       const struct remote_credentials *credentials,
				       struct remote_address *ret)
{
	*ret = (struct remote_address){ 0 };
	const char *file = after(text, "file://");
	if (file || !remote_is_url(text)) {
		const char *path = file ? file : text;
		if (!*path || (file && *file != '/'))
			return bad_url(text, "file:///DIRECTORY is expected");
		ret->is_directory = true;
		return fits(text, snprintf(ret->url, sizeof ret->url, "%s", path));
	}
	struct imp_error *err = check_credentials(credentials);
	if (err)
		return err;
	const char *rest = after(text, "s3://");
	if (rest)
		return parse_s3(text, rest, credentials, ret);
	rest = after(text, "https://");
	if (!rest)
		rest = after(text, "http://");
	return rest ? parse_http(text, rest, ret)
		    : bad_url(text, "s3://, http://, https:// or file:// is expected");
}
