// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// libiberty's demanglers behind one face, bounded in what they may produce.
#include "symbolize/demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"

// A short mangled name can stand for a text that doubles with each repetition: 24 of them make
// 570 MB in 42 s. So a text ends at this size, which no real name comes near.
enum { most_input = 1 << 16, most_output = 1 << 20 };

struct output {
	struct buffer text;
	jmp_buf too_long;
};

// libiberty cannot be told to stop. It holds no memory while it prints, so it may be left.
static void append(const char *text, size_t size, void *arg)
{
	struct output *output = arg;
	if (output->text.size + size > most_output)
		longjmp(output->too_long, 1);
	buffer_append(&output->text, text, size);
}

enum mangling { NOT_MANGLED, MANGLED_CXX, MANGLED_RUST, MANGLED_D };

static enum mangling mangling_of(const char *name)
{
	if (name[0] != '_')
		return NOT_MANGLED;
	if (name[1] == 'Z')
		return MANGLED_CXX;
	if (name[1] == 'R')
		return MANGLED_RUST;
	return name[1] == 'D' ? MANGLED_D : NOT_MANGLED;
}

// D's demangler gives its text at the end. Each level of repetition takes two references, so this
// many cannot make it long.
static bool demangle_d(const char *name, struct buffer *ret)
{
	unsigned references = 0;
	for (const char *at = name; *at; at++)
		references += *at == 'Q';
	_cleanup_free_ char *text = references > 40 ? NULL : dlang_demangle(name, DMGL_PARAMS);
	if (text)
		buffer_text(ret, text);
	return text;
}

static bool demangle_to(const char *name, struct output *output)
{
	const int options = DMGL_PARAMS | DMGL_ANSI;
	if (setjmp(output->too_long))
		return false;
	switch (mangling_of(name)) {
	case MANGLED_CXX:
		// Rust's older mangling looks like C++ with a hash at the end.
		return rust_demangle_callback(name, options, append, output) ||
		       cplus_demangle_v3_callback(name, options, append, output);
	case MANGLED_RUST:
		return rust_demangle_callback(name, options, append, output);
	case MANGLED_D:
		return demangle_d(name, &output->text);
	case NOT_MANGLED:
		break;
	}
	return false;
}

static struct imp_error *demangle_bounded(const char *name, const char *suffix,
					  struct output *output, char **ret)
{
	struct buffer *text = &output->text;
	if (!demangle_to(name, output) || text->size == 0)
		return NULL;
	buffer_text(text, suffix);
	buffer_append(text, "", 1);
	if (text->failed)
		return &imp_error_no_memory;
	*ret = (char *)steal(text->bytes);
	return NULL;
}

struct imp_error *demangle(const char *name, char **ret)
{
	*ret = NULL;
	if (mangling_of(name) == NOT_MANGLED || strnlen(name, most_input) == most_input)
		return NULL;
	const char *suffix = strchr(name, '@');
	_cleanup_free_ char *bare = suffix ? strndup(name, (size_t)(suffix - name)) : NULL;
	if (suffix && !bare)
		return &imp_error_no_memory;
	struct output output = { .text = { 0 } };
	struct imp_error *err =
		demangle_bounded(bare ? bare : name, suffix ? suffix : "", &output, ret);
	buffer_fini(&output.text);
	return err;
}
