// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
#include "perfdata/writer.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

#include "base/file.h"
#include "harness/tap.h"

static const uint64_t ids[] = { 11, 12, 13 };

static void make_events(struct written_event events[2])
{
	memset(events, 0, 2 * sizeof *events);
	events[0] = (struct written_event){ .name = "cpu-clock", .ids = ids, .id_count = 2 };
	events[1] = (struct written_event){ .name = "dummy", .ids = ids + 2, .id_count = 1 };
	events[0].attr.type = events[1].attr.type = 1;
	events[1].attr.config = 9;
}

static struct imp_error *write_one(int fd, bool is_stream, bool finish)
{
	struct writer_options options = { .is_stream = is_stream, .most_ring_bytes = 4096 };
	struct writer *writer;
	struct imp_error *err = writer_new(fd, "test", &options, &writer);
	if (err)
		return err;
	struct written_event events[2];
	make_events(events);
	struct buffer host = { 0 };
	feature_put_string(&host, "a-host");
	err = writer_feature(writer, FEATURE_HOSTNAME, host.bytes, host.size);
	buffer_fini(&host);
	if (!err)
		err = writer_begin(writer, events, 2);
	uint64_t round[] = { RECORD_FINISHED_ROUND | UINT64_C(8) << 48 };
	struct iovec parts[] = { { round, 8 }, { round, 8 } };
	if (!err)
		err = writer_records(writer, round, sizeof round);
	if (!err)
		err = writer_ring(writer, parts, 2);
	if (!err)
		err = finish ? writer_finish(writer) : writer_checkpoint(writer);
	writer_free(writer);
	return err;
}

static void read_back(int fd, struct buffer *ret)
{
	CHECK(lseek(fd, 0, SEEK_SET) == 0);
	CHECK_OK(file_slurp(fd, "test", 1 << 20, ret));
}

static uint64_t u64_at(const struct buffer *bytes, uint64_t at)
{
	uint64_t value = 0;
	if (at + sizeof value <= bytes->size)
		memcpy(&value, bytes->bytes + at, sizeof value);
	return value;
}

TEST(a_finished_file_has_attrs_records_and_features_where_its_header_says)
{
	_cleanup_close_ int fd = memfd_create("writer", MFD_CLOEXEC);
	REQUIRE_OK(write_one(fd, false, true));
	_cleanup_buffer_ struct buffer file = { 0 };
	read_back(fd, &file);
	CHECK(!memcmp(file.bytes, "PERFILE2", 8));
	CHECK_UINT(u64_at(&file, 8), 104);
	CHECK_UINT(u64_at(&file, 16), 144);
	uint64_t attrs = u64_at(&file, 24);
	CHECK_UINT(u64_at(&file, 32), 288);
	CHECK_UINT(u64_at(&file, attrs + 144 + 8), 9);
	CHECK_UINT(u64_at(&file, u64_at(&file, attrs + 144 + 128)), 13);
	uint64_t records = u64_at(&file, 40);
	CHECK_UINT(u64_at(&file, 48), 24);
	CHECK_UINT(u64_at(&file, records) & 0xffff, RECORD_FINISHED_ROUND);
	CHECK_UINT(u64_at(&file, 72), 1 << FEATURE_HOSTNAME | 1 << FEATURE_EVENT_DESC);
	uint64_t host = u64_at(&file, records + 24);
	CHECK_TEXT((const char *)file.bytes + host + 4, "a-host");
	CHECK_UINT(u64_at(&file, records + 24 + 16) + u64_at(&file, records + 24 + 24), file.size);
}

TEST(a_file_that_was_not_finished_tells_the_size_at_its_last_checkpoint_and_no_features)
{
	_cleanup_close_ int fd = memfd_create("writer", MFD_CLOEXEC);
	REQUIRE_OK(write_one(fd, false, false));
	_cleanup_buffer_ struct buffer file = { 0 };
	read_back(fd, &file);
	CHECK_UINT(u64_at(&file, 40) + 24, file.size);
	CHECK_UINT(u64_at(&file, 48), 24);
	CHECK_UINT(u64_at(&file, 72), 0);
}

TEST(a_stream_is_records_from_its_short_header_on)
{
	_cleanup_close_ int fd = memfd_create("writer", MFD_CLOEXEC);
	REQUIRE_OK(write_one(fd, true, true));
	_cleanup_buffer_ struct buffer file = { 0 };
	read_back(fd, &file);
	CHECK_UINT(u64_at(&file, 8), 16);
	static const uint32_t expected[] = { 64, 64, 80, 80, 80, 78, 78, 68, 68, 68 };
	size_t at = 16;
	for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
		CHECK_UINT((uint32_t)u64_at(&file, at), expected[i]);
		at += u64_at(&file, at) >> 48;
	}
	CHECK_UINT(at, file.size);
}

TEST(a_full_disk_is_an_error_that_names_the_file)
{
	_cleanup_close_ int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
	REQUIRE(fd >= 0);
	_cleanup_error_ struct imp_error *err = write_one(fd, true, true);
	REQUIRE(err);
	CHECK_TEXT(imp_error_message(err), "test: cannot write: No space left on device");
}
