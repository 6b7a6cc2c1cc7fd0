// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Images by what they are, each with its code opened once, and frames made of what the code knows.
#include "symbolize/symbolizer.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/table.h"
#include "symbolize/answers.h"
#include "symbolize/code.h"
#include "symbolize/name_pool.h"

// An image that was asked for.
struct asked {
	struct image image;
	char *path, *reference_symbol;
	struct answers *answers;
	pthread_mutex_t lock;
	// Opened by the first who asks.
	_Atomic(struct code *) code;
};

struct symbolizer {
	struct finder *finder;
	struct symbolizer_options options;
	char *map_dir;
	struct objects *objects;
	struct name_pool *names;
	pthread_rwlock_t lock;
	struct table by_image;
	ARRAY_OF(struct asked *) all;
};

struct imp_error *symbolizer_new(struct finder *finder, const struct symbolizer_options *options,
				 struct symbolizer **ret)
{
	struct symbolizer *symbolizer = calloc(1, sizeof *symbolizer);
	if (!symbolizer)
		return &imp_error_no_memory;
	symbolizer->finder = finder;
	pthread_rwlock_init(&symbolizer->lock, NULL);
	if (options)
		symbolizer->options = *options;
	struct imp_error *err = NULL;
	if (symbolizer->options.map_dir) {
		symbolizer->map_dir = strdup(symbolizer->options.map_dir);
		err = symbolizer->map_dir ? NULL : &imp_error_no_memory;
	}
	if (!err)
		err = objects_new(symbolizer->options.log, symbolizer->options.index_dir,
				  &symbolizer->objects);
	symbolizer->options.index_dir = NULL;
	if (!err)
		err = name_pool_new(&symbolizer->names);
	if (err)
		symbolizer_free(symbolizer);
	else
		*ret = symbolizer;
	return err;
}

static void asked_free(struct asked *asked)
{
	if (!asked)
		return;
	code_free(atomic_load(&asked->code));
	answers_free(asked->answers);
	pthread_mutex_destroy(&asked->lock);
	free(asked->path);
	free(asked->reference_symbol);
	free(asked);
}

struct imp_error *symbolizer_save_indexes(struct symbolizer *symbolizer, unsigned workers)
{
	return objects_save_indexes(symbolizer->objects, workers);
}

void symbolizer_free(struct symbolizer *symbolizer)
{
	if (!symbolizer)
		return;
	for (size_t i = 0; i < symbolizer->all.count; i++)
		asked_free(symbolizer->all.items[i]);
	array_fini(&symbolizer->all);
	table_fini(&symbolizer->by_image);
	objects_free(symbolizer->objects);
	name_pool_free(symbolizer->names);
	pthread_rwlock_destroy(&symbolizer->lock);
	free(symbolizer->map_dir);
	free(symbolizer);
}

static const char *text_of(const char *text)
{
	return text ? text : "";
}

static uint64_t image_hash(const struct image *image)
{
	const char *path = text_of(image->path);
	uint64_t hash = hash_bytes(image->kind, path, strlen(path));
	hash = hash_mix(hash, build_id_hash(&image->id));
	hash = hash_mix(hash, image->file.inode);
	return hash_mix(hash, image->pid);
}

static bool image_same(const struct image *a, const struct image *b)
{
	bool same_id = build_id_equal(&a->id, &b->id) ||
		       (build_id_is_none(&a->id) && build_id_is_none(&b->id));
	const struct file_key *left = &a->file, *right = &b->file;
	bool same_file = left->is_known == right->is_known && left->major == right->major &&
			 left->minor == right->minor && left->inode == right->inode &&
			 left->generation == right->generation;
	return same_id && same_file && a->kind == b->kind && a->identity == b->identity &&
	       a->id_is_padded == b->id_is_padded && a->pid == b->pid &&
	       a->reference_address == b->reference_address &&
	       strcmp(text_of(a->path), text_of(b->path)) == 0 &&
	       strcmp(text_of(a->reference_symbol), text_of(b->reference_symbol)) == 0;
}

