// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
#include "live/kernel.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "harness/tap.h"

struct tree {
	char dir[64];
	struct proc *proc;
};

static struct tree tree_begin(void)
{
	struct tree tree = { .dir = "/tmp/imprint-kernel-XXXXXX" };
	if (!mkdtemp(tree.dir))
		abort();
	CHECK_OK(proc_open(tree.dir, &tree.proc));
	return tree;
}

static void tree_end(struct tree *tree)
{
	proc_free(tree->proc);
	char command[128];
	snprintf(command, sizeof command, "rm -r '%s'", tree->dir);
	CHECK(!system(command));
}

static void tree_file(const struct tree *tree, const char *name, const void *bytes, size_t size)
{
	char path[256];
	snprintf(path, sizeof path, "%s/%s", tree->dir, name);
	for (char *slash = path + strlen(tree->dir) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = 0;
		mkdir(path, 0755);
		*slash = '/';
	}
	FILE *out = fopen(path, "w");
	if (!out || fwrite(bytes, 1, size, out) != size || fclose(out))
		abort();
}

static void tree_text(const struct tree *tree, const char *name, const char *text)
{
	tree_file(tree, name, text, strlen(text));
}

TEST(the_running_kernel_has_a_release_and_an_id)
{
	_cleanup_proc_ struct proc *proc = NULL;
	REQUIRE_OK(proc_open(NULL, &proc));
	struct kernel kernel;
	REQUIRE_OK(kernel_read(proc, NULL, &kernel));
	struct utsname name;
	uname(&name);
	CHECK_TEXT(kernel.release, name.release);
	if (access("/sys/kernel/notes", R_OK))
		return tap_skip("no /sys/kernel/notes");
	CHECK(!build_id_is_none(&kernel.id));
}

TEST(the_text_begins_at_text_and_ends_at_etext)
{
	struct tree tree = tree_begin();
	tree_text(&tree, "kallsyms",
		  "0000000000000000 A fixed_percpu_data\nffffffff81000000 T _text\n"
		  "ffffffff81000100 T _stext\nffffffff81000200 t foo\n"
		  "ffffffff82000000 T _etext\nffffffffc0000000 t _text\t[evil]\n");
	struct kernel_text text;
	CHECK_OK(kernel_text_read(tree.proc, true, &text));
	CHECK_TEXT(text.reference_symbol, "_text");
	CHECK_UINT(text.reference_address, 0xffffffff81000000);
	CHECK_UINT(text.start, 0xffffffff81000100);
	CHECK_UINT(text.end, 0xffffffff82000000);
	tree_end(&tree);
}

TEST(text_is_the_reference_even_where_stext_stands_first)
{
	struct tree tree = tree_begin();
	tree_text(&tree, "kallsyms",
		  "ffffffff81000000 T _stext\nffffffff81000000 T _text\n"
		  "ffffffff81000010 t foo\nffffffff82000000 T _etext\n");
	for (unsigned needs_end = 0; needs_end < 2; needs_end++) {
		struct kernel_text text;
		CHECK_OK(kernel_text_read(tree.proc, needs_end, &text));
		CHECK_TEXT(text.reference_symbol, "_text");
		CHECK_UINT(text.reference_address, 0xffffffff81000000);
		CHECK_UINT(text.end, needs_end ? 0xffffffff82000000 : 0);
	}
	tree_end(&tree);
}

TEST(the_end_of_the_text_is_taken_from_iomem_where_it_tells_one)
{
#if defined(__x86_64__)
	static const struct {
		const char *iomem;
		uint64_t end;
	} cases[] = {
		{ "00100000-7fffffff : System RAM\n  01000000-02276987 : Kernel code\n",
		  0xffffffff82276988 },
		// As those see it who may not know.
		{ "00000000-00000000 : System RAM\n  00000000-00000000 : Kernel code\n",
		  0xffffffff82000000 },
		{ "  01000000-02276987 : Kernel code of another kind\n", 0xffffffff82000000 },
		{ "  02276987-01000000 : Kernel code\n", 0xffffffff82000000 },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tree tree = tree_begin();
		tree_text(&tree, "kallsyms",
			  "ffffffff81000000 T _stext\nffffffff81000000 T _text\n"
			  "ffffffff81000010 t foo\nffffffff82000000 T _etext\n");
		tree_text(&tree, "iomem", cases[i].iomem);
		struct kernel_text text;
		CHECK_OK(kernel_text_read(tree.proc, true, &text));
		CHECK_UINT(text.start, 0xffffffff81000000);
		CHECK_UINT(text.end, cases[i].end);
		CHECK_OK(kernel_text_read(tree.proc, false, &text));
		CHECK_UINT(text.end, 0);
		tree_end(&tree);
	}
#else
	return tap_skip("x86 alone");
#endif
}

TEST(hidden_addresses_are_zero)
{
	struct tree tree = tree_begin();
	tree_text(&tree, "kallsyms",
		  "0000000000000000 T _text\n0000000000000000 T _stext\n"
		  "0000000000000000 T _etext\n");
	struct kernel_text text;
	CHECK_OK(kernel_text_read(tree.proc, true, &text));
	CHECK_TEXT(text.reference_symbol, "_text");
	CHECK_UINT(text.reference_address, 0);
	CHECK_UINT(text.end, 0);
	tree_end(&tree);
}

TEST(modules_have_the_ids_of_their_notes)
{
	struct tree tree = tree_begin();
	tree_text(&tree, "modules",
		  "snd_pcm 184320 2 snd_hda_codec,snd, Live 0xffffffffc0a10000 (OE)\n"
		  "loop 40960 0 - Loading 0x0000000000000000\nnonsense\n");
	const uint32_t note[] = { 4, 4, 3, 0x00554e47, 0x44332211 };
	tree_file(&tree, "module/snd_pcm/notes/.note.gnu.build-id", note, sizeof note);
	tree_text(&tree, "module/snd_pcm/sections/.text", "0xffffffffc0a10000\n");
	struct kernel_modules modules = { 0 };
	REQUIRE_OK(kernel_modules_read(tree.proc, tree.dir, &modules));
	REQUIRE(modules.count == 2);
	CHECK_TEXT(modules.items[0].name, "snd_pcm");
	CHECK_UINT(modules.items[0].address, 0xffffffffc0a10000);
	CHECK_UINT(modules.items[0].size, 184320);
	CHECK_TEXT(build_id_text(&modules.items[0].id).text, "11223344");
	CHECK(modules.items[0].state == 'L');
	CHECK(build_id_is_none(&modules.items[1].id));
	CHECK_UINT(kernel_module_section(tree.dir, "snd_pcm", ".text"), 0xffffffffc0a10000);
	CHECK_UINT(kernel_module_section(tree.dir, "snd_pcm", ".data"), 0);
	kernel_modules_fini(&modules);
	tree_end(&tree);
}

TEST(a_kernel_without_modules_has_none)
{
	struct tree tree = tree_begin();
	struct kernel_modules modules = { 0 };
	CHECK_OK(kernel_modules_read(tree.proc, tree.dir, &modules));
	CHECK_UINT(modules.count, 0);
	struct kernel_text text;
	CHECK_OK(kernel_text_read(tree.proc, true, &text));
	CHECK(text.reference_symbol == NULL);
	tree_end(&tree);
}
