// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// `imprint archive`: recordings together with exactly the images they need.
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "archive/bundle.h"
#include "archive/pack.h"
#include "base/file.h"
#include "base/parallel.h"
#include "base/units.h"
#include "cli/command.h"
#include "cli/naming.h"
#include "cli/needs.h"
#include "find/intake.h"

extern const struct command command_archive;

struct archive_options {
	struct naming naming;
	const char *output;
	const char *against;
	uint64_t level;
	uint64_t workers;
	bool all;
	bool perf;
};

#define ROW(kind_, letter_, name_, argument_, field, help_)                             \
	{                                                                               \
		.kind = kind_, .letter = letter_, .name = name_, .argument = argument_, \
		.help = help_, .offset = offsetof(struct archive_options, field)        \
	}

static const struct option archive_rows[] = {
	ROW(OPTION_TEXT, 'o', "output", "FILE", output,
	    "where to write to (NAME.imprint.tar.zst); - for stdout"),
	ROW(OPTION_FLAG, 0, "all", NULL, all, "all images that were mapped, not only those hit"),
	ROW(OPTION_TEXT, 0, "against", "BASE", against,
	    "leave out what the archive BASE has, or BASE.json, its manifest"),
	ROW(OPTION_FLAG, 0, "perf", NULL, perf,
	    "as perf archive: for perf archive --unpack and tar into ~/.debug"),
	ROW(OPTION_NUMBER, 0, "level", "N", level,
	    "compress all anew as one stream, by zstd's level 1 to 19"),
	ROW(OPTION_THREADS, 'j', "jobs", "N", workers, "threads to compress with (all processors)"),
	FINDING_OPTIONS(struct archive_options, naming),
	{ .kind = OPTION_END },
};

struct packing {
	struct pack *pack;
	struct finder *finder;
	const struct log *log;
	// Texts of kallsyms, which pack lends until it is written.
	ARRAY_OF(struct buffer) texts;
	size_t images;
	size_t missing;
};

static struct imp_error *add_image(struct packing *packing, const struct elf_image *image,
				   const struct image *wanted)
{
	struct store_item item = { .path = wanted->path };
	intake_describe_image(image, &item);
	if (wanted->kind == IMAGE_VDSO)
		item.role = STORE_VDSO;
	size_t size;
	const void *bytes = elf_image_bytes(image, &size);
	return pack_add_object(packing->pack, &item, bytes, size, NULL);
}

static struct imp_error *add_kallsyms(struct packing *packing, const struct finding *finding,
				      const struct image *image)
{
	enum { MOST_BYTES = 256 << 20 };
	struct buffer *text = array_add(&packing->texts);
	if (!text)
		return &imp_error_no_memory;
	struct imp_error *err = file_slurp_path(finding->kallsyms_path, MOST_BYTES, text);
	struct store_item item = { .id = image->id,
				   .role = STORE_KALLSYMS,
				   .path = "[kernel.kallsyms]" };
	return err ? err : pack_add_object(packing->pack, &item, text->bytes, text->size, NULL);
}

static struct imp_error *add_need(void *arg, const struct image *image)
{
	struct packing *packing = arg;
	const struct finding *finding;
	struct imp_error *err = finder_find(packing->finder, image, &finding);
	if (err)
		return err;
	packing->images++;
	bool is_kernel = image->kind == IMAGE_KERNEL || image->kind == IMAGE_GUEST_KERNEL;
	if (finding->image)
		err = add_image(packing, finding->image, image);
	if (!err && finding->debug && finding->debug != finding->image)
		err = add_image(packing, finding->debug, image);
	if (!err && finding->alt)
		err = add_image(packing, finding->alt, image);
	if (!err && finding->kallsyms_path && is_kernel)
		err = add_kallsyms(packing, finding, image);
	if (err || finding->image || finding->debug || finding->kallsyms_path)
		return err;
	packing->missing++;
	return pack_add_missing(packing->pack, &image->id, image->path);
}

static struct imp_error *leave_out(struct packing *packing, const char *base)
{
	_cleanup_manifest_ struct manifest manifest = { 0 };
	struct imp_error *err;
	if (bundle_is(base)) {
		err = bundle_manifest(base, &manifest);
	} else {
		_cleanup_buffer_ struct buffer text = { 0 };
		err = file_slurp_path(base, MANIFEST_MOST_BYTES, &text);
		if (!err)
			err = manifest_read((const char *)text.bytes, text.size, &manifest);
		if (err)
			err = error_context(err, "%s", base);
	}
	return err ? err : pack_leave_out(packing->pack, &manifest);
}

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text);
	return length >= strlen(end) && !strcmp(text + length - strlen(end), end);
}

static enum tar_compression compression_of(const char *output)
{
	if (ends_with(output, ".bz2"))
		return TAR_BZIP2;
	if (ends_with(output, ".gz") || ends_with(output, ".tgz"))
		return TAR_GZIP;
	if (ends_with(output, ".xz"))
		return TAR_XZ;
	return ends_with(output, ".tar") ? TAR_PLAIN : TAR_ZSTD;
}

