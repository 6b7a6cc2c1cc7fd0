// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Sources for the kernel and its modules: vmlinux and .ko files where distributions put them,
// kallsyms, the vdso.
#include <dirent.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/file.h"
#include "find/dir_index.h"
#include "find/kernels.h"
#include "find/search.h"
#include "store/store.h"

enum { DEPENDENCIES_MOST = 64 << 20 };

// The kernel releases installed here, the running one first.
struct releases {
	ARRAY_OF(char *) names;
};

static void releases_fini(struct releases *releases)
{
	for (size_t i = 0; i < releases->names.count; i++)
		free(releases->names.items[i]);
	array_fini(&releases->names);
}

static bool add_release(struct releases *releases, const char *name)
{
	for (size_t i = 0; i < releases->names.count; i++)
		if (!strcmp(releases->names.items[i], name))
			return true;
	char *copy = strdup(name);
	char **slot = copy ? array_add(&releases->names) : NULL;
	if (slot)
		*slot = copy;
	else
		free(copy);
	return slot;
}

static bool find_releases(const char *root, struct releases *ret)
{
	struct utsname name;
	if (uname(&name) == 0 && !add_release(ret, name.release))
		return false;
	_cleanup_free_ char *path = path_of("%s/lib/modules", root);
	_cleanup_dir_ DIR *dir = path ? opendir(path) : NULL;
	for (struct dirent *entry; dir && (entry = readdir(dir));)
		if (entry->d_name[0] != '.' && !add_release(ret, entry->d_name))
			return false;
	return path;
}

// Tries the places of RELEASE's vmlinux below ROOT. The packed one is opened only when none of the
// others is the right one.
static struct imp_error *try_release(struct search *search, const char *root, const char *release)
{
	static const char *const places[] = {
		"%s/boot/vmlinux-%s",
		"%s/usr/lib/debug/boot/vmlinux-%s",
		"%s/usr/lib/debug/lib/modules/%s/vmlinux",
		"%s/usr/lib/debug/boot/vmlinux-%s.debug",
		"%s/lib/modules/%s/vmlinux",
		"%s/lib/modules/%s/build/vmlinux",
		"%s/boot/vmlinuz-%s",
		"%s/lib/modules/%s/vmlinuz",
	};
	struct imp_error *err = NULL;
	for (size_t i = 0; i < sizeof places / sizeof *places && !err; i++) {
		if (search->finding->image && search->rank >= RANK_SYMTAB)
			break;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		_cleanup_free_ char *path = path_of(places[i], root, release);
#pragma GCC diagnostic pop
		if (!path)
			return &imp_error_no_memory;
		if (!access(path, F_OK))
			err = search_try(search, path);
	}
	return err;
}

struct imp_error *look_for_vmlinux(struct search *search)
{
	const struct finder_options *options = &search->finder->options;
	const char *const roots[] = { options->sysroot ? options->sysroot : "", "" };
	struct imp_error *err = NULL;
	if (options->vmlinux)
		err = search_try(search, options->vmlinux);
	for (size_t i = options->sysroot ? 0 : 1; i < 2 && !err; i++) {
		_cleanup_(releases_fini) struct releases releases = { 0 };
		if (!find_releases(roots[i], &releases))
			return &imp_error_no_memory;
		for (size_t j = 0; j < releases.names.count && !err; j++)
			err = try_release(search, roots[i], releases.names.items[j]);
	}
	return err;
}

// Tries the file that modules.dep calls PATH, and its debug files, below ROOT.
static struct imp_error *try_module(struct search *search, const char *root, const char *release,
				    const char *path)
{
	_cleanup_free_ char *file = path[0] == '/'
					    ? path_of("%s%s", root, path)
					    : path_of("%s/lib/modules/%s/%s", root, release, path);
	if (!file)
		return &imp_error_no_memory;
	struct imp_error *err = search_try(search, file);
	if (err || !search->finding->image)
		return err;
	const char *below = file + strlen(root);
	const char *end = strstr(below, ".ko");
	int length = end ? (int)(end + 3 - below) : (int)strlen(below);
	for (const char *const *dir = search->finder->options.debug_dirs; *dir && !err; dir++) {
		err = search_try_format(search, "%s%s%.*s.debug", root, *dir, length, below);
		if (!err)
			err = search_try_format(search, "%s%s%.*s", root, *dir, length, below);
	}
	return err;
}

