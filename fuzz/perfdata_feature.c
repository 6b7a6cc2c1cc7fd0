// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Payloads of header features: the feature's number, the byte order, the number of CPUs, the
// payload.
#include "fuzz.h"
#include "perfdata/feature_show.h"
#include "perfdata/record.h"

static void count_begin(void *arg, const char *key, bool is_list)
{
	(void)key, (void)is_list;
	++*(long *)arg;
}

static void count_end(void *arg, bool is_list)
{
	(void)is_list;
	FUZZ_CHECK(--*(long *)arg >= 0);
}

static void check_text(void *arg, const char *key, const char *value)
{
	(void)arg, (void)key;
	FUZZ_CHECK(value);
}

static void ignore_number(void *arg, const char *key, uint64_t value)
{
	(void)arg, (void)key, (void)value;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	enum { SHAPE_SIZE = 3 };
	if (size < SHAPE_SIZE)
		return 0;
	unsigned bit = bytes[0];
	struct cursor payload = cursor_over(bytes + SHAPE_SIZE, size - SHAPE_SIZE);
	payload.swap = bytes[1] & 1;
	struct features features = { .cpus_available = bytes[2] };
	long depth = 0;
	const struct feature_sink sink = { count_begin, count_end, check_text, ignore_number,
					   &depth };
	imp_error_free(feature_show(bit, &payload, &features, "key", &sink));
	FUZZ_CHECK(depth == 0);
	struct cursor again = payload;
	imp_error_free(feature_read(bit, &again, &features));
	features_fini(&features);
	struct events events = { 0 };
	again = payload;
	if (bit == FEATURE_EVENT_DESC)
		imp_error_free(feature_read_event_desc(&again, &events));
	again = payload;
	if (bit == FEATURE_SIMPLEPERF_META_INFO)
		imp_error_free(feature_read_meta_info(&again, &events));
	events_fini(&events);
	struct build_id_table table = { 0 };
	again = payload;
	if (bit == FEATURE_BUILD_ID)
		imp_error_free(build_id_table_read(&again, &table));
	build_id_table_fini(&table);
	return 0;
}
