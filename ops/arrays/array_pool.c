// SPDX-License-Identifier: Apache-2.0
/* The pools of ARRAY_WINDOW: blocks of outputs of one plane, tap by tap. Items are blocks. */
#include "ops/arrays/arrays.h"

static uint64_t blocks_of(const mona_array_window *w)
{
    return (mona_window_outputs(w) + ARRAY_BLOCK - 1) / ARRAY_BLOCK;
}

uint64_t mona_window_pool_items(const mona_bound_op *b)
{
    const mona_array_window *w = array_record(b);
    return (uint64_t)w->batch * w->channels * blocks_of(w);
}

/* The number of taps of an output that AVERAGE counts along one axis. */
static int64_t counted(const mona_array_axis *a, uint32_t out, bool include_pad)
{
    const int64_t first = (int64_t)out * a->stride - a->pad_before, step = a->dilation;
    const int64_t begin = include_pad ? -(int64_t)a->pad_before : 0;
    const int64_t end = (int64_t)a->in + (include_pad ? a->pad_after : 0);
    const int64_t from = clip_to(-floor_div(first - begin, step), 0, a->kernel);
    const int64_t to = clip_to(-floor_div(first - end, step), from, a->kernel);
    return to - from;
}

/* The divisor of a sum. A window without samples has a sum of 0 and a divisor of 1. */
static float number_of(const mona_array_window *w, uint32_t output)
{
    uint32_t index[3];
    int64_t count = 1;
    mona_window_indices(w, WINDOW_OUT, output, index);
    for (uint32_t d = 0; d < w->axes; d++)
        count *= counted(&w->axis[d], index[d], w->count_include_pad);
    return count ? (float)count : 1.0f;
}

/* Computes outputs [first, first + count) of a plane. */
static void float_block(const mona_array_call *call, uint64_t plane, uint32_t first, uint32_t count)
{
    const mona_array_window *w = array_record(call->bound);
    const bool largest = w->function == MONA_WINDOW_MAX;
    const float outside = largest ? -__builtin_inff() : 0;
    float y[ARRAY_BLOCK], x[ARRAY_BLOCK];
    for (uint32_t i = 0; i < count; i++)
        y[i] = outside;
    for (uint32_t tap = 0; tap < mona_window_taps(w); tap++) {
        mona_window_samples(call, plane * mona_window_inputs(w), tap, first, count,
                            (array_number){.as_float = outside}, x);
        for (uint32_t i = 0; i < count && largest; i++)
            y[i] = y[i] > x[i] || y[i] != y[i] ? y[i] : x[i];
        for (uint32_t i = 0; i < count && !largest; i++)
            y[i] += x[i];
    }
    for (uint32_t i = 0; i < count && w->function == MONA_WINDOW_AVERAGE; i++)
        y[i] /= number_of(w, first + i);
    mona_array_put_floats(call->output, call->bound->output.type, MONA_WRAP,
                          plane * mona_window_outputs(w) + first, y, count);
}

static void int_block(const mona_array_call *call, uint64_t plane, uint32_t first, uint32_t count)
{
    const mona_array_window *w = array_record(call->bound);
    const bool largest = w->function == MONA_WINDOW_MAX;
    const bool is_unsigned = call->bound->input[0].type == MONA_U64;
    const int64_t outside = largest && !is_unsigned ? INT64_MIN : 0;
    int64_t y[ARRAY_BLOCK], x[ARRAY_BLOCK];
    for (uint32_t i = 0; i < count; i++)
        y[i] = outside;
    for (uint32_t tap = 0; tap < mona_window_taps(w); tap++) {
        mona_window_samples(call, plane * mona_window_inputs(w), tap, first, count,
                            (array_number){.as_int = outside}, x);
        for (uint32_t i = 0; i < count; i++) {
            const bool larger = is_unsigned ? (uint64_t)x[i] > (uint64_t)y[i] : x[i] > y[i];
            y[i] = !largest ? (int64_t)((uint64_t)y[i] + (uint64_t)x[i]) : larger ? x[i] : y[i];
        }
    }
    mona_array_put_ints(call->output, call->bound->output.type, MONA_WRAP, is_unsigned,
                        plane * mona_window_outputs(w) + first, y, count);
}

/* ---- where the largest sample lies --------------------------------------------------------- */

/* Position of a tap in the plane; -1: outside. */
static int64_t position_of(const mona_array_window *w, const uint32_t index[3], uint32_t tap)
{
    uint32_t taps[3];
    int64_t at = 0;
    mona_window_indices(w, WINDOW_TAP, tap, taps);
    for (uint32_t d = 0; d < w->axes; d++) {
        const mona_array_axis *a = &w->axis[d];
        const int64_t x =
            (int64_t)index[d] * a->stride - a->pad_before + (int64_t)taps[d] * a->dilation;
        if (x < 0 || x >= a->in)
            return -1;
        at = at * a->in + x;
    }
    return at;
}

static bool is_larger(const mona_array_call *call, int64_t a, int64_t b)
{
    const mona_array_window *w = array_record(call->bound);
    if (w->arithmetic == MONA_INT) {
        int64_t x[2];
        mona_array_read_ints(&x[0], source_of(call, 0), a, 1, 1);
        mona_array_read_ints(&x[1], source_of(call, 0), b, 1, 1);
        return call->bound->input[0].type == MONA_U64 ? (uint64_t)x[0] > (uint64_t)x[1]
                                                      : x[0] > x[1];
    }
    float x[2];
    mona_array_read_floats(&x[0], source_of(call, 0), a, 1, 1);
    mona_array_read_floats(&x[1], source_of(call, 0), b, 1, 1);
    return x[0] > x[1] || (x[0] != x[0] && x[1] == x[1]);
}

static void index_block(const mona_array_call *call, uint64_t plane, uint32_t first, uint32_t count)
{
    const mona_array_window *w = array_record(call->bound);
    const int64_t base = (int64_t)(plane * mona_window_inputs(w));
    int64_t y[ARRAY_BLOCK];
    for (uint32_t i = 0; i < count; i++) {
        uint32_t index[3];
        int64_t best = -1;
        mona_window_indices(w, WINDOW_OUT, first + i, index);
        for (uint32_t tap = 0; tap < mona_window_taps(w); tap++) {
            const int64_t at = position_of(w, index, tap);
            if (at >= 0 && (best < 0 || is_larger(call, base + at, best)))
                best = base + at;
        }
        y[i] = best < 0 ? 0 : best;
    }
    mona_array_put_ints(call->output, call->bound->output.type, MONA_WRAP, false,
                        plane * mona_window_outputs(w) + first, y, count);
}

void mona_window_pool(const mona_array_call *call)
{
    const mona_array_window *w = array_record(call->bound);
    const uint32_t outputs = mona_window_outputs(w);
    const uint64_t blocks = blocks_of(w);
    for (uint64_t item = call->begin; item < call->end; item++) {
        const uint32_t first = (uint32_t)(item % blocks) * ARRAY_BLOCK;
        const uint32_t count = outputs - first < ARRAY_BLOCK ? outputs - first : ARRAY_BLOCK;
        if (w->function == MONA_WINDOW_MAX_INDEX)
            index_block(call, item / blocks, first, count);
        else if (w->arithmetic == MONA_FLOAT)
            float_block(call, item / blocks, first, count);
        else
            int_block(call, item / blocks, first, count);
    }
}
