// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// What serving is in a build without libmicrohttpd.
#include "serve/serve.h"

#include "config.h"

bool serve_is_built_in(void)
{
	return HAVE_HTTP;
}

#if !HAVE_HTTP
struct imp_error *serve_start(const struct serve_options *options, struct server **ret)
{
	(void)options, (void)ret;
	return error_new(IMP_ERR_UNSUPPORTED, "this imprint was built without serving");
}

const char *serve_url(const struct server *server)
{
	(void)server;
	return "";
}

bool serve_is_public(const struct server *server)
{
	(void)server;
	return false;
}

void serve_stop(struct server *server)
{
	(void)server;
}
#endif
