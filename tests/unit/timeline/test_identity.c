// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
#include "timeline/identity.h"

#include <stdlib.h>
#include <string.h>

#include "harness/tap.h"

struct scene {
	struct images images;
	struct claims claims;
	uint32_t *numbers;
};

static struct build_id id_of(uint8_t digit)
{
	uint8_t bytes[20];
	memset(bytes, digit, sizeof bytes);
	return build_id_of(bytes, sizeof bytes);
}

static const char *path_in(struct scene *scene, const char *path)
{
	const char *text = NULL;
	CHECK_OK(images_text(&scene->images, path, strlen(path), &text));
	return text;
}

// An image of KIND at PATH with the ID of bytes DIGIT (0: none) or inode INODE (0: not recorded).
static uint32_t mapped(struct scene *scene, enum image_kind kind, const char *path, uint8_t digit,
		       uint64_t inode, uint64_t generation)
{
	struct image image = { .kind = kind, .identity = IDENTITY_NONE };
	image.path = path_in(scene, path);
	if (digit) {
		image.id = id_of(digit);
		image.identity = IDENTITY_MAP_TIME;
	}
	image.file = (struct file_key){ .inode = inode,
					.generation = generation,
					.is_known = inode > 0 };
	uint32_t number = 0;
	CHECK_OK(images_intern(&scene->images, &image, &number));
	scene->images.all.items[number].mappings++;
	return number;
}

static uint32_t user(struct scene *scene, const char *path, uint8_t digit, uint64_t inode)
{
	return mapped(scene, IMAGE_USER, path, digit, inode, digit ? 0 : 77);
}

static void claim(struct scene *scene, enum image_kind kind, const char *path, uint8_t digit)
{
	struct claim *added_claim = array_add(&scene->claims.all);
	added_claim->kind = kind;
	added_claim->path = path_in(scene, path);
	added_claim->id = digit ? id_of(digit) : (struct build_id){ 0 };
}

static void bind(struct scene *scene)
{
	free(scene->numbers);
	scene->numbers = NULL;
	CHECK_OK(identity_bind(&scene->images, &scene->claims, &scene->numbers));
}

static const struct image *image(const struct scene *scene, uint32_t old_number)
{
	return &scene->images.all.items[scene->numbers[old_number]].image;
}

// "after-the-fact 1", "none": where the identity comes from, and the ID's first byte.
static const char *known(const struct scene *scene, uint32_t old_number)
{
	static char text[64];
	const struct image *of = image(scene, old_number);
	if (build_id_is_none(&of->id))
		snprintf(text, sizeof text, "%s", identity_name(of->identity));
	else
		snprintf(text, sizeof text, "%s %x", identity_name(of->identity), of->id.bytes[0]);
	return text;
}

static void leave(struct scene *scene)
{
	images_fini(&scene->images);
	array_fini(&scene->claims.all);
	free(scene->numbers);
}

TEST(one_file_at_a_path_is_what_the_table_says)
{
	struct scene scene = { 0 };
	uint32_t with_inode = user(&scene, "/bin/a", 0, 5);
	uint32_t without_inode = user(&scene, "/bin/b", 0, 0);
	uint32_t not_in_table = user(&scene, "/bin/c", 0, 6);
	claim(&scene, IMAGE_USER, "/bin/a", 1);
	claim(&scene, IMAGE_USER, "/bin/b", 2);
	bind(&scene);
	CHECK_TEXT(known(&scene, with_inode), "after-the-fact 1");
	CHECK_TEXT(known(&scene, without_inode), "after-the-fact 2");
	CHECK_TEXT(known(&scene, not_in_table), "none");
	CHECK_UINT(scene.images.all.count, 3);
	leave(&scene);
}

TEST(several_files_at_a_path_are_not_told_apart_by_one_entry)
{
	struct scene scene = { 0 };
	uint32_t old_file = user(&scene, "/lib/x.so", 0, 5);
	uint32_t new_file = user(&scene, "/lib/x.so", 0, 6);
	uint32_t no_inode = user(&scene, "/lib/x.so", 0, 0);
	claim(&scene, IMAGE_USER, "/lib/x.so", 1);
	bind(&scene);
	CHECK_TEXT(known(&scene, old_file), "ambiguous 1");
	CHECK_TEXT(known(&scene, new_file), "ambiguous 1");
	CHECK_TEXT(known(&scene, no_inode), "ambiguous 1");
	CHECK(image(&scene, old_file) != image(&scene, new_file));
	CHECK_UINT(scene.images.all.count, 3);
	leave(&scene);
}