static struct asked *find_asked(const struct symbolizer *symbolizer, const struct image *image,
				uint64_t hash)
{
	struct table_probe probe = table_probe(&symbolizer->by_image, hash);
	uint32_t index;
	while (table_next(&symbolizer->by_image, &probe, &index))
		if (image_same(&symbolizer->all.items[index]->image, image))
			return symbolizer->all.items[index];
	return NULL;
}

static struct asked *asked_new(const struct image *image)
{
	struct asked *asked = calloc(1, sizeof *asked);
	if (!asked)
		return NULL;
	pthread_mutex_init(&asked->lock, NULL);
	asked->image = *image;
	asked->path = strdup(text_of(image->path));
	asked->reference_symbol = strdup(text_of(image->reference_symbol));
	asked->image.path = asked->path;
	asked->image.reference_symbol = image->reference_symbol ? asked->reference_symbol : NULL;
	_cleanup_error_ struct imp_error *err = answers_new(&asked->answers);
	if (!err && asked->path && asked->reference_symbol)
		return asked;
	asked_free(asked);
	return NULL;
}

static struct asked *add_asked(struct symbolizer *symbolizer, const struct image *image,
			       uint64_t hash)
{
	struct asked *asked = find_asked(symbolizer, image, hash);
	if (asked)
		return asked;
	asked = asked_new(image);
	struct asked **added = asked ? array_add(&symbolizer->all) : NULL;
	if (!added) {
		asked_free(asked);
		return NULL;
	}
	*added = asked;
	uint32_t index = (uint32_t)(symbolizer->all.count - 1);
	return table_insert(&symbolizer->by_image, hash, index) ? asked : NULL;
}

static struct imp_error *open_code(struct symbolizer *symbolizer, struct asked *asked)
{
	struct code_options options = {
		.finder = symbolizer->finder,
		.objects = symbolizer->objects,
		.log = symbolizer->options.log,
		.wants_lines = !symbolizer->options.no_inline,
		.map_dir = symbolizer->map_dir,
	};
	struct imp_error *err = NULL;
	pthread_mutex_lock(&asked->lock);
	if (!atomic_load(&asked->code)) {
		struct code *code = NULL;
		err = code_new(&asked->image, &options, &code);
		atomic_store(&asked->code, code);
	}
	pthread_mutex_unlock(&asked->lock);
	return err;
}

// The image's entry, with its code open.
static struct imp_error *ask(struct symbolizer *symbolizer, const struct image *image,
			     struct asked **ret)
{
	uint64_t hash = image_hash(image);
	pthread_rwlock_rdlock(&symbolizer->lock);
	struct asked *asked = find_asked(symbolizer, image, hash);
	pthread_rwlock_unlock(&symbolizer->lock);
	if (!asked) {
		pthread_rwlock_wrlock(&symbolizer->lock);
		asked = add_asked(symbolizer, image, hash);
		pthread_rwlock_unlock(&symbolizer->lock);
	}
	if (!asked)
		return &imp_error_no_memory;
	*ret = asked;
	return atomic_load(&asked->code) ? NULL : open_code(symbolizer, asked);
}

// Sets the name of FRAME from RAW.
static struct imp_error *name_frame(struct symbolizer *symbolizer, const char *raw,
				    struct frame *frame)
{
	frame->function = raw;
	if (!raw || symbolizer->options.no_demangle)
		return NULL;
	struct imp_error *err = name_pool_demangle(symbolizer->names, raw, &frame->function);
	if (frame->function != raw)
		frame->linkage_name = raw;
	return err;
}

