// SPDX-License-Identifier: Apache-2.0
/* Combines the taps of a window across, for pool_instructions.c. */
#include "ops/ascend/columns.h"

#include "engine/arith.h"

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

void mona_pool_combine(const mona_columns *p, ac_address result, ac_address best, ac_vector v)
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
        const mona_columns_run run = {(uint32_t)(low - p->x), 1,
                                      (uint32_t)(low * stride + at - p->first), f->stride_w,
                                      (uint32_t)(high - low)};
        if (low == high)
            continue;
        mona_columns_combine(p, p->result, &run);
        ac_emit_barrier(p->core, AC_PIPE_V);
    }
}