// The store that keeps compressed copies. Without one all is compressed.
static struct store *open_copies(const struct archive_options *options, const struct log *log)
{
	_cleanup_free_ char *dir = naming_own_store(&options->naming);
	struct store *store = NULL;
	struct imp_error *err = dir ? store_open(dir, STORE_WRITE, log, &store) : NULL;
	if (err)
		log_message(log, LOG_DEBUG, "no compressed copies are kept: %s",
			    imp_error_message(err));
	imp_error_free(err);
	return store;
}

// The newest of the recordings, so that packing them again makes the same bytes; or what
// SOURCE_DATE_EPOCH says.
static int64_t member_time(const struct operands *recordings)
{
	const char *epoch = getenv("SOURCE_DATE_EPOCH");
	char *end;
	long long time = epoch ? strtoll(epoch, &end, 10) : 0;
	if (epoch && *epoch && !*end)
		return time;
	int64_t newest = 0;
	for (size_t i = 0; i < recordings->count; i++) {
		struct stat stat_;
		if (!stat(recordings->items[i], &stat_) && stat_.st_mtim.tv_sec > newest)
			newest = stat_.st_mtim.tv_sec;
	}
	return newest;
}

static char *output_name(const struct archive_options *options, const struct operands *recordings)
{
	if (options->output)
		return strdup(options->output);
	char *name = NULL;
	const char *end = options->perf ? ".tar.bz2" : ".imprint.tar.zst";
	return asprintf(&name, "%s%s", recordings->items[0], end) < 0 ? NULL : name;
}

static struct imp_error *write_pack(const struct packing *packing,
				    const struct archive_options *options,
				    const struct operands *recordings)
{
	_cleanup_free_ char *output = output_name(options, recordings);
	if (!output)
		return &imp_error_no_memory;
	struct tar_options tar = { .compression = TAR_FRAMES,
				   .level = (int)options->level,
				   .workers = parallel_workers((unsigned)options->workers),
				   .is_long = pack_has_two_builds(packing->pack),
				   .time_s = member_time(recordings) };
	if (options->perf)
		tar.compression = compression_of(output);
	else if (options->level)
		tar.compression = TAR_ZSTD;
	_cleanup_store_ struct store *copies =
		tar.compression == TAR_FRAMES ? open_copies(options, packing->log) : NULL;
	struct imp_error *err = pack_write(packing->pack, options->perf ? PACK_PERF : PACK_IMPRINT,
					   output, &tar, copies);
	struct stat stat_;
	if (!err && strcmp(output, "-") != 0 && !stat(output, &stat_))
		log_message(packing->log, LOG_NOTE, "%s: %s, %zu objects", output,
			    units_size((uint64_t)stat_.st_size).text,
			    pack_manifest(packing->pack)->objects.count);
	return err;
}

static struct imp_error *archive(struct packing *packing, const struct archive_options *options,
				 const struct operands *recordings)
{
	struct imp_error *err = naming_finder(&options->naming, packing->log, &packing->finder);
	if (!err)
		err = pack_new(&packing->pack);
	for (size_t i = 0; !err && i < recordings->count; i++) {
		err = needs_visit(recordings->items[i], options->all, packing->log, add_need,
				  packing);
		if (!err && !options->perf)
			err = pack_add_recording(packing->pack, recordings->items[i]);
	}
	if (!err && options->against)
		err = leave_out(packing, options->against);
	if (!err)
		err = write_pack(packing, options, recordings);
	if (!err && packing->missing)
		log_message(packing->log, LOG_WARNING,
			    "%zu of %zu images were found nowhere and are not in the archive "
			    "('imprint explain' says where they were looked for)",
			    packing->missing, packing->images);
	return err;
}

static int archive_run(const struct invocation *invocation, struct imp_error **err)
{
	struct archive_options *options = invocation->options;
	static char standard[] = "perf.data";
	char *standard_items[] = { standard };
	struct operands recordings = invocation->operands;
	if (!recordings.count)
		recordings = (struct operands){ standard_items, 1 };
	if (options->level > 19) {
		*err = error_new(IMP_ERR_USAGE, "--level is at most 19");
		return EXIT_USAGE;
	}
	struct packing packing = { .log = invocation->log };
	*err = archive(&packing, options, &recordings);
	pack_free(packing.pack);
	finder_free(packing.finder);
	for (size_t i = 0; i < packing.texts.count; i++)
		buffer_fini(&packing.texts.items[i]);
	array_fini(&packing.texts);
	naming_fini(&options->naming);
	return *err ? EXIT_FAILED : EXIT_DONE;
}

const struct command command_archive = {
	.name = "archive",
	.summary = "Pack recordings together with the images they need",
	.usage = "archive [-o FILE] [OPTIONS] [RECORDING...]",
	.description = "Every verb reads an archive in place of a recording; 'imprint unarchive'\n"
		       "puts it into the store. Each content is packed once over all recordings.",
	.options = archive_rows,
	.options_size = sizeof(struct archive_options),
	.run = archive_run,
};
