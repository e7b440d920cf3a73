// SPDX-License-Identifier: Apache-2.0
/* Writes a program as the source of its own kernel, whose operands are constants. It issues the
 * replay kernel's instructions with fewer scalar instructions, and is launched in the same way. */
#ifndef MONA_EMIT_KERNEL_H
#define MONA_EMIT_KERNEL_H

#include "engine/aicore/program.h"
#include "formats/error.h"

/* free() releases *source. */
bool emit_kernel(const ac_program *program, char **source, format_error *error);

#endif
