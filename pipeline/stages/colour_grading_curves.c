// SPDX-License-Identifier: Apache-2.0
/* Converts a network's answers to curves of samples.
 *
 * Cuts are detected by luma in COLOUR_GRADING_GRID x COLOUR_GRADING_GRID cells. Take the cells of
 * two unrelated pictures as normal and independent, with spread s. Their mean distance is 2 s /
 * sqrt(pi), and their mean distance from their own mean is sqrt(2 / pi) s, which is smaller by
 * sqrt(2). The threshold lies half-way between a picture that stays, at distance 0, and an
 * unrelated one: at sqrt(2) / 2 = 0.7 times the mean of both deviations. Flat pictures, which
 * differ only by noise and fades, must also differ by 8 steps.
 *
 * Within a shot, curves move by FOLLOWING of the distance to each answer, so two successive frames
 * differ by at most that part of the largest difference between answers; 0.05 covers 63 % of the
 * distance within 20 frames.
 *
 * Answers are for full range: node k is where 8-bit luma is 16 k. In studio range, 16 k means (16 k
 * - 16) 255 / 219 of full range. That lies between nodes or beyond them, where luma continues with
 * a slope of 1 and the other curves stay constant. */
#include "pipeline/stages/colour_grading.h"

#include <math.h>
#include <string.h>

#include "engine/cpu/c/f16.h"

#define FOLLOWING 0.05f
#define CUT 0.707
#define MIN_CUT 8.0 /* steps */
#define MAX_GAIN 3.99f
#define NODE_STEPS 16.0 /* 8-bit steps between nodes */

enum {
    CELLS = COLOUR_GRADING_GRID * COLOUR_GRADING_GRID,
    CELL_SIDE = THUMBNAIL_SIDE / COLOUR_GRADING_GRID
};

/* ---- answers -------------------------------------------------------------------------------- */

static float within(float value, float low, float high)
{
    return fminf(fmaxf(value, low), high);
}

void colour_grading_read(colour_grading_curves *curves, const uint16_t *answer)
{
    for (unsigned k = 0; k < COLOUR_GRADING_NODES; k++) {
        const float y = (float)(NODE_STEPS / 255 * k), luma = y + mona_f32_from_f16(answer[k]);
        const float before = k ? curves->values[COLOUR_GRADING_LUMA][k - 1] : -1;
        curves->values[COLOUR_GRADING_LUMA][k] = fmaxf(within(luma, -1, 2), before);
        for (unsigned c = 0; c < 2; c++) {
            const unsigned gains = COLOUR_GRADING_GAINS + c, offsets = COLOUR_GRADING_OFFSETS + c;
            const float gain = 1 + mona_f32_from_f16(answer[gains * COLOUR_GRADING_NODES + k]);
            const float offset = mona_f32_from_f16(answer[offsets * COLOUR_GRADING_NODES + k]);
            curves->values[gains][k] = within(gain, 0, MAX_GAIN);
            curves->values[offsets][k] = within(offset, -1, 1);
        }
    }
}

/* ---- time ----------------------------------------------------------------------------------- */

static void make_grid(uint8_t *grid, const uint8_t *luma)
{
    for (unsigned i = 0; i < CELLS; i++) {
        const uint8_t *cell = luma + i / COLOUR_GRADING_GRID * CELL_SIDE * THUMBNAIL_SIDE +
                              i % COLOUR_GRADING_GRID * (size_t)CELL_SIDE;
        unsigned sum = CELL_SIDE * CELL_SIDE / 2;
        for (unsigned p = 0; p < CELL_SIDE * CELL_SIDE; p++)
            sum += cell[p / CELL_SIDE * THUMBNAIL_SIDE + p % CELL_SIDE];
        grid[i] = (uint8_t)(sum / (CELL_SIDE * CELL_SIDE));
    }
}

static double deviation(const uint8_t *grid)
{
    double mean = 0, sum = 0;
    for (unsigned i = 0; i < CELLS; i++)
        mean += grid[i];
    for (unsigned i = 0; i < CELLS; i++)
        sum += fabs(grid[i] - mean / CELLS);
    return sum / CELLS;
}

