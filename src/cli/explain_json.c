// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// An explanation as JSON.
#include "base/json.h"
#include "cli/explain.h"

static void member_id(struct json *json, const char *key, const struct build_id *id)
{
	json_member_string(json, key, id->size ? build_id_text(id).text : NULL);
}

static void print_moment(struct json *json, const struct explanation *it)
{
	const struct moment *moment = &it->moment;
	json_key(json, "sample");
	json_begin_object(json);
	if (moment->number) {
		json_member_uint(json, "number", moment->number);
		json_member_uint(json, "record_offset", moment->record_offset);
	}
	json_member_hex(json, "address", moment->address);
	if (moment->has_pid)
		json_member_uint(json, "pid", moment->pid);
	if (moment->has_time)
		json_member_uint(json, "time_ns", moment->time_ns);
	json_member_string(json, "comm", it->comm);
	if (it->namespaces)
		json_member_uint(json, "mount_namespace",
				 it->namespaces->kinds[NAMESPACE_MOUNT].inode);
	json_end_object(json);
}

static void print_mapping(struct json *json, const struct mapping_record *mapping)
{
	json_key(json, "mapping");
	json_begin_object(json);
	json_member_uint(json, "record_offset", mapping->record_offset);
	json_member_string(json, "record", mapping->is_mmap2 ? "MMAP2" : "MMAP");
	json_member_uint(json, "pid", mapping->pid);
	if (mapping->has_time)
		json_member_uint(json, "time_ns", mapping->time_ns);
	json_member_hex(json, "start", mapping->start);
	json_member_hex(json, "length", mapping->length);
	json_member_hex(json, "offset", mapping->page_offset);
	json_member_string(json, "path", mapping->path);
	member_id(json, "build_id", &mapping->id);
	if (mapping->has_inode)
		json_member_uint(json, "inode", mapping->inode);
	json_end_object(json);
}

static void print_others(struct json *json, const struct explanation *it)
{
	json_key(json, "other_builds");
	json_begin_array(json);
	for (size_t i = 0; i < it->others.count; i++) {
		const struct mapping_record *other = &it->others.items[i];
		json_begin_object(json);
		member_id(json, "build_id", &other->id);
		json_member_uint(json, "record_offset", other->record_offset);
		json_member_uint(json, "pid", other->pid);
		if (other->has_time)
			json_member_uint(json, "time_ns", other->time_ns);
		json_end_object(json);
	}
	json_end_array(json);
	if (it->now == FIND_SKIPPED)
		return;
	json_key(json, "path_now");
	json_begin_object(json);
	json_member_string(json, "outcome", find_outcome_name(it->now));
	if (it->now_id.size)
		member_id(json, "build_id", &it->now_id);
	json_end_object(json);
}

static void print_steps(struct json *json, const struct finding *finding)
{
	json_key(json, "steps");
	json_begin_array(json);
	for (size_t i = 0; i < finding->step_count; i++) {
		const struct find_step *step = &finding->steps[i];
		json_begin_object(json);
		json_member_string(json, "source", step->source);
		json_member_string(json, "place", step->place);
		json_member_string(json, "outcome", find_outcome_name(step->outcome));
		if (step->outcome == FIND_OTHER_BUILD)
			member_id(json, "build_id", &step->other);
		if (step->detail)
			json_member_string(json, "detail", step->detail);
		json_end_object(json);
	}
	json_end_array(json);
}

static const char *path_of(const struct elf_image *image)
{
	return image ? elf_image_path(image) : NULL;
}

static void print_finding(struct json *json, const struct finding *finding)
{
	json_key(json, "found");
	json_begin_object(json);
	json_member_string(json, "code", path_of(finding->image));
	json_member_string(json, "names", path_of(finding->debug));
	json_member_string(json, "has",
			   finding->debug ? find_rank_name(find_rank_of(finding->debug)) : NULL);
	json_member_string(json, "dwz", path_of(finding->alt));
	json_member_string(json, "kallsyms", finding->kallsyms_path);
	json_member_bool(json, "forced", finding->is_forced);
	json_member_string(json, "unknown", unknown_reason_name(finding->reason));
	json_end_object(json);
	print_steps(json, finding);
}

static void print_frames(struct json *json, const struct explanation *it)
{
	json_member_hex(json, "offset", it->offset.value);
	if (it->frames.has_address)
		json_member_hex(json, "address", it->frames.address.value);
	json_key(json, "frames");
	json_begin_array(json);
	for (uint32_t i = 0; i < it->frames.count; i++) {
		const struct frame *frame = &it->frames.items[i];
		json_begin_object(json);
		json_member_string(json, "function", frame->function);
		json_member_hex(json, "offset", frame->offset);
		json_member_string(json, "file", frame->file);
		json_member_uint(json, "line", frame->line);
		json_member_bool(json, "inlined", frame->is_inlined);
		json_end_object(json);
	}
	json_end_array(json);
	json_member_string(json, "unknown", unknown_reason_name(it->frames.unknown));
	json_key(json, "aliases");
	json_begin_array(json);
	for (size_t i = 0; i < it->alias_count; i++)
		json_string(json, symbols_item(it->aliases, it->alias_first + i).name);
	json_end_array(json);
}

static void print_image(struct json *json, const struct image *image)
{
	json_key(json, "image");
	json_begin_object(json);
	json_member_string(json, "path", image->path);
	json_member_string(json, "kind", image_kind_name(image->kind));
	json_member_string(json, "identity", identity_name(image->identity));
	member_id(json, "build_id", &image->id);
	json_end_object(json);
}

void explain_print_json(const struct explanation *it, struct json *json)
{
	json_begin_object(json);
	if (it->has_moment)
		print_moment(json, it);
	if (it->has_mapping)
		print_mapping(json, &it->mapping);
	if (it->image)
		print_image(json, it->image);
	else
		json_member_string(json, "unknown", unknown_reason_name(it->unlocated));
	if (it->image && it->has_moment)
		print_others(json, it);
	if (it->finding)
		print_finding(json, it->finding);
	if (it->has_offset)
		print_frames(json, it);
	json_end_object(json);
}
