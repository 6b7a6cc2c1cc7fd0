// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Putting snapshots into the tables.
#include "environment/census.h"

#include <string.h>

#include "base/buffer.h"
#include "base/late/late_crypto.h"
#include "base/table.h"

// Keys are the first 63 bits of a SHA-256 over what a row says: whoever adds a row, whatever the
// database, gives it the same key, and nothing must be asked before.
const char census_schema[] =
	"CREATE TABLE IF NOT EXISTS hosts ("
	" host_id BIGINT PRIMARY KEY, name TEXT NOT NULL, machine_id TEXT NOT NULL);\n"
	"CREATE TABLE IF NOT EXISTS snapshots ("
	" snapshot_id BIGINT PRIMARY KEY, host_id BIGINT NOT NULL, time_ns BIGINT NOT NULL,"
	" kernel_release TEXT NOT NULL, kernel_build TEXT NOT NULL, os TEXT NOT NULL,"
	" os_version TEXT NOT NULL, architecture TEXT NOT NULL, processes BIGINT NOT NULL);\n"
	"CREATE INDEX IF NOT EXISTS snapshots_by_host ON snapshots (host_id, time_ns);\n"
	"CREATE TABLE IF NOT EXISTS images ("
	" image_id BIGINT PRIMARY KEY, kind TEXT NOT NULL, path TEXT NOT NULL, build TEXT NOT NULL,"
	" soname TEXT NOT NULL, package TEXT NOT NULL, version TEXT NOT NULL);\n"
	"CREATE INDEX IF NOT EXISTS images_by_build ON images (build);\n"
	"CREATE INDEX IF NOT EXISTS images_by_path ON images (path);\n"
	"CREATE INDEX IF NOT EXISTS images_by_soname ON images (soname);\n"
	"CREATE TABLE IF NOT EXISTS programs ("
	" program_id BIGINT PRIMARY KEY, exe TEXT NOT NULL, unit TEXT NOT NULL,"
	" runtime TEXT NOT NULL);\n"
	"CREATE TABLE IF NOT EXISTS image_sets (set_id BIGINT PRIMARY KEY, images BIGINT NOT NULL);\n"
	"CREATE TABLE IF NOT EXISTS set_members ("
	" set_id BIGINT NOT NULL, image_id BIGINT NOT NULL, PRIMARY KEY (set_id, image_id));\n"
	"CREATE INDEX IF NOT EXISTS set_members_by_image ON set_members (image_id, set_id);\n"
	"CREATE TABLE IF NOT EXISTS runs ("
	" snapshot_id BIGINT NOT NULL, program_id BIGINT NOT NULL, set_id BIGINT NOT NULL,"
	" processes BIGINT NOT NULL, PRIMARY KEY (snapshot_id, program_id, set_id));\n"
	"CREATE INDEX IF NOT EXISTS runs_by_set ON runs (set_id, snapshot_id);\n";

struct census {
	struct database *database;
	// Keys of images, sets and programs whose rows are there: the snapshots of a fleet say the
	// same over and over.
	struct table known;
	ARRAY_OF(int64_t) keys;
	// Snapshots added since the transaction began; 0: there is none.
	unsigned pending;
};

// A commit waits for the disk.
enum { SNAPSHOTS_A_COMMIT = 100 };

struct imp_error *census_open(struct database *database, struct census **ret)
{
	struct imp_error *err = late_crypto_load();
	if (!err)
		err = database_script(database, census_schema);
	if (err)
		return err;
	struct census *census = calloc(1, sizeof *census);
	if (!census)
		return &imp_error_no_memory;
	census->database = database;
	*ret = census;
	return NULL;
}

static void forget(struct census *census)
{
	table_fini(&census->known);
	census->known = (struct table){ 0 };
	array_fini(&census->keys);
}

void census_close(struct census *census)
{
	if (!census)
		return;
	forget(census);
	free(census);
}

static bool is_known(const struct census *census, int64_t key)
{
	struct table_probe probe = table_probe(&census->known, (uint64_t)key);
	uint32_t index;
	while (table_next(&census->known, &probe, &index))
		if (census->keys.items[index] == key)
			return true;
	return false;
}

static struct imp_error *remember(struct census *census, int64_t key)
{
	int64_t *slot = array_add(&census->keys);
	if (!slot || !table_insert(&census->known, (uint64_t)key, (uint32_t)census->keys.count - 1))
		return &imp_error_no_memory;
	*slot = key;
	return NULL;
}

