// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The store: every build once, under its ID, where this and other tools find it again.
//
// The layout on disk is described in imprint-store(5). This room knows no ELF: who adds a file says
// its build ID, its role and how much it tells of symbols; who takes one out compares the ID again
// (find/ does).
//
// Any number of threads and processes may read and add at once. Whatever interrupts a writer leaves
// a store that store_verify() accepts.
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/error.h"
#include "base/log.h"
#include "model/build_id.h"

struct store;

enum store_mode {
	// Never writes: for stores that others own.
	STORE_READ,
	// Creates the store when there is none.
	STORE_WRITE,
};

// Opens the store at DIR. In STORE_READ mode *ret is NULL when there is none. LOG (lent, may be
// NULL) hears of damage.
struct imp_error *store_open(const char *dir, enum store_mode mode, const struct log *log,
			     struct store **ret) MUST_CHECK;
void store_free(struct store *store);

// Lent by the store.
const char *store_dir(const struct store *store);
bool store_is_writable(const struct store *store);

// A store that lives no longer than its process: nothing is made durable.
void store_set_transient(struct store *store);

// A new file without a name in the store's file system, for what has to be written before it can be
// judged. -1 and errno on failure.
int store_spool(struct store *store);

// What an object is for.
enum store_role {
	// The file that was mapped: a program, a library, vmlinux, a module.
	STORE_EXECUTABLE,
	// Symbols and DWARF apart from the code.
	STORE_DEBUG,
	STORE_VDSO,
	// Of a running kernel, as its /proc says.
	STORE_KALLSYMS,
	STORE_MODULES,
	STORE_KCORE_NOTES,
	// A saved index of symbols; made from others of the entry, so always replaceable.
	STORE_INDEX,
	STORE_ROLES
};

// How much a file says of names, from least to most.
enum store_rank {
	// Nothing, or the dynamic symbols only.
	STORE_STRIPPED,
	// Mini debug information (.gnu_debugdata).
	STORE_MINI,
	STORE_SYMTAB,
	STORE_DWARF,
	STORE_RANKS
};

// "executable", "debug", "vdso", "kallsyms", "modules", "kcore", "index".
const char *store_role_name(enum store_role role);
// "stripped", "mini", "symtab", "dwarf".
const char *store_rank_name(enum store_rank rank);
// The other way round; false for other words.
bool store_role_parse(const char *name, enum store_role *ret);
bool store_rank_parse(const char *name, enum store_rank *ret);

// SHA-256 of an object's bytes.
enum { STORE_HASH_BYTES = 32, STORE_HASH_TEXT_SIZE = 65 };
struct store_hash {
	uint8_t bytes[STORE_HASH_BYTES];
};

struct store_hash_text {
	char text[STORE_HASH_TEXT_SIZE];
};
struct store_hash_text store_hash_text(const struct store_hash *hash);
bool store_hash_parse(const char *text, struct store_hash *ret);
bool store_hash_equal(const struct store_hash *a, const struct store_hash *b);
// Of the whole of FD, and how many bytes that were; of bytes in memory.
struct imp_error *store_hash_of_fd(int fd, const char *path, struct store_hash *ret,
				   uint64_t *size) MUST_CHECK;
struct imp_error *store_hash_of_memory(const void *bytes, size_t size,
				       struct store_hash *ret) MUST_CHECK;

// What is to be added.
struct store_item {
	// None: the object is kept under its content hash.
	struct build_id id;
	enum store_role role;
	enum store_rank rank;
	// Where it was seen: an absolute path, or a bracketed name ("[vdso]"). NULL: not known. Any
	// bytes are allowed.
	const char *path;
	// Of the file that bytes in memory were unpacked from, so that it is known the next time;
	// or NULL. Not used with a file descriptor.
	const struct stat *source;
};

// What became of it.
struct store_added {
	struct store_hash hash;
	uint64_t size_bytes;
	// The bytes were not there before.
	bool is_new;
	// Another content of the same role and rank is there under this ID.
	bool is_collision;
};

// Adds the whole of FD (read from offset 0, position unchanged), its bytes copied, never linked.
// When the file changes while it is read, that is an error. RET may be NULL.
struct imp_error *store_add_fd(struct store *store, const struct store_item *item, int fd,
			       struct store_added *ret) MUST_CHECK;
