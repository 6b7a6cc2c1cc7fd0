// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Reads the payloads of all features, value by value.
//
// Source: the process_* and print_* functions of tools/perf/util/header.c of Linux 6.12; payloads
// in a pipe may have padding behind them, so each is read by its own counts.
#include "perfdata/feature_show.h"

#include "base/hex.h"

// What a payload is read from and shown to.
struct showing {
	struct cursor *payload;
	const struct features *features;
	const struct feature_sink *sink;
};

typedef void feature_shower(const struct showing *showing, const char *key);

static void begin(const struct showing *showing, const char *key)
{
	showing->sink->begin(showing->sink->arg, key, false);
}

static void begin_list(const struct showing *showing, const char *key)
{
	showing->sink->begin(showing->sink->arg, key, true);
}

static void end(const struct showing *showing)
{
	showing->sink->end(showing->sink->arg, false);
}

static void end_list(const struct showing *showing)
{
	showing->sink->end(showing->sink->arg, true);
}

static void show_number(const struct showing *showing, const char *key, uint64_t value)
{
	showing->sink->number(showing->sink->arg, key, value);
}

static void show_u32(const struct showing *showing, const char *key)
{
	show_number(showing, key, cursor_u32(showing->payload));
}

static void show_u64(const struct showing *showing, const char *key)
{
	show_number(showing, key, cursor_u64(showing->payload));
}

static void show_string(const struct showing *showing, const char *key)
{
	_cleanup_free_ char *text = feature_string(showing->payload);
	showing->sink->text(showing->sink->arg, key, text ? text : "");
}

// A count of items of at least SIZE bytes each; fails the payload when they cannot all be there.
static uint32_t take_count(const struct showing *showing, size_t size)
{
	uint32_t count = cursor_u32(showing->payload);
	if (count <= cursor_left(showing->payload) / size)
		return count;
	cursor_bytes(showing->payload, SIZE_MAX);
	return 0;
}

enum { STRING_LEAST = 4 };

static void show_strings(const struct showing *showing, const char *key)
{
	uint32_t count = take_count(showing, STRING_LEAST);
	begin_list(showing, key);
	for (uint32_t i = 0; i < count && !showing->payload->failed; i++)
		show_string(showing, NULL);
	end_list(showing);
}

// COUNT objects with a string under each of both keys.
static void show_pairs(const struct showing *showing, const char *key, const char *first,
		       const char *second)
{
	uint32_t count = take_count(showing, 2 * STRING_LEAST);
	begin_list(showing, key);
	for (uint32_t i = 0; i < count && !showing->payload->failed; i++) {
		begin(showing, NULL);
		show_string(showing, first);
		show_string(showing, second);
		end(showing);
	}
	end_list(showing);
}

static void show_size(const struct showing *showing, const char *key)
{
	begin(showing, key);
	show_number(showing, "bytes", cursor_left(showing->payload));
	end(showing);
}

// A feature that says what it says by being there.
static void show_presence(const struct showing *showing, const char *key)
{
	show_number(showing, key, 1);
}

static void show_cpus(const struct showing *showing, const char *key)
{
	begin(showing, key);
	show_u32(showing, "available");
	show_u32(showing, "online");
	end(showing);
}

static void show_dies(const struct showing *showing, uint32_t cpus)
{
	// Not there before Linux 5.3; padding in a pipe looks like an empty list.
	if (cursor_left(showing->payload) < 8)
		return;
	show_strings(showing, "dies");
	begin_list(showing, "cpu_dies");
	bool has_all = cpus <= cursor_left(showing->payload) / 4;
	for (uint32_t i = 0; has_all && i < cpus; i++)
		show_u32(showing, NULL);
	end_list(showing);
}

static void show_cpu_topology(const struct showing *showing, const char *key)
{
	enum { CPU_SIZE = 8 };
	uint32_t cpus = showing->features->cpus_available;
	begin(showing, key);
	show_strings(showing, "packages");
	show_strings(showing, "cores");
	begin_list(showing, "cpus");
	// Not there in very old files.
	bool has_cpus = cpus <= cursor_left(showing->payload) / CPU_SIZE;
	for (uint32_t i = 0; has_cpus && i < cpus; i++) {
		begin(showing, NULL);
		show_u32(showing, "core");
		show_u32(showing, "package");
		end(showing);
	}
	end_list(showing);
	if (has_cpus)
		show_dies(showing, cpus);
	end(showing);
}

