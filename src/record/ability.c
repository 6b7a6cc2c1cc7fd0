// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// One small trial for each ability.
#include "record/ability.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "config.h"
#include "live/kernel.h"
#include "live/maps.h"
#include "live/perf_event.h"

#define FLAG(bit) (UINT64_C(1) << (bit))

struct trial {
	const char *name, *what, *remedy;
	// Says how it went, and puts what it found into TEXT.
	enum ability_state (*run)(struct buffer *text);
};

static void note_error(struct buffer *text, int errnum)
{
	buffer_format(text, "%s", strerror(errnum));
}

// The whole number in the file at PATH, or FALLBACK.
static long read_number(const char *path, long fallback)
{
	_cleanup_file_ FILE *file = fopen(path, "re");
	long value;
	return file && fscanf(file, "%ld", &value) == 1 ? value : fallback;
}

static struct event_attr clock_attr(uint64_t flags)
{
	return (struct event_attr){ .type = PERF_TYPE_SOFTWARE,
				    .config = PERF_COUNT_SW_CPU_CLOCK,
				    .sample_period = 1000,
				    .flags = flags | FLAG(ATTR_DISABLED) | FLAG(ATTR_FREQ) };
}

static enum ability_state try_event(const struct event_attr *attr, int32_t pid, int32_t cpu,
				    struct buffer *text)
{
	struct perf_place place = { .pid = pid, .cpu = cpu };
	int fd = perf_event_open_exactly(attr, &place);
	if (fd < 0) {
		note_error(text, -fd);
		return ABILITY_NO;
	}
	close(fd);
	return ABILITY_YES;
}

static enum ability_state try_user_code(struct buffer *text)
{
	struct event_attr attr = clock_attr(FLAG(ATTR_EXCLUDE_KERNEL) | FLAG(ATTR_EXCLUDE_HV));
	enum ability_state state = try_event(&attr, 0, -1, text);
	if (state == ABILITY_YES)
		buffer_format(text, "at most %ld samples a second",
			      read_number("/proc/sys/kernel/perf_event_max_sample_rate", 0));
	return state;
}

static enum ability_state try_kernel_code(struct buffer *text)
{
	struct event_attr attr = clock_attr(0);
	enum ability_state state = try_event(&attr, 0, -1, text);
	buffer_format(text, "%skernel.perf_event_paranoid is %ld", text->size ? "; " : "",
		      read_number("/proc/sys/kernel/perf_event_paranoid", -1));
	return state;
}

static enum ability_state try_all_cpus(struct buffer *text)
{
	struct event_attr attr = clock_attr(0);
	return try_event(&attr, -1, 0, text);
}

static enum ability_state try_cycles(struct buffer *text)
{
	struct event_attr attr = { .type = PERF_TYPE_HARDWARE,
				   .config = PERF_COUNT_HW_CPU_CYCLES,
				   .flags = FLAG(ATTR_DISABLED) | FLAG(ATTR_EXCLUDE_KERNEL) |
					    FLAG(ATTR_EXCLUDE_HV) };
	enum ability_state state = try_event(&attr, 0, -1, text);
	if (state == ABILITY_NO)
		buffer_text(text, "; time is sampled instead (cpu-clock)");
	return state == ABILITY_NO ? ABILITY_PARTLY : state;
}

static enum ability_state try_build_ids(struct buffer *text)
{
	struct event_attr attr = { .type = PERF_TYPE_SOFTWARE,
				   .config = PERF_COUNT_SW_DUMMY,
				   .flags = FLAG(ATTR_MMAP) | FLAG(ATTR_MMAP2) |
					    FLAG(ATTR_EXCLUDE_KERNEL) | FLAG(ATTR_EXCLUDE_HV) |
					    FLAG(ATTR_DISABLED) | FLAG(ATTR_BUILD_ID) };
	if (try_event(&attr, 0, -1, text) == ABILITY_YES)
		return ABILITY_YES;
	buffer_text(text,
		    "; the recorder reads them from the mapped files (Linux 5.12 gives them)");
	return ABILITY_PARTLY;
}

static enum ability_state try_map_query(struct buffer *text)
{
	// struct procmap_query of linux/fs.h since 6.11 has 104 bytes. A kernel that knows the
	// request finds fault with the address, another with the request.
	struct query {
		char bytes[104];
	};
	_cleanup_close_ int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && ioctl(fd, _IOWR('f', 17, struct query), NULL) < 0 && errno == EFAULT)
		return ABILITY_YES;
	buffer_text(text, "mappings are read as text (Linux 6.11 answers questions)");
	return ABILITY_PARTLY;
}