// The same for the regular file at FILE (links are followed: it is outside the store). ITEM's path
// is what is noted, and may differ.
struct imp_error *store_add_file(struct store *store, const struct store_item *item,
				 const char *file, struct store_added *ret) MUST_CHECK;
struct imp_error *store_add_memory(struct store *store, const struct store_item *item,
				   const void *bytes, size_t size,
				   struct store_added *ret) MUST_CHECK;

// True when a file with this STAT was added as ITEM before, so that its bytes need not be read
// again: inode, size and times are compared.
bool store_knows_file(struct store *store, const struct store_item *item, const struct stat *stat);
// The same where the ID is not known, or there is none: by PATH alone.
bool store_knows_path(struct store *store, const char *path, const struct stat *stat);

// What was added before, known by path and stat alone: for many files, of which not even the IDs
// are to be read. Belongs to one thread.
struct store_seen;
struct imp_error *store_seen_new(struct store *store, struct store_seen **ret) MUST_CHECK;
void store_seen_free(struct store_seen *seen);
// True when a file with this STAT was added as seen at PATH and is in the store still; notes that
// it was used. A file that changed about when it was added is not taken to be known.
bool store_seen_knows(struct store_seen *seen, const char *path, const struct stat *stat);

// Many additions that are made durable together, at a fraction of the cost. Nothing is visible
// before the commit.
struct store_batch;
struct imp_error *store_batch_new(struct store *store, struct store_batch **ret) MUST_CHECK;
// As store_add_fd(); safe from many threads. Commits by itself when much has gathered. FD may be
// closed afterwards.
struct imp_error *store_batch_add_fd(struct store_batch *batch, const struct store_item *item,
				     int fd) MUST_CHECK;
struct imp_error *store_batch_add_memory(struct store_batch *batch, const struct store_item *item,
					 const void *bytes, size_t size) MUST_CHECK;
// Gives BATCH up: what it has not committed is forgotten. NULL is allowed.
void store_batch_free(struct store_batch *batch);
struct store_batch_counts {
	size_t added, known, collisions;
	uint64_t added_bytes;
};
// Commits, and frees BATCH in any case. COUNTS may be NULL.
struct imp_error *store_batch_commit(struct store_batch *batch,
				     struct store_batch_counts *counts) MUST_CHECK;

// An object in the store.
struct store_object {
	// None when it has only its hash.
	struct build_id id;
	enum store_role role;
	enum store_rank rank;
	struct store_hash hash;
	uint64_t size_bytes;
	int64_t added_s;
};

struct store_objects {
	ARRAY_OF(struct store_object);
};
void store_objects_fini(struct store_objects *objects);

struct store_query {
	struct build_id id;
	// STORE_EXECUTABLE finds executables and vdsos; STORE_DEBUG finds whatever has symbols,
	// executables too; the others only themselves.
	enum store_role role;
	// The path where the image was mapped, or NULL. Of several contents under one ID those seen
	// there come first.
	const char *path;
};

// Appends the objects that answer QUERY to RET, the best first. None is an answer.
struct imp_error *store_find(struct store *store, const struct store_query *query,
			     struct store_objects *ret) MUST_CHECK;
// All objects of one ID; of one content hash.
struct imp_error *store_find_all(struct store *store, const struct build_id *id,
				 struct store_objects *ret) MUST_CHECK;
struct imp_error *store_find_hash(struct store *store, const struct store_hash *hash,
				  struct store_objects *ret) MUST_CHECK;

// Opens OBJECT for reading. The first time its bytes are compared with its hash, later only its
// inode and times. Notes that it was used. Damaged bytes are set aside, and IMP_ERR_BAD_DATA says
// so.
struct imp_error *store_object_open(struct store *store, const struct store_object *object,
				    int *ret) MUST_CHECK;
// Where OBJECT lies, for messages and for other programs. The caller frees it.
char *store_object_path(const struct store *store, const struct store_object *object);

// Where an object was seen.
struct store_sight {
	struct store_hash hash;
	char *path;
	int64_t time_s;
};
struct store_sights {
	ARRAY_OF(struct store_sight);
};
void store_sights_fini(struct store_sights *sights);
// The oldest sight first; HASH is looked at when ID is none.
struct imp_error *store_sights(struct store *store, const struct build_id *id,
			       const struct store_hash *hash, struct store_sights *ret) MUST_CHECK;