TEST(a_generation_that_was_not_recorded_is_the_one_that_was)
{
	struct scene scene = { 0 };
	uint32_t kernel_said = mapped(&scene, IMAGE_USER, "/bin/a", 0, 5, 33);
	uint32_t proc_said = mapped(&scene, IMAGE_USER, "/bin/a", 0, 5, 0);
	claim(&scene, IMAGE_USER, "/bin/a", 1);
	bind(&scene);
	CHECK_TEXT(known(&scene, proc_said), "after-the-fact 1");
	CHECK(image(&scene, kernel_said) == image(&scene, proc_said));
	CHECK_UINT(scene.images.all.items[scene.numbers[proc_said]].mappings, 2);
	leave(&scene);
}

TEST(an_inode_used_again_is_another_file)
{
	struct scene scene = { 0 };
	uint32_t first = mapped(&scene, IMAGE_USER, "/bin/a", 0, 5, 33);
	uint32_t second = mapped(&scene, IMAGE_USER, "/bin/a", 0, 5, 34);
	uint32_t either = mapped(&scene, IMAGE_USER, "/bin/a", 0, 5, 0);
	claim(&scene, IMAGE_USER, "/bin/a", 1);
	bind(&scene);
	CHECK_TEXT(known(&scene, first), "ambiguous 1");
	CHECK_TEXT(known(&scene, second), "ambiguous 1");
	CHECK_TEXT(known(&scene, either), "ambiguous 1");
	leave(&scene);
}

TEST(a_mapping_without_an_id_is_given_the_tables_when_all_others_have_the_same)
{
	struct scene scene = { 0 };
	user(&scene, "/bin/a", 1, 0);
	uint32_t plain = user(&scene, "/bin/a", 0, 5);
	claim(&scene, IMAGE_USER, "/bin/a", 1);
	bind(&scene);
	CHECK_TEXT(known(&scene, plain), "after-the-fact 1");
	CHECK_UINT(scene.images.all.count, 2);
	leave(&scene);
}

TEST(a_mapping_without_an_id_is_ambiguous_when_another_build_was_mapped_there)
{
	struct scene scene = { 0 };
	user(&scene, "/bin/a", 2, 0);
	uint32_t plain = user(&scene, "/bin/a", 0, 5);
	claim(&scene, IMAGE_USER, "/bin/a", 1);
	bind(&scene);
	CHECK_TEXT(known(&scene, plain), "ambiguous 1");
	leave(&scene);
}

TEST(a_mapping_without_an_id_is_ambiguous_when_both_builds_are_in_the_table)
{
	struct scene scene = { 0 };
	user(&scene, "/bin/a", 1, 0);
	user(&scene, "/bin/a", 2, 0);
	uint32_t plain = user(&scene, "/bin/a", 0, 5);
	claim(&scene, IMAGE_USER, "/bin/a", 1);
	claim(&scene, IMAGE_USER, "/bin/a", 2);
	bind(&scene);
	CHECK_TEXT(known(&scene, plain), "ambiguous 1");
	CHECK_UINT(scene.images.all.count, 3);
	leave(&scene);
}

TEST(no_mapping_takes_over_the_id_of_another)
{
	struct scene scene = { 0 };
	user(&scene, "/bin/a", 1, 0);
	uint32_t plain = user(&scene, "/bin/a", 0, 5);
	bind(&scene);
	CHECK_TEXT(known(&scene, plain), "none");
	leave(&scene);
}

TEST(two_entries_for_one_path_are_ambiguous)
{
	struct scene scene = { 0 };
	uint32_t plain = user(&scene, "/bin/a", 0, 5);
	claim(&scene, IMAGE_USER, "/bin/a", 1);
	claim(&scene, IMAGE_USER, "/bin/a", 2);
	bind(&scene);
	CHECK_TEXT(known(&scene, plain), "ambiguous 1");
	// The second entry is told of on its own.
	CHECK_UINT(scene.images.all.count, 2);
	leave(&scene);
}

TEST(entries_that_nothing_was_mapped_for_are_images_all_the_same)
{
	struct scene scene = { 0 };
	user(&scene, "/bin/a", 1, 0);
	claim(&scene, IMAGE_USER, "/bin/a", 1);
	claim(&scene, IMAGE_USER, "/bin/a", 3);
	claim(&scene, IMAGE_USER, "/bin/b", 2);
	claim(&scene, IMAGE_USER, "/bin/c", 0);
	claim(&scene, IMAGE_USER, "/bin/b", 2);
	bind(&scene);
	CHECK_UINT(scene.images.all.count, 4);
	CHECK_TEXT(scene.images.all.items[2].image.path, "/bin/b");
	CHECK_UINT(scene.images.all.items[2].image.identity, IDENTITY_AFTER_THE_FACT);
	CHECK_UINT(scene.images.all.items[2].mappings, 0);
	CHECK_UINT(scene.images.all.items[3].image.identity, IDENTITY_NONE);
	leave(&scene);
}

