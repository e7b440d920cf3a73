// SPDX-License-Identifier: Apache-2.0
/* Row programs for CPUs with AMX-INT8: convolutions of bytes by tiles. All other rows are
 * AVX-512's.
 *
 * An instruction multiplies a tile of up to 16 pixels x 64 bytes of K with one of 64 bytes of K x
 * 16 outputs. It takes as many cycles as there are pixels, however short K is.
 *
 * K. A run, or an equal part of one if it is longer than 64 bytes, is a *piece*: the width of a
 * tile of the source. Tiles are loaded from where the source lies: rows begin at neighbouring
 * pixels, and overlap where the filter has several columns. Steps of weights are rows of a tile as
 * they are packed.
 *
 * Pixels. A *group* is four tiles of sums: two tiles of pixels for two blocks of outputs, since a
 * tile of the source and one of weights are then used twice each, or four for one block, where
 * loading the source takes longer than multiplying, or where they are the whole row. Tiles have
 * fewer than 16 pixels where the last group of a row would otherwise not be full. If it is the only
 * one, they may overlap: 13 pixels every 12 are 25 in all.
 *
 * Sums are stored to scratch memory and finished once the multiplications of the next group have
 * been issued. */
#include "engine/cpu/x86/avx512.h"
#include "engine/cpu/x86/avx512_vector.h"
#include "engine/cpu/x86/x86_conv.h"

#include "engine/cpu/x86/amx_tiles.h"
#include "engine/cpu/x86/avx512_epilogue.h"
#include "engine/cpu/x86/avx512_narrow_results.h"

enum {
    TILE_ROWS = 16,
    TILE_BYTES = 64, /* of a row */
    GROUP_TILES = 4,
    GROUP_SUMS = GROUP_TILES * TILE_ROWS * AC_FRACTAL,
    MIN_PIECE = 16,
    MIN_PIXELS = 16,
};

/* ---- the shape of tiles --------------------------------------------------------------------- */

/* Bytes of a piece, or 0 if runs cannot be cut into equal ones. */
static uint32_t piece_bytes(const mona_conv *c)
{
    const uint32_t last = c->first_run[c->blocks - 1] + c->run_count[c->blocks - 1] - 1;
    const uint32_t elements = c->run_elements[c->first_run[0]];
    const uint32_t pieces = (elements + TILE_BYTES - 1) / TILE_BYTES;
    const uint32_t bytes = elements / pieces;
    const bool equal = c->run_elements[last] == elements && bytes * pieces == elements;
    return equal && bytes % 4 == 0 && bytes >= MIN_PIECE ? bytes : 0;
}

/* Rows of tiles where a group has `of_row` pixels for each: at most 16, and as equal as possible in
 * all groups of a row. */
static uint32_t tile_rows(uint32_t pixels, uint32_t of_row)
{
    const uint32_t groups = (pixels + of_row * TILE_ROWS - 1) / (of_row * TILE_ROWS);
    const uint32_t rows = (pixels + of_row * groups - 1) / (of_row * groups);
    return rows * of_row > pixels ? pixels / of_row : rows;
}

/* The tiles of a group. */
typedef struct tile_places {
    uint32_t rows, distance; /* pixels of a tile; from one to the next */
} tile_places;

static tile_places places_of(uint32_t pixels, uint32_t tiles)
{
    uint32_t rows = (pixels + tiles - 1) / tiles;
    while (rows <= TILE_ROWS && (pixels - rows) % (tiles - 1))
        rows++;
    if (rows <= TILE_ROWS)
        return (tile_places){rows, (pixels - rows) / (tiles - 1)};
    rows = tile_rows(pixels, tiles);
    return (tile_places){rows, rows};
}

/* Whether the four tiles of one block are a row, for which a pair would take two groups and read
 * its weights twice. */
static bool is_one_group(uint32_t pixels)
{
    const tile_places p = places_of(pixels, GROUP_TILES);
    return pixels > 2 * TILE_ROWS && p.distance * (GROUP_TILES - 1) + p.rows >= pixels;
}

/* Tiles 0 to 3 are sums, 4 and 5 the source's, of so many bytes a row, and 6 and 7 the weights that
 * these two are multiplied with. Loading shapes takes as long as 12 multiplications, so it is only
 * done where they change. */
