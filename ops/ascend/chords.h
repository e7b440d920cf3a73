// SPDX-License-Identifier: Apache-2.0
/* A table of 256 bytes on the vector unit, which has no table look-up: a sum of chords of its
 * curve. Private to ops/.
 *
 * Chord k covers the indices from `begin` on, `length` steps up. At index x it adds
 *
 *   slope * (u + shift)  with  u = min(max(x - begin, 0), length)
 *
 * to a sum in fp16. The sum begins at HELD + table[0] (vectors.h), so that each chord adds an
 * integer: 0 below `begin`, and beyond its end the table's increase over its length. Its values in
 * between were compared with the table when the chords were found, step by step in fp16. */
#ifndef MONA_OPS_CHORDS_H
#define MONA_OPS_CHORDS_H

#include "ops/ascend/ub.h"
#include "ops/ascend/vectors.h"

enum { CHORDS_TABLE = 256, CHORDS_MOST = CHORDS_TABLE - 1, CHORDS_BLOCKS = 2 };

typedef struct mona_chord {
    uint8_t begin, length;
    float shift, slope; /* fp16 numbers */
} mona_chord;

typedef struct mona_chords {
    float start; /* HELD + table[0] */
    uint32_t count;
    mona_chord chord[CHORDS_MOST];
} mona_chords;

/* type: of the table's results, U8 or S8. */
mona_chords mona_chords_of(const uint8_t table[CHORDS_TABLE], mona_type type);

/* Where the work lies in UB. */
typedef struct mona_chords_at {
    ac_address blocks; /* mona_chords_block_bytes() bytes */
    ac_address x;      /* fp16 numbers: before, any; after, the table's results */
    ac_address u, sum; /* as many fp16 numbers each */
} mona_chords_at;

size_t mona_chords_block_bytes(const mona_chords *chords);
/* Writes what apply() reads at at->blocks. */
void mona_chords_begin(ac_core *core, const mona_chords *chords, ac_address blocks);
/* x = table[saturate(round_half_even(x)) as U8] for `count` numbers. */
void mona_chords_apply(ac_core *core, const mona_chords *chords, const mona_chords_at *at,
                       uint32_t count);

#endif
