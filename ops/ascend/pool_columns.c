// SPDX-License-Identifier: Apache-2.0
/* Combines the taps of a window across, for pool_instructions.c. */
#include "ops/ascend/columns.h"

#include "engine/arith.h"

/* `count` runs of `width` blocks, so many blocks apart in p->result and p->best. */
typedef struct runs {
    ac_address result, best;
    uint32_t result_step, best_step, width, count;
} runs;

/* to = a + b, or -a. Operands with a's strides but b. */
static void add(const mona_columns *p, ac_address to, ac_address a, ac_address b, ac_vector v)
{
    ac_emit_vec2(p->core, AC_VADD_F32, to, a, b, v);
    ac_emit_barrier(p->core, AC_PIPE_V);
}

static void negate(const mona_columns *p, ac_address at, ac_address from, ac_vector v)
{
    ac_emit_vecs(p->core, AC_VMULS_F32, at, from, -1, v);
    ac_emit_barrier(p->core, AC_PIPE_V);
}

/* A sum s = result + best is exact below 2^24. Beyond, |result| > |best|, as the sum of a column is
 * below 2^24 / 2; then best - (s - result) is what s has lost, exactly (Dekker's fast two-sum).
 * Sums of what was lost stay below 2^24, so they are exact, too. */
static void add_in_two_parts(const mona_columns *p, ac_address result, ac_address best, ac_vector v)
{
    const uint64_t at = result - p->result;
    const ac_address low = p->spare[0] + at, error = p->spare[1] + at;
    ac_vector own = v;
    own.b_block = v.dst_block;
    own.b_repeat = v.dst_repeat;
    negate(p, error, result, v);
    add(p, result, result, best, v);
    add(p, error, error, result, own);
    negate(p, error, error, v);
    add(p, error, error, best, v);
    add(p, low, low, error, own);
}

static void accumulate(const mona_columns *p, ac_address result, ac_address best, ac_vector v)
{
    v.a_block = v.dst_block;
    v.a_repeat = v.dst_repeat;
    if (p->two_parts)
        add_in_two_parts(p, result, best, v);
    else
        ac_emit_vec2(p->core, p->floats ? AC_VADD_F32 : AC_VMAX, result, result, best, v);
}

void mona_pool_join(const mona_columns *p)
{
    const uint32_t count = p->out_blocks * p->out_columns * p->out_units * (FLOAT_LANES / 8);
    vec2_done(p->core, AC_VADD_F32, p->result, p->result, p->spare[0], count, side_by_side);
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
static void take_each(const mona_columns *p, const runs *r)
{
    const bool near = r->result_step <= UINT8_MAX && r->best_step <= UINT8_MAX;
    for (uint32_t i = 0, count; i < r->count; i += count) {
        count = near ? min_u32(r->count - i, AC_MAX_REPEAT) : 1;
        accumulate(p, r->result + (size_t)i * r->result_step * AC_BLOCK,
                   r->best + (size_t)i * r->best_step * AC_BLOCK,
                   (ac_vector){.repeat = (uint8_t)count,
                               .lanes = (uint8_t)(r->width * (mona_columns_lanes(p) / 8)),
                               .dst_block = 1,
                               .b_block = 1,
                               .dst_repeat = (uint8_t)(near ? r->result_step : 1),
                               .b_repeat = (uint8_t)(near ? r->best_step : 1)});
    }
}

/* A repeat for the same block of 8 runs. */
static void take_eight(const mona_columns *p, const runs *r)
{
    const ac_vector strides = {.dst_block = (uint8_t)r->result_step,
                               .b_block = (uint8_t)r->best_step,
                               .dst_repeat = (uint8_t)(8 * r->result_step),
                               .b_repeat = (uint8_t)(8 * r->best_step)};
    for (uint32_t k = 0; k < r->width; k++)
        for (vectors w =
                 vectors_of(strides, mona_columns_lanes(p), r->count * (mona_columns_lanes(p) / 8));
             next_vectors(&w);)
            accumulate(p, vectors_at(&w, r->result + k * AC_BLOCK, w.v.dst_repeat),
                       vectors_at(&w, r->best + k * AC_BLOCK, w.v.b_repeat), w.v);
}

static void take_runs(const mona_columns *p, runs r)
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
static void take_tap(const mona_columns *p, uint32_t o, uint32_t count, uint32_t column)
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
void mona_pool_across(const mona_columns *p)
{
    const mona_file_pool *f = &p->bound->op->pool;
    const int64_t width = p->bound->input[0].width, stride = f->stride_w;
    const int64_t kernel = f->kernel_w ? f->kernel_w : width;
    for (int64_t t = 0; t < kernel; t++) {
        const int64_t at = t * f->dilation_w - f->pad_left; /* sample of output 0 */
        const int64_t end = p->x + p->outputs, first = p->first > 0 ? p->first : 0;
        const int64_t low = clip_to(ceil_div(first - at, stride), p->x, end);
        const int64_t high = clip_to(ceil_div(p->end - at, stride), low, end);
        if (low < high)
            take_tap(p, (uint32_t)(low - p->x), (uint32_t)(high - low),
                     (uint32_t)(low * stride + at - p->first));
    }
}
