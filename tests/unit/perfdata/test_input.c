// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Where recordings come from: files, directories, pipes, packed files, and what is none.
#include "perfdata/recording.h"

#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/tap.h"
#include "unit/perfdata/usual.h"

static void write_file(const char *path, const void *bytes, size_t size)
{
	FILE *file = fopen(path, "w");
	if (file) {
		CHECK(fwrite(bytes, 1, size, file) == size);
		fclose(file);
	}
}

TEST(reads_the_files_of_a_directory_in_order_each_with_its_own_compression)
{
	char directory[] = "/tmp/imprint-test-XXXXXX";
	REQUIRE(mkdtemp(directory));
	_cleanup_buffer_ struct buffer head =
		usual_recording(&(struct recording_builder_shape){ 0 }, 1);
	char path[100];
	snprintf(path, sizeof path, "%s/data", directory);
	write_file(path, head.bytes, head.size);
	for (unsigned i = 0; i < 12; i++) {
		struct recording_builder *builder = recording_builder_new();
		add_usual_event(builder, 7);
		if (i % 2)
			build_compressed_begin(builder);
		build_lost(builder, built_at(1, 1, 1), 7, 1000 + i);
		if (i % 2)
			build_compressed_end(builder, RECORD_COMPRESSED, 4096);
		_cleanup_buffer_ struct buffer part = recording_builder_finish(builder);
		snprintf(path, sizeof path, "%s/data.%u", directory, i);
		write_file(path, part.bytes + 256, part.size - 256);
	}
	struct read_back back;
	REQUIRE_OK(read_back_path(directory, 2, &back));
	CHECK_UINT(recording_mode(back.recording), RECORDING_DIRECTORY);
	CHECK_UINT(recording_warning_count(back.recording), 0);
	REQUIRE(back.by_type[RECORD_LOST] == 12);
	for (unsigned i = 0; i < 12; i++) {
		struct lost_record lost;
		REQUIRE_OK(lost_record_read(&back.items[3 + i].record, &lost));
		CHECK_UINT(lost.lost, 1000 + i);
	}
	CHECK(read_back_visits_the_same(&back));
	read_back_fini(&back);
	for (unsigned i = 0; i < 12; i++) {
		snprintf(path, sizeof path, "%s/data.%u", directory, i);
		unlink(path);
	}
	snprintf(path, sizeof path, "%s/data", directory);
	unlink(path);
	rmdir(directory);
}

TEST(reads_what_comes_through_a_pipe)
{
	_cleanup_buffer_ struct buffer bytes =
		usual_recording(&(struct recording_builder_shape){ 0 }, 300);
	char path[] = "/tmp/imprint-test-XXXXXX";
	REQUIRE(mkdtemp(path));
	char fifo[100];
	snprintf(fifo, sizeof fifo, "%s/fifo", path);
	REQUIRE(mkfifo(fifo, 0600) == 0);
	pid_t writer = fork();
	if (writer == 0) {
		write_file(fifo, bytes.bytes, bytes.size);
		_exit(0);
	}
	struct read_back back;
	struct imp_error *err = read_back_path(fifo, 1, &back);
	waitpid(writer, NULL, 0);
	unlink(fifo);
	rmdir(path);
	REQUIRE_OK(err);
	check_usual_recording(&back, 300);
	read_back_fini(&back);
}

