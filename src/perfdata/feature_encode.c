// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Encoding features as tools/perf/util/header.c of Linux 6.12 reads them.
#include "perfdata/feature_encode.h"

#include <string.h>

#include "perfdata/attr_encode.h"

enum { STRING_STEP = 64 };

void feature_put_u32(struct buffer *buffer, uint32_t value)
{
	buffer_append(buffer, &value, sizeof value);
}

void feature_put_u64(struct buffer *buffer, uint64_t value)
{
	buffer_append(buffer, &value, sizeof value);
}

void feature_put_string(struct buffer *buffer, const char *text)
{
	size_t length = strlen(text);
	size_t padded = (length + STRING_STEP) / STRING_STEP * STRING_STEP;
	feature_put_u32(buffer, (uint32_t)padded);
	uint8_t *at = buffer_extend(buffer, padded);
	if (!at)
		return;
	memset(at, 0, padded);
	memcpy(at, text, length);
}

void feature_put_list(struct buffer *buffer, const char *const *items, size_t count)
{
	feature_put_u32(buffer, (uint32_t)count);
	for (size_t i = 0; i < count; i++)
		feature_put_string(buffer, items[i]);
}

static bool encode_text(const char *text, struct buffer *ret)
{
	if (text)
		feature_put_string(ret, text);
	return text;
}

static bool encode_cpus(const struct features *features, struct buffer *ret)
{
	if (!features->cpus_available)
		return false;
	feature_put_u32(ret, features->cpus_available);
	feature_put_u32(ret, features->cpus_online);
	return true;
}

static bool encode_command_line(const struct features *features, struct buffer *ret)
{
	if (!features->command_line_count)
		return false;
	feature_put_u32(ret, (uint32_t)features->command_line_count);
	for (size_t i = 0; i < features->command_line_count; i++)
		feature_put_string(ret, features->command_line[i]);
	return true;
}

static bool encode_sample_time(const struct features *features, struct buffer *ret)
{
	if (!features->has_sample_time)
		return false;
	feature_put_u64(ret, features->first_sample_ns);
	feature_put_u64(ret, features->last_sample_ns);
	return true;
}

static bool encode_clock_data(const struct features *features, struct buffer *ret)
{
	enum { VERSION = 1 };
	if (!features->has_clock_data)
		return false;
	feature_put_u32(ret, VERSION);
	feature_put_u32(ret, features->clockid);
	feature_put_u64(ret, features->clock_wall_ns);
	feature_put_u64(ret, features->clock_ns);
	return true;
}

static bool encode_u64(uint64_t value, struct buffer *ret)
{
	if (value)
		feature_put_u64(ret, value);
	return value;
}

bool feature_encode(const struct features *features, unsigned bit, struct buffer *ret)
{
	switch (bit) {
	case FEATURE_HOSTNAME:
		return encode_text(features->hostname, ret);
	case FEATURE_OSRELEASE:
		return encode_text(features->os_release, ret);
	case FEATURE_VERSION:
		return encode_text(features->version, ret);
	case FEATURE_ARCH:
		return encode_text(features->arch, ret);
	case FEATURE_NRCPUS:
		return encode_cpus(features, ret);
	case FEATURE_CPUDESC:
		return encode_text(features->cpu_description, ret);
	case FEATURE_CPUID:
		return encode_text(features->cpuid, ret);
	case FEATURE_TOTAL_MEM:
		return encode_u64(features->total_memory_kb, ret);
	case FEATURE_CMDLINE:
		return encode_command_line(features, ret);
	case FEATURE_SAMPLE_TIME:
		return encode_sample_time(features, ret);
	case FEATURE_CLOCKID:
		return encode_u64(features->clockid_resolution_ns, ret);
	case FEATURE_CLOCK_DATA:
		return encode_clock_data(features, ret);
	default:
		return false;
	}
}

uint32_t written_attr_size(const struct written_event *events, size_t count)
{
	uint8_t bytes[ATTR_MOST_BYTES];
	uint32_t size = ATTR_USUAL_BYTES;
	for (size_t i = 0; i < count; i++) {
		uint32_t own = attr_encode(&events[i].attr, bytes);
		size = own > size ? own : size;
	}
	return size;
}

void feature_encode_event_desc(const struct written_event *events, size_t count, struct buffer *ret)
{
	uint32_t size = written_attr_size(events, count);
	uint8_t bytes[ATTR_MOST_BYTES];
	feature_put_u32(ret, (uint32_t)count);
	feature_put_u32(ret, size);
	for (size_t i = 0; i < count; i++) {
		attr_encode(&events[i].attr, bytes);
		memcpy(bytes + 4, &size, sizeof size);
		buffer_append(ret, bytes, size);
		feature_put_u32(ret, (uint32_t)events[i].id_count);
		feature_put_string(ret, events[i].name);
		buffer_append(ret, events[i].ids, events[i].id_count * sizeof *events[i].ids);
	}
}

void feature_encode_build_id(struct buffer *buffer, const struct build_id *id, uint16_t cpumode,
			     const char *path)
{
	// Names are padded to 64 because readers older than 6.9 took that for granted.
	enum { FIXED_BYTES = 36, ID_AT = 12, SIZE_AT = 32, ID_BYTES = 20, HOST = -1 };
	size_t name = (strlen(path) + STRING_STEP) / STRING_STEP * STRING_STEP;
	size_t size = FIXED_BYTES + name;
	if (!id->size || id->size > ID_BYTES || size > UINT16_MAX)
		return;
	uint8_t *at = buffer_extend(buffer, size);
	if (!at)
		return;
	memset(at, 0, size);
	uint16_t misc = (uint16_t)(cpumode | MISC_BUILD_ID_SIZE);
	uint16_t entry = (uint16_t)size;
	int32_t pid = HOST;
	memcpy(at + 4, &misc, sizeof misc);
	memcpy(at + 6, &entry, sizeof entry);
	memcpy(at + 8, &pid, sizeof pid);
	memcpy(at + ID_AT, id->bytes, id->size);
	at[SIZE_AT] = id->size;
	memcpy(at + FIXED_BYTES, path, strlen(path));
}
