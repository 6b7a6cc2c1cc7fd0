// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// imprint info for machines (docs/json.md).
#include <ctype.h>

#include "base/json.h"
#include "cli/info.h"

enum { INFO_JSON_VERSION = 1 };

static void tree_begin(void *arg, const char *key, bool is_list)
{
	if (key)
		json_key(arg, key);
	if (is_list)
		json_begin_array(arg);
	else
		json_begin_object(arg);
}

static void tree_end(void *arg, bool is_list)
{
	if (is_list)
		json_end_array(arg);
	else
		json_end_object(arg);
}

static void tree_text(void *arg, const char *key, const char *value)
{
	if (key)
		json_key(arg, key);
	json_string(arg, value);
}

static void tree_number(void *arg, const char *key, uint64_t value)
{
	if (key)
		json_key(arg, key);
	json_uint(arg, value);
}

static void print_feature(struct json *json, const struct info *info, unsigned bit)
{
	const struct feature_sink sink = { tree_begin, tree_end, tree_text, tree_number, json };
	char key[64];
	size_t length = 0;
	for (const char *name = feature_name(bit); name[length] && length + 1 < sizeof key;
	     length++)
		key[length] = (char)tolower((unsigned char)name[length]);
	key[length] = '\0';
	struct imp_error *err = info_show_feature(info, bit, key, &sink);
	if (err) {
		json_key(json, key);
		json_null(json);
		imp_error_free(err);
	}
}

static void print_features(struct json *json, const struct info *info)
{
	const struct features *features = recording_features(info->recording);
	json_key(json, "features");
	json_begin_object(json);
	for (unsigned bit = 0; bit < FEATURE_BITS; bit++)
		if (features_has(features, bit) && feature_can_be_shown(bit))
			print_feature(json, info, bit);
	json_end_object(json);
	json_key(json, "feature_bits");
	json_begin_array(json);
	for (unsigned bit = 0; bit < FEATURE_BITS; bit++)
		if (features_has(features, bit))
			json_uint(json, bit);
	json_end_array(json);
}

static void print_event(struct json *json, const struct event *event, uint64_t samples)
{
	const struct event_attr *attr = &event->attr;
	json_begin_object(json);
	json_member_string(json, "name", event->name);
	json_member_uint(json, "samples", samples);
	json_member_uint(json, "type", attr->type);
	json_member_hex(json, "config", attr->config);
	json_member_uint(json, attr_has(attr, ATTR_FREQ) ? "frequency" : "period",
			 attr->sample_period);
	json_member_uint(json, "ids", event->id_count);
	json_member_uint(json, "attr_size", attr->size);
	json_member_hex(json, "attr_flags", attr->flags);
	json_key(json, "sample_type");
	json_begin_array(json);
	for (unsigned bit = 0; bit < 64; bit++)
		if (attr->sample_type >> bit & 1)
			json_string(json, sample_bit_name(bit) ? sample_bit_name(bit) : "unknown");
	json_end_array(json);
	json_member_bool(json, "readable", !event->is_opaque);
	json_end_object(json);
}

static void print_events(struct json *json, const struct info *info)
{
	const struct events *events = recording_events(info->recording);
	json_key(json, "events");
	json_begin_array(json);
	for (size_t i = 0; i < events->count; i++)
		print_event(json, &events->items[i], info->contents.samples[i]);
	json_end_array(json);
}

static void print_records(struct json *json, const struct info *info)
{
	struct contents_row row;
	json_key(json, "records");
	json_begin_array(json);
	for (size_t i = 0; info_row(info, i, &row); i++) {
		if (!row.records)
			continue;
		json_begin_object(json);
		json_member_uint(json, "type", row.type);
		json_member_string(json, "name", record_type_name(row.type));
		json_member_uint(json, "count", row.records);
		json_member_uint(json, "bytes", row.bytes);
		json_end_object(json);
	}
	json_end_array(json);
}

static void print_recording(struct json *json, const struct info *info)
{
	static const char *const modes[] = {
		[RECORDING_FILE] = "file",
		[RECORDING_PIPE] = "stream",
		[RECORDING_DIRECTORY] = "directory",
	};
	bool is_big_endian = recording_is_swapped(info->recording) !=
			     (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	json_member_string(json, "recording", recording_path(info->recording));
	json_member_string(json, "form", modes[recording_mode(info->recording)]);
	json_member_string(json, "byte_order", is_big_endian ? "big" : "little");
	json_member_uint(json, "bytes", recording_size_bytes(info->recording));
	json_member_uint(json, "build_id_table", recording_build_id_count(info->recording));
}

static void print_sums(struct json *json, const struct info *info)
{
	const struct contents *contents = &info->contents;
	uint64_t records, bytes, inflated;
	recording_compression(info->recording, &records, &bytes, &inflated);
	json_key(json, "compressed");
	json_begin_object(json);
	json_member_uint(json, "records", records);
	json_member_uint(json, "bytes", bytes);
	json_member_uint(json, "inflated_bytes", inflated);
	json_end_object(json);
	json_key(json, "lost");
	json_begin_object(json);
	json_member_uint(json, "events", contents->lost_records);
	json_member_uint(json, "samples", contents->lost_samples);
	json_member_uint(json, "unreadable_samples", contents->unreadable_samples);
	json_end_object(json);
	if (contents->first_ns <= contents->last_ns) {
		json_member_uint(json, "first_ns", contents->first_ns);
		json_member_uint(json, "last_ns", contents->last_ns);
	} else {
		json_member_string(json, "first_ns", NULL);
		json_member_string(json, "last_ns", NULL);
	}
}

void info_print_json(const struct info *info)
{
	struct json json = { .out = stdout };
	json_begin_object(&json);
	json_member_string(&json, "format", "imprint-info");
	json_member_uint(&json, "version", INFO_JSON_VERSION);
	print_recording(&json, info);
	print_sums(&json, info);
	print_features(&json, info);
	print_events(&json, info);
	print_records(&json, info);
	json_key(&json, "left_out");
	json_begin_array(&json);
	for (size_t i = 0; i < info->left_out.count; i++)
		json_string(&json, info->left_out.items[i]);
	json_end_array(&json);
	json_end_object(&json);
}
