// SPDX-License-Identifier: Apache-2.0
/* Spreads pixels of c0 < 16 channels, side by side in fp16, to one block each and back, and turns
 * those of more channels, by transposes. Private to ops/. */
#ifndef MONA_OPS_PIXELS_H
#define MONA_OPS_PIXELS_H

#include "ops/ascend/lanes.h"

typedef struct mona_pixels {
    ac_core *core;
    uint32_t c0, count; /* count: a multiple of the group */
    ac_address turned;  /* mona_pixels_turned_bytes() bytes of UB, zeros at first */
} mona_pixels;

/* Pixels that are transposed at a time; 1 for 16 channels and more. */
uint32_t mona_pixels_group(uint32_t c0);
size_t mona_pixels_turned_bytes(uint32_t c0, uint32_t count);
/* Lanes beyond the channels are zeros, or, if it repeats, all lanes are channel 0. */
void mona_pixels_spread(const mona_pixels *pixels, ac_address to, ac_address from, bool repeats);
void mona_pixels_pack(const mona_pixels *pixels, ac_address to, ac_address from);

/* A slice of 16 of the c0 channels of `count` pixels, which lie side by side, to rows of channels:
 * [16][count]. Or back. count: a multiple of 16. */
void mona_pixels_turn(ac_core *core, ac_address rows, ac_address pixels, uint32_t c0,
                      uint32_t count, bool back);

#endif
