// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Reading credentials, and opening a store elsewhere with them.
#include "cli/remote_use.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

enum { FILE_MOST = 1024 * 1024, TIMEOUT_SECONDS = 90, TIMEOUT_MOST = 86400 };

// A setting: its variables, and its name in the files.
struct setting {
	const char *variable, *older_variable;
	const char *name;
	const char **value;
	bool is_in_config;
};

static const char *environment(const char *name)
{
	const char *value = name ? getenv(name) : NULL;
	return value && *value ? value : NULL;
}

void credentials_fini(struct credentials *credentials)
{
	for (size_t i = 0; i < sizeof credentials->strings / sizeof *credentials->strings; i++)
		free(credentials->strings[i]);
	*credentials = (struct credentials){ 0 };
}

// Cuts blanks off both ends, in place.
static char *trimmed(char *text)
{
	text += strspn(text, " \t\r");
	size_t length = strlen(text);
	while (length && strchr(" \t\r", text[length - 1]))
		text[--length] = 0;
	return text;
}

// The value of NAME in SECTION of the INI TEXT (changed meanwhile), lent by it, or NULL.
static const char *ini_find(char *text, const char *section, const char *name)
{
	bool is_inside = false;
	const char *found = NULL;
	for (char *line; (line = strsep(&text, "\n"));) {
		line = trimmed(line);
		size_t length = strlen(line);
		if (*line == '[' && line[length - 1] == ']') {
			line[length - 1] = 0;
			is_inside = !strcmp(trimmed(line + 1), section);
			continue;
		}
		char *value = is_inside && *line != '#' && *line != ';' ? strchr(line, '=') : NULL;
		if (!value)
			continue;
		*value++ = 0;
		if (!strcmp(trimmed(line), name))
			found = trimmed(value);
	}
	return found && *found ? found : NULL;
}

// The file of VARIABLE, else NAME in ~/.aws. None is no error, and neither is one that may not be
// read.
static struct imp_error *read_file(const char *variable, const char *name, struct buffer *ret)
{
	_cleanup_free_ char *path = NULL;
	const char *place = environment(variable);
	const char *home = environment("HOME");
	if (!place && home && asprintf(&path, "%s/.aws/%s", home, name) < 0) {
		path = NULL;
		return &imp_error_no_memory;
	}
	if (!place)
		place = path;
	if (!place || access(place, R_OK) < 0)
		return NULL;
	struct imp_error *err = file_slurp_path(place, FILE_MOST, ret);
	if (!err)
		buffer_append(ret, "", 1);
	return err ? err : ret->failed ? &imp_error_no_memory : NULL;
}

static struct imp_error *find_setting(const struct setting *setting, const struct buffer *file,
				      const char *section, char **ret)
{
	const char *value = environment(setting->variable);
	if (!value)
		value = environment(setting->older_variable);
	_cleanup_free_ char *text = NULL;
	if (!value && file->size) {
		text = strdup((const char *)file->bytes);
		if (!text)
			return &imp_error_no_memory;
		value = ini_find(text, section, setting->name);
	}
	if (!value)
		return NULL;
	*ret = strdup(value);
	*setting->value = *ret;
	return *ret ? NULL : &imp_error_no_memory;
}

struct imp_error *credentials_read(struct credentials *ret)
{
	struct remote_credentials *remote = &ret->remote;
	*ret = (struct credentials){ 0 };
	const struct setting settings[] = {
		{ "AWS_ACCESS_KEY_ID", NULL, "aws_access_key_id", &remote->access_key, false },
		{ "AWS_SECRET_ACCESS_KEY", NULL, "aws_secret_access_key", &remote->secret_key,
		  false },
		{ "AWS_SESSION_TOKEN", NULL, "aws_session_token", &remote->session_token, false },
		{ "AWS_REGION", "AWS_DEFAULT_REGION", "region", &remote->region, true },
		{ "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "endpoint_url", &remote->endpoint,
		  true },
	};
	const char *profile = environment("AWS_PROFILE");
	char section[256];
	_cleanup_buffer_ struct buffer secrets = { 0 }, config = { 0 };
	struct imp_error *err = read_file("AWS_SHARED_CREDENTIALS_FILE", "credentials", &secrets);
	if (!err)
		err = read_file("AWS_CONFIG_FILE", "config", &config);
	// The key of the environment goes with the token of the environment only.
	if (environment("AWS_ACCESS_KEY_ID"))
		secrets.size = 0;
	for (size_t i = 0; i < sizeof settings / sizeof *settings && !err; i++) {
		const struct setting *setting = &settings[i];
		(void)snprintf(section, sizeof section, "%s%s",
			       profile && setting->is_in_config ? "profile " : "",
			       profile ? profile : "default");
		err = find_setting(setting, setting->is_in_config ? &config : &secrets, section,
				   &ret->strings[i]);
	}
	if (err)
		credentials_fini(ret);
	return err;
}

static struct imp_error *pull(void *arg, const struct find_wanted *wanted, struct store *store,
			      enum find_outcome *ret, const char **detail)
{
	enum remote_outcome outcome = REMOTE_FAILED;
	struct imp_error *err =
		remote_pull(arg, wanted->id, wanted->image, wanted->debug, store, &outcome);
	switch (outcome) {
	case REMOTE_PULLED:
		*ret = FIND_MATCH;
		break;
	case REMOTE_ABSENT:
		*ret = FIND_ABSENT;
		break;
	case REMOTE_WRONG:
		*ret = FIND_UNREADABLE;
		*detail = "other bytes than their name says";
		break;
	case REMOTE_FAILED:
	default:
		*ret = FIND_UNREADABLE;
		*detail = "did not answer";
		break;
	}
	return err;
}

static void release(void *arg)
{
	remote_free(arg);
}

static struct imp_error *timeout_read(double *ret)
{
	const char *text = environment("IMPRINT_STORE_TIMEOUT");
	*ret = TIMEOUT_SECONDS;
	if (!text)
		return NULL;
	char *end;
	*ret = strtod(text, &end);
	return !*end && *ret > 0 && *ret <= TIMEOUT_MOST
		       ? NULL
		       : error_new(IMP_ERR_USAGE,
				   "IMPRINT_STORE_TIMEOUT: '%s' is not a number of "
				   "seconds",
				   text);
}

struct imp_error *remote_use_finder(const char *url, const struct log *log,
				    struct finder_remote *ret)
{
	_cleanup_credentials_ struct credentials credentials;
	struct remote_options options = { .log = log, .url = url };
	struct remote *remote = NULL;
	struct imp_error *err = credentials_read(&credentials);
	if (!err)
		err = timeout_read(&options.timeout_s);
	if (!err) {
		options.credentials = credentials.remote;
		err = remote_new(&options, &remote);
	}
	if (!err)
		*ret = (struct finder_remote){
			.name = remote_url(remote), .pull = pull, .free = release, .arg = remote
		};
	return err;
}