static bool is_cut(const uint8_t *before, const uint8_t *now)
{
    double distance = 0;
    for (unsigned i = 0; i < CELLS; i++)
        distance += fabs((double)now[i] - before[i]);
    return distance / CELLS > fmax(MIN_CUT, CUT * (deviation(before) + deviation(now)) / 2);
}

void colour_grading_follow(colour_grading_state *state, const thumbnail *seen,
                           const colour_grading_curves *answered)
{
    uint8_t grid[CELLS];
    make_grid(grid, seen->planes[0]);
    if (!state->frames || is_cut(state->grid, grid)) {
        state->curves = *answered;
        state->frames = 0;
    }
    for (unsigned c = 0; c < COLOUR_GRADING_CURVES; c++)
        for (unsigned k = 0; k < COLOUR_GRADING_NODES; k++) {
            float *value = &state->curves.values[c][k];
            *value += FOLLOWING * (answered->values[c][k] - *value);
        }
    memcpy(state->grid, grid, sizeof grid);
    state->frames += state->frames < UINT32_MAX;
}

/* ---- curves of samples ---------------------------------------------------------------------- */

/* The value of a curve at luma y, in units of nodes. beyond: its slope outside the nodes. */
static double value_at(const float *nodes, double y, double beyond)
{
    const int last = COLOUR_GRADING_NODES - 1, node = (int)fmin(fmax(floor(y), 0), last - 1);
    if (y < 0 || y > last)
        return nodes[y < 0 ? 0 : last] + (y < 0 ? y : y - last) * beyond;
    return nodes[node] + ((double)nodes[node + 1] - nodes[node]) * (y - node);
}

static int16_t word(double value, double low, double high)
{
    return (int16_t)lrint(fmin(fmax(value, low), high));
}

/* Converts values at nodes, in steps of the curve, to segments. The last node may lie beyond 16
 * bits. */
static void make_segments(mona_curve *to, const double *nodes, double low, double high)
{
    for (unsigned k = 0; k < MONA_CURVE_SEGMENTS; k++) {
        const double begin = fmin(fmax(rint(nodes[k]), low), high);
        const double end = fmin(fmax(rint(nodes[k + 1]), low), high + 1);
        to->start[k] = word(begin, low, high);
        to->rise[k] = word(end - begin, INT16_MIN, INT16_MAX);
    }
}

static void settle_luma(mona_curve *to, const float *from, double strength, bool full_range)
{
    const double zero = full_range ? 0 : 16, range = full_range ? 255 : 219;
    double nodes[COLOUR_GRADING_NODES];
    for (unsigned k = 0; k < COLOUR_GRADING_NODES; k++) {
        const double before = NODE_STEPS * k, y = (before - zero) * 255 / range / NODE_STEPS;
        const double after = zero + range * value_at(from, y, NODE_STEPS / 255);
        nodes[k] = 128 * (before + strength * (after - before));
    }
    make_segments(to, nodes, 0, INT16_MAX);
}

/* A gain or an offset of chroma; `neutral` leaves chroma unchanged. */
static void settle_chroma(mona_curve *to, const float *from, double neutral, double steps,
                          double min, double max, double strength, bool full_range)
{
    const double zero = full_range ? 0 : 16, range = full_range ? 255 : 219;
    double nodes[COLOUR_GRADING_NODES];
    for (unsigned k = 0; k < COLOUR_GRADING_NODES; k++) {
        const double after = value_at(from, (NODE_STEPS * k - zero) * 255 / range / NODE_STEPS, 0);
        nodes[k] = steps * (neutral + strength * (after - neutral));
    }
    make_segments(to, nodes, min, max);
}

void colour_grading_settle(mona_curves *to, const colour_grading_curves *from, double strength,
                           unsigned bits, bool full_range)
{
    *to = (mona_curves){.bits = bits};
    settle_luma(&to->luma, from->values[COLOUR_GRADING_LUMA], strength, full_range);
    for (unsigned c = 0; c < 2; c++) {
        settle_chroma(&to->gain[c], from->values[COLOUR_GRADING_GAINS + c], 1, 8192, 0, INT16_MAX,
                      strength, full_range);
        settle_chroma(&to->offset[c], from->values[COLOUR_GRADING_OFFSETS + c], 0,
                      32 * (full_range ? 255 : 224), -8191, 8191, strength, full_range);
    }
}
