// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// uname, /proc/cpuinfo, /proc/meminfo and sysfs as features.
#include "record/host.h"

#include <dirent.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#include "config.h"

// The value of the first line "KEY… : VALUE" of the file at PATH. The caller frees it; NULL without
// one.
static char *value_of(const char *path, const char *key)
{
	_cleanup_file_ FILE *file = fopen(path, "re");
	_cleanup_free_ char *line = NULL;
	size_t room = 0;
	while (file && getline(&line, &room, file) > 0) {
		const char *colon = strchr(line, ':');
		if (strncmp(line, key, strlen(key)) || !colon)
			continue;
		colon += 1 + strspn(colon + 1, " \t");
		return strndup(colon, strcspn(colon, "\n"));
	}
	return NULL;
}

static char *cpu_id(void)
{
#if defined(__x86_64__) || defined(__i386__)
	unsigned eax, ebx, ecx, edx;
	char vendor[13] = "", *text = NULL;
	if (!__get_cpuid(0, &eax, &ebx, &ecx, &edx))
		return NULL;
	memcpy(vendor, &ebx, 4);
	memcpy(vendor + 4, &edx, 4);
	memcpy(vendor + 8, &ecx, 4);
	if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx))
		return NULL;
	unsigned family = eax >> 8 & 15, model = eax >> 4 & 15;
	if (family == 6 || family == 15)
		model += (eax >> 16 & 15) << 4;
	if (family == 15)
		family += eax >> 20 & 255;
	if (asprintf(&text, "%s,%u,%u,%u", vendor, family, model, eax & 15) < 0)
		return NULL;
	return text;
#else
	return NULL;
#endif
}

static void put_pmu(struct buffer *out, const char *name, uint32_t *count)
{
	char path[512];
	snprintf(path, sizeof path, "/sys/bus/event_source/devices/%s/type", name);
	_cleanup_file_ FILE *file = fopen(path, "re");
	unsigned type;
	if (!file || fscanf(file, "%u", &type) != 1)
		return;
	feature_put_u32(out, type);
	feature_put_string(out, name);
	++*count;
}

static struct imp_error *write_pmus(struct writer *writer)
{
	_cleanup_buffer_ struct buffer out = { 0 };
	uint32_t count = 0;
	feature_put_u32(&out, 0);
	_cleanup_dir_ DIR *dir = opendir("/sys/bus/event_source/devices");
	for (struct dirent *entry; dir && (entry = readdir(dir));)
		if (entry->d_name[0] != '.')
			put_pmu(&out, entry->d_name, &count);
	if (out.failed)
		return &imp_error_no_memory;
	memcpy(out.bytes, &count, sizeof count);
	return count ? writer_feature(writer, FEATURE_PMU_MAPPINGS, out.bytes, out.size) : NULL;
}

static void read_cpus(struct features *host)
{
	long available = sysconf(_SC_NPROCESSORS_CONF), online = sysconf(_SC_NPROCESSORS_ONLN);
	host->cpus_available = available > 0 ? (uint32_t)available : 0;
	host->cpus_online = online > 0 ? (uint32_t)online : 0;
}

static void read_clock(struct features *host)
{
	struct timespec wall, clock, resolution;
	host->clockid = CLOCK_MONOTONIC;
	if (clock_gettime(CLOCK_REALTIME, &wall) || clock_gettime(CLOCK_MONOTONIC, &clock) ||
	    clock_getres(CLOCK_MONOTONIC, &resolution))
		return;
	host->has_clock_data = true;
	host->clock_wall_ns = (uint64_t)wall.tv_sec * UINT64_C(1000000000) + (uint64_t)wall.tv_nsec;
	host->clock_ns = (uint64_t)clock.tv_sec * UINT64_C(1000000000) + (uint64_t)clock.tv_nsec;
	host->clockid_resolution_ns = (uint64_t)resolution.tv_nsec;
}

struct imp_error *host_write_features(struct writer *writer, const char *const *command_line,
				      size_t count)
{
	static const unsigned bits[] = { FEATURE_HOSTNAME,  FEATURE_OSRELEASE, FEATURE_VERSION,
					 FEATURE_ARCH,	    FEATURE_NRCPUS,    FEATURE_CPUDESC,
					 FEATURE_CPUID,	    FEATURE_TOTAL_MEM, FEATURE_CLOCKID,
					 FEATURE_CLOCK_DATA };
	struct utsname name;
	_cleanup_free_ char *description = value_of("/proc/cpuinfo", "model name");
	_cleanup_free_ char *memory = value_of("/proc/meminfo", "MemTotal");
	_cleanup_free_ char *cpuid = cpu_id();
	char version[] = "imprint " IMPRINT_VERSION;
	struct features host = { .cpu_description = description,
				 .cpuid = cpuid,
				 .version = version };
	if (!uname(&name)) {
		host.hostname = name.nodename;
		host.os_release = name.release;
		host.arch = name.machine;
	}
	if (memory)
		host.total_memory_kb = strtoull(memory, NULL, 10);
	read_cpus(&host);
	read_clock(&host);
	_cleanup_buffer_ struct buffer out = { 0 };
	struct imp_error *err = NULL;
	for (size_t i = 0; !err && i < sizeof bits / sizeof *bits; i++) {
		out.size = 0;
		if (feature_encode(&host, bits[i], &out))
			err = writer_feature(writer, bits[i], out.bytes, out.size);
	}
	out.size = 0;
	feature_put_list(&out, command_line, count);
	if (!err && count)
		err = writer_feature(writer, FEATURE_CMDLINE, out.bytes, out.size);
	return err ? err : write_pmus(writer);
}
