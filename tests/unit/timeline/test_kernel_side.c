// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The kernel's own map, modules, symbols and guests.
#include <string.h>

#include "harness/tap.h"
#include "unit/timeline/scene.h"

TEST(offsets_count_what_the_kind_of_image_says)
{
	struct scene scene;
	scene_begin(&scene);
	scene_map(&scene, 10, 1, 0x10000, "/file", 1);
	scene_map(&scene, 10, 1, 0x20000, "[vdso]", 0);
	scene_map(&scene, 10, 1, 0x30000, "//anon", 0);
	scene_map(&scene, 10, 1, 0x40000, "[heap]", 0);
	scene_map_kernel(&scene, 0, 0xffffffff81000000, 0x1000000, 0xffffffff81000000,
			 "[kernel.kallsyms]_text");
	scene_map_kernel(&scene, 0, 0xffffffffc0000000, 0x4000, 0, "[ext4]");
	scene_finish(&scene);
	CHECK_TEXT(in_user(&scene, 1, 20, 0x10010), "/file+0x1010");
	CHECK_TEXT(in_user(&scene, 1, 20, 0x20010), "[vdso]+0x10");
	CHECK_TEXT(in_user(&scene, 1, 20, 0x30010), "//anon+0x30010");
	CHECK_TEXT(in_user(&scene, 1, 20, 0x40010), "[heap]+0x40010");
	CHECK_TEXT(in_kernel(&scene, 20, 0xffffffff81000123), "[kernel.kallsyms]+0x123");
	CHECK_TEXT(in_kernel(&scene, 20, 0xffffffffc0000123), "[ext4]+0x123");
	scene_leave(&scene);
}

TEST(the_kernels_map_may_claim_everything_and_modules_still_are_modules)
{
	struct scene scene;
	scene_begin(&scene);
	scene_map_kernel(&scene, 0, 0xffffffff81000000, UINT64_MAX, 0xffffffff81000000,
			 "[kernel.kallsyms]_stext");
	scene_map_kernel(&scene, 0, 0xffffffffc0000000, 0x4000, 0, "/lib/modules/6/ext4.ko");
	scene_finish(&scene);
	CHECK_TEXT(in_kernel(&scene, 20, 0xffffffff81000010), "[kernel.kallsyms]+0x10");
	CHECK_TEXT(in_kernel(&scene, 20, 0xffffffffc0000010), "/lib/modules/6/ext4.ko+0x10");
	CHECK_TEXT(in_kernel(&scene, 20, 0xffffffffc0005000), "[kernel.kallsyms]+0x3f005000");
	struct place place = timeline_locate(scene.timeline, 1, 5, MISC_KERNEL,
					     abs_addr_of(0xffffffff81000010), NULL);
	const struct image *kernel = timeline_image(scene.timeline, place.image);
	CHECK_TEXT(kernel->reference_symbol, "_stext");
	CHECK_UINT(kernel->reference_address, 0xffffffff81000000);
	CHECK_UINT(kernel->kind, IMAGE_KERNEL);
	scene_leave(&scene);
}

TEST(a_kernel_without_a_map_is_the_kernel_all_the_same)
{
	struct scene scene;
	scene_begin(&scene);
	scene_claim(&scene, MISC_KERNEL, "[kernel.kallsyms]", 3);
	scene_finish(&scene);
	CHECK_TEXT(in_kernel(&scene, 20, 0xffffffff81000010),
		   "[kernel.kallsyms]+0xffffffff81000010");
	CHECK_UINT(timeline_image_count(scene.timeline), 1);
	CHECK_UINT(timeline_image(scene.timeline, 0)->identity, IDENTITY_AFTER_THE_FACT);
	CHECK_UINT(timeline_image_mappings(scene.timeline, 0), 0);
	scene_leave(&scene);
}

TEST(a_module_ends_where_the_next_begins_in_whatever_order_they_are_told)
{
	for (unsigned order = 0; order < 2; order++) {
		struct scene scene;
		scene_begin(&scene);
		if (order)
			scene_map_kernel(&scene, 0, 0xffffffffc0002000, 0x4000, 0, "[b]");
		scene_map_kernel(&scene, 0, 0xffffffffc0000000, 0x9000, 0, "[a]");
		if (!order)
			scene_map_kernel(&scene, 0, 0xffffffffc0002000, 0x4000, 0, "[b]");
		scene_finish(&scene);
		CHECK_TEXT(in_kernel(&scene, 20, 0xffffffffc0001000), "[a]+0x1000");
		CHECK_TEXT(in_kernel(&scene, 20, 0xffffffffc0002000), "[b]+0x0");
		// Behind the next module's end nothing is this module's any more.
		CHECK_TEXT(in_kernel(&scene, 20, 0xffffffffc0007000),
			   "[kernel.kallsyms]+0xffffffffc0007000");
		scene_leave(&scene);
	}
}

TEST(a_module_that_is_loaded_again_is_told_apart_by_time)
{
	struct scene scene;
	scene_begin(&scene);
	scene_map_kernel(&scene, 0, 0xffffffffc0000000, 0x4000, 0, "[old]");
	scene_map_kernel(&scene, 50, 0xffffffffc0000000, 0x4000, 0, "[new]");
	scene_finish(&scene);
	CHECK_TEXT(in_kernel(&scene, 49, 0xffffffffc0001000), "[old]+0x1000");
	CHECK_TEXT(in_kernel(&scene, 50, 0xffffffffc0001000), "[new]+0x1000");
	scene_leave(&scene);
}

TEST(kernel_symbols_come_and_go)
{
	struct scene scene;
	scene_begin(&scene);
	struct ksymbol_record symbol = {
		.start = 0xffffffffc1000000, .length = 100, .type = 1, .name = "bpf_prog_1234_f"
	};
	struct stamp stamp = scene_at(10);
	record_build_ksymbol(&scene.buffer, &symbol, &stamp);
	scene_give(&scene);
	symbol.is_unregister = true;
	stamp = scene_at(20);
	record_build_ksymbol(&scene.buffer, &symbol, &stamp);
	scene_give(&scene);
	scene_finish(&scene);
	CHECK_TEXT(in_kernel(&scene, 15, 0xffffffffc1000010), "bpf_prog_1234_f+0xffffffffc1000010");
	CHECK_TEXT(in_kernel(&scene, 20, 0xffffffffc1000010),
		   "[kernel.kallsyms]+0xffffffffc1000010");
	scene_leave(&scene);
}

TEST(a_guests_kernel_is_not_the_hosts)
{
	struct scene scene;
	scene_begin(&scene);
	scene_map_kernel(&scene, 0, 0xffffffff81000000, 0x1000, 0xffffffff81000000,
			 "[kernel.kallsyms]_text");
	struct mmap_record guest = { .pid = 77,
				     .start = 0xffffffff81000000,
				     .length = 0x1000,
				     .page_offset = 0xffffffff81000000,
				     .path = "[guest.kernel.kallsyms.77]_text" };
	scene_map_as(&scene, 0, MISC_GUEST_KERNEL, &guest);
	scene_finish(&scene);
	CHECK_TEXT(in_kernel(&scene, 5, 0xffffffff81000010), "[kernel.kallsyms]+0x10");
	CHECK_TEXT(scene_where(&scene, 77, 5, MISC_GUEST_KERNEL, 0xffffffff81000010),
		   "[guest.kernel.kallsyms.77]+0x10");
	CHECK_TEXT(scene_where(&scene, 78, 5, MISC_GUEST_KERNEL, 0xffffffff81000010), "no-process");
	scene_leave(&scene);
}
