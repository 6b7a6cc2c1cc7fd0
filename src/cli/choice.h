// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// --comms, --pid, --time and the like: verbs that count or print some samples only.
#ifndef CLI_CHOICE_H
#define CLI_CHOICE_H

#include "analyze/sample_choice.h"
#include "cli/options.h"
#include "profile/narrow.h"

// A member of a command's options struct; zeroed before parsing. Fill its rows in with
// CHOICE_OPTIONS(), and NARROWING_OPTIONS() where samples are also chosen by where they were taken.
struct choice {
	const char *comms, *pids, *tids, *cpus, *times, *objects, *functions;
};

#define CHOICE_ROW(type, member, letter_, name_, argument_, field, help_)                        \
	{                                                                                        \
		.kind = OPTION_TEXT, .letter = letter_, .name = name_, .argument = argument_,    \
		.help = help_, .offset = offsetof(type, member) + offsetof(struct choice, field) \
	}

#define CHOICE_OPTIONS(type, member)                                                       \
	{ .kind = OPTION_HEADING, .help = "Which samples (all):" },                        \
		CHOICE_ROW(type, member, 'c', "comms", "NAME,...", comms,                  \
			   "of threads that are called so"),                               \
		CHOICE_ROW(type, member, 0, "pid", "PID,...", pids, "of these processes"), \
		CHOICE_ROW(type, member, 0, "tid", "TID,...", tids, "of these threads"),   \
		CHOICE_ROW(type, member, 'C', "cpu", "CPU,...", cpus,                      \
			   "taken on these CPUs (0-3,8)"),                                 \
		CHOICE_ROW(type, member, 0, "time", "START,STOP", times,                   \
			   "taken from START to STOP (seconds, as 'imprint script' "       \
			   "prints them; either may be left out), or 10%-20%")

#define NARROWING_OPTIONS(type, member)                                        \
	CHOICE_ROW(type, member, 'd', "dsos", "DSO,...", objects,              \
		   "taken in these objects (name, path or build ID)"),         \
		CHOICE_ROW(type, member, 'S', "symbols", "SYM,...", functions, \
			   "taken in these functions")

// The texts of a choice, cut up; what is read of them is lent by it.
struct chosen {
	struct sample_choice samples;
	struct option_list objects, functions;
	// Copies of the texts.
	char *words[3];
	bool is_everything;
};

// IMP_ERR_USAGE names the option. RET is to be given to chosen_fini() in any case.
struct imp_error *choice_read(const struct choice *choice, struct chosen *ret) MUST_CHECK;
void chosen_fini(struct chosen *chosen);

// The choice for analyze(): NULL when all samples are meant.
struct sample_choice *chosen_samples(struct chosen *chosen);
// Takes out of PROFILE what was taken elsewhere.
struct imp_error *chosen_narrow(const struct chosen *chosen, struct profile *profile) MUST_CHECK;

#endif
