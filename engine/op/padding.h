// SPDX-License-Identifier: Apache-2.0
#ifndef MONA_OPS_PADDING_H
#define MONA_OPS_PADDING_H

#include "engine/libc.h"
#include "engine/op/op.h"

/* Fills `bytes` bytes from a pixel on; padding: what mona_padding() gives. */
static inline void mona_fill_padding(uint8_t *to, size_t bytes, uint64_t padding)
{
    const uint8_t first = (uint8_t)padding;
    if (padding == first * UINT64_C(0x0101010101010101)) {
        memset(to, first, bytes);
        return;
    }
    for (; bytes >= sizeof padding; bytes -= sizeof padding, to += sizeof padding)
        memcpy(to, &padding, sizeof padding);
    memcpy(to, &padding, bytes);
}

#endif
