// SPDX-License-Identifier: Apache-2.0
/* See pixels.h. 16 blocks hold a group of 256 / c0 pixels, 16 / c0 in each. Transposed, row k c0 +
 * c is channel c of pixel k of every block. Transposing these c0 rows together with rows of zeros
 * gives pixel k of every block, in a block of its own. */
#include "ops/ascend/pixels.h"

enum { ROWS = LANES + 2, ZEROS = LANES, UNUSED /* where pack leaves what is no channel */ };

uint32_t mona_pixels_group(uint32_t c0)
{
    return c0 < LANES ? LANES * LANES / c0 : 1;
}

size_t mona_pixels_turned_bytes(uint32_t c0, uint32_t count)
{
    return c0 < LANES ? (size_t)count / mona_pixels_group(c0) * ROWS * AC_BLOCK : 0;
}

/* Pixels side by side, in blocks of 16 elements, and the same transposed. */
static void turn_packed(const mona_pixels *p, ac_address packed, bool pack)
{
    ac_turned rows = {.repeat = ROWS}, blocks = {.repeat = LANES};
    for (uint32_t i = 0; i < LANES; i++) {
        rows.at[i] = p->turned + i * AC_BLOCK;
        blocks.at[i] = packed + i * AC_BLOCK;
    }
    turn_done(p->core, sizeof(uint16_t), pack ? &blocks : &rows, pack ? &rows : &blocks,
              p->count / mona_pixels_group(p->c0));
}

/* others: the row for lanes that are no channel */
static void turn_pixels(const mona_pixels *p, ac_address spread, bool pack, uint32_t others)
{
    const uint32_t of_block = LANES / p->c0;
    for (uint32_t k = 0; k < of_block; k++) {
        ac_turned rows = {.repeat = ROWS}, blocks = {.repeat = LANES * of_block};
        for (uint32_t i = 0; i < LANES; i++) {
            const uint32_t first = k * p->c0;
            const uint32_t row = others < LANES ? first : i < p->c0 ? first + i : others;
            rows.at[i] = p->turned + row * AC_BLOCK;
            blocks.at[i] = spread + (i * of_block + k) * AC_BLOCK;
        }
        turn_all(p->core, sizeof(uint16_t), pack ? &rows : &blocks, pack ? &blocks : &rows,
                 p->count / mona_pixels_group(p->c0));
    }
    ac_emit_barrier(p->core, AC_PIPE_V);
}

void mona_pixels_spread(const mona_pixels *p, ac_address to, ac_address from, bool repeats)
{
    turn_packed(p, from, false);
    turn_pixels(p, to, false, repeats ? 0 : ZEROS);
}

void mona_pixels_pack(const mona_pixels *p, ac_address to, ac_address from)
{
    turn_pixels(p, from, true, UNUSED);
    turn_packed(p, to, true);
}

void mona_pixels_turn(ac_core *core, ac_address rows, ac_address pixels, uint32_t c0,
                      uint32_t count, bool back)
{
    const uint64_t step = c0 * sizeof(uint16_t);
    ac_turned of_pixels = {.repeat = (uint32_t)(LANES * step / AC_BLOCK)}, of_rows = {.repeat = 1};
    for (uint32_t k = 0; k < LANES; k++) {
        of_pixels.at[k] = pixels + k * step;
        of_rows.at[k] = rows + (uint64_t)k * count * sizeof(uint16_t);
    }
    turn_done(core, sizeof(uint16_t), back ? &of_pixels : &of_rows, back ? &of_rows : &of_pixels,
              count / LANES);
}