// The key of what TEXTS (NULL-terminated) say together.
static int64_t key_of(const char *const *texts)
{
	uint8_t hash[EVP_MAX_MD_SIZE];
	EVP_MD_CTX *digest = EVP_MD_CTX_new();
	uint64_t key = 0;
	if (digest && EVP_DigestInit_ex(digest, EVP_sha256(), NULL)) {
		for (; *texts; texts++)
			EVP_DigestUpdate(digest, *texts, strlen(*texts) + 1);
		EVP_DigestFinal_ex(digest, hash, NULL);
		for (size_t i = 0; i < sizeof key; i++)
			key = key << 8 | hash[i];
	}
	EVP_MD_CTX_free(digest);
	return (int64_t)(key >> 1);
}

#define KEY_OF(...) key_of((const char *const[]){ __VA_ARGS__, NULL })
#define TEXT(value)            \
	{                      \
		.text = value, \
	}
#define NUMBER(value)            \
	{                        \
		.number = value, \
	}
#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

static struct imp_error *run(struct database *database, const char *sql,
			     const struct database_value *values, size_t count)
{
	return database_run(database, sql, values, count, NULL, NULL);
}

struct imports {
	struct census *census;
	const struct snapshot *snapshot;
	int64_t snapshot_id;
	// The key of each image of the snapshot under the root it was seen from, as far as known:
	// by image; 0: not yet.
	int64_t *keys;
	const char **roots;
};

static struct imp_error *add_image_row(struct census *census, int64_t key, const char *kind,
				       const char *path, const char *build,
				       const struct snapshot_image *image)
{
	if (is_known(census, key))
		return NULL;
	char package[256] = "", version[256] = "";
	if (image) {
		snapshot_package_member(image, "name", package, sizeof package);
		snapshot_package_member(image, "version", version, sizeof version);
	}
	const struct database_value values[] = {
		NUMBER(key),
		TEXT(kind),
		TEXT(path),
		TEXT(build),
		TEXT(image ? image->soname : ""),
		TEXT(package),
		TEXT(version),
	};
	struct imp_error *err =
		run(census->database,
		    "INSERT INTO images (image_id, kind, path, build, soname, package, version)"
		    " VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING",
		    values, COUNT_OF(values));
	return err ? err : remember(census, key);
}

// The key of image NUMBER as seen from ROOT; its row is added at first sight.
static struct imp_error *image_key(struct imports *imports, uint32_t number, const char *root,
				   int64_t *ret)
{
	const struct snapshot_image *image = &imports->snapshot->images.items[number];
	if (imports->keys[number] && imports->roots[number] == root) {
		*ret = imports->keys[number];
		return NULL;
	}
	const char *kind = mapped_kind_name(image->kind);
	const char *path = snapshot_path_in_root(root, image->path);
	struct image_identity identity = snapshot_image_identity(image);
	*ret = KEY_OF("image", kind, path, identity.text, image->soname, image->package);
	imports->keys[number] = *ret;
	imports->roots[number] = root;
	return add_image_row(imports->census, *ret, kind, path, identity.text, image);
}

struct key_list {
	int64_t *items;
	size_t count;
	size_t room;
};

static int compare_keys(const void *left, const void *right)
{
	int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
	return a < b ? -1 : a > b;
}

static struct imp_error *add_key(struct key_list *keys, int64_t key)
{
	int64_t *slot = array_add(keys);
	if (!slot)
		return &imp_error_no_memory;
	*slot = key;
	return NULL;
}

// Sorts KEYS, each once, and gives the key of the set.
static struct imp_error *key_of_set(struct key_list *keys, int64_t *ret)
{
	if (keys->count)
		qsort(keys->items, keys->count, sizeof *keys->items, compare_keys);
	size_t kept = 0;
	_cleanup_buffer_ struct buffer text = { 0 };
	for (size_t i = 0; i < keys->count; i++) {
		if (i && keys->items[i] == keys->items[i - 1])
			continue;
		keys->items[kept++] = keys->items[i];
		buffer_format(&text, "%lld ", (long long)keys->items[i]);
	}
	keys->count = kept;
	buffer_append(&text, "", 1);
	if (text.failed)
		return &imp_error_no_memory;
	*ret = KEY_OF("set", (const char *)text.bytes);
	return NULL;
}

