// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Addresses and ports.
#include "serve/listener.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

static struct imp_error *bad_address(const char *text)
{
	return error_new(IMP_ERR_USAGE, "'%s' is not an address: expected [ADDRESS:]PORT", text);
}

static bool is_port(const char *text)
{
	size_t digits = strspn(text, "0123456789");
	return digits && digits < 6 && !text[digits] && atoi(text) <= UINT16_MAX;
}

struct imp_error *listener_parse(const char *text, struct listener_words *ret)
{
	*ret = (struct listener_words){ "127.0.0.1", "8002" };
	if (!text)
		return NULL;
	const char *host = text;
	size_t length = strlen(text);
	const char *port = is_port(text) ? text : NULL;
	if (port) {
		length = 0;
	} else if (*text == '[') {
		const char *close = strchr(text, ']');
		if (!close || (close[1] && close[1] != ':'))
			return bad_address(text);
		host = text + 1;
		length = (size_t)(close - host);
		port = close[1] ? close + 2 : NULL;
	} else if (strchr(text, ':') && strchr(text, ':') == strrchr(text, ':')) {
		port = strchr(text, ':') + 1;
		length = (size_t)(port - 1 - text);
	}
	bool is_number = length && strspn(host, "0123456789") >= length;
	if (is_number || (port && !is_port(port)) || length >= sizeof ret->host)
		return bad_address(text);
	if (length)
		(void)snprintf(ret->host, sizeof ret->host, "%.*s", (int)length, host);
	if (port)
		(void)snprintf(ret->port, sizeof ret->port, "%s", port);
	return NULL;
}

// What ADDRESS, which a socket is bound to, is called; whether only this machine reaches it.
static void describe(const struct sockaddr_storage *address, struct listener *ret)
{
	char text[INET6_ADDRSTRLEN] = "";
	ret->is_ipv6 = address->ss_family == AF_INET6;
	if (ret->is_ipv6) {
		struct sockaddr_in6 in6;
		memcpy(&in6, address, sizeof in6);
		ret->is_loopback = IN6_IS_ADDR_LOOPBACK(&in6.sin6_addr);
		if (IN6_IS_ADDR_UNSPECIFIED(&in6.sin6_addr))
			in6.sin6_addr = in6addr_loopback;
		(void)inet_ntop(AF_INET6, &in6.sin6_addr, text, sizeof text);
		(void)snprintf(ret->url, sizeof ret->url, "http://[%s]:%u", text,
			       ntohs(in6.sin6_port));
		return;
	}
	struct sockaddr_in in;
	memcpy(&in, address, sizeof in);
	ret->is_loopback = ntohl(in.sin_addr.s_addr) >> 24 == 127;
	if (in.sin_addr.s_addr == htonl(INADDR_ANY))
		in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	(void)inet_ntop(AF_INET, &in.sin_addr, text, sizeof text);
	(void)snprintf(ret->url, sizeof ret->url, "http://%s:%u", text, ntohs(in.sin_port));
}

static struct imp_error *listen_on(const struct addrinfo *address,
				   const struct listener_words *words, struct listener *ret)
{
	enum { BACKLOG = 512 };
	int on = 1;
	_cleanup_close_ int fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd >= 0)
		(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	struct sockaddr_storage bound = { 0 };
	socklen_t size = sizeof bound;
	if (fd < 0 || bind(fd, address->ai_addr, address->ai_addrlen) < 0 ||
	    listen(fd, BACKLOG) < 0 || getsockname(fd, (struct sockaddr *)&bound, &size) < 0)
		return error_system(errno, "cannot listen on %s, port %s", words->host,
				    words->port);
	describe(&bound, ret);
	ret->fd = steal_fd(&fd);
	return NULL;
}

struct imp_error *listener_open(const struct listener_words *words, struct listener *ret)
{
	const struct addrinfo hints = { .ai_flags = AI_PASSIVE | AI_NUMERICSERV,
					.ai_socktype = SOCK_STREAM };
	struct addrinfo *found = NULL;
	int error = getaddrinfo(words->host, words->port, &hints, &found);
	if (error)
		return error_new(IMP_ERR_USAGE, "%s: %s", words->host, gai_strerror(error));
	struct imp_error *err = listen_on(found, words, ret);
	freeaddrinfo(found);
	return err;
}
