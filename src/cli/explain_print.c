// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// An explanation in words, for people.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/explain.h"
#include "cli/printable.h"

enum { ALIASES_MOST = 8, PROT_READ = 1, PROT_WRITE = 2, PROT_EXEC = 4 };

static void print_time(uint64_t time_ns)
{
	printf("%" PRIu64 ".%06" PRIu64 " s", time_ns / 1000000000, time_ns % 1000000000 / 1000);
}

static void print_sample(const struct explanation *it)
{
	const struct moment *moment = &it->moment;
	if (moment->number)
		printf("Sample %" PRIu64 " of %s (record at offset 0x%" PRIx64 "):\n",
		       moment->number, it->recording, moment->record_offset);
	else
		printf("%s:\n", it->recording);
	printf("  address 0x%" PRIx64, moment->address);
	if (moment->has_pid) {
		printf(" in process %" PRIu32, moment->pid);
		if (moment->tid != moment->pid && moment->tid != UINT32_MAX)
			printf(" (thread %" PRIu32 ")", moment->tid);
	}
	if (it->comm) {
		printf(" \"");
		printable(stdout, it->comm);
		putchar('"');
	}
	if (moment->has_time) {
		printf(" at ");
		print_time(moment->time_ns);
	}
	putchar('\n');
	// As stat(1) has it of /proc/PID/ns/mnt.
	if (it->namespaces)
		printf("  in mount namespace %" PRIu64 " (device %" PRIu64 ")\n",
		       it->namespaces->kinds[NAMESPACE_MOUNT].inode,
		       it->namespaces->kinds[NAMESPACE_MOUNT].device);
	putchar('\n');
}

static void print_protection(uint32_t protection)
{
	printf("%c%c%c", protection & PROT_READ ? 'r' : '-', protection & PROT_WRITE ? 'w' : '-',
	       protection & PROT_EXEC ? 'x' : '-');
}

// How long before the sample, and by whom.
static void print_when(const struct explanation *it)
{
	const struct mapping_record *mapping = &it->mapping;
	if (!mapping->has_time || !mapping->time_ns) {
		printf("  That record has no time: the recorder made it when it began, for what was "
		       "mapped already.\n");
		return;
	}
	printf("  That was at ");
	print_time(mapping->time_ns);
	if (it->moment.has_time && it->moment.time_ns >= mapping->time_ns) {
		printf(", ");
		print_time(it->moment.time_ns - mapping->time_ns);
		printf(" before");
	}
	if (it->moment.has_pid && mapping->pid != it->moment.pid && mapping->pid != UINT32_MAX)
		printf("; process %" PRIu32 " has the mapping from process %" PRIu32
		       ", whose child it is",
		       it->moment.pid, mapping->pid);
	puts(".");
}

static void print_mapping(const struct explanation *it)
{
	const struct mapping_record *mapping = &it->mapping;
	puts("Mapped");
	if (!it->has_mapping) {
		puts("  No record of the recording tells of this mapping.");
		return;
	}
	printf("  The %s record at offset 0x%" PRIx64 ": ", mapping->is_mmap2 ? "MMAP2" : "MMAP",
	       mapping->record_offset);
	if (mapping->pid != UINT32_MAX)
		printf("process %" PRIu32 " mapped ", mapping->pid);
	printf("0x%" PRIx64 "-0x%" PRIx64, mapping->start, mapping->start + mapping->length);
	if (mapping->protection) {
		putchar(' ');
		print_protection(mapping->protection);
	}
	printf(" of\n  ");
	printable(stdout, mapping->path);
	if (mapping->page_offset < UINT64_C(1) << 60)
		printf(" from offset 0x%" PRIx64, mapping->page_offset);
	if (mapping->has_inode && mapping->inode)
		printf(" (device %" PRIu32 ":%" PRIu32 ", inode %" PRIu64 ")", mapping->major,
		       mapping->minor, mapping->inode);
	puts(".");
	print_when(it);
}

static const char *const identity_sentences[IDENTITIES] = {
	[IDENTITY_MAP_TIME] = "put into the mapping's record when it was mapped: sure",
	[IDENTITY_SYNTHESIZED] = "read when the recording began, of what was mapped already",
	[IDENTITY_AFTER_THE_FACT] =
		"read by path when the recording ended: possibly of another build",
	[IDENTITY_INFERRED] = "inferred: what is mapped is anonymous, in a hole between two "
			      "mappings of the file",
	[IDENTITY_AMBIGUOUS] = "the recording itself shows that it cannot be right for all that "
			       "was mapped there: not used",
	[IDENTITY_NONE] = "the recording does not say which build was mapped; what is at the path "
			  "today proves nothing",
};