static void shape_tiles(uint32_t rows, uint32_t first, uint32_t second)
{
    tile_shapes now, wanted = {.palette = 1};
    for (uint32_t t = 0; t < 8; t++) {
        const uint32_t bytes = t % 2 ? second : first;
        wanted.rows[t] = (uint8_t)(t < 6 ? rows : bytes / 4);
        wanted.row_bytes[t] = (uint16_t)(t == 4 || t == 5 ? bytes : TILE_BYTES);
    }
    TILES_STORE_SHAPES(&now);
    const __m512i changed = _mm512_xor_si512(_mm512_loadu_si512(&now), _mm512_loadu_si512(&wanted));
    if (_mm512_test_epi8_mask(changed, changed))
        TILES_LOAD_SHAPES(&wanted);
}

/* ---- finishing ------------------------------------------------------------------------------ */

/* What is the same for all groups of a job. */
typedef struct tiles {
    const job *j;
    tile_places places;
    uint32_t pixels; /* of a group */
    uint32_t piece, pieces_of_run;
    size_t pixel; /* bytes between neighbouring pixels */
    const int32_t *start[2];
    plain plain[2]; /* of pixels from j->origin on */
} tiles;

/* Finishes a group of block b by a plain epilogue. x: its first pixel, counted from j->origin. The
 * last four pixels are moved back. */
INLINE void finish_plain(const tiles *t, const bool add, uint32_t b, const int32_t *sums,
                         uint32_t x)
{
    const plain p = t->plain[b];
    for (uint32_t i = 0; i < t->pixels; i += 4) {
        const uint32_t first = min_u32(i, t->pixels - 4);
        plain_four(&p, add, (const __m512i *)(const void *)(sums + (size_t)first * AC_FRACTAL), 1,
                   x + first);
    }
}

static void finish_any(const tiles *t, uint32_t b, const int32_t *sums, uint32_t x)
{
    for (uint32_t i = 0; i < t->pixels; i += 4) {
        const uint32_t first = min_u32(i, t->pixels - 4);
        finish_block(t->j, b, t->j->origin + x + first, 4, sums + (size_t)first * AC_FRACTAL);
    }
}

static __attribute__((noinline)) void finish(const tiles *t, const uint32_t blocks,
                                             const int32_t *sums, uint32_t x)
{
    const clamps *limits = t->j->limits;
    for (uint32_t b = 0; b < blocks; b++, sums += GROUP_SUMS / 2)
        if (!limits->plain)
            finish_any(t, b, sums, x);
        else if (limits->add)
            finish_plain(t, true, b, sums, x);
        else
            finish_plain(t, false, b, sums, x);
}

/* ---- multiplying ---------------------------------------------------------------------------- */

#define MULTIPLY(is_signed, sums, a, b)                                                            \
    do {                                                                                           \
        if (is_signed)                                                                             \
            TILE_DOT_S8(sums, a, b);                                                               \
        else                                                                                       \
            TILE_DOT_U8(sums, a, b);                                                               \
    } while (0)

/* Four tiles of pixels, `tile` bytes apart, of a piece for one block of outputs. */
INLINE void one_block(const tiles *t, const bool is_signed, const uint8_t *a, size_t tile,
                      const uint8_t *w)
{
    TILE_LOAD(6, w, TILE_BYTES);
    TILE_LOAD(4, a, t->pixel);
    TILE_LOAD(5, a + tile, t->pixel);
    MULTIPLY(is_signed, 0, 4, 6);
    TILE_LOAD(4, a + 2 * tile, t->pixel);
    MULTIPLY(is_signed, 1, 5, 6);
    TILE_LOAD(5, a + 3 * tile, t->pixel);
    MULTIPLY(is_signed, 2, 4, 6);
    MULTIPLY(is_signed, 3, 5, 6);
}

/* Two tiles of pixels of a piece for two blocks of outputs. */
INLINE void two_blocks(const tiles *t, const bool is_signed, const uint8_t *a, size_t tile,
                       const uint8_t *w0, const uint8_t *w1)
{
    TILE_LOAD(4, a, t->pixel);
    TILE_LOAD(6, w0, TILE_BYTES);
    TILE_LOAD(7, w1, TILE_BYTES);
    TILE_LOAD(5, a + tile, t->pixel);
    MULTIPLY(is_signed, 0, 4, 6);
    MULTIPLY(is_signed, 2, 4, 7);
    MULTIPLY(is_signed, 1, 5, 6);
    MULTIPLY(is_signed, 3, 5, 7);
}

