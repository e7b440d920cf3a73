// SPDX-License-Identifier: Apache-2.0
/* Convolutions with 2 to 4 outputs by tiles, like the last layer of networks that double a picture.
 * Part of amx.c.
 *
 * With a pixel in each row, most columns of a tile of weights would be outputs that do not exist.
 * Here a row of the source is 4 pixels of 16 channels, 64 bytes, and the 16 columns are 4 outputs
 * of each of these pixels. The filter of pixel p begins at byte 16 p and reaches into the next row,
 * of which a second tile holds the columns of the filter but one. So a run takes two
 * multiplications for 64 pixels. Sums lie in memory as avx512_narrow_results.h wants them. */

enum {
    NARROW_ROW = MONA_NARROW_PIXELS, /* of a row of a tile */
    NARROW_OUTPUTS = 4,
    NARROW_TILES = 4, /* of sums, computed together */
    NARROW_GROUP = NARROW_TILES * TILE_ROWS * NARROW_ROW,
    NARROW_SUMS = NARROW_GROUP * NARROW_OUTPUTS,
};

typedef struct narrow_tiles {
    job base;
    narrow_output to;
    const int32_t *start; /* [pixel][output] */
    uint32_t rows, taps;
} narrow_tiles;

static bool narrow_tiles_possible(const mona_conv_row *row)
{
    const mona_conv *c = row->conv;
    return c->narrow_tiles && c->run_elements[0] > AC_FRACTAL && row->output.type != MONA_F16 &&
           row->pixels >= NARROW_GROUP / NARROW_TILES && clamps_of(row).possible &&
           (narrow_into_planes(row) || (!row->planes && row->output.c0 == NARROW_OUTPUTS));
}

/* Finishes pixels x to x + 15, counted from the row's first. */
static __attribute__((noinline)) void narrow_finish_some(const narrow_tiles *t, const int32_t *sums,
                                                         uint32_t x)
{
    __m512i four[4];
    UNROLL
    for (uint32_t g = 0; g < 4; g++)
        four[g] = _mm512_loadu_si512(sums + (size_t)g * AC_FRACTAL);
    const __m512i bytes = narrow_finish(&t->base, four, 0, x);
    narrow_write(&t->to, NARROW_OUTPUTS, x, bytes, bytes);
}

/* Sums of a group that are to be finished, 16 pixels at a time. */
typedef struct narrow_unfinished {
    const int32_t *sums;
    uint32_t x, left;
} narrow_unfinished;

INLINE void narrow_next(const narrow_tiles *t, narrow_unfinished *u)
{
    if (!u->left)
        return;
    narrow_finish_some(t, u->sums, u->x);
    u->sums += NARROW_PIXELS * NARROW_OUTPUTS;
    u->x += NARROW_PIXELS;
    u->left--;
}

#define NARROW_STEP(t, is_signed, sums, a, b, at, before)                                          \
    do {                                                                                           \
        TILE_LOAD(a, at, TILE_BYTES);                                                              \
        if (is_signed)                                                                             \
            TILE_DOT_S8(sums, a, b);                                                               \
        else                                                                                       \
            TILE_DOT_U8(sums, a, b);                                                               \
        narrow_next(t, before);                                                                    \
    } while (0)

/* Multiplies a run. a: its first pixel. tile: bytes from one tile of pixels to the next. */
INLINE void narrow_run(const narrow_tiles *t, const uint8_t *a, size_t tile, const uint8_t *w,
                       narrow_unfinished *before)
{
    const bool is_signed = t->base.conv->source_type == MONA_S8;
    TILE_LOAD(6, w, TILE_BYTES);
    NARROW_STEP(t, is_signed, 0, 4, 6, a, before);
    NARROW_STEP(t, is_signed, 1, 4, 6, a + tile, before);
    NARROW_STEP(t, is_signed, 2, 4, 6, a + 2 * tile, before);
    NARROW_STEP(t, is_signed, 3, 4, 6, a + 3 * tile, before);
    TILE_LOAD(7, w + TILE_ROWS * TILE_BYTES, TILE_BYTES);
    a += TILE_BYTES;
    NARROW_STEP(t, is_signed, 0, 5, 7, a, before);
    NARROW_STEP(t, is_signed, 1, 5, 7, a + tile, before);
    NARROW_STEP(t, is_signed, 2, 5, 7, a + 2 * tile, before);
    NARROW_STEP(t, is_signed, 3, 5, 7, a + 3 * tile, before);
}

INLINE void narrow_group(const narrow_tiles *t, uint32_t x, int32_t *sums,
                         narrow_unfinished *before)
{
    const size_t tile = (size_t)t->rows * TILE_BYTES, tile_sums = t->rows * AC_FRACTAL;
    const uint8_t *w = t->base.conv->narrow_tiles;
    TILE_LOAD(0, t->start, 0);
    TILE_LOAD(1, t->start, 0);
    TILE_LOAD(2, t->start, 0);
    TILE_LOAD(3, t->start, 0);
    for (uint32_t r = 0; r < t->base.run_count; r++, w += mona_narrow_rows(t->taps) * TILE_BYTES)
        narrow_run(t, t->base.runs[r] + (size_t)x * AC_FRACTAL, tile, w, before);
    TILE_STORE(0, sums, TILE_BYTES);
    TILE_STORE(1, sums + tile_sums, TILE_BYTES);
    TILE_STORE(2, sums + 2 * tile_sums, TILE_BYTES);
    TILE_STORE(3, sums + 3 * tile_sums, TILE_BYTES);
}

/* The last group is moved back to end at the last pixel. sums: room for two groups. */
static void narrow_groups(const narrow_tiles *t, int32_t *sums)
{
    const uint32_t pixels = t->base.row->pixels, group = t->rows * NARROW_TILES * NARROW_ROW;
    narrow_unfinished before = {.left = 0};
    for (uint32_t i = 0, turn = 0; i < pixels; i += group, turn ^= 1) {
        int32_t *to = sums + (size_t)turn * NARROW_SUMS;
        const uint32_t x = min_u32(i, pixels - group);
        narrow_group(t, x, to, &before);
        while (before.left)
            narrow_next(t, &before);
        before = (narrow_unfinished){to, x, t->rows};
    }
    while (before.left)
        narrow_next(t, &before);
}

static __attribute__((noinline)) void conv_narrow_tiles(const mona_conv_row *row)
{
    _Alignas(64) int32_t start[AC_FRACTAL];
    clamps limits = clamps_of(row);
    limits.plain = narrow_plain(row, &limits, NARROW_OUTPUTS);
    const bool planes = narrow_into_planes(row);
    const mona_conv *c = row->conv;
    const __m512i magic = _mm512_set1_epi32(limits.plain ? MAGIC : 0);
    _mm512_store_si512(start, _mm512_add_epi32(in_every_lane(c->bias), magic));
    narrow_tiles t = {
        .base = job_of(row, &limits, 0),
        .to = {planes ? row->planes->rows[0] : row->output.data, planes ? row->planes->rows : NULL},
        .start = start,
        .rows = tile_rows(row->pixels, NARROW_TILES * NARROW_ROW),
        .taps = c->run_elements[0] / AC_FRACTAL,
    };
    shape_tiles(t.rows, TILE_BYTES, (t.taps - 1) * AC_FRACTAL);
    narrow_groups(&t, (int32_t *)(void *)row->scratch);
}
