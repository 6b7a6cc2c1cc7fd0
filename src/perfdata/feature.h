// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Header features: what a recording says of the machine and the way it was made.
//
// Source: tools/perf/util/header.c of Linux 6.12. One table of rows (feature_defs) serves reading,
// listing and help.
#ifndef PERFDATA_FEATURE_H
#define PERFDATA_FEATURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cursor.h"
#include "perfdata/event.h"

enum feature_bit {
	FEATURE_TRACING_DATA = 1,
	FEATURE_BUILD_ID = 2,
	FEATURE_HOSTNAME = 3,
	FEATURE_OSRELEASE = 4,
	FEATURE_VERSION = 5,
	FEATURE_ARCH = 6,
	FEATURE_NRCPUS = 7,
	FEATURE_CPUDESC = 8,
	FEATURE_CPUID = 9,
	FEATURE_TOTAL_MEM = 10,
	FEATURE_CMDLINE = 11,
	FEATURE_EVENT_DESC = 12,
	FEATURE_CPU_TOPOLOGY = 13,
	FEATURE_NUMA_TOPOLOGY = 14,
	FEATURE_BRANCH_STACK = 15,
	FEATURE_PMU_MAPPINGS = 16,
	FEATURE_GROUP_DESC = 17,
	FEATURE_AUXTRACE = 18,
	FEATURE_STAT = 19,
	FEATURE_CACHE = 20,
	FEATURE_SAMPLE_TIME = 21,
	FEATURE_MEM_TOPOLOGY = 22,
	FEATURE_CLOCKID = 23,
	FEATURE_DIR_FORMAT = 24,
	FEATURE_BPF_PROG_INFO = 25,
	FEATURE_BPF_BTF = 26,
	FEATURE_COMPRESSED = 27,
	FEATURE_CPU_PMU_CAPS = 28,
	FEATURE_CLOCK_DATA = 29,
	FEATURE_HYBRID_TOPOLOGY = 30,
	FEATURE_PMU_CAPS = 31,
	FEATURE_CPU_DOMAIN_INFO = 32,
	FEATURE_E_MACHINE = 33,
	FEATURE_CLN_SIZE = 34,
	// Those of Android's simpleperf.
	FEATURE_SIMPLEPERF_FILE = 128,
	FEATURE_SIMPLEPERF_META_INFO = 129,
	FEATURE_SIMPLEPERF_DEBUG_UNWIND = 130,
	FEATURE_SIMPLEPERF_DEBUG_UNWIND_FILE = 131,
	FEATURE_SIMPLEPERF_FILE2 = 132,
	// imprint's own: a list of sentences, what the recording lacks and why. Others skip it.
	FEATURE_IMPRINT_NOTES = 200,
	FEATURE_BITS = 256,
};

// Strings are owned by the features; NULL or 0 where the recording does not say.
struct features {
	uint64_t present[FEATURE_BITS / 64];
	char *hostname, *os_release, *version, *arch, *cpu_description, *cpuid;
	uint32_t cpus_available, cpus_online;
	uint64_t total_memory_kb;
	char **command_line;
	size_t command_line_count;
	// What imprint's recorder says that the recording lacks, in sentences.
	char **notes;
	size_t note_count;
	uint64_t first_sample_ns, last_sample_ns;
	uint64_t clockid_resolution_ns;
	bool has_sample_time, has_clock_data;
	uint32_t clockid;
	uint64_t clock_wall_ns, clock_ns;
	uint32_t e_machine;
};

static inline bool features_has(const struct features *features, unsigned bit)
{
	return bit < FEATURE_BITS && features->present[bit / 64] >> bit % 64 & 1;
}

void features_fini(struct features *features);

// "HOSTNAME", "BUILD_ID", …; NULL for a bit this build does not know.
const char *feature_name(unsigned bit);

// Whether anything of feature BIT is read when a recording is opened.
bool feature_is_kept(unsigned bit);

// Takes what `struct features` keeps of the PAYLOAD of feature BIT; nothing for the other features.
struct imp_error *feature_read(unsigned bit, struct cursor *payload,
			       struct features *ret) MUST_CHECK;

// A string as features have it: a length, then so many bytes, of which those before the first NUL
// count. Owned by the caller; NULL when PAYLOAD failed or memory ran out.
char *feature_string(struct cursor *payload);

// Adds to RET the events that an EVENT_DESC has, with their IDs and names: the one place where
// files name them.
struct imp_error *feature_read_event_desc(struct cursor *payload, struct events *ret) MUST_CHECK;

// Names those of EVENTS that have no name and that a SIMPLEPERF_META_INFO describes, in lines of
// "name,type,config" under "event_type_info".
struct imp_error *feature_read_meta_info(struct cursor *payload, struct events *events) MUST_CHECK;

#endif
