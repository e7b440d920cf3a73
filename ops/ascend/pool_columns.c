// SPDX-License-Identifier: Apache-2.0
/* The columns of pool_instructions.c: each in blocks of its own, and the taps of a window across. */
#include "ops/ascend/pool_program.h"

#include "engine/arith.h"

/* ---- a block for every pixel ---------------------------------------------------------------- */

/* 16 blocks hold a group of 256 / c0 pixels, 16 / c0 in each. Transposed, row k c0 + c is channel c
 * of pixel k of every block. Transposing these c0 rows together with rows of zeros gives pixel k of
 * every block, in a block of its own. */
enum {
    ROWS = AC_FRACTAL + 2,
    ZEROS = AC_FRACTAL,
    UNUSED /* where pack leaves what is no channel */
};

uint32_t mona_pool_group(uint32_t c0)
{
    return c0 < AC_FRACTAL ? AC_FRACTAL * AC_FRACTAL / c0 : 1;
}

size_t mona_pool_turned_bytes(uint32_t columns, uint32_t c0)
{
    return c0 < AC_FRACTAL ? (size_t)columns / mona_pool_group(c0) * ROWS * AC_BLOCK : 0;
}

void mona_pool_clear_turned(const program *p, size_t bytes)
{
    dup_all(p->core, p->turned, 0, (uint32_t)(bytes / sizeof(uint16_t)), side_by_side);
}

/* Pixels side by side, in blocks of 16 elements, and the same transposed. */
static void turn_packed(const program *p, ac_address packed, uint32_t groups, bool pack)
{
    mona_side rows = {.repeat = ROWS}, blocks = {.repeat = AC_FRACTAL};
    for (uint32_t i = 0; i < AC_FRACTAL; i++) {
        rows.at[i] = p->turned + i * AC_BLOCK;
        blocks.at[i] = packed + i * AC_BLOCK;
    }
    mona_turn(p->core, sizeof(uint16_t), pack ? &blocks : &rows, pack ? &rows : &blocks, groups);
    ac_emit_barrier(p->core, AC_PIPE_V);
}

static void turn_pixels(const program *p, ac_address pixels, uint32_t c0, uint32_t groups,
                        bool pack)
{
    const uint32_t of_block = AC_FRACTAL / c0;
    for (uint32_t k = 0; k < of_block; k++) {
        mona_side rows = {.repeat = ROWS}, blocks = {.repeat = AC_FRACTAL * of_block};
        for (uint32_t i = 0; i < AC_FRACTAL; i++) {
            const uint32_t row = i < c0 ? k * c0 + i : pack ? UNUSED : ZEROS;
            rows.at[i] = p->turned + row * AC_BLOCK;
            blocks.at[i] = pixels + (i * of_block + k) * AC_BLOCK;
        }
        mona_turn(p->core, sizeof(uint16_t), pack ? &rows : &blocks, pack ? &blocks : &rows,
                  groups);
    }
    ac_emit_barrier(p->core, AC_PIPE_V);
}

void mona_pool_spread(const program *p, ac_address to, ac_address from)
{
    const uint32_t groups = p->in_columns / mona_pool_group(p->in_c0);
    turn_packed(p, from, groups, false);
    turn_pixels(p, to, p->in_c0, groups, false);
}

void mona_pool_pack(const program *p, ac_address to, ac_address from)
{
    const uint32_t groups = p->out_columns / mona_pool_group(p->out_c0);
    turn_pixels(p, from, p->out_c0, groups, true);
    turn_packed(p, to, groups, true);
}

/* ---- across --------------------------------------------------------------------------------- */

/* `count` runs of `width` blocks, so many blocks apart in p->result and p->best. */
typedef struct runs {
    ac_address result, best;
    uint32_t result_step, best_step, width, count;
} runs;

static void take(const program *p, ac_address result, ac_address best, ac_vector v)
{
    v.a_block = v.dst_block;
    v.a_repeat = v.dst_repeat;
    ac_emit_vec2(p->core, p->mean ? AC_VADD_F32 : AC_VMAX, result, result, best, v);
}

/* Cycles of an instruction for 8 blocks that lie `step` blocks apart, as they share 16 banks. */
static uint32_t conflicts(uint32_t step)
{
    uint32_t share = 1;
    while (share < 16 && step % (2 * share) == 0)
        share *= 2;
    return share > 2 ? share / 2 : 1;
}

