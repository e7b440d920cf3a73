// SPDX-License-Identifier: Apache-2.0
/* The models that are built into the binary, so that mona is a single file. */
#ifndef MONA_MODELS_EMBEDDED_H
#define MONA_MODELS_EMBEDDED_H

#include <stddef.h>
#include <stdint.h>

typedef struct embedded_model {
    const char *name;           /* file name without folder and .mona */
    const uint8_t *begin, *end; /* begin is aligned to MONA_ALIGNMENT */
} embedded_model;

extern const embedded_model embedded_models[];
extern const size_t embedded_model_count;

/* NULL: no such model. */
const embedded_model *embedded_model_find(const char *name);

#endif
