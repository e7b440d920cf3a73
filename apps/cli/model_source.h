// SPDX-License-Identifier: Apache-2.0
/* Models a command works with: files, or those inside the binary. */
#ifndef MONA_MODEL_SOURCE_H
#define MONA_MODEL_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "pipeline/stages/stage.h"

typedef struct model_source {
    named_model model;
    uint8_t *bytes; /* of a file; NULL: embedded */
} model_source;

/* Opens the embedded model of that name or, where there is none, the .mona file at that path. Prints
 * one line and gives false when it cannot be used. A zeroed or opened source is closed by
 * model_source_close. */
bool model_source_open(model_source *source, const char *name);

void model_source_close(model_source *source);

#endif
