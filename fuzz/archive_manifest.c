// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Manifests of archives: what can be read can be written, and reads the same again.
#include "archive/manifest.h"

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	_cleanup_manifest_ struct manifest manifest = { 0 }, again = { 0 };
	_cleanup_buffer_ struct buffer text = { 0 };
	struct imp_error *err = manifest_read((const char *)bytes, size, &manifest);
	if (err) {
		imp_error_free(err);
		return 0;
	}
	for (size_t i = 0; i < manifest.recordings.count; i++)
		FUZZ_CHECK(manifest_name_is_plain(manifest.recordings.items[i].name));
	err = manifest_write(&manifest, &text);
	FUZZ_CHECK(!err);
	err = manifest_read((const char *)text.bytes, text.size, &again);
	FUZZ_CHECK(!err && again.objects.count == manifest.objects.count &&
		   again.recordings.count == manifest.recordings.count);
	return 0;
}
