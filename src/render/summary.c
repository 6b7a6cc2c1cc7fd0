// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Summing up what is sure and what has no name.
#include "render/summary.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

static struct imp_error *unknown_add(struct summary *summary, struct table *table,
				     const struct unknown_sum *wanted)
{
	uint64_t hash = hash_mix(hash_mix(0, wanted->object), (uint64_t)wanted->reason);
	struct table_probe probe = table_probe(table, hash);
	uint32_t number;
	while (table_next(table, &probe, &number)) {
		struct unknown_sum *known = &summary->unknowns.items[number];
		if (known->object != wanted->object || known->reason != wanted->reason)
			continue;
		known->samples += wanted->samples;
		known->weight += wanted->weight;
		return NULL;
	}
	struct unknown_sum *fresh = array_add(&summary->unknowns);
	if (!fresh)
		return &imp_error_no_memory;
	*fresh = *wanted;
	return table_insert(table, hash, (uint32_t)summary->unknowns.count - 1)
		       ? NULL
		       : &imp_error_no_memory;
}

static struct imp_error *spot_add(struct summary *summary, struct table *table,
				  const struct stack_node *node)
{
	const struct profile *profile = summary->profile;
	const struct spot *spot = &profile->tally.spots.items[node->spot];
	const struct profile_object *object = profile_object_of(profile, spot);
	const struct spot_name *name = &profile->names[node->spot];
	if (object)
		summary->identities[object->image.identity] += node->samples;
	else
		summary->without_object += node->samples;
	if (name->count)
		return NULL;
	summary->unnamed_samples += node->samples;
	struct unknown_sum unknown = { .reason = name->reason,
				       .object = object ? object->same : NO_NUMBER,
				       .samples = node->samples,
				       .weight = node->weight };
	return unknown_add(summary, table, &unknown);
}

static int unknown_compare(const void *left, const void *right)
{
	const struct unknown_sum *a = left, *b = right;
	if (a->samples != b->samples)
		return a->samples > b->samples ? -1 : 1;
	if (a->reason != b->reason)
		return a->reason < b->reason ? -1 : 1;
	return (a->object > b->object) - (a->object < b->object);
}

struct imp_error *summary_make(const struct profile *profile, struct summary *ret)
{
	struct summary summary = { .profile = profile };
	_cleanup_(table_fini) struct table table = { 0 };
	struct imp_error *err = NULL;
	for (size_t i = 0; i < profile->tally.nodes.count && !err; i++) {
		const struct stack_node *node = &profile->tally.nodes.items[i];
		summary.samples += node->samples;
		if (node->samples && !stack_node_is_root(node))
			err = spot_add(&summary, &table, node);
	}
	if (err) {
		summary_fini(&summary);
		return err;
	}
	if (summary.unknowns.count)
		qsort(summary.unknowns.items, summary.unknowns.count,
		      sizeof *summary.unknowns.items, unknown_compare);
	*ret = summary;
	return NULL;
}

void summary_fini(struct summary *summary)
{
	array_fini(&summary->unknowns);
}

// Servers that were asked already need not be asked again.
static void or_fetch(const struct profile *profile, const char *id, struct buffer *out)
{
	if (!profile->origin.asked_servers)
		buffer_format(out, ", or 'imprint fetch %s'", id);
}

void next_step_print(const struct profile *profile, const struct unknown_sum *unknown,
		     struct buffer *out)
{
	const struct profile_object *object =
		unknown->object == NO_NUMBER ? NULL : &profile->objects.items[unknown->object];
	struct build_id none = { 0 };
	struct build_id_text text = build_id_text(object ? &object->image.id : &none);
	const char *id = text.text;
	switch (unknown->reason) {
	case UNKNOWN_NO_IDENTITY:
	case UNKNOWN_AMBIGUOUS:
		buffer_text(out, "record with 'imprint record' or 'perf record --buildid-mmap'");
		break;
	case UNKNOWN_IMAGE_NOT_FOUND:
		if (!*id)
			break;
		buffer_text(out, "give its folder with --images");
		or_fetch(profile, id, out);
		break;
	case UNKNOWN_OTHER_BUILD:
		buffer_format(out, "give the folder of build %s with --images", id);
		or_fetch(profile, id, out);
		if (object && object->found_path)
			buffer_format(out, " (%s is %s)", object->found_path,
				      build_id_text(&object->found_id).text);
		break;
	case UNKNOWN_NO_SYMBOLS:
	case UNKNOWN_STRIPPED:
		if (!*id)
			break;
		buffer_text(out, "install its debug package");
		or_fetch(profile, id, out);
		break;
	case UNKNOWN_ANONYMOUS:
		buffer_text(out, "let the runtime write /tmp/perf-PID.map");
		break;
	case UNKNOWN_KERNEL_HIDDEN:
		buffer_text(out, "record as root, or with kernel.kptr_restrict=0");
		break;
	case UNKNOWN_UNMAPPED:
	case UNKNOWN_NO_PROCESS:
		if (profile->origin.lost_events)
			buffer_text(out, "record with larger buffers (-m): events were lost");
		break;
	case UNKNOWN_UNREADABLE:
		buffer_text(out, "'imprint report -v' tells why");
		break;
	case KNOWN:
	case UNKNOWN_NO_SYMBOL_AT_ADDRESS:
	case UNKNOWN_OUTSIDE_IMAGE:
	case UNKNOWN_NO_ADDRESS:
	case UNKNOWN_REASONS:
	default:
		break;
	}
}

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100 * (double)part / (double)whole : 0;
}