/* Multiplies all pieces of the pixels from x on. */
INLINE void multiply(const tiles *t, const uint32_t blocks, const bool is_signed, uint32_t x)
{
    const job *j = t->j;
    const uint8_t *w0 = j->weights[0], *w1 = j->weights[1];
    const size_t tile = t->places.distance * t->pixel, weights = (size_t)t->piece * AC_FRACTAL;
    for (uint32_t r = 0; r < j->run_count; r++) {
        const uint8_t *a = j->runs[r] + (size_t)(x - j->runs_origin) * t->pixel;
        for (uint32_t k = 0; k < t->pieces_of_run; k++, a += t->piece, w0 += weights) {
            if (blocks == 2) {
                two_blocks(t, is_signed, a, tile, w0, w1);
                w1 += weights;
            } else {
                one_block(t, is_signed, a, tile, w0);
            }
        }
    }
}

/* Sums of a block follow those of the block before. */
INLINE void group(const tiles *t, const uint32_t blocks, const bool is_signed, uint32_t x,
                  int32_t *sums)
{
    const size_t tile = (size_t)t->places.distance * AC_FRACTAL;
    int32_t *then = blocks == 2 ? sums + GROUP_SUMS / 2 : sums + 2 * tile;
    const int32_t *start = blocks == 2 ? t->start[1] : t->start[0];
    TILE_LOAD(0, t->start[0], 0);
    TILE_LOAD(1, t->start[0], 0);
    TILE_LOAD(2, start, 0);
    TILE_LOAD(3, start, 0);
    multiply(t, blocks, is_signed, x);
    TILE_STORE(0, sums, TILE_BYTES);
    TILE_STORE(1, sums + tile, TILE_BYTES);
    TILE_STORE(2, then, TILE_BYTES);
    TILE_STORE(3, then + tile, TILE_BYTES);
}

/* The last group is moved back to end at the last pixel. sums: room for two groups. */
INLINE void groups(const tiles *t, const uint32_t blocks, const bool is_signed, int32_t *sums)
{
    const uint32_t pixels = t->j->pixels, of_group = t->pixels;
    int32_t *to = sums, *before = sums + GROUP_SUMS;
    uint32_t x = 0;
    for (uint32_t i = 0, last = 0; i < pixels; i += of_group, last = x) {
        x = min_u32(i, pixels - of_group);
        group(t, blocks, is_signed, t->j->origin + x, to);
        if (i)
            finish(t, blocks, before, last);
        int32_t *const swapped = to;
        to = before;
        before = swapped;
    }
    finish(t, blocks, before, x);
}

static void tiles_run(const job *j, uint32_t blocks, int32_t (*start)[AC_FRACTAL])
{
    const mona_conv *c = j->conv;
    const bool is_signed = c->source_type == MONA_S8;
    tiles t;
    t.j = j;
    t.places = places_of(j->pixels, GROUP_TILES / blocks);
    t.pixels = t.places.distance * (GROUP_TILES / blocks - 1) + t.places.rows;
    t.piece = piece_bytes(c);
    t.pieces_of_run = c->run_elements[j->first_run] / t.piece;
    t.pixel = c->pixel_bytes;
    for (uint32_t b = 0; b < blocks; b++) {
        t.start[b] = start[b];
        if (j->limits->plain)
            t.plain[b] = plain_of(j, j->limits->add, b, j->origin);
    }
    int32_t *sums = (int32_t *)(void *)(j->row->scratch + WORK_AT);
    shape_tiles(t.places.rows, t.piece, t.piece);
    if (blocks == 2 && is_signed)
        groups(&t, 2, true, sums);
    else if (blocks == 2)
        groups(&t, 2, false, sums);
    else if (is_signed)
        groups(&t, 1, true, sums);
    else
        groups(&t, 1, false, sums);
}

/* ---- rows ----------------------------------------------------------------------------------- */

_Static_assert(2 * GROUP_SUMS * sizeof(int32_t) <= WORK_BYTES, "sums of two groups");

/* Tiles multiply signed bytes, too, so sums always start at the bias. */
static void run_blocks(job *j, uint32_t blocks)
{
    _Alignas(64) int32_t start[2][AC_FRACTAL];
    clamps limits = *j->limits;
    limits.plain = limits.plain && (!limits.add || residual_in_bytes(j->row));
    j->limits = &limits;
    const int32_t *bias = (const int32_t *)j->conv->bias + (size_t)j->n * AC_FRACTAL;
    const __m512i magic = _mm512_set1_epi32(limits.plain ? MAGIC : 0);
    for (uint32_t b = 0; b < blocks; b++)
        _mm512_store_si512(
            start[b], _mm512_add_epi32(_mm512_loadu_si512(bias + (size_t)b * AC_FRACTAL), magic));
    const uint32_t together = is_one_group(j->pixels) ? 1 : blocks;
    tiles_run(j, together, start);
    if (together < blocks) {
        next_block(j);
        tiles_run(j, 1, start + 1);
    }
}

