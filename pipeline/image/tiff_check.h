// SPDX-License-Identifier: Apache-2.0
/* Whether libav decodes a TIFF as other readers do. */
#ifndef MONA_TIFF_CHECK_H
#define MONA_TIFF_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pipeline/base/error.h"

typedef struct tiff_info {
    unsigned pages;     /* pictures in the file, without smaller copies of them */
    bool premultiplied; /* alpha is multiplied into the colours */
} tiff_info;

/* Refuses, by name, what libav takes and gets wrong, such as JPEG compression, tiles, signed
 * samples and floats, and what it does not know. */
bool tiff_check(tiff_info *info, const char *path, const uint8_t *file, size_t size,
                pipeline_error *error);

#endif