static void print_origin(const struct profile_origin *origin, FILE *out)
{
	if (origin->host || origin->os_release || origin->arch || origin->recorder) {
		fprintf(out, "# Recorded on %s", origin->host ? origin->host : "an unnamed host");
		if (origin->os_release)
			fprintf(out, ", Linux %s", origin->os_release);
		if (origin->arch)
			fprintf(out, " %s", origin->arch);
		if (origin->recorder)
			fprintf(out, ", by version %s", origin->recorder);
		putc('\n', out);
	}
	if (origin->command)
		fprintf(out, "# Command: %s\n", origin->command);
}

static void print_counts(const struct summary *summary, FILE *out)
{
	const struct profile_origin *origin = &summary->profile->origin;
	fprintf(out, "# %llu samples", (unsigned long long)summary->samples);
	if (origin->has_times && origin->last_ns > origin->first_ns)
		fprintf(out, " over %.3f s", (double)(origin->last_ns - origin->first_ns) / 1e9);
	fprintf(out, "; lost: %llu events", (unsigned long long)origin->lost_events);
	if (origin->lost_samples)
		fprintf(out, ", %llu samples", (unsigned long long)origin->lost_samples);
	if (origin->unreadable_samples)
		fprintf(out, "; %llu samples could not be read",
			(unsigned long long)origin->unreadable_samples);
	if (origin->samples_without_address)
		fprintf(out, "; %llu samples carry no address",
			(unsigned long long)origin->samples_without_address);
	putc('\n', out);
	if (origin->left_out)
		fprintf(out, "# Only what was chosen: %llu samples are left out\n",
			(unsigned long long)origin->left_out);
}

static void print_identities(const struct summary *summary, FILE *out)
{
	fputs("# Identity of the sampled code:", out);
	const char *joint = " ";
	for (unsigned i = 0; i < IDENTITIES; i++) {
		if (!summary->identities[i])
			continue;
		fprintf(out, "%s%s %.2f%%", joint, identity_name((enum identity)i),
			percent(summary->identities[i], summary->samples));
		joint = ", ";
	}
	if (summary->without_object)
		fprintf(out, "%snothing mapped %.2f%%", joint,
			percent(summary->without_object, summary->samples));
	else if (*joint == ' ')
		fputs(" no samples", out);
	putc('\n', out);
}

static void print_notes(const struct profile_origin *origin, FILE *out)
{
	enum { SHOWN_MOST = 10 };
	for (size_t i = 0; i < origin->note_count && i < SHOWN_MOST; i++)
		fprintf(out, "# The recorder says: %s\n", origin->notes[i]);
	if (origin->note_count > SHOWN_MOST)
		fprintf(out, "# The recorder says %zu things more: 'imprint info' shows them\n",
			origin->note_count - SHOWN_MOST);
}

void summary_print_head(const struct summary *summary, FILE *out)
{
	print_origin(&summary->profile->origin, out);
	print_counts(summary, out);
	print_identities(summary, out);
	print_notes(&summary->profile->origin, out);
	fputs("#\n", out);
}

static const char *unknown_label(const struct profile *profile, const struct unknown_sum *unknown)
{
	if (unknown->object == NO_NUMBER)
		return "[unknown]";
	return profile_string(profile, profile->objects.items[unknown->object].label);
}

// The objects in which chains end that go on, the worst first, at most three.
static void print_ending_objects(const struct profile *profile, FILE *out)
{
	enum { MOST = 3 };
	const struct profile_object *worst[MOST] = { NULL };
	for (size_t i = 0; i < profile->objects.count; i++) {
		const struct profile_object *object = &profile->objects.items[i];
		for (size_t j = 0; j < MOST && object && object->ended_chains; j++) {
			const struct profile_object *other = worst[j];
			if (other && other->ended_chains >= object->ended_chains)
				continue;
			worst[j] = object;
			object = other;
		}
	}
	if (!worst[0])
		return;
	fputs("#   most often in ", out);
	for (size_t j = 0; j < MOST && worst[j]; j++)
		fprintf(out, "%s%s (%llu)", j ? ", " : "", profile_string(profile, worst[j]->label),
			(unsigned long long)worst[j]->ended_chains);
	putc('\n', out);
}