static void show_numa(const struct showing *showing, const char *key)
{
	uint32_t count = take_count(showing, 20 + STRING_LEAST);
	begin_list(showing, key);
	for (uint32_t i = 0; i < count && !showing->payload->failed; i++) {
		begin(showing, NULL);
		show_u32(showing, "node");
		show_u64(showing, "total_kb");
		show_u64(showing, "free_kb");
		show_string(showing, "cpus");
		end(showing);
	}
	end_list(showing);
}

static void show_pmus(const struct showing *showing, const char *key)
{
	uint32_t count = take_count(showing, 4 + STRING_LEAST);
	begin_list(showing, key);
	for (uint32_t i = 0; i < count && !showing->payload->failed; i++) {
		begin(showing, NULL);
		show_u32(showing, "type");
		show_string(showing, "name");
		end(showing);
	}
	end_list(showing);
}

static void show_groups(const struct showing *showing, const char *key)
{
	uint32_t count = take_count(showing, 8 + STRING_LEAST);
	begin_list(showing, key);
	for (uint32_t i = 0; i < count && !showing->payload->failed; i++) {
		begin(showing, NULL);
		show_string(showing, "name");
		show_u32(showing, "leader");
		show_u32(showing, "members");
		end(showing);
	}
	end_list(showing);
}

static void show_auxtrace(const struct showing *showing, const char *key)
{
	enum { ENTRY_SIZE = 16 };
	// simpleperf has no count before the entries.
	bool has_count = cursor_left(showing->payload) % ENTRY_SIZE;
	uint64_t count = has_count ? cursor_u64(showing->payload)
				   : cursor_left(showing->payload) / ENTRY_SIZE;
	if (count > cursor_left(showing->payload) / ENTRY_SIZE)
		cursor_bytes(showing->payload, SIZE_MAX);
	begin(showing, key);
	show_number(showing, "records", showing->payload->failed ? 0 : count);
	end(showing);
}

static void show_caches(const struct showing *showing, const char *key)
{
	cursor_u32(showing->payload);
	uint32_t count = take_count(showing, 16 + 3 * STRING_LEAST);
	begin_list(showing, key);
	for (uint32_t i = 0; i < count && !showing->payload->failed; i++) {
		begin(showing, NULL);
		show_u32(showing, "level");
		show_u32(showing, "line_bytes");
		show_u32(showing, "sets");
		show_u32(showing, "ways");
		show_string(showing, "type");
		show_string(showing, "size");
		show_string(showing, "cpus");
		end(showing);
	}
	end_list(showing);
}

static void show_sample_time(const struct showing *showing, const char *key)
{
	begin(showing, key);
	show_u64(showing, "first_ns");
	show_u64(showing, "last_ns");
	end(showing);
}

// One node's bitmap of memory blocks: how many there are.
static void show_memory_node(const struct showing *showing)
{
	begin(showing, NULL);
	show_u64(showing, "node");
	cursor_u64(showing->payload);
	// The number of bits stands there twice.
	uint64_t bits = cursor_u64(showing->payload);
	uint64_t words = bits / 64 + (bits % 64 != 0);
	if (words > cursor_left(showing->payload) / 8)
		cursor_bytes(showing->payload, SIZE_MAX);
	uint64_t blocks = 0;
	for (uint64_t i = 0; i < words && !showing->payload->failed; i++)
		blocks += (uint64_t)__builtin_popcountll(cursor_u64(showing->payload));
	show_number(showing, "blocks", blocks);
	end(showing);
}

static void show_memory(const struct showing *showing, const char *key)
{
	enum { NODE_LEAST = 24 };
	cursor_u64(showing->payload);
	begin(showing, key);
	show_u64(showing, "block_bytes");
	uint64_t count = cursor_u64(showing->payload);
	if (count > cursor_left(showing->payload) / NODE_LEAST)
		cursor_bytes(showing->payload, SIZE_MAX);
	begin_list(showing, "nodes");
	for (uint64_t i = 0; i < count && !showing->payload->failed; i++)
		show_memory_node(showing);
	end_list(showing);
	end(showing);
}