static struct imp_error *note_row(void *arg, const struct database_row *row)
{
	bool *is_there = arg;
	*is_there = *is_there || row->values;
	return NULL;
}

// Adds the set of KEYS, whose members were added before, unless it is known.
static struct imp_error *add_set(struct census *census, int64_t set, const struct key_list *keys)
{
	if (is_known(census, set))
		return NULL;
	struct database *database = census->database;
	bool is_there = false;
	const struct database_value key = NUMBER(set);
	struct imp_error *err = database_run(database, "SELECT 1 FROM image_sets WHERE set_id = $1",
					     &key, 1, note_row, &is_there);
	if (err)
		return err;
	if (is_there)
		return remember(census, set);
	const struct database_value values[] = { NUMBER(set), NUMBER((int64_t)keys->count) };
	err = run(database,
		  "INSERT INTO image_sets (set_id, images) VALUES ($1, $2) ON CONFLICT DO NOTHING",
		  values, COUNT_OF(values));
	for (size_t i = 0; !err && i < keys->count; i++) {
		const struct database_value member[] = { NUMBER(set), NUMBER(keys->items[i]) };
		err = run(database,
			  "INSERT INTO set_members (set_id, image_id) VALUES ($1, $2)"
			  " ON CONFLICT DO NOTHING",
			  member, COUNT_OF(member));
	}
	return err ? err : remember(census, set);
}

static struct imp_error *add_program(struct census *census, int64_t key, const char *exe,
				     const char *unit, const char *runtime)
{
	if (is_known(census, key))
		return NULL;
	const struct database_value values[] = { NUMBER(key), TEXT(exe), TEXT(unit),
						 TEXT(runtime) };
	struct imp_error *err = run(census->database,
				    "INSERT INTO programs (program_id, exe, unit, runtime)"
				    " VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING",
				    values, COUNT_OF(values));
	return err ? err : remember(census, key);
}

static struct imp_error *add_run(const struct imports *imports, const char *exe, const char *unit,
				 const char *runtime, int64_t set)
{
	int64_t program = KEY_OF("program", exe, unit, runtime);
	struct imp_error *err = add_program(imports->census, program, exe, unit, runtime);
	if (err)
		return err;
	const struct database_value values[] = { NUMBER(imports->snapshot_id), NUMBER(program),
						 NUMBER(set) };
	return run(imports->census->database,
		   "INSERT INTO runs (snapshot_id, program_id, set_id, processes)"
		   " VALUES ($1, $2, $3, 1) ON CONFLICT (snapshot_id, program_id, set_id)"
		   " DO UPDATE SET processes = runs.processes + 1",
		   values, COUNT_OF(values));
}

static bool is_counted(enum mapped_kind kind)
{
	return kind == MAPPED_FILE || kind == MAPPED_MEMFD || kind == MAPPED_VDSO;
}

static struct imp_error *add_process(struct imports *imports,
				     const struct snapshot_process *process)
{
	const struct snapshot *snapshot = imports->snapshot;
	struct key_list keys = { 0 };
	struct imp_error *err = NULL;
	for (size_t i = 0; !err && i < process->mapping_count; i++) {
		uint32_t number = snapshot->mappings.items[process->first_mapping + i].image;
		int64_t key = 0;
		if (!is_counted(snapshot->images.items[number].kind))
			continue;
		err = image_key(imports, number, process->root, &key);
		if (!err)
			err = add_key(&keys, key);
	}
	int64_t set = 0;
	if (!err)
		err = key_of_set(&keys, &set);
	if (!err)
		err = add_set(imports->census, set, &keys);
	array_fini(&keys);
	const char *exe = *process->exe ? snapshot_path_in_root(process->root, process->exe)
					: process->comm;
	return err ? err : add_run(imports, exe, process->unit, process->runtime, set);
}