/* A repeat for every run. */
static void take_each(const program *p, const runs *r)
{
    const bool near = r->result_step <= UINT8_MAX && r->best_step <= UINT8_MAX;
    for (uint32_t i = 0, count; i < r->count; i += count) {
        count = near ? min_u32(r->count - i, AC_MAX_REPEAT) : 1;
        take(p, r->result + (size_t)i * r->result_step * AC_BLOCK,
             r->best + (size_t)i * r->best_step * AC_BLOCK,
             (ac_vector){.repeat = (uint8_t)count,
                         .lanes = (uint8_t)(r->width * (pool_lanes(p) / 8)),
                         .dst_block = 1,
                         .b_block = 1,
                         .dst_repeat = (uint8_t)(near ? r->result_step : 1),
                         .b_repeat = (uint8_t)(near ? r->best_step : 1)});
    }
}

/* A repeat for the same block of 8 runs. */
static void take_eight(const program *p, const runs *r)
{
    const ac_vector strides = {.dst_block = (uint8_t)r->result_step,
                               .b_block = (uint8_t)r->best_step,
                               .dst_repeat = (uint8_t)(8 * r->result_step),
                               .b_repeat = (uint8_t)(8 * r->best_step)};
    for (uint32_t k = 0; k < r->width; k++)
        for (vectors w = vectors_of(strides, pool_lanes(p), r->count * (pool_lanes(p) / 8));
             next_vectors(&w);)
            take(p, vectors_at(&w, r->result + k * AC_BLOCK, w.v.dst_repeat),
                 vectors_at(&w, r->best + k * AC_BLOCK, w.v.b_repeat), w.v);
}

static void take_runs(const program *p, runs r)
{
    if (r.result_step == r.width && r.best_step == r.width)
        r = (runs){r.result, r.best, 1, 1, 1, r.count * r.width};
    const uint32_t step = r.result_step > r.best_step ? r.result_step : r.best_step;
    const uint32_t cycles = conflicts(r.result_step) > conflicts(r.best_step)
                                ? conflicts(r.result_step)
                                : conflicts(r.best_step);
    if (8 * step <= UINT8_MAX && r.width * cycles < 8)
        take_eight(p, &r);
    else
        take_each(p, &r);
}

/* One tap of outputs o to o + count - 1; the first reads column `column` of UB. */
static void take_tap(const program *p, uint32_t o, uint32_t count, uint32_t column)
{
    const uint32_t stride = p->bound->op->pool.stride_w;
    const uint32_t from = p->in_units, to = p->out_units;
    const ac_address result = p->result + (size_t)o * to * AC_BLOCK;
    const ac_address best = p->best + (size_t)column * from * AC_BLOCK;
    const size_t result_block = (size_t)p->out_columns * to * AC_BLOCK;
    const size_t best_block = (size_t)p->in_columns * from * AC_BLOCK;
    const uint32_t units = min_u32(p->in_blocks * from, p->out_blocks * to);
    if (from == to && count < p->in_blocks)
        for (uint32_t i = 0; i < count; i++)
            take_runs(p, (runs){result + (size_t)i * to * AC_BLOCK,
                                best + (size_t)i * stride * from * AC_BLOCK, p->out_columns * to,
                                p->in_columns * from, from, p->in_blocks});
    else if (from == to)
        for (uint32_t n = 0; n < p->in_blocks; n++)
            take_runs(p, (runs){result + n * result_block, best + n * best_block, to, stride * from,
                                from, count});
    else
        for (uint32_t u = 0; u < units; u++)
            take_runs(p, (runs){result + u / to * result_block + u % to * AC_BLOCK,
                                best + u / from * best_block + u % from * AC_BLOCK, to,
                                stride * from, 1, count});
    ac_emit_barrier(p->core, AC_PIPE_V);
}

/* Each tap is taken for those outputs whose sample lies in the map. */
void mona_pool_across(const program *p)
{
    const mona_file_pool *f = &p->bound->op->pool;
    const int64_t width = p->bound->input[0].width, stride = f->stride_w;
    const int64_t kernel = f->kernel_w ? f->kernel_w : width;
    for (int64_t t = 0; t < kernel; t++) {
        const int64_t at = t * f->dilation_w - f->pad_left; /* sample of output 0 */
        const int64_t end = p->x + p->outputs;
        const int64_t low = clip_to(ceil_div(-at, stride), p->x, end);
        const int64_t high = clip_to(ceil_div(width - at, stride), low, end);
        if (low < high)
            take_tap(p, (uint32_t)(low - p->x), (uint32_t)(high - low),
                     (uint32_t)(low * stride + at - p->first));
    }
}
