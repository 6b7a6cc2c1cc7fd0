// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// From words to samples.
#include "cli/choice.h"

#include <stdlib.h>
#include <string.h>

static struct imp_error *read_numbers(const char *option, const char *text, struct number_list *ret)
{
	struct imp_error *err = text ? sample_choice_read_numbers(text, ret) : NULL;
	return err ? error_context(err, "option '%s'", option) : NULL;
}

// Cuts a copy of TEXT, kept in *WORDS, at its commas; a name with a comma in its template
// arguments is given alone.
static struct imp_error *read_names(const char *text, char **words, struct option_list *ret)
{
	if (!text)
		return NULL;
	*words = strdup(text);
	if (!*words)
		return &imp_error_no_memory;
	char *rest = strpbrk(text, "<(") ? NULL : *words;
	for (char *name = rest ? strsep(&rest, ",") : *words; name;
	     name = rest ? strsep(&rest, ",") : NULL) {
		const char **item = array_add(ret);
		if (!item)
			return &imp_error_no_memory;
		*item = name;
	}
	const char **end = array_add(ret);
	if (!end)
		return &imp_error_no_memory;
	*end = NULL;
	return NULL;
}

static struct imp_error *read_times(const char *text, struct sample_choice *ret)
{
	struct imp_error *err = text ? sample_choice_read_times(text, ret) : NULL;
	return err ? error_context(err, "option '--time'") : NULL;
}

static struct imp_error *read_comms(const char *text, char **words, struct sample_choice *ret)
{
	if (!text)
		return NULL;
	*words = strdup(text);
	return *words ? sample_choice_read_comms(*words, ret) : &imp_error_no_memory;
}

struct imp_error *choice_read(const struct choice *choice, struct chosen *ret)
{
	struct sample_choice *samples = &ret->samples;
	ret->is_everything = !choice->comms && !choice->pids && !choice->tids && !choice->cpus &&
			     !choice->times;
	struct imp_error *err = read_numbers("--pid", choice->pids, &samples->pids);
	if (!err)
		err = read_numbers("--tid", choice->tids, &samples->tids);
	if (!err)
		err = read_numbers("--cpu", choice->cpus, &samples->cpus);
	if (!err)
		err = read_times(choice->times, samples);
	if (!err)
		err = read_comms(choice->comms, &ret->words[0], samples);
	if (!err)
		err = read_names(choice->objects, &ret->words[1], &ret->objects);
	if (!err)
		err = read_names(choice->functions, &ret->words[2], &ret->functions);
	return err;
}

void chosen_fini(struct chosen *chosen)
{
	sample_choice_fini(&chosen->samples);
	array_fini(&chosen->objects);
	array_fini(&chosen->functions);
	for (size_t i = 0; i < sizeof chosen->words / sizeof *chosen->words; i++)
		free(chosen->words[i]);
}

struct sample_choice *chosen_samples(struct chosen *chosen)
{
	return chosen->is_everything ? NULL : &chosen->samples;
}

struct imp_error *chosen_narrow(const struct chosen *chosen, struct profile *profile)
{
	struct narrowing narrowing = {
		.objects = chosen->objects.count ? chosen->objects.items : NULL,
		.functions = chosen->functions.count ? chosen->functions.items : NULL,
	};
	if (!narrowing.objects && !narrowing.functions)
		return NULL;
	return profile_narrow(profile, &narrowing);
}