// The kernel with its modules stands there as a program like others.
static struct imp_error *add_kernel(struct imports *imports)
{
	const struct snapshot *snapshot = imports->snapshot;
	struct key_list keys = { 0 };
	struct build_id_text id = build_id_text(&snapshot->kernel_id);
	const char *build = *id.text ? id.text : snapshot->kernel_release;
	int64_t key = KEY_OF("image", "kernel", snapshot->kernel_release, build);
	struct imp_error *err =
		add_image_row(imports->census, key, "kernel", "[kernel]", build, NULL);
	if (!err)
		err = add_key(&keys, key);
	for (size_t i = 0; !err && i < snapshot->modules.count; i++) {
		const struct snapshot_module *module = &snapshot->modules.items[i];
		id = build_id_text(&module->id);
		key = KEY_OF("image", "module", module->name, id.text);
		err = add_image_row(imports->census, key, "module", module->name, id.text, NULL);
		if (!err)
			err = add_key(&keys, key);
	}
	int64_t set = 0;
	if (!err)
		err = key_of_set(&keys, &set);
	if (!err)
		err = add_set(imports->census, set, &keys);
	array_fini(&keys);
	return err ? err : add_run(imports, "[kernel]", "", "", set);
}

static struct imp_error *add_head(struct imports *imports)
{
	const struct snapshot *snapshot = imports->snapshot;
	int64_t host = KEY_OF("host", snapshot->host, snapshot->machine_id);
	const struct database_value machine[] = { NUMBER(host), TEXT(snapshot->host),
						  TEXT(snapshot->machine_id) };
	struct imp_error *err = run(imports->census->database,
				    "INSERT INTO hosts (host_id, name, machine_id)"
				    " VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
				    machine, COUNT_OF(machine));
	if (err)
		return err;
	struct build_id_text kernel = build_id_text(&snapshot->kernel_id);
	const struct database_value values[] = {
		NUMBER(imports->snapshot_id),
		NUMBER(host),
		NUMBER((int64_t)snapshot->time_ns),
		TEXT(snapshot->kernel_release),
		TEXT(kernel.text),
		TEXT(snapshot->os),
		TEXT(snapshot->os_version),
		TEXT(snapshot->architecture),
		NUMBER((int64_t)snapshot->processes.count),
	};
	return run(imports->census->database,
		   "INSERT INTO snapshots (snapshot_id, host_id, time_ns, kernel_release,"
		   " kernel_build, os, os_version, architecture, processes)"
		   " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
		   values, COUNT_OF(values));
}

static struct imp_error *add_all(struct imports *imports)
{
	const struct snapshot *snapshot = imports->snapshot;
	struct imp_error *err = add_head(imports);
	if (!err && (*snapshot->kernel_release || !build_id_is_none(&snapshot->kernel_id)))
		err = add_kernel(imports);
	for (size_t i = 0; !err && i < snapshot->processes.count; i++)
		err = add_process(imports, &snapshot->processes.items[i]);
	return err;
}

struct imp_error *census_add(struct census *census, const struct snapshot *snapshot, bool *is_new)
{
	struct database *database = census->database;
	char time[32];
	snprintf(time, sizeof time, "%llu", (unsigned long long)snapshot->time_ns);
	_cleanup_free_ int64_t *keys = calloc(snapshot->images.count + 1, sizeof *keys);
	_cleanup_free_ const char **roots = calloc(snapshot->images.count + 1, sizeof *roots);
	if (!keys || !roots)
		return &imp_error_no_memory;
	struct imports imports = {
		.census = census,
		.snapshot = snapshot,
		.snapshot_id = KEY_OF("snapshot", snapshot->host, snapshot->machine_id, time),
		.keys = keys,
		.roots = roots,
	};
	bool is_there = false;
	const struct database_value key = NUMBER(imports.snapshot_id);
	struct imp_error *err = database_run(database,
					     "SELECT 1 FROM snapshots WHERE snapshot_id = $1", &key,
					     1, note_row, &is_there);
	if (err || is_there) {
		*is_new = false;
		return err;
	}
	err = database_script(database, census->pending ? "SAVEPOINT one" : "BEGIN; SAVEPOINT one");
	if (err)
		return err;
	census->pending++;
	err = add_all(&imports);
	if (!err)
		err = database_script(database, "RELEASE SAVEPOINT one");
	if (err) {
		// Nothing that was added for it remains.
		forget(census);
		imp_error_free(database_script(database, "ROLLBACK TO SAVEPOINT one"));
		return err;
	}
	*is_new = true;
	return census->pending < SNAPSHOTS_A_COMMIT ? NULL : census_commit(census);
}

struct imp_error *census_commit(struct census *census)
{
	if (!census->pending)
		return NULL;
	census->pending = 0;
	return database_script(census->database, "COMMIT");
}
