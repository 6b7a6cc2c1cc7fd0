// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Copying what a header says.
#include "analyze/origin.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"

// TEXT's copy in *RET; NULL stays NULL.
static bool copy(const char *text, char **ret)
{
	*ret = text ? strdup(text) : NULL;
	return *ret || !text;
}

// Appends WORD as a shell would read it back.
static void append_word(struct buffer *line, const char *word)
{
	static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				   "%+,-./:=@_^{}";
	if (*word && strspn(word, safe) == strlen(word)) {
		buffer_text(line, word);
		return;
	}
	buffer_text(line, "'");
	for (; *word; word++) {
		if (*word == '\'')
			buffer_text(line, "'\\''");
		else if ((unsigned char)*word < ' ')
			buffer_text(line, " ");
		else
			buffer_append(line, word, 1);
	}
	buffer_text(line, "'");
}

// perf records the path of itself as the first word; shown is its name.
static bool command_line(const struct features *features, char **ret)
{
	if (!features->command_line_count)
		return true;
	_cleanup_buffer_ struct buffer line = { 0 };
	for (size_t i = 0; i < features->command_line_count; i++) {
		const char *word = features->command_line[i];
		const char *slash = strrchr(word, '/');
		if (i)
			buffer_text(&line, " ");
		append_word(&line, !i && slash && slash[1] ? slash + 1 : word);
	}
	buffer_append(&line, "", 1);
	return !line.failed && copy((const char *)line.bytes, ret);
}

// The wall clock at the recording's first sample, where a pair of both clocks was recorded.
static uint64_t wall_time(const struct features *features, uint64_t first_ns)
{
	if (!features->has_clock_data || !first_ns)
		return 0;
	return features->clock_wall_ns + (first_ns - features->clock_ns);
}

// Sentences of the recorder's, on one line each.
static bool copy_notes(const struct features *features, struct profile_origin *origin)
{
	origin->notes = calloc(features->note_count + 1, sizeof *origin->notes);
	for (size_t i = 0; origin->notes && i < features->note_count; i++) {
		char *note = strdup(features->notes[i]);
		if (!note)
			return false;
		for (char *at = note; *at; at++)
			if ((unsigned char)*at < ' ')
				*at = ' ';
		origin->notes[origin->note_count++] = note;
	}
	return origin->notes;
}

struct imp_error *origin_of(const struct recording *recording, struct profile_origin *origin)
{
	const struct features *features = recording_features(recording);
	bool is_copied = copy(recording_path(recording), &origin->path) &&
			 copy(features->hostname, &origin->host) &&
			 copy(features->os_release, &origin->os_release) &&
			 copy(features->arch, &origin->arch) &&
			 copy(features->version, &origin->recorder) &&
			 command_line(features, &origin->command) && copy_notes(features, origin);
	origin->began_ns = wall_time(features, origin->first_ns);
	return is_copied ? NULL : &imp_error_no_memory;
}