// The function itself has the name of its symbol, so that it is called the same with and without
// DWARF, and parts that the compiler split off can be told from it; inlined calls have DWARF's.
static struct imp_error *make_frames(struct symbolizer *symbolizer, const struct code_place *place,
				     bool is_return, struct frame *frames, uint32_t *count)
{
	struct imp_error *err = NULL;
	*count = place->frame_count ? place->frame_count : 1;
	for (uint32_t i = 0; i < *count && !err; i++) {
		const struct dwarf_frame *known = place->frame_count ? &place->frames[i] : NULL;
		const char *name = known ? known->name : NULL;
		frames[i] = (struct frame){ 0 };
		if (known) {
			frames[i].file = known->file;
			frames[i].line = known->line;
			frames[i].column = known->column;
			frames[i].is_inlined = known->is_inlined;
		}
		if (i + 1 == *count && place->has_symbol) {
			name = place->symbol_name;
			frames[i].offset = place->symbol_offset + is_return;
		}
		err = name_frame(symbolizer, name, &frames[i]);
	}
	return err;
}

static struct imp_error *look_up(const struct code *code, const struct question *question,
				 struct code_place *place)
{
	uint64_t value = question->value - question->is_return;
	return question->is_address ? code_look_up_address(code, elf_addr_of(value), place)
				    : code_look_up(code, file_off_of(value), place);
}

static struct imp_error *answer(struct symbolizer *symbolizer, struct asked *asked,
				const struct question *question, struct frames *ret)
{
	const struct code *code = atomic_load(&asked->code);
	struct code_place place;
	struct frame frames[DWARF_MOST_FRAMES];
	struct imp_error *err = look_up(code, question, &place);
	if (err)
		return err;
	struct frames made = { .items = frames, .unknown = place.unknown };
	made.has_address = place.has_address;
	if (place.has_address)
		made.address = elf_addr_of(place.address.value + question->is_return);
	made.is_forced = code_finding(code) && code_finding(code)->is_forced;
	made.has_line = place.unknown != KNOWN && place.frame_count == 1 && place.frames[0].file;
	if (place.unknown == KNOWN || made.has_line)
		err = make_frames(symbolizer, &place, question->is_return, frames, &made.count);
	return err ? err : answers_keep(asked->answers, question, &made, ret);
}

static struct imp_error *answer_question(struct symbolizer *symbolizer, const struct image *image,
					 const struct question *question, struct frames *ret)
{
	struct asked *asked;
	struct imp_error *err = ask(symbolizer, image, &asked);
	if (!err && !answers_find(asked->answers, question, ret))
		err = answer(symbolizer, asked, question, ret);
	if (!err && ret->has_line)
		ret->count = 0;
	return err;
}

struct imp_error *symbolize(struct symbolizer *symbolizer, const struct image *image,
			    file_off offset, bool is_return, struct frames *ret)
{
	struct question question = { .value = offset.value, .is_return = is_return };
	return answer_question(symbolizer, image, &question, ret);
}

struct imp_error *symbolize_address(struct symbolizer *symbolizer, const struct image *image,
				    elf_addr address, bool is_return, struct frames *ret)
{
	struct question question = { .value = address.value,
				     .is_address = true,
				     .is_return = is_return };
	return answer_question(symbolizer, image, &question, ret);
}

struct imp_error *symbolizer_prepare(struct symbolizer *symbolizer, const struct image *image,
				     const elf_addr *addresses, size_t count, unsigned workers)
{
	struct asked *asked;
	struct imp_error *err = ask(symbolizer, image, &asked);
	return err ? err : code_prepare(atomic_load(&asked->code), addresses, count, workers);
}

struct imp_error *symbolizer_aliases(struct symbolizer *symbolizer, const struct image *image,
				     elf_addr address, const struct symbols **ret, size_t *first,
				     size_t *count)
{
	struct asked *asked;
	struct imp_error *err = ask(symbolizer, image, &asked);
	if (!err)
		*ret = code_aliases(atomic_load(&asked->code), address, first, count);
	return err;
}

struct imp_error *symbolizer_finding(struct symbolizer *symbolizer, const struct image *image,
				     const struct finding **ret)
{
	struct asked *asked;
	struct imp_error *err = ask(symbolizer, image, &asked);
	if (!err)
		*ret = code_finding(atomic_load(&asked->code));
	return err;
}