void summary_print_chains(const struct summary *summary, FILE *out)
{
	const struct profile *profile = summary->profile;
	const struct profile_origin *origin = &profile->origin;
	uint64_t all = 0;
	for (unsigned i = 0; i < UNWIND_ENDS; i++)
		all += origin->chain_ends[i];
	if (!all)
		return;
	fprintf(out, "# Call chains from copied stacks: %llu of %llu whole (%.2f%%)\n",
		(unsigned long long)origin->chain_ends[UNWIND_OUTERMOST], (unsigned long long)all,
		percent(origin->chain_ends[UNWIND_OUTERMOST], all));
	for (unsigned i = UNWIND_OUTERMOST + 1; i < UNWIND_ENDS; i++)
		if (origin->chain_ends[i])
			fprintf(out, "# %8llu  %6.2f%%  %s\n",
				(unsigned long long)origin->chain_ends[i],
				percent(origin->chain_ends[i], all),
				unwind_end_sentence((enum unwind_end)i));
	print_ending_objects(profile, out);
	if (origin->chains_by_frame_pointer)
		fprintf(out,
			"#   %llu go through frames that nothing describes, by their frame "
			"pointer: callers may be missing there\n",
			(unsigned long long)origin->chains_by_frame_pointer);
	fputs("#\n", out);
}

// Servers may have a build whose name is known and that is not here, or not with its symbols.
static bool can_be_fetched(const struct profile *profile, const struct unknown_sum *unknown)
{
	if (unknown->object == NO_NUMBER ||
	    build_id_is_none(&profile->objects.items[unknown->object].image.id))
		return false;
	return unknown->reason == UNKNOWN_IMAGE_NOT_FOUND ||
	       unknown->reason == UNKNOWN_OTHER_BUILD || unknown->reason == UNKNOWN_NO_SYMBOLS ||
	       unknown->reason == UNKNOWN_STRIPPED;
}

// What --debuginfod or `imprint fetch` could be of use for.
static void print_fetchable(const struct summary *summary, FILE *out)
{
	const struct profile *profile = summary->profile;
	const char *path = profile->origin.path;
	uint64_t samples = 0;
	size_t builds = 0;
	for (size_t i = 0; i < summary->unknowns.count; i++) {
		if (!can_be_fetched(profile, &summary->unknowns.items[i]))
			continue;
		samples += summary->unknowns.items[i].samples;
		builds++;
	}
	if (!builds || profile->origin.asked_servers)
		return;
	fprintf(out,
		"#\n# Debuginfod servers may have %s for %.2f%% of the samples; nothing was asked of "
		"them.\n# To ask: 'imprint fetch%s%s', or --debuginfod here\n",
		builds == 1 ? "the build" : "the builds", percent(samples, summary->samples),
		path && strcmp(path, "-") != 0 ? " -i " : "",
		path && strcmp(path, "-") != 0 ? path : "");
}

void summary_print_unknowns(const struct summary *summary, FILE *out)
{
	const struct profile *profile = summary->profile;
	if (!summary->unknowns.count || !profile->is_named)
		return;
	int width = (int)strlen("Object");
	for (size_t i = 0; i < summary->unknowns.count; i++) {
		int length = (int)strlen(unknown_label(profile, &summary->unknowns.items[i]));
		width = length > width ? length : width;
	}
	fprintf(out,
		"# Without a name: %llu of %llu samples (%.2f%%)\n#\n"
		"#  Samples    Share  %-*s  Reason\n",
		(unsigned long long)summary->unnamed_samples, (unsigned long long)summary->samples,
		percent(summary->unnamed_samples, summary->samples), width, "Object");
	for (size_t i = 0; i < summary->unknowns.count; i++) {
		const struct unknown_sum *unknown = &summary->unknowns.items[i];
		_cleanup_buffer_ struct buffer step = { 0 };
		next_step_print(profile, unknown, &step);
		fprintf(out, "# %8llu  %6.2f%%  %-*s  %s", (unsigned long long)unknown->samples,
			percent(unknown->samples, summary->samples), width,
			unknown_label(profile, unknown), unknown_reason_sentence(unknown->reason));
		if (step.size)
			fprintf(out, "; next: %.*s", (int)step.size, (const char *)step.bytes);
		putc('\n', out);
	}
	print_fetchable(summary, out);
}
