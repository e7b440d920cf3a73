// SPDX-License-Identifier: Apache-2.0
/* The sums of products of resize_instructions.c, down and across. */
#include "ops/ascend/resize_program.h"

/* ---- down ----------------------------------------------------------------------------------- */

void mona_resize_bring_weights(const program *p)
{
    sync(p, AC_PIPE_V, AC_PIPE_S);
    for (uint32_t lane = 0; lane < LANES; lane++) {
        float weights[4];
        mona_resize_source(p->bound, p->calls[row_of_lane(p, lane)].y, weights);
        for (uint32_t t = 0; t < p->taps; t++)
            ac_emit_fill(
                p->core, p->lane_weights + (t * LANES + lane) * sizeof(float),
                (ac_fill){.count = 1, .bytes = sizeof(float), .value = mona_bits(weights[t])});
    }
    sync(p, AC_PIPE_S, AC_PIPE_V);
    const ac_vector v = {.repeat = FLOAT_LANES / LANES,
                         .lanes = LANES,
                         .dst_block = 1,
                         .a_block = 1,
                         .dst_repeat = 2};
    for (uint32_t t = 0; t < p->taps; t++)
        ac_emit_vecs(p->core, AC_VMULS_F32, p->weights + t * FLOAT_LANES * sizeof(float),
                     p->lane_weights + t * LANES * sizeof(float), 1, v);
    ac_emit_barrier(p->core, AC_PIPE_V);
}

/* Transposes to columns the row that tap t reads for each lane. */
static void turn_tap(const program *p, ac_address rows, uint32_t t)
{
    ac_turned dst = {.repeat = LANES}, src = {.repeat = 1};
    for (uint32_t lane = 0; lane < LANES; lane++) {
        float weights[4];
        const int64_t y = p->calls[row_of_lane(p, lane)].y;
        const int64_t tap = mona_resize_source(p->bound, y, weights) + t;
        const int64_t row = clip_to(tap, 0, p->bound->input[0].height - 1) - p->first_row;
        src.at[lane] = rows + ((size_t)row * p->in_pitch + BEFORE - HALO +
                               (size_t)segment_of_lane(p, lane) * p->periods * p->d) *
                                  sizeof(uint16_t);
        dst.at[lane] = p->columns + lane * AC_BLOCK;
    }
    turn_done(p->core, sizeof(uint16_t), &dst, &src, (uint32_t)(columns_of(p) / LANES));
}

void mona_resize_down(const program *p, ac_address rows)
{
    const uint32_t columns = p->periods * p->d + (uint32_t)(p->highest - p->lowest);
    const uint32_t count = columns * LANES;
    const ac_address from = p->columns + (size_t)(HALO + p->lowest) * LANES * sizeof(uint16_t);
    for (uint32_t t = 0; t < p->taps; t++) {
        const ac_address to = t ? p->tap : p->down;
        turn_tap(p, rows, t);
        vconv_done(p->core, AC_F16_F32, to, from, count);
        vec2_done(p->core, AC_VMUL_F32, to, to, p->weights + t * FLOAT_LANES * sizeof(float), count,
                  b_stays);
        if (t)
            vec2_done(p->core, AC_VADD_F32, p->down, p->down, p->tap, count, side_by_side);
    }
}

/* ---- across --------------------------------------------------------------------------------- */

static void scalars_all(const program *p, ac_vecs op, ac_address to, ac_address a, float s)
{
    vecs_done(p->core, op, to, a, s, p->periods * LANES);
}

/* Multiplies every d-th column by a weight. A column is two blocks, which takes two instructions,
 * as each has one stride only. */
static void multiply_columns(const program *p, ac_address to, ac_address from, float weight)
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
            ac_emit_vecs(p->core, AC_VMULS_F32, vectors_at(&w, to + h * AC_BLOCK, w.v.dst_repeat),
                         vectors_at(&w, from + h * AC_BLOCK, w.v.a_repeat), weight, w.v);
    ac_emit_barrier(p->core, AC_PIPE_V);
}

/* Computes the output columns of one phase and writes them as fp16 to every n-th column of
 * p->made. */
static void resample_phase(const program *p, uint32_t phase)
{
    const int32_t first = mona_resize_first(p->bound)[phase];
    const float *weights = mona_resize_weights(p->bound) + (size_t)phase * p->taps;
    const float whole = 0x1.8p23f;
    for (uint32_t t = 0; t < p->taps; t++) {
        const ac_address from =
            p->down + (size_t)(first + (int32_t)t - p->lowest) * LANES * sizeof(float);
        multiply_columns(p, t ? p->product : p->across, from, weights[t]);
        if (t)
            vec2_done(p->core, AC_VADD_F32, p->across, p->across, p->product, p->periods * LANES,
                      side_by_side);
    }
    if (p->bound->output.type != MONA_F16) {
        scalars_all(p, AC_VADDS_F32, p->across, p->across, whole);
        scalars_all(p, AC_VADDS_F32, p->across, p->across, -whole);
    }
    const ac_vector strides = {
        .dst_block = (uint8_t)p->n, .a_block = 1, .dst_repeat = (uint8_t)(4 * p->n), .a_repeat = 8};
    for (vectors w = vectors_of(strides, FLOAT_LANES, p->periods * LANES); next_vectors(&w);)
        ac_emit_vconv(p->core, AC_F32_F16,
                      vectors_at(&w, p->made + phase * AC_BLOCK, w.v.dst_repeat),
                      vectors_at(&w, p->across, w.v.a_repeat), w.v);
    ac_emit_barrier(p->core, AC_PIPE_V);
}

/* Transposes columns back to rows, in p->wide. */
static void turn_back(const program *p)
{
    const uint32_t columns = p->periods * p->n;
    ac_turned dst = {.repeat = 1}, src = {.repeat = LANES};
    for (uint32_t lane = 0; lane < LANES; lane++) {
        src.at[lane] = p->made + lane * AC_BLOCK;
        dst.at[lane] = lane < p->rows * p->segments
                           ? p->wide + (row_of_lane(p, lane) * p->out_pitch +
                                        (size_t)segment_of_lane(p, lane) * columns) *
                                           sizeof(uint16_t)
                           : p->unused;
    }
    turn_done(p->core, sizeof(uint16_t), &dst, &src, columns / LANES);
}

void mona_resize_across(const program *p)
{
    for (uint32_t phase = 0; phase < p->n; phase++)
        resample_phase(p, phase);
    turn_back(p);
}
