// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Comparing each loaded image with what is at its path, once for each root it is seen from.
#include "environment/stale.h"

#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/hash.h"
#include "base/table.h"
#include "environment/content_hash.h"
#include "environment/stale_kernel.h"
#include "live/memory.h"

static const char *const verdict_names[STALE_VERDICTS] = {
	[STALE_CURRENT] = "current",	 [STALE_REPLACED] = "stale", [STALE_ORPHAN] = "orphan",
	[STALE_TEMPORARY] = "temporary", [STALE_JIT] = "jit",	     [STALE_UNKNOWN] = "unknown",
};

const char *stale_verdict_name(enum stale_verdict verdict)
{
	return verdict_names[verdict];
}

void stale_report_fini(struct stale_report *report)
{
	array_fini(&report->findings);
	array_fini(&report->groups);
	array_fini(&report->uses);
	array_fini(&report->kernels);
}

struct checker {
	struct snapshot *snapshot;
	struct proc *proc;
	struct stale_report *report;
	// Findings by image, mount namespace and root.
	struct table table;
	// Groups by the address of their name in the snapshot's pool.
	struct table groups;
	ARRAY_OF(uint64_t) namespaces;
	ARRAY_OF(const char *) roots;
};

// Where libraries are unpacked only to be loaded and unlinked.
static bool is_temporary_path(const char *path)
{
	static const char *const places[] = { "/tmp/", "/var/tmp/", "/run/", "/dev/shm/" };
	for (size_t i = 0; i < sizeof places / sizeof *places; i++)
		if (!strncmp(path, places[i], strlen(places[i])))
			return true;
	size_t length = strlen(path);
	return strstr(path, "/tmp/") || strstr(path, "/temp/") ||
	       (length > 4 && !strcmp(path + length - 4, ".tmp"));
}

// A process that sees the whole mount namespace of PROCESS, or NULL.
static const struct snapshot_process *peer_of(const struct snapshot *snapshot,
					      const struct snapshot_process *process)
{
	for (size_t i = 0; process->mount_namespace && i < snapshot->processes.count; i++) {
		const struct snapshot_process *other = &snapshot->processes.items[i];
		if (other->mount_namespace == process->mount_namespace && !strcmp(other->root, "/"))
			return other;
	}
	return NULL;
}

// Opens what is at the path of IMAGE now, as PROCESS would see it. -1: the verdict and why are in
// FINDING.
static int open_successor(struct checker *checker, const struct snapshot_process *process,
			  const struct snapshot_image *image, struct stale_finding *finding)
{
	struct process_view view = process_view_of(checker->proc, process->pid);
	finding->path = process_view_path(&view, image->path);
	if (!finding->path) {
		// Opened before the process changed its root: what is there now is what others see.
		finding->path = image->path;
		const struct snapshot_process *peer = peer_of(checker->snapshot, process);
		if (!peer) {
			finding->why = "the file lies outside the process's root";
			return -1;
		}
		view = process_view_of(checker->proc, peer->pid);
	}
	// The view's text ends with this function, the snapshot's stays.
	finding->path = image->path + (strlen(image->path) - strlen(finding->path));
	enum proc_outcome outcome;
	int fd = process_view_open(&view, image->path, &outcome);
	if (fd >= 0)
		return fd;
	struct stat root;
	char name[32];
	snprintf(name, sizeof name, "%u/root", view.pid);
	if (outcome == PROC_FORBIDDEN || fstatat(checker->proc->fd, name, &root, 0))
		finding->why = outcome == PROC_FORBIDDEN ? "the process's root may not be read"
							 : "the process ended";
	else if (!image->is_deleted)
		finding->why = "the file is not in the process's root";
	else
		finding->verdict = is_temporary_path(finding->path) ? STALE_TEMPORARY
								    : STALE_ORPHAN;
	return -1;
}

static bool is_same_inode(const struct snapshot_image *image, const struct stat *stat)
{
	return !image->is_deleted && image->inode == stat->st_ino &&
	       makedev(image->major, image->minor) == stat->st_dev;
}