static bool pack(const char *path, const char *program)
{
	pid_t child = fork();
	if (child == 0) {
		execlp(program, program, "-q", "-f", path, (char *)NULL);
		_exit(127);
	}
	int status = 1;
	waitpid(child, &status, 0);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(reads_compressed_files)
{
	static const struct {
		const char *program, *suffix;
	} packers[] = { { "gzip", ".gz" }, { "xz", ".xz" }, { "zstd", ".zst" } };
	for (size_t i = 0; i < sizeof packers / sizeof *packers; i++) {
		_cleanup_buffer_ struct buffer bytes =
			usual_recording(&(struct recording_builder_shape){ 0 }, 300);
		char *path = built_file(&bytes);
		char packed[100];
		snprintf(packed, sizeof packed, "%s%s", path, packers[i].suffix);
		if (pack(path, packers[i].program)) {
			struct read_back back;
			REQUIRE_OK(read_back_path(packed, 1, &back));
			check_usual_recording(&back, 300);
			read_back_fini(&back);
		} else {
			printf("# no %s here\n", packers[i].program);
		}
		unlink(packed);
		built_file_remove(path);
	}
}

TEST(says_what_is_not_a_recording)
{
	static const struct {
		const char *bytes;
		size_t size;
		const char *message;
	} inputs[] = {
		{ "", 0, "empty, so not a recording" },
		{ "\x7f"
		  "ELF\2\1\1",
		  8,
		  "not a recording: expected \"PERFILE2\" at offset 0, found 7f 45 4c 46 02 01 01 00" },
		{ "PERFILE2", 8, "truncated header at offset 8 of 8" },
		{ "\x1f\x8b\x08 not gzip", 12, NULL },
	};
	for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
		struct buffer bytes = { 0 };
		buffer_append(&bytes, inputs[i].bytes, inputs[i].size);
		struct read_back back;
		struct imp_error *err = read_back(&bytes, &back);
		buffer_fini(&bytes);
		REQUIRE(err != NULL);
		CHECK_UINT(imp_error_code(err), IMP_ERR_BAD_DATA);
		const char *message = strstr(imp_error_message(err), ": ");
		REQUIRE(message != NULL);
		if (inputs[i].message)
			CHECK_TEXT(message + 2, inputs[i].message);
		imp_error_free(err);
		read_back_fini(&back);
	}
	struct read_back back;
	CHECK_ERROR(read_back_path("/nonexistent/perf.data", 1, &back), IMP_ERR_SYSTEM);
	read_back_fini(&back);
}

// Bytes that unpack to 30 MiB of zeros.
static char *packed_zeros(void)
{
	enum { ZEROS = 30 << 20 };
	struct buffer bytes = { 0 };
	uint8_t *zeros = buffer_extend(&bytes, ZEROS);
	if (zeros)
		memset(zeros, 0, ZEROS);
	char *path = built_file(&bytes);
	buffer_fini(&bytes);
	return path;
}

// In a process of its own, whose file systems are its own, too: opens PATH with 8 MiB to unpack to.
// 0 when it is refused for the reason it should be, 77 when no such file system can be made.
static int open_with_little_room(const char *path, char *directory)
{
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", directory, "tmpfs", 0, "size=8m"))
		return 77;
	struct recording_options options = { .workers = 1, .temporary_directory = directory };
	struct recording *recording = NULL;
	struct imp_error *err = recording_open(path, &options, &recording);
	bool is_refused = err && imp_error_code(err) == IMP_ERR_UNSUPPORTED &&
			  strstr(imp_error_message(err), "unpacks to more than 4 MiB") &&
			  strstr(imp_error_message(err), directory);
	imp_error_free(err);
	return is_refused ? 0 : 1;
}

TEST(what_would_fill_the_folder_it_is_unpacked_to_is_refused)
{
	char directory[] = "/tmp/imprint-test-XXXXXX";
	char packed[100];
	char *path = packed_zeros();
	snprintf(packed, sizeof packed, "%s.gz", path);
	REQUIRE(mkdtemp(directory));
	int status = 77 << 8;
	if (pack(path, "gzip")) {
		pid_t child = fork();
		if (child == 0)
			_exit(open_with_little_room(packed, directory));
		waitpid(child, &status, 0);
	}
	unlink(packed);
	built_file_remove(path);
	rmdir(directory);
	REQUIRE(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		tap_skip("a small file system cannot be made here");
	else
		CHECK_UINT(WEXITSTATUS(status), 0);
}

TEST(what_is_unpacked_goes_where_it_is_told_to)
{
	_cleanup_buffer_ struct buffer bytes =
		usual_recording(&(struct recording_builder_shape){ 0 }, 3);
	char *path = built_file(&bytes);
	char packed[100];
	snprintf(packed, sizeof packed, "%s.gz", path);
	struct recording_options options = { .temporary_directory = "/nonexistent" };
	struct recording *recording = NULL;
	if (pack(path, "gzip"))
		CHECK_ERROR(recording_open(packed, &options, &recording), IMP_ERR_SYSTEM);
	else
		tap_skip("no gzip");
	unlink(packed);
	built_file_remove(path);
}
