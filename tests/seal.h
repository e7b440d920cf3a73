// SPDX-License-Identifier: Apache-2.0
/* Corrects the checksum of a changed .mona model. */
#ifndef MONA_TESTS_SEAL_H
#define MONA_TESTS_SEAL_H

#include <string.h>

#include "engine/model_format.h"
#include "mona.h"

static inline void seal(uint8_t *bytes, size_t size)
{
    mona_file_header h;
    memcpy(&h, bytes, sizeof h);
    h.crc32 = 0;
    memcpy(bytes, &h, sizeof h);
    h.crc32 = mona_crc32(0, bytes, size);
    memcpy(bytes, &h, sizeof h);
}

#endif