static void print_identity(const struct explanation *it)
{
	const struct image *image = it->image;
	if (image->path && *image->path) {
		printf("Image\n  ");
		printable(stdout, image->path);
		printf(" (%s)\n", image_kind_name(image->kind));
	}
	puts("Identity");
	if (!image->id.size) {
		printf("  no build ID: %s.\n", it->recording ? identity_sentences[IDENTITY_NONE]
							     : "no file can be shown to be it");
		return;
	}
	printf("  build ID %s", build_id_text(&image->id).text);
	if (image->id_is_padded)
		printf(" (its length was not recorded: zeros at its end may not belong to it)");
	if (it->recording)
		printf(",\n  %s", identity_sentences[image->identity]);
	puts(".");
}

// One other build that was mapped from the image's path.
static void print_other(const struct explanation *it, const struct mapping_record *other)
{
	const struct mapping_record *mapping = &it->mapping;
	printf("  %s,\n    mapped first by process %" PRIu32, build_id_text(&other->id).text,
	       other->pid);
	if (other->has_time && other->time_ns) {
		bool is_later = it->has_mapping && mapping->has_time &&
				other->time_ns > mapping->time_ns;
		printf(" at ");
		print_time(other->time_ns);
		if (it->has_mapping && mapping->has_time && mapping->time_ns) {
			printf(", ");
			print_time(is_later ? other->time_ns - mapping->time_ns
					    : mapping->time_ns - other->time_ns);
			printf(" %s", is_later ? "after this one" : "before this one");
		}
	} else {
		printf(" before the recording began");
	}
	printf(" (record at offset 0x%" PRIx64 ")\n", other->record_offset);
}

static void print_now(const struct explanation *it)
{
	static const char *const sentences[FIND_OUTCOMES] = {
		[FIND_ABSENT] = "there is no such file",
		[FIND_MATCH] = "it is this build",
		[FIND_NO_ID] = "it has no build ID",
		[FIND_UNREADABLE] = "it cannot be read",
	};
	if (it->now == FIND_OTHER_BUILD)
		printf("  on this machine now: %s\n", build_id_text(&it->now_id).text);
	else if (it->now != FIND_SKIPPED)
		printf("  on this machine now: %s\n", sentences[it->now]);
}

// The path is a hint: what else it named, and names.
static void print_replaced(const struct explanation *it)
{
	if (!it->others.count && it->now != FIND_OTHER_BUILD)
		return;
	puts("Replaced");
	if (it->others.count)
		puts("  In this recording the same path is of another build, too:");
	for (size_t i = 0; i < it->others.count; i++)
		print_other(it, &it->others.items[i]);
	print_now(it);
}

static void print_step(const struct find_step *step)
{
	printf("  %-16s ", step->source);
	printable(stdout, step->place);
	switch (step->outcome) {
	case FIND_MATCH:
		printf(": this build (%s)", step->detail ? step->detail : "no symbols");
		break;
	case FIND_OTHER_BUILD:
		printf(": another build, %s", build_id_text(&step->other).text);
		break;
	case FIND_NO_ID:
		printf(": has no build ID%s%s", step->detail ? "; " : "",
		       step->detail ? step->detail : "");
		break;
	case FIND_ABSENT:
		printf(": not there%s%s", step->detail ? "; " : "",
		       step->detail ? step->detail : "");
		break;
	case FIND_UNREADABLE:
	case FIND_SKIPPED:
	case FIND_OUTCOMES:
	default:
		printf(": %s", step->detail ? step->detail : find_outcome_name(step->outcome));
		break;
	}
}

// Prints step INDEX, and in short with it those that found nothing in the same source's other
// places; how many steps that were.
static size_t print_steps(const struct finding *finding, size_t index, bool is_full)
{
	const struct find_step *step = &finding->steps[index];
	size_t count = 1;
	while (!is_full && step->outcome == FIND_ABSENT && index + count < finding->step_count &&
	       finding->steps[index + count].outcome == FIND_ABSENT &&
	       !strcmp(finding->steps[index + count].source, step->source))
		count++;
	print_step(step);
	if (count > 1)
		printf(", nor in %zu other place%s (-v)", count - 1, count > 2 ? "s" : "");
	putchar('\n');
	return count;
}

static void print_search(const struct explanation *it)
{
	const struct finding *finding = it->finding;
	puts("Looked for");
	for (size_t i = 0; i < finding->step_count; i += print_steps(finding, i, it->is_full))
		;
	if (!finding->step_count)
		puts("  nowhere");
	if (finding->is_forced)
		puts("  --force: the file at the path is used although nothing shows that it is this "
		     "build.");
}

// The next thing to do.
static void print_next(const struct explanation *it)
{
	const struct finding *finding = it->finding;
	if (finding->image || finding->kallsyms)
		return;
	if (finding->debug)
		puts("  A debug file alone does not say where in the mapped file the code stood.");
	if (!identity_is_usable(it->image->identity) || !it->image->id.size)
		puts(it->recording ? "  Next: record with imprint record, or perf record "
				     "--buildid-mmap, which note builds when they are mapped."
				   : "  Next: build it with --build-id.");
	else
		printf("  Next: imprint fetch %s,\n  or name the directory that has it with "
		       "--images.\n",
		       build_id_text(&it->image->id).text);
}

