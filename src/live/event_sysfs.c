// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Events of a PMU by its sysfs files: TERMS are "event=0x3c,umask=1", names of the events folder,
// or both.
//
// Source: Documentation/ABI/testing/sysfs-bus-event_source-devices-{format,events}.
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "live/event_source.h"

enum { TEXT_ROOM = 4096, DEPTH_MOST = 2 };

struct pmu {
	int dir;
	const char *name;
};

// Reads the file DIR/NAME of PMU without its newline. False when there is none.
static bool pmu_text(const struct pmu *pmu, const char *dir, const char *name, char text[TEXT_ROOM])
{
	char path[512];
	if (strchr(name, '/') || name[0] == '.' ||
	    snprintf(path, sizeof path, "%s%s%s", dir, *dir ? "/" : "", name) >= (int)sizeof path)
		return false;
	_cleanup_close_ int fd = openat(pmu->dir, path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, TEXT_ROOM - 1);
	if (n < 0)
		return false;
	text[n] = 0;
	text[strcspn(text, "\n")] = 0;
	return true;
}

static uint64_t *word_of(struct event_attr *attr, const char **format)
{
	static const char *const names[] = { "config4:", "config3:", "config2:", "config1:",
					     "config:" };
	uint64_t *words[] = { &attr->config4, &attr->config3, &attr->config2, &attr->config1,
			      &attr->config };
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		if (strncmp(*format, names[i], strlen(names[i])))
			continue;
		*format += strlen(names[i]);
		return words[i];
	}
	return NULL;
}

// Puts VALUE into the bits that FORMAT ("config:0-7,32-35") names, lowest first. False when it does
// not fit, or FORMAT is none.
static bool put_bits(const char *format, uint64_t value, struct event_attr *attr)
{
	uint64_t *word = word_of(attr, &format);
	if (!word)
		return false;
	while (*format) {
		char *end;
		unsigned long first = strtoul(format, &end, 10), last = first;
		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		if (end == format || first > last || last > 63 || (*end && *end != ','))
			return false;
		uint64_t mask = last - first == 63 ? UINT64_MAX
						   : (UINT64_C(1) << (last - first + 1)) - 1;
		*word = (*word & ~(mask << first)) | (value & mask) << first;
		value = last - first == 63 ? 0 : value >> (last - first + 1);
		format = *end ? end + 1 : end;
	}
	return !value;
}

// One term: a format with its value, or config itself. False when it is neither.
static bool apply_term(const struct pmu *pmu, const char *name, const char *value,
		       struct event_attr *attr)
{
	char *end = NULL, format[TEXT_ROOM];
	uint64_t number = value ? strtoull(value, &end, 0) : 1;
	if (value && (!*value || *end))
		return false;
	if (!strcmp(name, "config"))
		attr->config = number;
	else if (!strcmp(name, "config1"))
		attr->config1 = number;
	else if (!strcmp(name, "config2"))
		attr->config2 = number;
	else if (!strcmp(name, "period")) {
		attr->sample_period = number;
	} else if (!pmu_text(pmu, "format", name, format) || !put_bits(format, number, attr))
		return false;
	return true;
}

// Applies TERMS (changed). Names of events stand for the terms in their files, which cannot name
// further events.
static struct imp_error *apply_terms(const struct pmu *pmu, char *terms, int depth,
				     struct event_attr *attr)
{
	for (char *rest = terms, *term; (term = strsep(&rest, ","));) {
		char alias[TEXT_ROOM];
		char *value = strchr(term, '=');
		if (value)
			*value++ = 0;
		struct imp_error *err = NULL;
		if (apply_term(pmu, term, value, attr))
			continue;
		if (value || depth >= DEPTH_MOST || !pmu_text(pmu, "events", term, alias))
			return error_new(IMP_ERR_USAGE, "PMU %s has no term or event '%s%s%s'",
					 pmu->name, term, value ? "=" : "", value ? value : "");
		err = apply_terms(pmu, alias, depth + 1, attr);
		if (err)
			return err;
	}
	return NULL;
}

struct imp_error *event_from_sysfs(const char *sys, const char *name, const char *terms,
				   struct event_attr *attr, bool *is_known)
{
	char path[512], type[TEXT_ROOM];
	if (strchr(name, '/') || name[0] == '.' ||
	    snprintf(path, sizeof path, "%s/bus/event_source/devices/%s", sys ? sys : "/sys",
		     name) >= (int)sizeof path)
		return NULL;
	_cleanup_close_ int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct pmu pmu = { .dir = dir, .name = name };
	if (dir < 0)
		return error_new(IMP_ERR_USAGE, "there is no PMU '%s' here", name);
	if (!pmu_text(&pmu, "", "type", type))
		return error_new(IMP_ERR_UNSUPPORTED, "PMU %s does not tell its type", name);
	_cleanup_free_ char *scratch = strdup(terms);
	if (!scratch)
		return &imp_error_no_memory;
	attr->type = (uint32_t)strtoul(type, NULL, 10);
	*is_known = true;
	return *scratch ? apply_terms(&pmu, scratch, 0, attr) : NULL;
}