static struct imp_error *try_dependencies(struct search *search, const char *root,
					  const char *release, const char *name)
{
	_cleanup_buffer_ struct buffer text = { 0 };
	_cleanup_free_ char *list = path_of("%s/lib/modules/%s/modules.dep", root, release);
	if (!list)
		return &imp_error_no_memory;
	struct imp_error *err = file_slurp_path(list, DEPENDENCIES_MOST, &text);
	buffer_append(&text, "", 1);
	if (err || text.failed) {
		imp_error_free(err);
		return NULL;
	}
	char *rest = (char *)text.bytes;
	for (char *line; (line = strsep(&rest, "\n"));) {
		char module[128];
		line[strcspn(line, ":")] = 0;
		module_name_of(line, module, sizeof module);
		if (!strcmp(module, name))
			return try_module(search, root, release, line);
	}
	return NULL;
}

struct imp_error *look_for_modules(struct search *search)
{
	const char *sysroot = search->finder->options.sysroot;
	const char *const roots[] = { sysroot ? sysroot : "", "" };
	char name[128];
	struct imp_error *err = NULL;
	if (!search->image->path)
		return NULL;
	module_name_of(search->image->path, name, sizeof name);
	for (size_t i = sysroot ? 0 : 1; i < 2 && !err; i++) {
		_cleanup_(releases_fini) struct releases releases = { 0 };
		if (!find_releases(roots[i], &releases))
			return &imp_error_no_memory;
		for (size_t j = 0; j < releases.names.count && !err; j++)
			if (!search->finding->image)
				err = try_dependencies(search, roots[i], releases.names.items[j],
						       name);
	}
	return err;
}

// The runtime address of the symbol that the image's offsets count from.
static bool reference_of(const struct kallsyms *kallsyms, const struct image *image, uint64_t *ret)
{
	if (image->reference_symbol)
		return kallsyms_address(kallsyms, image->reference_symbol, ret);
	return kallsyms_address(kallsyms, "_text", ret) ||
	       kallsyms_address(kallsyms, "_stext", ret);
}

// Takes the symbols of SNAPSHOT, which is the right one.
static struct imp_error *take_snapshot(struct search *search, struct snapshot *snapshot,
				       const struct snapshot_module *module)
{
	const struct kallsyms *kallsyms;
	const char *why = "its reference symbol is not in it";
	struct imp_error *err = kernels_symbols(search->finder->kernels, snapshot, &kallsyms, &why);
	if (err)
		return err;
	uint64_t base = module ? module->base : 0;
	if (!kallsyms || (!module && !reference_of(kallsyms, search->image, &base)))
		return search_note(search, snapshot->path, FIND_UNREADABLE, NULL, why);
	if (!base)
		return search_note(search, snapshot->path, FIND_UNREADABLE, NULL,
				   "the module's base is not known (no copy of /proc/modules)");
	struct symbols *symbols;
	err = kallsyms_symbols(kallsyms, module ? module->name : NULL, &symbols);
	if (err)
		return err;
	search->finding->kallsyms = symbols;
	search->finding->kallsyms_path = snapshot->path;
	search->finding->base = base;
	return search_note(search, snapshot->path, FIND_MATCH, &search->image->id, "kallsyms");
}

static struct imp_error *try_snapshot(struct search *search, struct snapshot *snapshot)
{
	const struct build_id *id = &snapshot->id;
	const struct snapshot_module *module = NULL;
	if (search->image->kind == IMAGE_MODULE || search->image->kind == IMAGE_GUEST_MODULE) {
		char name[128];
		module_name_of(search->image->path ? search->image->path : "", name, sizeof name);
		module = snapshot_module(snapshot, name);
		if (!module)
			return search_note(search, snapshot->path, FIND_ABSENT, NULL,
					   "the module was not loaded");
		id = &module->id;
	}
	if (!id->size && !search->takes_any)
		return search_note(search, snapshot->path, FIND_NO_ID, NULL,
				   "nothing beside it says which build it is");
	if (!search_wants(search, id))
		return search_note(search, snapshot->path, FIND_OTHER_BUILD, id, NULL);
	return take_snapshot(search, snapshot, module);
}