static void print_conclusion(const struct explanation *it)
{
	const struct finding *finding = it->finding;
	puts("Used");
	if (finding->image)
		printf("  code        %s\n", elf_image_path(finding->image));
	if (finding->debug)
		printf("  names       %s (%s)\n", elf_image_path(finding->debug),
		       find_rank_name(find_rank_of(finding->debug)));
	if (finding->alt)
		printf("  dwz file    %s\n", elf_image_path(finding->alt));
	if (finding->kallsyms)
		printf("  names       %s\n", finding->kallsyms_path);
	if (finding->reason != KNOWN)
		printf("  nothing: %s.\n", unknown_reason_sentence(finding->reason));
	print_next(it);
}

// The segment by which OFFSET became an address.
static const struct load_segment *segment_of(const struct elf_image *image, uint64_t offset)
{
	const struct load_segment *best = NULL;
	for (size_t i = 0; i < elf_image_segment_count(image); i++) {
		const struct load_segment *segment = elf_image_segment(image, i);
		if (offset >= segment->offset && offset - segment->offset < segment->file_size &&
		    (!best || (segment->is_executable && !best->is_executable)))
			best = segment;
	}
	return best;
}

static void print_arithmetic(const struct explanation *it)
{
	uint64_t offset = it->offset.value;
	puts("Address");
	if (it->has_moment && it->has_mapping && it->image->kind == IMAGE_USER)
		printf("  0x%" PRIx64 " - 0x%" PRIx64 " (start) + 0x%" PRIx64
		       " (its offset) = 0x%" PRIx64 " in the file\n",
		       it->moment.address, it->mapping.start, it->mapping.page_offset, offset);
	else if (it->has_moment)
		printf("  0x%" PRIx64 " - 0x%" PRIx64 " (%s) = 0x%" PRIx64 "\n", it->moment.address,
		       it->moment.address - offset,
		       it->image->reference_symbol ? it->image->reference_symbol : "base", offset);
	if (!it->frames.has_address)
		return;
	const struct load_segment *segment = it->finding && it->finding->image &&
							     it->image->kind == IMAGE_USER
						     ? segment_of(it->finding->image, offset)
						     : NULL;
	if (segment)
		printf("  0x%" PRIx64 " - 0x%" PRIx64 " + 0x%" PRIx64
		       " (the segment's offset and address) = 0x%" PRIx64 " in the symbol table\n",
		       offset, segment->offset, segment->address, it->frames.address.value);
	else if (it->finding && it->finding->base)
		printf("  0x%" PRIx64 " + 0x%" PRIx64 " (where offset 0 lies) = 0x%" PRIx64
		       " in the symbol table\n",
		       offset, it->finding->base, it->frames.address.value);
	else
		printf("  0x%" PRIx64 " in the symbol table\n", it->frames.address.value);
}

static void print_frame(const struct frame *frame, bool is_first)
{
	printf("  %s", is_first ? "" : "inlined into ");
	printable(stdout, frame->function ? frame->function : "(a function without a name)");
	if (frame->offset)
		printf(" + 0x%" PRIx64, frame->offset);
	if (frame->file) {
		printf("  ");
		printable(stdout, frame->file);
		printf(":%" PRIu32, frame->line);
	}
	putchar('\n');
}

static void print_name(const struct explanation *it)
{
	puts("Name");
	for (uint32_t i = 0; i < it->frames.count; i++)
		print_frame(&it->frames.items[i], i == 0);
	if (!it->frames.count)
		printf("  none: %s.\n", unknown_reason_sentence(it->frames.unknown));
	if (!it->frames.count && it->image->id.size)
		printf("  It is printed as [buildid:%s]+0x%" PRIx64 ".\n",
		       build_id_text(&it->image->id).text, it->offset.value);
	if (it->alias_count > 1) {
		printf("  chosen among %zu names of the same address:", it->alias_count);
		for (size_t i = 0; i < it->alias_count && i < ALIASES_MOST; i++) {
			printf("%s ", i ? "," : "");
			printable(stdout, symbols_item(it->aliases, it->alias_first + i).name);
		}
		puts(it->alias_count > ALIASES_MOST ? ", ..." : "");
	}
}

void explain_print(const struct explanation *it)
{
	if (it->has_moment)
		print_sample(it);
	if (!it->image) {
		printf("Unknown\n  %s.\n", unknown_reason_sentence(it->unlocated));
		return;
	}
	if (it->has_moment)
		print_mapping(it);
	print_identity(it);
	if (it->has_moment)
		print_replaced(it);
	if (it->finding) {
		print_search(it);
		print_conclusion(it);
	}
	if (it->has_offset) {
		print_arithmetic(it);
		print_name(it);
	}
}
