// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// What a call chain says of its frames.
#include "analyze/chain.h"

#include <stdlib.h>

#include "base/buffer.h"
#include "harness/tap.h"

// "k10 u20r …": mode, address in hex, 'r' for return addresses.
static void check_entries(const struct chain *chain, const char *expected)
{
	_cleanup_buffer_ struct buffer text = { 0 };
	for (size_t i = 0; i < chain->entries.count; i++)
		buffer_format(&text, "%s%c%llx%s", i ? " " : "",
			      "?kuhgv"[chain->entries.items[i].cpumode],
			      (unsigned long long)chain -> entries.items[i].address,
			      chain->entries.items[i].is_return ? "r" : "");
	buffer_append(&text, "", 1);
	CHECK_TEXT((const char *)text.bytes, expected);
}

static void check_chain(const struct sample *with_ip, const uint64_t *words, size_t count,
			const char *expected)
{
	struct sample sample = *with_ip;
	sample.chain = (struct words){ .bytes = (const uint8_t *)words, .count = count };
	struct chain chain = { .cookie = 0 };
	CHECK_OK(chain_read(&sample, &chain));
	check_entries(&chain, expected);
	struct chain head = { .cookie = 0 };
	CHECK_OK(chain_read_head(&sample, &head));
	CHECK((head.entries.count > 0) == (chain.entries.count > 0));
	if (head.entries.count && chain.entries.count) {
		CHECK_UINT(head.entries.items[0].address, chain.entries.items[0].address);
		CHECK_UINT(head.entries.items[0].cpumode, chain.entries.items[0].cpumode);
		CHECK(head.entries.items[0].is_return == chain.entries.items[0].is_return);
	}
	array_fini(&head.entries);
	array_fini(&chain.entries);
}

#define CHECK_CHAIN(sample, expected, ...)                                          \
	do {                                                                        \
		const uint64_t words[] = { __VA_ARGS__ };                           \
		check_chain(sample, words, sizeof words / sizeof *words, expected); \
	} while (0)

static const struct sample user = { .ip = 0x10, .has_ip = true, .cpumode = MISC_USER };
static const struct sample no_address = { .cpumode = MISC_USER };
static const struct sample guest = { .ip = 1, .has_ip = true, .cpumode = MISC_GUEST_KERNEL };
static const struct sample kernel = { .ip = 0x10, .has_ip = true, .cpumode = MISC_KERNEL };

// The same, with WORDS that came later behind the sample's own COUNT.
static void check_joined(const struct sample *with_ip, const uint64_t *words, size_t count,
			 const uint64_t *later, size_t later_count, const char *expected)
{
	struct sample sample = *with_ip;
	struct words more = { .bytes = (const uint8_t *)later, .count = later_count };
	sample.chain = (struct words){ .bytes = (const uint8_t *)words, .count = count };
	struct chain chain = { .cookie = 0 };
	CHECK_OK(chain_read(&sample, &chain));
	CHECK(chain.is_deferred);
	CHECK_UINT(chain.cookie, 77);
	CHECK_OK(chain_append(&chain, &more, MISC_USER));
	check_entries(&chain, expected);
	array_fini(&chain.entries);
}

TEST(the_first_entry_is_the_sampled_address_and_the_others_return_to_it)
{
	CHECK_CHAIN(&user, "u10 u20r u30r", CHAIN_CONTEXT_USER, 0x10, 0x20, 0x30);
}

TEST(a_marker_changes_the_mode_and_begins_with_an_exact_address)
{
	CHECK_CHAIN(&kernel, "k10 k20r u30 u40r", CHAIN_CONTEXT_KERNEL, 0x10, 0x20,
		    CHAIN_CONTEXT_USER, 0x30, 0x40);
}

TEST(the_head_of_a_precise_sample_is_its_own_address)
{
	CHECK_CHAIN(&user, "u10 u20r", CHAIN_CONTEXT_USER, 0x14, 0x20);
}

TEST(a_chain_without_the_kernels_part_still_begins_with_the_sampled_address)
{
	CHECK_CHAIN(&kernel, "k10 u30 u40r", CHAIN_CONTEXT_USER, 0x30, 0x40);
}

TEST(a_chain_without_markers_has_the_mode_of_its_sample)
{
	CHECK_CHAIN(&user, "u10 u20r", 0x10, 0x20);
}

TEST(no_chain_is_one_frame_and_markers_alone_are_none)
{
	check_chain(&user, NULL, 0, "u10");
	CHECK_CHAIN(&user, "u10", CHAIN_CONTEXT_KERNEL, CHAIN_CONTEXT_USER);
	check_chain(&no_address, NULL, 0, "");
}

TEST(a_sample_without_an_address_has_its_chain)
{
	CHECK_CHAIN(&no_address, "u10 u20r", CHAIN_CONTEXT_USER, 0x10, 0x20);
}

TEST(guests_have_modes_of_their_own)
{
	CHECK_CHAIN(&guest, "g1 v2 v3r", CHAIN_CONTEXT_GUEST_KERNEL, 1, CHAIN_CONTEXT_GUEST_USER, 2,
		    3);
}

TEST(what_follows_a_marker_of_a_newer_kernel_is_left_out)
{
	CHECK_CHAIN(&user, "u10 k40", CHAIN_CONTEXT_USER, 0x10, (uint64_t)-3000, 0x20, 0x30,
		    CHAIN_CONTEXT_KERNEL, 0x40);
}

TEST(a_cookie_is_no_address)
{
	const uint64_t words[] = { CHAIN_CONTEXT_KERNEL, 0x10, 0x20, CHAIN_CONTEXT_USER_DEFERRED,
				   0x77 };
	struct sample sample = kernel;
	sample.chain = (struct words){ .bytes = (const uint8_t *)words, .count = 5 };
	struct chain chain = { .cookie = 0 };
	CHECK_OK(chain_read(&sample, &chain));
	CHECK_UINT(chain.entries.count, 2);
	CHECK(chain.is_deferred);
	CHECK_UINT(chain.cookie, 0x77);
	array_fini(&chain.entries);
}

TEST(a_part_that_came_later_stands_where_it_was_announced)
{
	const uint64_t in_kernel[] = { CHAIN_CONTEXT_KERNEL, 0x10, 0x20,
				       CHAIN_CONTEXT_USER_DEFERRED, 77 };
	const uint64_t in_user[] = { CHAIN_CONTEXT_USER_DEFERRED, 77 };
	const uint64_t marked[] = { CHAIN_CONTEXT_USER, 0x30, 0x40 }, plain[] = { 0x30, 0x40 };
	check_joined(&kernel, in_kernel, 5, marked, 3, "k10 k20r u30 u40r");
	check_joined(&kernel, in_kernel, 5, plain, 2, "k10 k20r u30 u40r");
	check_joined(&kernel, in_kernel, 5, plain, 0, "k10 k20r");
	// Taken in user space: the sampled address is the first of the later part.
	check_joined(&user, in_user, 2, marked, 3, "u10 u40r");
	check_joined(&user, in_user, 2, plain, 1, "u10");
}