static struct imp_error *try_copy(struct search *search, const char *path,
				  const struct build_id *id)
{
	struct snapshot *snapshot;
	if (access(path, F_OK))
		return NULL;
	struct imp_error *err = kernels_copy(search->finder->kernels, path, id, &snapshot);
	return err ? err : try_snapshot(search, snapshot);
}

// Copies that the store has of the kernel's symbols.
static struct imp_error *try_stored_copies(struct search *search)
{
	struct store *store = search->finder->store;
	if (!store)
		return NULL;
	struct store_query query = { .id = search->image->id, .role = STORE_KALLSYMS };
	_cleanup_store_objects_ struct store_objects objects = { 0 };
	struct imp_error *err = store_find(store, &query, &objects);
	for (size_t i = 0; i < objects.count && !err && !search->finding->kallsyms; i++) {
		_cleanup_free_ char *path = store_object_path(store, &objects.items[i]);
		_cleanup_close_ int fd = -1;
		if (!path)
			return &imp_error_no_memory;
		// Its bytes are held against their hash.
		err = store_object_open(store, &objects.items[i], &fd);
		if (!err)
			err = try_copy(search, path, &search->image->id);
		else if (imp_error_code(err) != IMP_ERR_NO_MEMORY) {
			imp_error_free(err);
			err = search_note(search, path, FIND_UNREADABLE, NULL, "damaged");
		}
	}
	return err;
}

// Copies of the kernel's symbols whose place is named by its ID.
static struct imp_error *try_named_copies(struct search *search)
{
	const struct finder *finder = search->finder;
	struct build_id_text id = build_id_text(&search->image->id);
	struct imp_error *err = NULL;
	if (finder->options.buildid_dir) {
		_cleanup_free_ char *path = path_of("%s/[kernel.kallsyms]/%s/kallsyms",
						    finder->options.buildid_dir, id.text);
		if (!path)
			return &imp_error_no_memory;
		err = try_copy(search, path, NULL);
	}
	const struct indexed_file *files = NULL;
	size_t count = 0;
	if (!err && !search->finding->kallsyms)
		err = try_stored_copies(search);
	if (!err && finder->index)
		err = dir_index_find(finder->index, &search->image->id, false, &files, &count);
	for (size_t i = 0; i < count && !err && !search->finding->kallsyms; i++)
		if (files[i].is_kallsyms)
			err = try_copy(search, files[i].path, NULL);
	return err;
}

struct imp_error *look_at_kallsyms(struct search *search)
{
	const struct finder_options *options = &search->finder->options;
	bool is_kernel = search->image->kind == IMAGE_KERNEL ||
			 search->image->kind == IMAGE_GUEST_KERNEL;
	struct imp_error *err = NULL;
	if (search->rank >= RANK_SYMTAB)
		return NULL;
	if (options->kallsyms)
		err = try_copy(search, options->kallsyms, NULL);
	if (!err && !search->finding->kallsyms && is_kernel)
		err = try_named_copies(search);
	bool is_guest = search->image->kind == IMAGE_GUEST_KERNEL ||
			search->image->kind == IMAGE_GUEST_MODULE;
	if (err || search->finding->kallsyms || is_guest || search->takes_any)
		return err;
	struct snapshot *running;
	err = kernels_running(search->finder->kernels, &running);
	return err ? err : try_snapshot(search, running);
}

struct imp_error *look_at_own_vdso(struct search *search)
{
	struct elf_image *vdso = NULL;
	if (search->finding->image)
		return NULL;
	struct imp_error *err = own_vdso(&vdso);
	if (err || !vdso)
		return err;
	if (!search_wants(search, elf_image_id(vdso))) {
		err = search_note(search, "[vdso] of this process", FIND_OTHER_BUILD,
				  elf_image_id(vdso), NULL);
		elf_image_free(vdso);
		return err;
	}
	err = opened_keep(&search->finder->opened, vdso);
	return err ? err : search_take(search, vdso, "[vdso] of this process", NULL);
}
