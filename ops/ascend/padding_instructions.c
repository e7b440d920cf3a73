// SPDX-License-Identifier: Apache-2.0
/* Padding of rings, which instructions copy from UB. */
#include "engine/arith.h"
#include "engine/op/programs.h"
#include "ops/ascend/lanes.h"

enum {
    PAD_BLOCKS = 1024, /* of UB that hold what padding does while it is written */
    PAD_WORDS = 4,     /* of 2 bytes, which it repeats */
};

static uint16_t pad_word(uint64_t padding, uint32_t i)
{
    return (uint16_t)(padding >> 16 * i);
}

static bool words_alike(uint64_t padding)
{
    return padding == pad_word(padding, 0) * UINT64_C(0x0001000100010001);
}

/* A row of a transpose has one element of each of 16 blocks. */
static void fill_by_words(ac_core *core, uint64_t padding)
{
    const ac_vector every_fourth = {
        .repeat = 1, .lanes = AC_FRACTAL * LANES / PAD_WORDS, .dst_block = PAD_WORDS};
    ac_turned to = {.repeat = LANES}, from = {.repeat = 0};
    for (uint32_t i = 0; i < LANES; i++) {
        to.at[i] = ac_at(AC_UB, i * AC_BLOCK);
        from.at[i] = ac_at(AC_UB, (PAD_BLOCKS + i) * AC_BLOCK);
    }
    for (uint32_t i = 0; i < PAD_WORDS; i++)
        ac_emit_dup(core, from.at[i], pad_word(padding, i), every_fourth);
    ac_emit_barrier(core, AC_PIPE_V);
    turn_all(core, 2, &to, &from, PAD_BLOCKS / LANES);
}

void mona_padding_fill(ac_core *core, uint64_t padding)
{
    if (words_alike(padding))
        dup_all(core, ac_at(AC_UB, 0), pad_word(padding, 0), PAD_BLOCKS * AC_BLOCK / 2);
    else
        fill_by_words(core, padding);
    ac_emit_sync(core, AC_PIPE_V, AC_PIPE_MTE3, 0);
}

/* Channel blocks whose bytes differ have pixels of 8 bytes or more. */
static void fill_scalar(ac_core *core, ac_address at, size_t bytes, uint64_t padding)
{
    const bool alike = padding == (uint8_t)padding * UINT64_C(0x0101010101010101);
    for (uint32_t i = 0; bytes && i < (alike ? 1 : PAD_WORDS); i++)
        ac_emit_fill(core, at + 2 * i,
                     alike ? (ac_fill){(uint32_t)bytes, 1, 1, (uint8_t)padding}
                           : (ac_fill){(uint32_t)(bytes / 8), 2, 8, pad_word(padding, i)});
}

/* The scalar unit writes what is left of blocks of 32 bytes. */
void mona_padding_rows(ac_core *core, ac_address at, size_t bytes, uint32_t rows, size_t row_bytes,
                       uint64_t padding)
{
    const size_t head = bytes ? -at % AC_BLOCK : 0, left = head < bytes ? head : bytes;
    const uint32_t blocks = (uint32_t)((bytes - left) / AC_BLOCK);
    const size_t tail = (bytes - left) % AC_BLOCK;
    for (uint32_t y = 0; y < rows; y++) {
        const ac_address row = at + y * row_bytes;
        fill_scalar(core, row, left, padding);
        fill_scalar(core, row + bytes - tail, tail, padding);
    }
    for (uint32_t done = 0, count; done < blocks; done += count) {
        count = min_u32(blocks - done, PAD_BLOCKS);
        const uint32_t at_once = PAD_BLOCKS / count;
        for (uint32_t y = 0; y < rows; y += at_once)
            ac_emit_copy(core, at + left + (size_t)done * AC_BLOCK + y * row_bytes, ac_at(AC_UB, 0),
                         (ac_copy){.bursts = (uint16_t)min_u32(at_once, rows - y),
                                   .blocks = (uint16_t)count,
                                   .dst_gap = (uint16_t)(row_bytes / AC_BLOCK - count)});
    }
}
