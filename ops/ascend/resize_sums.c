// SPDX-License-Identifier: Apache-2.0
/* The sums of products of resize_instructions.c, down and across. */
#include "ops/ascend/resize_program.h"

/* ---- down ----------------------------------------------------------------------------------- */

void mona_resize_bring_weights(const program *p)
{
    sync(p, AC_PIPE_V, AC_PIPE_S);
    p->isa->scalar(p->core, NULL, 0, p->lane_weights, p->taps * LANES * sizeof(float),
                   AC_SCALAR_STEPS * p->taps * LANES);
    for (uint32_t lane = 0; lane < LANES; lane++) {
        float weights[4];
        mona_resize_row(p->bound, p->calls[row_of_lane(p, lane)].y, weights);
        for (uint32_t t = 0; t < p->taps; t++)
            p->lane_weights[t * LANES + lane] = weights[t];
    }
    sync(p, AC_PIPE_S, AC_PIPE_V);
    const ac_vector v = {.repeat = FLOAT_LANES / LANES,
                         .lanes = LANES,
                         .dst_block = 1,
                         .a_block = 1,
                         .dst_repeat = 2};
    for (uint32_t t = 0; t < p->taps; t++)
        p->isa->vecs(p->core, AC_VMULS_F32, p->weights + t * FLOAT_LANES,
                     p->lane_weights + t * LANES, 1, &v);
    p->isa->barrier(p->core, AC_PIPE_V);
}

/* Transposes to columns the row that tap t reads for each lane. */
static void turn_tap(const program *p, const uint16_t *rows, uint32_t t)
{
    uint16_t *dst[LANES];
    const uint16_t *src[LANES];
    for (uint32_t lane = 0; lane < LANES; lane++) {
        float weights[4];
        const int64_t y = p->calls[row_of_lane(p, lane)].y;
        const int64_t tap = mona_resize_row(p->bound, y, weights) + t;
        const int64_t row = clip_to(tap, 0, p->bound->input[0].height - 1) - p->first_row;
        src[lane] = rows + (size_t)row * p->in_pitch + BEFORE - HALO +
                    (size_t)segment_of_lane(p, lane) * p->periods * p->d;
        dst[lane] = p->columns + lane * LANES;
    }
    const size_t blocks = columns_of(p) / LANES;
    for (size_t done = 0, count; done < blocks; done += count) {
        count = blocks - done < AC_MAX_REPEAT ? blocks - done : AC_MAX_REPEAT;
        p->isa->transpose(p->core, dst, src, (uint8_t)count, LANES, 1);
        for (uint32_t lane = 0; lane < LANES; lane++) {
            src[lane] += count * LANES;
            dst[lane] += count * LANES * LANES;
        }
    }
    p->isa->barrier(p->core, AC_PIPE_V);
}

static void floats_all(const program *p, ac_vec2 op, float *to, const float *a, const float *b,
                       uint32_t count, bool b_stays)
{
    const ac_vector strides = {.dst_block = 1,
                               .a_block = 1,
                               .b_block = 1,
                               .dst_repeat = 8,
                               .a_repeat = 8,
                               .b_repeat = b_stays ? 0 : 8};
    for (vectors w = vectors_of(strides, FLOAT_LANES, count); next_vectors(&w);)
        p->isa->vec2(p->core, op, vectors_at(&w, to, w.v.dst_repeat),
                     vectors_at(&w, a, w.v.a_repeat), vectors_at(&w, b, w.v.b_repeat), &w.v);
    p->isa->barrier(p->core, AC_PIPE_V);
}

void mona_resize_down(const program *p, const uint16_t *rows)
{
    const uint32_t columns = p->periods * p->d + (uint32_t)(p->highest - p->lowest);
    const uint32_t count = columns * LANES;
    const uint16_t *from = p->columns + (size_t)(HALO + p->lowest) * LANES;
    for (uint32_t t = 0; t < p->taps; t++) {
        float *to = t ? p->tap : p->down;
        turn_tap(p, rows, t);
        vconv_all(p->core, AC_F16_F32, to, from, count);
        p->isa->barrier(p->core, AC_PIPE_V);
        floats_all(p, AC_VMUL_F32, to, to, p->weights + t * FLOAT_LANES, count, true);
        if (t)
            floats_all(p, AC_VADD_F32, p->down, p->down, p->tap, count, false);
    }
}

