// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// The build ID behind a reader, for this folder.
#ifndef ELF_ELF_NOTES_H
#define ELF_ELF_NOTES_H

#include "elf/elf_header.h"
#include "elf/elf_reader.h"
#include "model/build_id.h"

// The build ID of the ELF file behind READER; none when it has none or is no ELF file.
struct build_id elf_reader_build_id(struct elf_reader *reader);

#endif