static void show_one_u64(const struct showing *showing, const char *key)
{
	show_u64(showing, key);
}

static void show_one_u32(const struct showing *showing, const char *key)
{
	show_u32(showing, key);
}

// A bpf_prog_info as the kernel gave it: type, ID and tag stand first.
static void show_bpf_program(const struct showing *showing)
{
	enum { TAG_SIZE = 8, HEAD_SIZE = 16 };
	uint32_t info_size = cursor_u32(showing->payload);
	uint32_t data_size = cursor_u32(showing->payload);
	cursor_u64(showing->payload);
	struct cursor info = cursor_part(showing->payload, info_size);
	cursor_skip(showing->payload, data_size);
	begin(showing, NULL);
	if (!info.failed && info_size >= HEAD_SIZE) {
		char tag[2 * TAG_SIZE + 1];
		show_number(showing, "type", cursor_u32(&info));
		show_number(showing, "id", cursor_u32(&info));
		hex_format(info.start + 8, TAG_SIZE, tag);
		showing->sink->text(showing->sink->arg, "tag", tag);
	}
	end(showing);
}

static void show_bpf_programs(const struct showing *showing, const char *key)
{
	uint32_t count = take_count(showing, 16);
	begin_list(showing, key);
	for (uint32_t i = 0; i < count && !showing->payload->failed; i++)
		show_bpf_program(showing);
	end_list(showing);
}

static void show_btf(const struct showing *showing, const char *key)
{
	uint32_t count = take_count(showing, 8);
	begin_list(showing, key);
	for (uint32_t i = 0; i < count && !showing->payload->failed; i++) {
		begin(showing, NULL);
		show_u32(showing, "id");
		uint32_t size = cursor_u32(showing->payload);
		show_number(showing, "bytes", size);
		cursor_skip(showing->payload, size);
		end(showing);
	}
	end_list(showing);
}

static void show_compressed(const struct showing *showing, const char *key)
{
	begin(showing, key);
	show_u32(showing, "version");
	show_u32(showing, "type");
	show_u32(showing, "level");
	show_u32(showing, "ratio");
	show_u32(showing, "mmap_bytes");
	end(showing);
}

static void show_capabilities(const struct showing *showing, const char *key)
{
	show_pairs(showing, key, "name", "value");
}

static void show_clock_data(const struct showing *showing, const char *key)
{
	cursor_u32(showing->payload);
	begin(showing, key);
	show_u32(showing, "clockid");
	show_u64(showing, "wall_ns");
	show_u64(showing, "clock_ns");
	end(showing);
}

static void show_hybrid(const struct showing *showing, const char *key)
{
	show_pairs(showing, key, "pmu", "cpus");
}

static void show_pmu_capabilities(const struct showing *showing, const char *key)
{
	uint32_t count = take_count(showing, 4 + STRING_LEAST);
	begin_list(showing, key);
	for (uint32_t i = 0; i < count && !showing->payload->failed; i++) {
		begin(showing, NULL);
		show_capabilities(showing, "capabilities");
		show_string(showing, "pmu");
		end(showing);
	}
	end_list(showing);
}

static void show_domains(const struct showing *showing, uint32_t version)
{
	enum { FIRST_WITH_NAMES = 17 };
	uint32_t count = take_count(showing, 4 + 2 * STRING_LEAST);
	begin_list(showing, "domains");
	for (uint32_t i = 0; i < count && !showing->payload->failed; i++) {
		begin(showing, NULL);
		show_u32(showing, "domain");
		if (version >= FIRST_WITH_NAMES)
			show_string(showing, "name");
		show_string(showing, "cpu_mask");
		show_string(showing, "cpus");
		end(showing);
	}
	end_list(showing);
}

static void show_cpu_domains(const struct showing *showing, const char *key)
{
	begin(showing, key);
	uint32_t version = cursor_u32(showing->payload);
	show_number(showing, "schedstat_version", version);
	show_u32(showing, "most_domains");
	begin_list(showing, "cpus");
	// How many there are, only NRCPUS says.
	for (uint32_t i = 0; i < showing->features->cpus_available && !showing->payload->failed &&
			     cursor_left(showing->payload) >= 8;
	     i++) {
		begin(showing, NULL);
		show_u32(showing, "cpu");
		show_domains(showing, version);
		end(showing);
	}
	end_list(showing);
	end(showing);
}