/* ---- across --------------------------------------------------------------------------------- */

static void scalars_all(const program *p, ac_vecs op, float *to, const float *a, float s)
{
    for (vectors w = vectors_of(side_by_side, FLOAT_LANES, p->periods * LANES); next_vectors(&w);)
        p->isa->vecs(p->core, op, vectors_at(&w, to, w.v.dst_repeat),
                     vectors_at(&w, a, w.v.a_repeat), s, &w.v);
    p->isa->barrier(p->core, AC_PIPE_V);
}

/* Multiplies every d-th column by a weight. A column is two blocks, which takes two instructions,
 * as each has one stride only. */
static void multiply_columns(const program *p, float *to, const float *from, float weight)
{
    if (p->d == 1) {
        scalars_all(p, AC_VMULS_F32, to, from, weight);
        return;
    }
    const ac_vector strides = {.dst_block = 2,
                               .a_block = (uint8_t)(2 * p->d),
                               .dst_repeat = 16,
                               .a_repeat = (uint8_t)(16 * p->d)};
    for (uint32_t h = 0; h < 2; h++)
        for (vectors w = vectors_of(strides, FLOAT_LANES, p->periods * LANES / 2);
             next_vectors(&w);)
            p->isa->vecs(p->core, AC_VMULS_F32, vectors_at(&w, to + h * LANES / 2, w.v.dst_repeat),
                         vectors_at(&w, from + h * LANES / 2, w.v.a_repeat), weight, &w.v);
    p->isa->barrier(p->core, AC_PIPE_V);
}

/* Computes the output columns of one phase and writes them as fp16 to every n-th column of
 * p->made. */
static void resample_phase(const program *p, uint32_t phase)
{
    const int32_t first = mona_resize_first(p->bound)[phase];
    const float *weights = mona_resize_weights(p->bound) + (size_t)phase * p->taps;
    const float whole = 0x1.8p23f;
    for (uint32_t t = 0; t < p->taps; t++) {
        const float *from = p->down + (size_t)(first + (int32_t)t - p->lowest) * LANES;
        multiply_columns(p, t ? p->product : p->across, from, weights[t]);
        if (t)
            floats_all(p, AC_VADD_F32, p->across, p->across, p->product, p->periods * LANES, false);
    }
    if (p->bound->output.type != MONA_F16) {
        scalars_all(p, AC_VADDS_F32, p->across, p->across, whole);
        scalars_all(p, AC_VADDS_F32, p->across, p->across, -whole);
    }
    const ac_vector strides = {
        .dst_block = (uint8_t)p->n, .a_block = 1, .dst_repeat = (uint8_t)(4 * p->n), .a_repeat = 8};
    for (vectors w = vectors_of(strides, FLOAT_LANES, p->periods * LANES); next_vectors(&w);)
        p->isa->vconv(p->core, AC_F32_F16, vectors_at(&w, p->made + phase * LANES, w.v.dst_repeat),
                      vectors_at(&w, p->across, w.v.a_repeat), &w.v);
    p->isa->barrier(p->core, AC_PIPE_V);
}

/* Transposes columns back to rows, in p->wide. */
static void turn_back(const program *p)
{
    const uint32_t columns = p->periods * p->n;
    uint16_t *dst[LANES];
    const uint16_t *src[LANES];
    for (uint32_t lane = 0; lane < LANES; lane++) {
        src[lane] = p->made + lane * LANES;
        dst[lane] = lane < p->rows * p->segments ? p->wide + row_of_lane(p, lane) * p->out_pitch +
                                                       (size_t)segment_of_lane(p, lane) * columns
                                                 : p->unused;
    }
    for (uint32_t done = 0, count; done < columns / LANES; done += count) {
        count = columns / LANES - done < AC_MAX_REPEAT ? columns / LANES - done : AC_MAX_REPEAT;
        p->isa->transpose(p->core, dst, src, (uint8_t)count, 1, LANES);
        for (uint32_t lane = 0; lane < LANES; lane++) {
            src[lane] += count * LANES * LANES;
            dst[lane] += count * LANES;
        }
    }
    p->isa->barrier(p->core, AC_PIPE_V);
}

void mona_resize_across(const program *p)
{
    for (uint32_t phase = 0; phase < p->n; phase++)
        resample_phase(p, phase);
    turn_back(p);
}