TEST(the_kernel_is_the_kernel_under_any_name_and_never_a_module)
{
	struct scene scene = { 0 };
	uint32_t kernel = mapped(&scene, IMAGE_KERNEL, "[kernel.kallsyms]", 0, 0, 0);
	uint32_t module = mapped(&scene, IMAGE_MODULE, "[ext4]", 0, 0, 0);
	claim(&scene, IMAGE_KERNEL, "/usr/lib/debug/boot/vmlinux-6.1", 1);
	claim(&scene, IMAGE_MODULE, "/lib/modules/6.1/ext4.ko.xz", 2);
	bind(&scene);
	CHECK_TEXT(known(&scene, kernel), "after-the-fact 1");
	CHECK_TEXT(known(&scene, module), "after-the-fact 2");
	CHECK_UINT(scene.images.all.count, 2);
	leave(&scene);
}

TEST(a_kernels_own_entry_counts_before_those_of_other_names)
{
	struct scene scene = { 0 };
	uint32_t kernel = mapped(&scene, IMAGE_KERNEL, "[kernel.kallsyms]", 0, 0, 0);
	claim(&scene, IMAGE_KERNEL, "/boot/vmlinux-old", 2);
	claim(&scene, IMAGE_KERNEL, "[kernel.kallsyms]", 1);
	bind(&scene);
	CHECK_TEXT(known(&scene, kernel), "after-the-fact 1");
	CHECK_UINT(scene.images.all.count, 2);
	leave(&scene);
}

TEST(kernels_of_two_other_names_leave_it_open_which)
{
	struct scene scene = { 0 };
	uint32_t kernel = mapped(&scene, IMAGE_KERNEL, "[kernel.kallsyms]", 0, 0, 0);
	claim(&scene, IMAGE_KERNEL, "/boot/vmlinux-old", 2);
	claim(&scene, IMAGE_KERNEL, "/boot/vmlinux-new", 1);
	bind(&scene);
	CHECK_TEXT(known(&scene, kernel), "ambiguous 2");
	leave(&scene);
}

TEST(modules_that_share_an_id_have_none)
{
	struct scene scene = { 0 };
	uint32_t first = mapped(&scene, IMAGE_MODULE, "[virtio]", 1, 0, 0);
	uint32_t second = mapped(&scene, IMAGE_MODULE, "[ext4]", 1, 0, 0);
	uint32_t third = mapped(&scene, IMAGE_MODULE, "[xfs]", 2, 0, 0);
	claim(&scene, IMAGE_MODULE, "[virtio]", 1);
	claim(&scene, IMAGE_MODULE, "[ext4]", 1);
	bind(&scene);
	CHECK_TEXT(known(&scene, first), "none");
	CHECK_TEXT(known(&scene, second), "none");
	CHECK_TEXT(known(&scene, third), "map-time 2");
	CHECK_UINT(scene.images.all.count, 3);
	leave(&scene);
}

TEST(a_module_with_the_kernels_id_has_none_and_the_kernel_keeps_it)
{
	struct scene scene = { 0 };
	uint32_t kernel = mapped(&scene, IMAGE_KERNEL, "[kernel.kallsyms]", 1, 0, 0);
	uint32_t module = mapped(&scene, IMAGE_MODULE, "[ext4]", 1, 0, 0);
	claim(&scene, IMAGE_MODULE, "[ext4]", 5);
	bind(&scene);
	CHECK_TEXT(known(&scene, kernel), "map-time 1");
	CHECK_TEXT(known(&scene, module), "after-the-fact 5");
	leave(&scene);
}

TEST(an_entry_without_its_ids_length_equals_the_shorter_id)
{
	struct scene scene = { 0 };
	struct build_id whole = { .size = 16, .bytes = { 1, 2, 3 } };
	uint32_t plain = user(&scene, "/bin/a", 0, 5);
	claim(&scene, IMAGE_USER, "/bin/a", 1);
	scene.claims.all.items[0].id = whole;
	claim(&scene, IMAGE_USER, "/bin/a", 1);
	whole.size = 20;
	scene.claims.all.items[1].id = whole;
	scene.claims.all.items[1].is_padded = true;
	bind(&scene);
	CHECK_TEXT(known(&scene, plain), "after-the-fact 1");
	CHECK_UINT(image(&scene, plain)->id.size, 16);
	CHECK_UINT(scene.images.all.count, 1);
	leave(&scene);
}

TEST(generated_code_is_bound_to_no_entry)
{
	struct scene scene = { 0 };
	uint32_t code = mapped(&scene, IMAGE_ANON, "//anon", 0, 0, 0);
	claim(&scene, IMAGE_ANON, "//anon", 1);
	bind(&scene);
	CHECK_TEXT(known(&scene, code), "none");
	leave(&scene);
}