static enum ability_state try_map_files(struct buffer *text)
{
	_cleanup_proc_ struct proc *proc = NULL;
	_cleanup_mapped_files_ struct mapped_files *files = NULL;
	_cleanup_mappings_ struct mappings mappings = { 0 };
	enum proc_outcome outcome;
	struct imp_error *err = proc_open(NULL, &proc);
	if (!err)
		err = mapped_files_new(MAPPED_WITHOUT_IDS, &files);
	if (!err)
		err = maps_read(proc, (uint32_t)getpid(), NULL, files, &mappings, &outcome);
	imp_error_free(err);
	char path[96];
	if (!mappings.count)
		return ABILITY_NO;
	snprintf(path, sizeof path, "/proc/self/map_files/%llx-%llx",
		 (unsigned long long)mappings.items[0].start,
		 (unsigned long long)mappings.items[0].end);
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		return ABILITY_YES;
	note_error(text, errno);
	buffer_text(text, "; files are reached by path and used when their build ID fits");
	return ABILITY_PARTLY;
}

static enum ability_state try_others(struct buffer *text)
{
	_cleanup_close_ int fd = open("/proc/1/maps", O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		return ABILITY_YES;
	note_error(text, errno);
	return ABILITY_NO;
}

static enum ability_state try_kernel_addresses(struct buffer *text)
{
	_cleanup_proc_ struct proc *proc = NULL;
	struct kernel_text kernel = { 0 };
	struct imp_error *err = proc_open(NULL, &proc);
	if (!err)
		err = kernel_text_read(proc, false, &kernel);
	if (err)
		buffer_text(text, imp_error_message(err));
	imp_error_free(err);
	if (kernel.reference_address)
		return ABILITY_YES;
	buffer_format(text, "kernel.kptr_restrict is %ld, kernel.perf_event_paranoid %ld",
		      read_number("/proc/sys/kernel/kptr_restrict", -1),
		      read_number("/proc/sys/kernel/perf_event_paranoid", -1));
	return ABILITY_NO;
}

static enum ability_state try_kernel_id(struct buffer *text)
{
	_cleanup_proc_ struct proc *proc = NULL;
	struct kernel kernel = { 0 };
	struct imp_error *err = proc_open(NULL, &proc);
	if (!err)
		err = kernel_read(proc, NULL, &kernel);
	imp_error_free(err);
	if (build_id_is_none(&kernel.id))
		return ABILITY_NO;
	buffer_text(text, build_id_text(&kernel.id).text);
	return ABILITY_YES;
}

static enum ability_state try_tracepoints(struct buffer *text)
{
	static const char *const places[] = { "/sys/kernel/tracing/events",
					      "/sys/kernel/debug/tracing/events" };
	if (!HAVE_TRACEPOINTS) {
		buffer_text(text, "built without libtracefs");
		return ABILITY_NO;
	}
	for (size_t i = 0; i < sizeof places / sizeof *places; i++)
		if (!access(places[i], R_OK | X_OK))
			return ABILITY_YES;
	buffer_text(text, "no tracefs that we may read is mounted");
	return ABILITY_NO;
}

static enum ability_state try_rings(struct buffer *text)
{
	struct rlimit limit = { 0 };
	long kilobytes = read_number("/proc/sys/kernel/perf_event_mlock_kb", 0);
	(void)getrlimit(RLIMIT_MEMLOCK, &limit);
	buffer_format(text, "%ld KiB for each CPU, then RLIMIT_MEMLOCK", kilobytes);
	enum { ENOUGH_KILOBYTES = 512 };
	return kilobytes >= ENOUGH_KILOBYTES || limit.rlim_cur == RLIM_INFINITY || !geteuid()
		       ? ABILITY_YES
		       : ABILITY_PARTLY;
}

static enum ability_state try_files(struct buffer *text)
{
	enum { FEW = 4096 };
	struct rlimit limit = { 0 };
	(void)getrlimit(RLIMIT_NOFILE, &limit);
	buffer_format(text, "%llu files may be open", (unsigned long long)limit.rlim_max);
	return limit.rlim_max >= FEW ? ABILITY_YES : ABILITY_PARTLY;
}

static const struct trial trials[] = {
	{ "user-code", "your own processes, what they do outside of the kernel",
	  "kernel.perf_event_paranoid of 2 or less, or CAP_PERFMON", try_user_code },
	{ "kernel-code", "what they do in the kernel",
	  "kernel.perf_event_paranoid of 1 or less, or CAP_PERFMON", try_kernel_code },
	{ "all-cpus", "the whole machine (-a), generated kernel code",
	  "kernel.perf_event_paranoid of 0 or less, or CAP_PERFMON", try_all_cpus },
	{ "cycles", "counting cycles and other hardware events", NULL, try_cycles },
	{ "build-ids", "build IDs in mmap events", NULL, try_build_ids },
	{ "map-query", "build IDs of what runs already, from the kernel", NULL, try_map_query },
	{ "map-files", "the bytes of files that were replaced or deleted",
	  "CAP_CHECKPOINT_RESTORE or CAP_SYS_ADMIN", try_map_files },
	{ "other-users", "mappings of other users' processes", "CAP_SYS_PTRACE", try_others },
	{ "kernel-addresses", "names of kernel functions",
	  "kernel.kptr_restrict of 1 or less with CAP_SYSLOG, or of 0 with "
	  "kernel.perf_event_paranoid of 1 or less",
	  try_kernel_addresses },
	{ "kernel-id", "the kernel's build ID", NULL, try_kernel_id },
	{ "tracepoints", "tracepoints by name, modules as they come and go",
	  "mount -t tracefs tracefs /sys/kernel/tracing, readable to you", try_tracepoints },
	{ "rings", "room for samples that wait", "kernel.perf_event_mlock_kb, ulimit -l",
	  try_rings },
	{ "files", "holding images open, events of many threads", "ulimit -n", try_files },
};

const char *ability_state_name(enum ability_state state)
{
	static const char *const names[] = {
		[ABILITY_YES] = "yes", [ABILITY_PARTLY] = "partly", [ABILITY_NO] = "no"
	};
	return names[state];
}

void abilities_fini(struct abilities *abilities)
{
	for (size_t i = 0; i < abilities->count; i++)
		free(abilities->items[i].found);
	array_fini(abilities);
}

const struct ability *abilities_find(const struct abilities *abilities, const char *name)
{
	for (size_t i = 0; i < abilities->count; i++)
		if (!strcmp(abilities->items[i].name, name))
			return &abilities->items[i];
	return NULL;
}

static struct imp_error *add(struct abilities *ret, const struct trial *trial,
			     enum ability_state state, struct buffer *text)
{
	buffer_append(text, "", 1);
	struct ability *ability = text->failed ? NULL : array_add(ret);
	if (!ability)
		return &imp_error_no_memory;
	*ability = (struct ability){ .name = trial->name,
				     .what = trial->what,
				     .state = state,
				     .found = (char *)steal(text->bytes),
				     .remedy = state == ABILITY_YES ? NULL : trial->remedy };
	return NULL;
}

// Whether DIR, or the folder it would be made in, may be written to.
static bool is_writable(const char *dir)
{
	_cleanup_free_ char *path = strdup(dir);
	while (path && *path) {
		if (!access(path, W_OK | X_OK))
			return true;
		char *slash = strrchr(path, '/');
		if (errno != ENOENT || !slash || slash == path)
			return false;
		*slash = 0;
	}
	return false;
}

static struct imp_error *try_store(const char *dir, struct abilities *ret)
{
	static const struct trial trial = {
		"store", "keeping the bytes of images",
		"--store DIR or $IMPRINT_STORE, a folder you may write to", NULL
	};
	_cleanup_buffer_ struct buffer text = { 0 };
	buffer_text(&text, dir ? dir : "no place for it is known");
	return add(ret, &trial, dir && is_writable(dir) ? ABILITY_YES : ABILITY_NO, &text);
}

struct imp_error *abilities_try(const char *store_dir, struct abilities *ret)
{
	struct imp_error *err = NULL;
	for (size_t i = 0; !err && i < sizeof trials / sizeof *trials; i++) {
		_cleanup_buffer_ struct buffer text = { 0 };
		enum ability_state state = trials[i].run(&text);
		err = add(ret, &trials[i], state, &text);
	}
	return err ? err : try_store(store_dir, ret);
}