// Fills in what FD tells of the build that is there now.
static struct imp_error *describe(struct checker *checker, int fd, const struct stat *stat,
				  bool needs_hash, struct snapshot_image *now)
{
	struct elf_face face;
	fd_face_read(fd, &face);
	*now = (struct snapshot_image){ .path = "",
					.id = face.id,
					.id_is_known = true,
					.inode = stat->st_ino,
					.size = (uint64_t)stat->st_size };
	now->major = major(stat->st_dev);
	now->minor = minor(stat->st_dev);
	if (build_id_is_none(&now->id) && needs_hash)
		now->has_content_hash = content_hash_of(fd, now->content_hash);
	struct imp_error *err = snapshot_text(checker->snapshot, face.soname, &now->soname);
	if (!err)
		err = snapshot_text(checker->snapshot, face.package, &now->package);
	return err;
}

static struct imp_error *compare(struct checker *checker, int fd,
				 const struct snapshot_image *image, struct stale_finding *finding)
{
	struct stat stat;
	if (fstat(fd, &stat)) {
		finding->why = "what is there now cannot be read";
		return NULL;
	}
	if (is_same_inode(image, &stat)) {
		finding->verdict = STALE_CURRENT;
		return NULL;
	}
	struct imp_error *err =
		describe(checker, fd, &stat, image->has_content_hash, &finding->now);
	if (err)
		return err;
	finding->since_ns =
		(uint64_t)stat.st_ctim.tv_sec * 1000000000 + (uint64_t)stat.st_ctim.tv_nsec;
	if (!*snapshot_image_identity(image).text)
		finding->why = "the mapped file could not be read";
	else
		finding->verdict = snapshot_images_equal(image, &finding->now) ? STALE_CURRENT
									       : STALE_REPLACED;
	return NULL;
}

static struct imp_error *judge(struct checker *checker, const struct snapshot_process *process,
			       uint32_t number, struct stale_finding *finding)
{
	const struct snapshot_image *image = &checker->snapshot->images.items[number];
	*finding = (struct stale_finding){ .verdict = STALE_UNKNOWN,
					   .image = number,
					   .path = image->path,
					   .now = { .path = "", .soname = "", .package = "" } };
	if (image->kind != MAPPED_FILE) {
		finding->verdict = image->kind == MAPPED_JIT ? STALE_JIT : STALE_TEMPORARY;
		return NULL;
	}
	_cleanup_close_ int fd = open_successor(checker, process, image, finding);
	return fd < 0 ? NULL : compare(checker, fd, image, finding);
}

// The number of the finding for image NUMBER as PROCESS sees it.
static struct imp_error *find(struct checker *checker, const struct snapshot_process *process,
			      uint32_t number, uint32_t *ret)
{
	struct stale_report *report = checker->report;
	uint64_t hash =
		hash_mix(hash_mix(number, process->mount_namespace), (uintptr_t)process->root);
	struct table_probe probe = table_probe(&checker->table, hash);
	// Texts of one snapshot are equal when their addresses are.
	while (table_next(&checker->table, &probe, ret))
		if (report->findings.items[*ret].image == number &&
		    checker->namespaces.items[*ret] == process->mount_namespace &&
		    checker->roots.items[*ret] == process->root)
			return NULL;
	struct stale_finding *finding = array_add(&report->findings);
	uint64_t *space = array_add(&checker->namespaces);
	const char **root = array_add(&checker->roots);
	if (!finding || !space || !root)
		return &imp_error_no_memory;
	*ret = (uint32_t)(report->findings.count - 1);
	*space = process->mount_namespace;
	*root = process->root;
	struct imp_error *err = judge(checker, process, number, finding);
	if (err)
		return err;
	// What could not be seen from here may be seen from the next process.
	if (finding->verdict != STALE_UNKNOWN && !table_insert(&checker->table, hash, *ret))
		return &imp_error_no_memory;
	return NULL;
}

static bool is_checked(enum mapped_kind kind)
{
	return kind == MAPPED_FILE || kind == MAPPED_MEMFD || kind == MAPPED_JIT;
}