/* Whether tiles compute the row, and in less time. */
static bool tiles_possible(const mona_conv_row *row)
{
    const mona_conv *c = row->conv;
    return c->source_type != MONA_F16 && row->pixels >= MIN_PIXELS && c->channels > 6 &&
           piece_bytes(c);
}

#include "engine/cpu/x86/amx_narrow.h"

/* ---- joined runs ---------------------------------------------------------------------------- */

/* Runs of 16 bytes, as those of filters with one column, fill a quarter of a tile. Four in turn are
 * put side by side, for some pixels at a time. Weights are the same. */
enum {
    JOINED = 4,
    JOINED_AT = MONA_SCRATCH, /* of scratch */
    JOINED_BYTES = MONA_SCRATCH_TILES - JOINED_AT,
    JOINED_CACHED = 24 * 1024, /* stay in L1 */
    JOINED_RUNS = JOINED_BYTES / (GROUP_TILES * TILE_ROWS * TILE_BYTES),
    JOINED_BLOCKS = 64, /* of outputs */
};

/* Joining takes less time than it saves for more than one pair of blocks, or many runs. */
static bool joined_possible(const mona_conv_row *row)
{
    const mona_conv *c = row->conv;
    const uint32_t last = c->blocks - 1, runs = c->run_count[last];
    return tiles_possible(row) && !mona_scatter_needed(row) && c->run_elements[0] == AC_FRACTAL &&
           !c->first_run[last] && c->run_count[0] == runs && runs % JOINED == 0 &&
           runs / JOINED <= JOINED_RUNS && (last >= 2 || (last && runs >= 32)) &&
           last < JOINED_BLOCKS;
}

/* Puts `pixels` pixels of four runs side by side, `distance` bytes apart. */
static void join(uint8_t *to, const uint8_t *const *runs, size_t at, size_t distance,
                 uint32_t pixels)
{
    for (uint32_t i = 0; i < pixels; i++, at += distance, to += TILE_BYTES) {
        __m512i v = _mm512_castsi128_si512(load16(runs[0] + at));
        v = _mm512_inserti32x4(v, load16(runs[1] + at), 1);
        v = _mm512_inserti32x4(v, load16(runs[2] + at), 2);
        _mm512_store_si512(to, _mm512_inserti32x4(v, load16(runs[3] + at), 3));
    }
}

static __attribute__((noinline)) void conv_joined(const mona_conv_row *row, const mona_isa *by)
{
    const uint8_t *runs[JOINED_RUNS];
    uint16_t elements[JOINED_RUNS];
    uint32_t counts[JOINED_BLOCKS];
    mona_conv conv = *row->conv;
    mona_conv_row part = *row;
    const uint32_t count = conv.run_count[0] / JOINED, group = GROUP_TILES * TILE_ROWS;
    const uint32_t fit = JOINED_CACHED / TILE_BYTES / count / group * group;
    const uint32_t parts = (row->pixels + (fit ? fit : group) - 1) / (fit ? fit : group);
    part.conv = &conv;
    part.runs = runs;
    part.pixels = (row->pixels + parts - 1) / parts;
    conv.pixel_bytes = TILE_BYTES;
    conv.run_elements = elements;
    conv.run_count = counts;
    for (uint32_t n = 0; n < conv.blocks; n++)
        counts[n] = count;
    for (uint32_t i = 0; i < parts; i++) {
        const uint32_t x = min_u32(i * part.pixels, row->pixels - part.pixels);
        uint8_t *to = row->scratch + JOINED_AT;
        for (uint32_t r = 0; r < count; r++, to += (size_t)part.pixels * TILE_BYTES) {
            join(to, row->runs + r * JOINED, (size_t)x * row->conv->pixel_bytes,
                 row->conv->pixel_bytes, part.pixels);
            runs[r] = to;
            elements[r] = TILE_BYTES;
        }
        conv_pixels(&part, by, x, part.pixels);
    }
}

static void conv_row(const mona_conv_row *row)
{
    static const mona_isa scatter_by = {.unpack_row = mona_avx512_unpack_row};
    if (narrow_tiles_possible(row))
        conv_narrow_tiles(row);
    else if (joined_possible(row))
        conv_joined(row, &scatter_by);
    else if (tiles_possible(row))
        conv_pixels(row, &scatter_by, 0, row->pixels);
    else
        mona_avx512_conv_row(row);
}

MONA_NAMED(amx, conv_row)
MONA_TABLE(amx);
