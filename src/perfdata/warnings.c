// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Keeps warnings, few enough to be read.
#include "perfdata/warnings.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void warnings_init(struct warnings *warnings, const struct log *log)
{
	*warnings = (struct warnings){ .log = log };
	pthread_mutex_init(&warnings->lock, NULL);
}

void warnings_fini(struct warnings *warnings)
{
	for (size_t i = 0; i < warnings->all.count; i++)
		free(warnings->all.items[i]);
	array_fini(&warnings->all);
	pthread_mutex_destroy(&warnings->lock);
}

// Takes TEXT.
static void keep(struct warnings *warnings, char *text)
{
	pthread_mutex_lock(&warnings->lock);
	char **added = warnings->all.count < WARNINGS_MOST ? array_add(&warnings->all) : NULL;
	if (added)
		*added = text;
	else
		warnings->dropped++;
	pthread_mutex_unlock(&warnings->lock);
	if (added)
		log_message(warnings->log, LOG_WARNING, "%s", text);
	else
		free(text);
}

void warnings_add(struct warnings *warnings, const char *format, ...)
{
	if (!warnings)
		return;
	char *text = NULL;
	va_list args;
	va_start(args, format);
	int length = vasprintf(&text, format, args);
	va_end(args);
	if (length >= 0)
		keep(warnings, text);
}

void warnings_take(struct warnings *warnings, struct imp_error *error, const char *format, ...)
{
	if (!error)
		return;
	char *text = NULL;
	va_list args;
	va_start(args, format);
	int length = vasprintf(&text, format, args);
	va_end(args);
	if (length >= 0)
		warnings_add(warnings, "%s: %s", text, imp_error_message(error));
	free(length >= 0 ? text : NULL);
	imp_error_free(error);
}
