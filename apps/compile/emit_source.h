// SPDX-License-Identifier: Apache-2.0
/* mona compile --emit c. */
#ifndef MONA_EMIT_SOURCE_H
#define MONA_EMIT_SOURCE_H

#include <stdbool.h>

#include "mona.h"

/* Whether `output` is NAME.c with a NAME that can begin names in C. False: one line was printed. */
bool emit_source_check(const char *output);

/* Writes NAME.c and NAME.h for frames of `size`, "WxH", or of the size that the model is fixed to
 * if it is NULL. name: of the model, for messages. */
bool emit_source(const char *name, const mona_model *model, const char *output, const char *target,
                 const char *size);

#endif
