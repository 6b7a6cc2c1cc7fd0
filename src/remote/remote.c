// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Opening a remote; its deadline and its failure.
#include "remote/remote.h"

#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "remote/bucket.h"

bool remote_is_built_in(void)
{
	return HAVE_S3;
}

#if !HAVE_S3
// Without libcurl no bucket is opened, and so nothing is exchanged.
struct imp_error *exchanger_new(struct exchanger **ret)
{
	(void)ret;
	return error_new(IMP_ERR_UNSUPPORTED, "this imprint was built without object stores");
}

void exchanger_free(struct exchanger *exchanger)
{
	(void)exchanger;
}

struct imp_error *exchanges_run(struct exchanger *exchanger, const struct exchange_options *options)
{
	(void)exchanger, (void)options;
	return error_new(IMP_ERR_UNSUPPORTED, "this imprint was built without object stores");
}

void exchange_fini(struct exchange *exchange)
{
	(void)exchange;
}

double exchange_now_s(void)
{
	return 0;
}
#endif

static struct imp_error *keep(struct remote *remote, const char **text)
{
	size_t i = 0;
	if (!*text)
		return NULL;
	while (remote->strings[i])
		i++;
	*text = remote->strings[i] = strdup(*text);
	return *text ? NULL : &imp_error_no_memory;
}

static struct imp_error *keep_strings(struct remote *remote)
{
	struct remote_credentials *credentials = &remote->options.credentials;
	const char **const texts[] = { &remote->options.url,	 &credentials->access_key,
				       &credentials->secret_key, &credentials->session_token,
				       &credentials->region,	 &credentials->endpoint };
	struct imp_error *err = NULL;
	for (size_t i = 0; i < sizeof texts / sizeof *texts && !err; i++)
		err = keep(remote, texts[i]);
	return err;
}

struct imp_error *remote_new(const struct remote_options *options, struct remote **ret)
{
	_cleanup_remote_ struct remote *remote = calloc(1, sizeof *remote);
	if (!remote)
		return &imp_error_no_memory;
	remote->options = *options;
	(void)pthread_mutex_init(&remote->lock, NULL);
	struct imp_error *err = keep_strings(remote);
	if (!err)
		err = remote_address_parse(options->url, &options->credentials, &remote->address);
	if (!err && !remote->address.is_directory && !remote_is_built_in())
		err = error_new(IMP_ERR_UNSUPPORTED,
				"%s: this imprint was built without object stores", options->url);
	if (!err)
		*ret = steal(remote);
	return err;
}

void remote_free(struct remote *remote)
{
	if (!remote)
		return;
	for (size_t i = 0; i < remote->idle.count; i++)
		exchanger_free(remote->idle.items[i]);
	array_fini(&remote->idle);
	store_free(remote->directory);
	for (size_t i = 0; i < sizeof remote->strings / sizeof *remote->strings; i++)
		free(remote->strings[i]);
	(void)pthread_mutex_destroy(&remote->lock);
	free(remote);
}

const char *remote_url(const struct remote *remote)
{
	return remote->options.url;
}

double remote_deadline_s(struct remote *remote)
{
	enum { FOREVER = 1000 * 1000 * 1000 };
	pthread_mutex_lock(&remote->lock);
	if (remote->deadline_s == 0)
		remote->deadline_s =
			exchange_now_s() +
			(remote->options.timeout_s > 0 ? remote->options.timeout_s : FOREVER);
	double deadline_s = remote->deadline_s;
	pthread_mutex_unlock(&remote->lock);
	return deadline_s;
}

void remote_give_up(struct remote *remote, const char *why)
{
	if (!atomic_exchange(&remote->has_failed, true))
		log_message(remote->options.log, LOG_WARNING, "%s: %s; not asked again",
			    remote->options.url, why);
}
