// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Going from frame to frame, with the rules of addresses seen before at hand.
#include "unwind/unwinder.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/table.h"
#include "unwind/expression.h"
#include "unwind/rules.h"

enum {
	cached_rules = 4096,
	// The few instructions of _start.
	ENTRY_SIZE = 64
};

struct known_image {
	const struct elf_image *image;
	struct cfi *cfi;
};

struct unwinder {
	pthread_rwlock_t lock;
	struct table by_image;
	ARRAY_OF(struct known_image) images;
};

struct cached {
	const struct cfi *cfi;
	uint64_t address;
	// There is a description, and it could be run.
	bool has_description, is_sound;
	struct rules rules;
};

struct unwind_cache {
	// The image asked about last.
	const struct elf_image *image;
	const struct cfi *cfi;
	struct cached all[cached_rules];
};

struct imp_error *unwinder_new(struct unwinder **ret)
{
	struct unwinder *unwinder = calloc(1, sizeof *unwinder);
	if (!unwinder)
		return &imp_error_no_memory;
	pthread_rwlock_init(&unwinder->lock, NULL);
	*ret = unwinder;
	return NULL;
}

void unwinder_free(struct unwinder *unwinder)
{
	if (!unwinder)
		return;
	for (size_t i = 0; i < unwinder->images.count; i++)
		cfi_free(unwinder->images.items[i].cfi);
	array_fini(&unwinder->images);
	table_fini(&unwinder->by_image);
	pthread_rwlock_destroy(&unwinder->lock);
	free(unwinder);
}

struct imp_error *unwind_cache_new(struct unwind_cache **ret)
{
	*ret = calloc(1, sizeof **ret);
	return *ret ? NULL : &imp_error_no_memory;
}

void unwind_cache_free(struct unwind_cache *cache)
{
	free(cache);
}

static uint64_t image_hash(const struct elf_image *image)
{
	return hash_mix(0, (uintptr_t)image);
}

static const struct cfi *find_known(const struct unwinder *unwinder, const struct elf_image *image)
{
	struct table_probe probe = table_probe(&unwinder->by_image, image_hash(image));
	uint32_t index;
	while (table_next(&unwinder->by_image, &probe, &index))
		if (unwinder->images.items[index].image == image)
			return unwinder->images.items[index].cfi;
	return NULL;
}

static struct imp_error *add_known(struct unwinder *unwinder, const struct unwind_place *place,
				   const struct cfi **ret)
{
	*ret = find_known(unwinder, place->image);
	if (*ret)
		return NULL;
	struct cfi *cfi;
	struct imp_error *err = cfi_new(place->image, place->debug, &cfi);
	if (err)
		return err;
	struct known_image *added = array_add(&unwinder->images);
	if (!added || !table_insert(&unwinder->by_image, image_hash(place->image),
				    (uint32_t)(unwinder->images.count - 1))) {
		cfi_free(cfi);
		return &imp_error_no_memory;
	}
	*added = (struct known_image){ place->image, cfi };
	*ret = cfi;
	return NULL;
}

static struct imp_error *cfi_of(struct unwinder *unwinder, struct unwind_cache *cache,
				const struct unwind_place *place, const struct cfi **ret)
{
	struct imp_error *err = NULL;
	if (cache->image == place->image) {
		*ret = cache->cfi;
		return NULL;
	}
	pthread_rwlock_rdlock(&unwinder->lock);
	*ret = find_known(unwinder, place->image);
	pthread_rwlock_unlock(&unwinder->lock);
	if (!*ret) {
		pthread_rwlock_wrlock(&unwinder->lock);
		err = add_known(unwinder, place, ret);
		pthread_rwlock_unlock(&unwinder->lock);
	}
	if (!err) {
		cache->image = place->image;
		cache->cfi = *ret;
	}
	return err;
}

struct unwinding {
	struct unwinder *unwinder;
	struct unwind_cache *cache;
	const struct unwind_sample *sample;
	const struct architecture *architecture;
	struct stack_copy stack;
	struct registers registers;
	// The pc is a return address.
	bool is_return;
	// Of the frame: why its image is not known, if it is not.
	enum unwind_end missing;
	// Where the program begins: nothing describes it, and nothing called it.
	bool is_entry;
	enum unwind_end end;
	size_t by_frame_pointer;
};

static bool is_at_entry(const struct unwind_place *place)
{
	uint64_t entry = elf_image_entry(place->image).value;
	return entry && place->address.value >= entry && place->address.value - entry < ENTRY_SIZE;
}

