// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Texts of kallsyms.
#include "elf/kallsyms.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct buffer text = { 0 };
	struct kallsyms *kallsyms = NULL;
	struct symbols *symbols = NULL;
	buffer_append(&text, bytes, size);
	struct imp_error *err = kallsyms_parse(&text, &kallsyms);
	if (!err)
		err = kallsyms_symbols(kallsyms, NULL, &symbols);
	if (!err)
		FUZZ_CHECK(!kallsyms_is_hidden(kallsyms) || symbols_count(symbols) == 0);
	symbols_free(symbols);
	kallsyms_free(kallsyms);
	imp_error_free(err);
	return 0;
}