// The IDs that begin with PREFIX (hex digits, at least two).
struct store_ids {
	ARRAY_OF(struct build_id);
};
void store_ids_fini(struct store_ids *ids);
struct imp_error *store_complete(struct store *store, const char *prefix,
				 struct store_ids *ret) MUST_CHECK;
// The IDs seen at PATH, the newest sight first.
struct imp_error *store_ids_at(struct store *store, const char *path,
			       struct store_ids *ret) MUST_CHECK;

// An entry: all that the store has under one ID, or under one hash.
struct store_entry {
	// None: the entry of an image without an ID; its only object tells the hash.
	struct build_id id;
	// The hex digits of the ID or the hash.
	const char *name;
	const struct store_objects *objects;
	uint64_t size_bytes;
	// When it was last added to or read from, to the hour; 0: not known.
	int64_t used_s;
	bool is_pinned;
};

// Visits all entries in the order of their names, those without an ID last. ENTRY is lent for the
// call. Entries that come or go meanwhile may be missed.
typedef struct imp_error *store_visitor(void *arg, const struct store_entry *entry);
struct imp_error *store_walk(struct store *store, store_visitor *visit, void *arg) MUST_CHECK;

// The same for the entries alone whose names begin with DIGITS (at least two); for those seen at
// PATH. What they cost does not depend on the store's size.
struct imp_error *store_walk_prefix(struct store *store, const char *digits, store_visitor *visit,
				    void *arg) MUST_CHECK;
struct imp_error *store_walk_path(struct store *store, const char *path, store_visitor *visit,
				  void *arg) MUST_CHECK;

// Keeps the entry of ID from store_gc(), or no longer. *found is false when there is none.
struct imp_error *store_pin(struct store *store, const struct build_id *id, bool is_pinned,
			    bool *found) MUST_CHECK;

// Takes the entry of ID, or that of an image without an ID by its HASH, out of the store. *found
// is false when there was none.
struct imp_error *store_remove(struct store *store, const struct build_id *id,
			       const struct store_hash *hash, bool *found) MUST_CHECK;

struct store_gc_options {
	// The least recently used go until the rest is no larger. 0: no limit.
	uint64_t most_bytes;
	// What was not used since then goes. 0: no limit.
	int64_t used_since_s;
	// IDs that stay whatever else is said. May be NULL.
	const struct build_id *keep;
	size_t keep_count;
	// Only says what would go.
	bool is_dry;
	// Called for each entry that goes; may be NULL.
	void (*going)(void *arg, const struct store_entry *entry);
	void *arg;
};

struct store_gc_counts {
	size_t kept, gone;
	// Without the compressed copies.
	uint64_t kept_bytes, gone_bytes;
	// Compressed copies (store/packed.h).
	size_t copies_gone;
	uint64_t copies_kept_bytes, copies_gone_bytes;
};

// Frees space: compressed copies first, which can be made again. What is pinned stays, and so does
// what was used while this runs.
struct imp_error *store_gc(struct store *store, const struct store_gc_options *options,
			   struct store_gc_counts *ret) MUST_CHECK;

struct store_verify_options {
	// Threads to hash with; 0: one for each processor.
	unsigned workers;
	// Called for each whole object, its file open at FD: says whether it is what the entry
	// claims (its own build ID is the entry's). From any thread; NULL: only the hash is
	// compared.
	bool (*is_right)(void *arg, const struct store_object *object, int fd);
	void *arg;
};

struct store_verify_counts {
	size_t entries, objects;
	uint64_t bytes;
	// Set aside: other bytes than their name says, or of another build.
	size_t damaged;
	// Put right: names for other tools whose entry is gone, files that a writer left
	// unfinished, compressed copies that are not whole.
	size_t names, leftovers;
};

// Reads every byte. Damaged objects are set aside (when the store may be written to) and told to
// the log.
struct imp_error *store_verify(struct store *store, const struct store_verify_options *options,
			       struct store_verify_counts *ret) MUST_CHECK;

#define _cleanup_store_ __attribute__((cleanup(cleanup_store)))
#define _cleanup_store_objects_ __attribute__((cleanup(store_objects_fini)))
#define _cleanup_store_sights_ __attribute__((cleanup(store_sights_fini)))
#define _cleanup_store_ids_ __attribute__((cleanup(store_ids_fini)))
DEFINE_CLEANUP(struct store *, store, store_free)
DEFINE_CLEANUP(struct store_seen *, store_seen, store_seen_free)

#endif