// The rules at the frame's pc; NULL when the image has none (then unwinding->end says why).
static struct imp_error *find_rules(struct unwinding *unwinding, const struct rules **ret)
{
	*ret = NULL;
	uint64_t pc = unwinding->registers.pc - unwinding->is_return;
	struct unwind_place place = unwinding->sample->locate(unwinding->sample->arg, pc);
	unwinding->missing = place.missing;
	unwinding->is_entry = false;
	unwinding->end = place.missing	   ? place.missing
			 : place.is_mapped ? UNWIND_NO_DESCRIPTION
					   : UNWIND_NO_IMAGE;
	if (!place.image)
		return NULL;
	const struct cfi *cfi;
	struct imp_error *err = cfi_of(unwinding->unwinder, unwinding->cache, &place, &cfi);
	if (err)
		return err;
	uint64_t hash = hash_mix((uintptr_t)cfi, place.address.value);
	struct cached *cached = &unwinding->cache->all[hash >> 20 & (cached_rules - 1)];
	if (cached->cfi != cfi || cached->address != place.address.value) {
		struct frame_description description;
		cached->cfi = cfi;
		cached->address = place.address.value;
		cached->has_description = cfi_at(cfi, place.address.value, &description);
		cached->is_sound = cached->has_description &&
				   rules_at(&description, unwinding->architecture,
					    place.address.value, &cached->rules);
	}
	if (cached->is_sound)
		*ret = &cached->rules;
	unwinding->end = cached->has_description ? UNWIND_BAD_DESCRIPTION : UNWIND_NO_DESCRIPTION;
	unwinding->is_entry = !cached->has_description && is_at_entry(&place);
	return NULL;
}

static struct cursor expression_at(const struct rules *rules, int32_t offset)
{
	struct cursor cursor = rules->section;
	cursor.at = offset < 0 || (size_t)offset > cursor.size ? cursor.size : (size_t)offset;
	return cursor;
}

static bool find_cfa(const struct unwinding *unwinding, const struct rules *rules, uint64_t *ret)
{
	const struct registers *registers = &unwinding->registers;
	if (rules->cfa_kind == RULE_VAL_EXPRESSION) {
		struct expression_input input = { unwinding->architecture, registers,
						  &unwinding->stack };
		return expression_evaluate(expression_at(rules, rules->cfa_value), &input, NULL,
					   ret);
	}
	if (rules->cfa_register >= unwinding->architecture->register_count ||
	    !(registers->valid >> rules->cfa_register & 1))
		return false;
	*ret = registers->values[rules->cfa_register] + (uint64_t)(int64_t)rules->cfa_value;
	return true;
}

// The caller's value of register NUMBER. False when it cannot be told.
static bool apply_rule(const struct unwinding *unwinding, const struct rules *rules,
		       unsigned number, uint64_t cfa, uint64_t *ret)
{
	const struct registers *registers = &unwinding->registers;
	const struct rule *rule = &rules->registers[number];
	struct expression_input input = { unwinding->architecture, registers, &unwinding->stack };
	unsigned word_size = unwinding->architecture->word_size;
	uint64_t value = cfa + (uint64_t)(int64_t)rule->value;
	unsigned from = number;
	switch ((enum rule_kind)rule->kind) {
	case RULE_OFFSET:
		return stack_read(&unwinding->stack, value, word_size, ret);
	case RULE_EXPRESSION:
		return expression_evaluate(expression_at(rules, rule->value), &input, &cfa,
					   &value) &&
		       stack_read(&unwinding->stack, value, word_size, ret);
	case RULE_VAL_EXPRESSION:
		return expression_evaluate(expression_at(rules, rule->value), &input, &cfa, ret);
	case RULE_VAL_OFFSET:
		*ret = value;
		return true;
	case RULE_UNDEFINED:
		return false;
	case RULE_REGISTER:
		from = (unsigned)rule->value;
		break;
	case RULE_SAME:
	case RULE_UNSPECIFIED:
		break;
	}
	if (from >= unwinding->architecture->register_count || !(registers->valid >> from & 1))
		return false;
	*ret = registers->values[from];
	return true;
}

static uint64_t plain_address(const struct unwinding *unwinding, uint64_t address)
{
	unsigned bits = unwinding->architecture->address_bits;
	return bits < 64 ? address & ((UINT64_C(1) << bits) - 1) : address;
}

