// SPDX-License-Identifier: Apache-2.0
/* The instructions of engine/cpu/x86/amx_tiles.h in C, for CPUs that have none. One thread may use
 * them. */
#ifndef MONA_EMULATED_TILES_H
#define MONA_EMULATED_TILES_H

#include <string.h>

static tile_shapes emulated_shapes;
static uint8_t emulated_tiles[8][16][64];

static void emulated_load(uint32_t t, const void *from, size_t stride)
{
    memset(emulated_tiles[t], 0, sizeof emulated_tiles[t]);
    for (uint32_t i = 0; i < emulated_shapes.rows[t]; i++)
        memcpy(emulated_tiles[t][i], (const uint8_t *)from + i * stride,
               emulated_shapes.row_bytes[t]);
}

static void emulated_store(uint32_t t, void *to, size_t stride)
{
    for (uint32_t i = 0; i < emulated_shapes.rows[t]; i++)
        memcpy((uint8_t *)to + i * stride, emulated_tiles[t][i], emulated_shapes.row_bytes[t]);
}

static int32_t emulated_dot(const uint8_t *a, const uint8_t *b, int is_signed)
{
    int32_t sum = 0;
    for (uint32_t i = 0; i < 4; i++)
        sum += (is_signed ? (int8_t)a[i] : a[i]) * (int8_t)b[i];
    return sum;
}

/* Rows and columns beyond the shapes do not count, and shapes that do not fit one another are an
 * error of the CPU. */
static void emulated_multiply(uint32_t t, uint32_t a, uint32_t b, int is_signed)
{
    const tile_shapes *s = &emulated_shapes;
    if (s->palette != 1 || s->rows[t] != s->rows[a] || s->row_bytes[t] != s->row_bytes[b] ||
        s->row_bytes[a] != s->rows[b] * 4)
        __builtin_trap();
    for (uint32_t m = 0; m < s->rows[t]; m++)
        for (uint32_t n = 0; n < s->row_bytes[t] / 4u; n++) {
            uint32_t sum;
            memcpy(&sum, emulated_tiles[t][m] + 4 * n, sizeof sum);
            for (uint32_t k = 0; k < s->rows[b]; k++)
                sum += (uint32_t)emulated_dot(emulated_tiles[a][m] + 4 * k,
                                              emulated_tiles[b][k] + 4 * n, is_signed);
            memcpy(emulated_tiles[t][m] + 4 * n, &sum, sizeof sum);
        }
}

#define TILES_STORE_SHAPES(shapes) (*(shapes) = emulated_shapes)
#define TILES_LOAD_SHAPES(shapes) (emulated_shapes = *(shapes))
#define TILE_LOAD(t, p, stride) emulated_load(t, p, stride)
#define TILE_STORE(t, p, stride) emulated_store(t, p, stride)
#define TILE_DOT_U8(t, a, b) emulated_multiply(t, a, b, 0)
#define TILE_DOT_S8(t, a, b) emulated_multiply(t, a, b, 1)

#endif