static struct imp_error *check_mapping(struct checker *checker, uint32_t process_number,
				       size_t first_use, uint32_t image, bool *is_stale)
{
	struct stale_report *report = checker->report;
	const struct snapshot_process *process =
		&checker->snapshot->processes.items[process_number];
	if (!is_checked(checker->snapshot->images.items[image].kind))
		return NULL;
	uint32_t number = 0;
	struct imp_error *err = find(checker, process, image, &number);
	if (err)
		return err;
	enum stale_verdict verdict = report->findings.items[number].verdict;
	for (size_t i = first_use; i < report->uses.count; i++)
		if (report->findings.items[report->uses.items[i].finding].image == image)
			return NULL;
	report->counts[verdict]++;
	*is_stale = *is_stale || verdict == STALE_REPLACED;
	if (verdict == STALE_CURRENT)
		return NULL;
	struct stale_use *use = array_add(&report->uses);
	if (!use)
		return &imp_error_no_memory;
	*use = (struct stale_use){ .process = process_number, .finding = number };
	return NULL;
}

// The number of the group of PROCESS.
static struct imp_error *find_group(struct checker *checker, const struct snapshot_process *process,
				    uint32_t *ret)
{
	struct stale_report *report = checker->report;
	const char *name;
	struct imp_error *err =
		snapshot_text(checker->snapshot, stale_group_name(process).text, &name);
	if (err)
		return err;
	uint64_t hash = hash_mix(0, (uintptr_t)name);
	struct table_probe probe = table_probe(&checker->groups, hash);
	while (table_next(&checker->groups, &probe, ret))
		if (report->groups.items[*ret].name == name)
			return NULL;
	*ret = (uint32_t)report->groups.count;
	struct stale_group *group = array_add(&report->groups);
	if (!group || !table_insert(&checker->groups, hash, *ret))
		return &imp_error_no_memory;
	group->name = name;
	return snapshot_text(checker->snapshot, stale_restart_command(process).text,
			     &group->restart);
}

static int compare_uses(const void *left, const void *right)
{
	const struct stale_use *a = left, *b = right;
	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	return a->finding < b->finding ? -1 : a->finding > b->finding;
}

static struct imp_error *group_uses(struct checker *checker)
{
	struct stale_report *report = checker->report;
	for (size_t i = 0; i < report->uses.count; i++) {
		struct stale_use *use = &report->uses.items[i];
		struct imp_error *err = find_group(
			checker, &checker->snapshot->processes.items[use->process], &use->group);
		if (err)
			return err;
	}
	if (report->uses.count)
		qsort(report->uses.items, report->uses.count, sizeof *report->uses.items,
		      compare_uses);
	for (size_t i = 0; i < report->uses.count; i++) {
		struct stale_group *group = &report->groups.items[report->uses.items[i].group];
		if (!group->use_count++)
			group->first_use = i;
	}
	return NULL;
}

static struct imp_error *check_process(struct checker *checker, uint32_t number)
{
	const struct snapshot *snapshot = checker->snapshot;
	const struct snapshot_process *process = &snapshot->processes.items[number];
	size_t first_use = checker->report->uses.count;
	bool is_stale = false;
	for (size_t i = 0; i < process->mapping_count; i++) {
		uint32_t image = snapshot->mappings.items[process->first_mapping + i].image;
		struct imp_error *err = check_mapping(checker, number, first_use, image, &is_stale);
		if (err)
			return err;
	}
	checker->report->stale_processes += is_stale;
	return NULL;
}

struct imp_error *stale_check(struct snapshot *snapshot, const struct stale_options *options,
			      struct stale_report *ret)
{
	_cleanup_proc_ struct proc *proc = NULL;
	struct imp_error *err = proc_open(options->proc_root, &proc);
	if (err)
		return err;
	struct checker checker = { .snapshot = snapshot, .proc = proc, .report = ret };
	for (uint32_t i = 0; !err && i < snapshot->processes.count; i++)
		err = check_process(&checker, i);
	if (!err)
		err = group_uses(&checker);
	table_fini(&checker.table);
	table_fini(&checker.groups);
	array_fini(&checker.namespaces);
	array_fini(&checker.roots);
	if (err || options->without_kernel)
		return err;
	_cleanup_known_ids_ struct known_ids known;
	known_ids_load(&known, options->known_ids);
	err = stale_check_kernel(snapshot, proc, &known, ret);
	known_ids_save(&known);
	return err;
}
