// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// imprint doctor: what can be recorded here, what not, and what to change.
#include <stdio.h>

#include "base/json.h"
#include "cli/command.h"
#include "cli/places.h"
#include "record/ability.h"

struct doctor_arguments {
	const char *store_dir;
	bool is_json;
};

static const struct option doctor_options[] = {
	{ .kind = OPTION_TEXT,
	  .name = "store",
	  .argument = "DIR",
	  .help = "imprint's store ($IMPRINT_STORE)",
	  .offset = offsetof(struct doctor_arguments, store_dir) },
	{ .kind = OPTION_FLAG,
	  .name = "json",
	  .help = "as JSON",
	  .offset = offsetof(struct doctor_arguments, is_json) },
	{ .kind = OPTION_END },
};

static void print_text(const struct abilities *abilities)
{
	for (size_t i = 0; i < abilities->count; i++) {
		const struct ability *ability = &abilities->items[i];
		printf("%-6s  %s\n", ability_state_name(ability->state), ability->what);
		if (*ability->found)
			printf("        %s\n", ability->found);
		if (ability->remedy)
			printf("        to change it: %s\n", ability->remedy);
	}
}

static void print_json(const struct abilities *abilities)
{
	struct json json = { .out = stdout };
	json_begin_object(&json);
	json_member_string(&json, "format", "imprint-doctor");
	json_member_uint(&json, "version", 1);
	json_key(&json, "abilities");
	json_begin_array(&json);
	for (size_t i = 0; i < abilities->count; i++) {
		const struct ability *ability = &abilities->items[i];
		json_begin_object(&json);
		json_member_string(&json, "name", ability->name);
		json_member_string(&json, "what", ability->what);
		json_member_string(&json, "state", ability_state_name(ability->state));
		json_member_string(&json, "found", *ability->found ? ability->found : NULL);
		json_member_string(&json, "remedy", ability->remedy);
		json_end_object(&json);
	}
	json_end_array(&json);
	json_end_object(&json);
}

static int doctor_run(const struct invocation *invocation, struct imp_error **err)
{
	const struct doctor_arguments *arguments = invocation->options;
	_cleanup_free_ char *place = arguments->store_dir ? NULL : places_store();
	_cleanup_abilities_ struct abilities abilities = { 0 };
	if (invocation->operands.count) {
		*err = error_new(IMP_ERR_USAGE, "'%s': doctor takes no operands",
				 invocation->operands.items[0]);
		return EXIT_USAGE;
	}
	*err = abilities_try(arguments->store_dir ? arguments->store_dir : place, &abilities);
	if (*err)
		return EXIT_FAILED;
	if (arguments->is_json)
		print_json(&abilities);
	else
		print_text(&abilities);
	const struct ability *least = abilities_find(&abilities, "user-code");
	return least && least->state == ABILITY_YES ? EXIT_DONE : EXIT_FAILED;
}

const struct command command_doctor = {
	.name = "doctor",
	.summary = "Tell what can be recorded here, and what to change",
	.usage = "doctor [--store DIR] [--json]",
	.description =
		"Tries each thing that a recording may need. The exit status is 1 when nothing at all\n"
		"can be recorded.",
	.options = doctor_options,
	.options_size = sizeof(struct doctor_arguments),
	.run = doctor_run,
};