static void show_machine(const struct showing *showing, const char *key)
{
	begin(showing, key);
	show_u32(showing, "e_machine");
	show_u32(showing, "e_flags");
	end(showing);
}

// simpleperf's list of words: a key, its value, and so on.
static void show_meta_info(const struct showing *showing, const char *key)
{
	begin(showing, key);
	while (cursor_left(showing->payload) && !showing->payload->failed) {
		const char *name = cursor_string(showing->payload);
		const char *value = cursor_string(showing->payload);
		if (name && value)
			showing->sink->text(showing->sink->arg, name, value);
	}
	end(showing);
}

static feature_shower *const showers[] = {
	[FEATURE_TRACING_DATA] = show_size,
	[FEATURE_HOSTNAME] = show_string,
	[FEATURE_OSRELEASE] = show_string,
	[FEATURE_VERSION] = show_string,
	[FEATURE_ARCH] = show_string,
	[FEATURE_NRCPUS] = show_cpus,
	[FEATURE_CPUDESC] = show_string,
	[FEATURE_CPUID] = show_string,
	[FEATURE_TOTAL_MEM] = show_one_u64,
	[FEATURE_CMDLINE] = show_strings,
	[FEATURE_CPU_TOPOLOGY] = show_cpu_topology,
	[FEATURE_NUMA_TOPOLOGY] = show_numa,
	[FEATURE_BRANCH_STACK] = show_presence,
	[FEATURE_PMU_MAPPINGS] = show_pmus,
	[FEATURE_GROUP_DESC] = show_groups,
	[FEATURE_AUXTRACE] = show_auxtrace,
	[FEATURE_STAT] = show_presence,
	[FEATURE_CACHE] = show_caches,
	[FEATURE_SAMPLE_TIME] = show_sample_time,
	[FEATURE_MEM_TOPOLOGY] = show_memory,
	[FEATURE_CLOCKID] = show_one_u64,
	[FEATURE_DIR_FORMAT] = show_one_u64,
	[FEATURE_BPF_PROG_INFO] = show_bpf_programs,
	[FEATURE_BPF_BTF] = show_btf,
	[FEATURE_COMPRESSED] = show_compressed,
	[FEATURE_CPU_PMU_CAPS] = show_capabilities,
	[FEATURE_CLOCK_DATA] = show_clock_data,
	[FEATURE_HYBRID_TOPOLOGY] = show_hybrid,
	[FEATURE_PMU_CAPS] = show_pmu_capabilities,
	[FEATURE_CPU_DOMAIN_INFO] = show_cpu_domains,
	[FEATURE_E_MACHINE] = show_machine,
	[FEATURE_CLN_SIZE] = show_one_u32,
	[FEATURE_SIMPLEPERF_META_INFO] = show_meta_info,
	[FEATURE_IMPRINT_NOTES] = show_strings,
};

static void ignore_begin(void *arg, const char *key, bool is_list)
{
	(void)arg, (void)key, (void)is_list;
}

static void ignore_end(void *arg, bool is_list)
{
	(void)arg, (void)is_list;
}

static void ignore_text(void *arg, const char *key, const char *value)
{
	(void)arg, (void)key, (void)value;
}

static void ignore_number(void *arg, const char *key, uint64_t value)
{
	(void)arg, (void)key, (void)value;
}

bool feature_can_be_shown(unsigned bit)
{
	return bit < sizeof showers / sizeof *showers && showers[bit];
}

struct imp_error *feature_show(unsigned bit, const struct cursor *payload,
			       const struct features *features, const char *key,
			       const struct feature_sink *sink)
{
	static const struct feature_sink nowhere = { ignore_begin, ignore_end, ignore_text,
						     ignore_number, NULL };
	if (!feature_can_be_shown(bit))
		return NULL;
	// Once to see whether it can be read whole, and only then for the eyes of others.
	struct cursor trial = *payload;
	showers[bit](&(struct showing){ &trial, features, &nowhere }, key);
	if (trial.failed)
		return cursor_error(&trial, feature_name(bit));
	struct cursor again = *payload;
	if (sink)
		showers[bit](&(struct showing){ &again, features, sink }, key);
	return NULL;
}