// Puts the caller's registers in place. False when there is none, or it cannot be told.
static bool step_by_rules(struct unwinding *unwinding, const struct rules *rules)
{
	const struct architecture *architecture = unwinding->architecture;
	struct registers caller = { 0 };
	uint64_t cfa, return_address;
	unwinding->end = UNWIND_BAD_DESCRIPTION;
	if (!find_cfa(unwinding, rules, &cfa))
		return false;
	for (unsigned i = 0; i < architecture->register_count; i++)
		if (apply_rule(unwinding, rules, i, cfa, &caller.values[i]))
			caller.valid |= UINT64_C(1) << i;
	unsigned stack_pointer = architecture->stack_pointer;
	if (rules->registers[stack_pointer].kind == RULE_UNSPECIFIED) {
		caller.values[stack_pointer] = cfa;
		caller.valid |= UINT64_C(1) << stack_pointer;
	}
	const struct rule *column = &rules->registers[rules->return_column];
	if (!apply_rule(unwinding, rules, rules->return_column, cfa, &return_address)) {
		// Where the frame begins below the copied stack, no longer copy would help.
		if (column->kind == RULE_UNDEFINED)
			unwinding->end = UNWIND_OUTERMOST;
		else if (cfa >= unwinding->stack.start)
			unwinding->end = UNWIND_STACK_SHORT;
		return false;
	}
	caller.pc = plain_address(unwinding, return_address);
	uint64_t before = unwinding->registers.values[stack_pointer];
	bool is_stuck = caller.pc == unwinding->registers.pc &&
			caller.values[stack_pointer] == before;
	// A signal handler may have a stack of its own, which lies anywhere.
	if (is_stuck || (caller.values[stack_pointer] < before && !rules->is_signal))
		return false;
	unwinding->end = UNWIND_OUTERMOST;
	unwinding->registers = caller;
	unwinding->is_return = !rules->is_signal;
	return caller.pc != 0;
}

// A frame without a description: generated code, hand-written assembly. What its frame pointer
// points to counts as the caller's frame when it lies above on the stack, and the address there in
// something that is mapped.
static bool step_by_frame_pointer(struct unwinding *unwinding)
{
	const struct architecture *architecture = unwinding->architecture;
	struct registers caller = { 0 };
	unsigned word = architecture->word_size, frame_pointer = architecture->frame_pointer;
	uint64_t frame = unwinding->registers.values[frame_pointer];
	uint64_t stack = unwinding->registers.values[architecture->stack_pointer];
	if (!(unwinding->registers.valid >> frame_pointer & 1) || frame < stack ||
	    !stack_read(&unwinding->stack, frame, word, &caller.values[frame_pointer]) ||
	    !stack_read(&unwinding->stack, frame + word, word, &caller.pc) ||
	    caller.values[frame_pointer] <= frame)
		return false;
	caller.pc = plain_address(unwinding, caller.pc);
	struct unwind_place place =
		unwinding->sample->locate(unwinding->sample->arg, caller.pc - 1);
	if (!place.is_mapped)
		return false;
	caller.values[architecture->stack_pointer] = frame + 2 * (uint64_t)word;
	caller.valid = UINT64_C(1) << frame_pointer | UINT64_C(1) << architecture->stack_pointer;
	unwinding->registers = caller;
	unwinding->is_return = true;
	return true;
}

static struct imp_error *step(struct unwinding *unwinding, bool *has_caller)
{
	const struct rules *rules;
	struct imp_error *err = find_rules(unwinding, &rules);
	if (err)
		return err;
	if (rules) {
		*has_caller = step_by_rules(unwinding, rules);
		return NULL;
	}
	if (unwinding->is_entry)
		unwinding->end = UNWIND_OUTERMOST;
	*has_caller = !unwinding->missing && !unwinding->is_entry &&
		      step_by_frame_pointer(unwinding);
	unwinding->by_frame_pointer += *has_caller;
	return NULL;
}

struct imp_error *unwind(struct unwinder *unwinder, struct unwind_cache *cache,
			 const struct unwind_sample *sample, struct unwound *ret)
{
	struct unwinding unwinding = { .unwinder = unwinder,
				       .cache = cache,
				       .sample = sample,
				       .architecture = architecture_of(sample->machine) };
	ret->count = ret->by_frame_pointer = 0;
	ret->end = UNWIND_NO_REGISTERS;
	ret->end_address = 0;
	if (!unwinding.architecture ||
	    !registers_from_sample(unwinding.architecture, sample->registers,
				   sample->register_count, sample->register_mask,
				   &unwinding.registers))
		return NULL;
	unwinding.stack = (struct stack_copy){
		.start = unwinding.registers.values[unwinding.architecture->stack_pointer],
		.bytes = sample->stack,
		.size = sample->stack_size,
		.swap = sample->swap,
	};
	bool has_caller = true;
	struct imp_error *err = NULL;
	while (has_caller && ret->count < ret->most && !err) {
		ret->frames[ret->count++] =
			(struct unwound_frame){ unwinding.registers.pc, unwinding.is_return };
		err = step(&unwinding, &has_caller);
	}
	ret->end = has_caller ? UNWIND_DEEP_ENOUGH : unwinding.end;
	ret->end_address = unwinding.registers.pc - unwinding.is_return;
	ret->by_frame_pointer = unwinding.by_frame_pointer;
	return err;
}
