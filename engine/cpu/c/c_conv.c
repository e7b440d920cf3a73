// SPDX-License-Identifier: Apache-2.0
/* The convolution row program in portable C, without intrinsics, in loops that gcc and clang
 * vectorise for any CPU with vectors. Its results are exact for vectors of any length.
 *
 * INT8: elements and weights are widened to 16 bits and laid side by side along K, [pixel][K] and
 * [output][K]. An accumulator is then a dot product of two arrays, for which compilers use pmaddwd
 * on x86 and smlal on Arm. 2 pixels x 4 outputs share what is loaded. FP16: elements are widened to
 * fp32, and the 16 outputs that lie side by side in the weights are the lanes. Products of two fp16
 * values are exact in fp32, so rounding product and sum separately gives the fused multiply-add
 * that ac_conv defines.
 *
 * K is taken in parts that fit the stack, while the accumulators of a tile of pixels stay in
 * memory. The epilogue then goes over the tile with one loop for each rounding. */
#include "engine/arith.h"
#include "engine/cpu/c/c_vector.h"
#include "engine/cpu/c/rows.h"
#include "engine/cpu/c/scatter.h"

enum {
    TILE = 64,    /* pixels, even */
    PART = 288,   /* elements of K at a time, a multiple of DOT */
    STAGE = 2048, /* fp16 elements that are widened at a time */
    DOT = 8,      /* the length of dot products is a multiple of this */
};

/* Without this clang uses vectors of 4 elements of 16 bits where there is room for 8. */
#ifdef __clang__
#define DOT_LOOP _Pragma("clang loop vectorize_width(8) interleave_count(1)")
#else
#define DOT_LOOP
#endif

/* In scratch. */
typedef struct work {
    _Alignas(64) float values[TILE * AC_FRACTAL]; /* accumulators, [pixel][output] */
    union {
        struct {
            _Alignas(64) int32_t acc[TILE * AC_FRACTAL];
            _Alignas(64) int16_t pair[2 * PART];
            /* Reordered for dot products, [output][length]: those of all of K, or of a part. */
            _Alignas(64) int16_t weights[AC_FRACTAL * PART];
        };
        _Alignas(64) float stage[STAGE];
    };
    uint8_t results[AC_MAX_GROUP][TILE * AC_FRACTAL * 2]; /* that are to be spread */
} work;

_Static_assert(sizeof(work) <= AC_SCRATCH, "it fits");

/* Pixels of one block of 16 outputs. */
typedef struct tile {
    work *work;
    bool all_turned; /* work->weights holds all of K */
    const ac_conv_row *row;
    const ac_conv *conv;
    uint32_t n, x, pixels;
    const uint8_t *const *runs;
    uint32_t first_run, run_count;
    const void *bias; /* that of the block */
} tile;

/* Fills accumulators with the bias of 16 outputs. pixels: may be one more than the tile has, if
 * that is odd. */
static void fill(void *acc, const void *bias, uint32_t pixels)
{
    enum { PIXEL = AC_FRACTAL * 4 };
    for (uint32_t i = 0; i < pixels && i < TILE; i++)
        memcpy((uint8_t *)acc + (size_t)i * PIXEL, bias, PIXEL);
}

/* ---- INT8 ----------------------------------------------------------------------------------- */

/* A place in K: a step of a run. */
typedef struct place {
    uint32_t run, step;
} place;

static void widen_bytes(int16_t *to, const uint8_t *from, uint32_t count, bool is_signed)
{
    const int8_t *signed_from = (const int8_t *)from;
    if (is_signed)
        for (uint32_t i = 0; i < count; i++)
            to[i] = signed_from[i];
    else
        for (uint32_t i = 0; i < count; i++)
            to[i] = from[i];
}

/* Gathers the next `steps` steps of pixel x, and moves the place on. */
static void gather(int16_t *to, const tile *t, place *at, uint32_t steps, uint32_t x)
{
    while (steps) {
        const uint32_t run_steps = ac_run_steps(t->conv, t->first_run + at->run);
        const uint32_t count = min_u32(steps, run_steps - at->step);
        widen_bytes(to, t->runs[at->run] + (size_t)x * t->conv->pixel_bytes + (size_t)at->step * 4,
                    count * 4, t->conv->source_type == MONA_S8);
        to += (size_t)count * 4;
        steps -= count;
        *at = at->step + count < run_steps ? (place){at->run, at->step + count}
                                           : (place){at->run + 1, 0};
    }
}

/* Reorders weights from [step][16 outputs][4] to [output][length], with zeros at the end. */
static void turn_weights(int16_t *to, const uint8_t *from, uint32_t outputs, uint32_t steps,
                         size_t length)
{
    const int8_t *w = (const int8_t *)from;
    memset(to, 0, outputs * length * sizeof *to);
    for (size_t o = 0; o < outputs; o++)
        for (size_t s = 0; s < steps; s++)
            for (size_t e = 0; e < 4; e++)
                to[o * length + s * 4 + e] = w[(s * AC_FRACTAL + o) * 4 + e];
}

/* Adds dot products of length n to the accumulators of two pixels, acc[16 outputs] each. outputs: a
 * multiple of 4. */
static void multiply_pair(int32_t *acc, const int16_t *restrict a, const int16_t *restrict w,
                          uint32_t outputs, size_t n)
{
    int32_t *other = acc + AC_FRACTAL;
    for (size_t o = 0; o < outputs; o += 4, w += 4 * n) {
        int32_t a0 = 0, a1 = 0, a2 = 0, a3 = 0, b0 = 0, b1 = 0, b2 = 0, b3 = 0;
        DOT_LOOP
        for (size_t k = 0; k < n; k++) {
            const int16_t first = a[k], second = a[n + k];
            a0 += first * w[k], b0 += second * w[k];
            a1 += first * w[n + k], b1 += second * w[n + k];
            a2 += first * w[2 * n + k], b2 += second * w[2 * n + k];
            a3 += first * w[3 * n + k], b3 += second * w[3 * n + k];
        }
        acc[o] += a0, acc[o + 1] += a1, acc[o + 2] += a2, acc[o + 3] += a3;
        other[o] += b0, other[o + 1] += b1, other[o + 2] += b2, other[o + 3] += b3;
    }
}

static void int8_tile(tile *t)
{
    work *w = t->work;
    const uint8_t *weights = t->conv->weights + t->conv->weights_offset[t->n];
    const uint32_t total = ac_block_steps(t->conv, t->n);
    /* Weights and bias of outputs that do not exist are zero. */
    const uint32_t outputs =
        min_u32(AC_FRACTAL, (t->conv->channels - t->n * AC_FRACTAL + 3) / 4 * 4);
    place at = {0, 0}, next = at;
    fill(w->acc, t->bias, t->pixels + 1);
    for (uint32_t first = 0, steps; first < total; first += steps, at = next) {
        steps = min_u32(PART / 4, total - first);
        const size_t length = (steps * 4 + DOT - 1) / DOT * DOT;
        if (!t->all_turned)
            turn_weights(w->weights, weights + (size_t)first * 64, outputs, steps, length);
        t->all_turned = steps == total;
        memset(w->pair, 0, 2 * length * sizeof *w->pair);
        for (uint32_t i = 0; i < t->pixels; i += 2) {
            for (uint32_t k = 0; k < 2; k++) {
                next = at;
                gather(w->pair + k * length, t, &next, steps, t->x + min_u32(i + k, t->pixels - 1));
            }
            multiply_pair(w->acc + (size_t)i * AC_FRACTAL, w->pair, w->weights, outputs, length);
        }
    }
    for (uint32_t i = 0; i < t->pixels * AC_FRACTAL; i++)
        w->values[i] = (float)w->acc[i];
}

/* ---- FP16 ----------------------------------------------------------------------------------- */

/* Adds the products of `steps` steps to the accumulators of a pixel. */
static void multiply(float *restrict acc, const float *restrict a, const float *restrict w,
                     uint32_t steps)
{
    enum { N = AC_FRACTAL };
    for (; steps >= 4; steps -= 4, a += 4, w += (size_t)4 * N)
        for (uint32_t o = 0; o < N; o++)
            acc[o] =
                acc[o] + a[0] * w[o] + a[1] * w[N + o] + a[2] * w[2 * N + o] + a[3] * w[3 * N + o];
    for (; steps; steps--, a++, w += N)
        for (uint32_t o = 0; o < N; o++)
            acc[o] += a[0] * w[o];
}

/* Elements from one pixel to the next. */
static uint32_t distance_of(const ac_conv *c)
{
    return c->c0 * c->stride;
}

static void f16_tile(const tile *t)
{
    float *values = t->work->values, *stage = t->work->stage;
    const ac_conv *c = t->conv;
    const uint32_t distance = distance_of(c);
    const float *w = (const float *)(const void *)(c->weights + c->weights_offset[t->n]);
    fill(values, t->bias, t->pixels);
    for (uint32_t r = 0; r < t->run_count; r++) {
        const uint32_t total = ac_run_steps(c, t->first_run + r);
        const uint8_t *run = t->runs[r] + (size_t)t->x * c->pixel_bytes;
        for (uint32_t first = 0, steps; first < total; first += steps) {
            steps = min_u32(PART, total - first);
            ac_to_floats(stage, run + (size_t)first * 2, MONA_F16,
                         (size_t)(t->pixels - 1) * distance + steps);
            for (uint32_t i = 0; i < t->pixels; i++)
                multiply(values + (size_t)i * AC_FRACTAL, stage + (size_t)i * distance, w, steps);
            w += (size_t)steps * AC_FRACTAL;
        }
    }
}

/* ---- the epilogue --------------------------------------------------------------------------- */

/* t[pixel][output] = f16(t * scale[output]) */
static void scale_values(float *t, uint32_t pixels, const float *scale)
{
    for (uint32_t i = 0; i < pixels; i++, t += AC_FRACTAL)
        for (uint32_t o = 0; o < AC_FRACTAL; o++)
            t[o] = ac_round_finite(t[o] * scale[o]);
}

static void activate(const tile *t, float *v, uint8_t activation)
{
    const ac_epilogue *e = &t->conv->epilogue;
    if (activation != MONA_ACT_PRELU)
        ac_activate_all(v, (size_t)t->pixels * AC_FRACTAL, activation, e, NULL);
    else
        for (uint32_t i = 0; i < t->pixels; i++, v += AC_FRACTAL)
            ac_activate_all(v, AC_FRACTAL, activation, e, e->slope + (size_t)t->n * AC_FRACTAL);
}

/* Adds the scaled residual. Channels that a small channel block lacks are zero. */
static void add_residual(const tile *t, float *v)
{
    const ac_row *r = &t->row->residual;
    const bool broadcast = t->conv->epilogue.broadcast;
    const float scale = t->conv->epilogue.residual_scale;
    const size_t element = mona_type_size(r->type), pixel = r->c0 * element;
    const uint32_t channel = broadcast ? 0 : t->n * AC_FRACTAL;
    const uint32_t there = broadcast ? 1 : min_u32(r->c0, AC_FRACTAL);
    const uint8_t *from =
        r->data + channel / r->c0 * r->block_stride + t->x * pixel + channel % r->c0 * element;
    for (uint32_t i = 0; i < t->pixels; i++, v += AC_FRACTAL, from += pixel) {
        float residual[AC_FRACTAL] = {0};
        ac_to_floats(residual, from, r->type, there);
        for (uint32_t o = 0; o < AC_FRACTAL; o++)
            residual[o] = ac_round_finite(residual[o] * scale);
        for (uint32_t o = there; o < AC_FRACTAL; o++) /* a negative scale would have made them -0 */
            residual[o] = broadcast ? residual[0] : 0;
        for (uint32_t o = 0; o < AC_FRACTAL; o++)
            v[o] = ac_round_finite(v[o] + residual[o]);
    }
}

/* Applies the epilogue to accumulators as floats, and stores the results. */
static void finish(const tile *t, float *v, uint8_t *out)
{
    const ac_epilogue *e = &t->conv->epilogue;
    const uint32_t count = t->pixels * AC_FRACTAL;
    static const float one[AC_FRACTAL] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    scale_values(v, t->pixels, e->scale ? e->scale + (size_t)t->n * AC_FRACTAL : one);
    activate(t, v, e->activation);
    if (e->add)
        add_residual(t, v);
    activate(t, v, e->activation_after_add);
    for (uint32_t i = 0; i < count && e->output_scale != 1; i++)
        v[i] = ac_round_finite(v[i] * e->output_scale);
    ac_from_floats(out, v, t->row->output.type, count, 255);
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* Most pixels of a tile: for FP16 so many that the elements of PART of a run fit the stage. */
static uint32_t tile_pixels(const ac_conv *c)
{
    return c->source_type == MONA_F16 && !c->depthwise
               ? min_u32(TILE, (STAGE - PART) / distance_of(c) + 1)
               : TILE;
}

static tile tile_of(const ac_conv_row *row, uint32_t n)
{
    const ac_conv *c = row->conv;
    return (tile){.work = (work *)(void *)row->scratch,
                  .row = row,
                  .conv = c,
                  .n = n,
                  .runs = row->runs + c->first_run[n],
                  .first_run = c->first_run[n],
                  .run_count = c->run_count[n],
                  .bias = (const int32_t *)c->bias + (size_t)n * AC_FRACTAL};
}

/* Computes pixels [x, x + pixels) of block n. out: 16 results a pixel. */
static void conv_block(const ac_conv_row *row, uint32_t n, uint32_t x, uint32_t pixels,
                       uint8_t *out)
{
    const ac_conv *c = row->conv;
    const uint32_t max = tile_pixels(c), end = x + pixels;
    const size_t pixel = AC_FRACTAL * mona_type_size(row->output.type);
    tile t = tile_of(row, n);
    for (t.x = x; t.x < end; t.x += t.pixels, out += t.pixels * pixel) {
        t.pixels = min_u32(max, end - t.x);
        if (c->source_type == MONA_F16)
            f16_tile(&t);
        else
            int8_tile(&t);
        finish(&t, t.work->values, out);
    }
}

static const ac_isa scatter_by = {.unpack_row = ac_c_unpack_row};

static void conv_scattered(const ac_conv_row *row)
{
    work *w = (work *)(void *)row->scratch;
    const uint32_t group = ac_scatter_group(row);
    const ac_row source = {w->results[0], sizeof w->results[0], AC_FRACTAL, row->output.type};
    for (uint32_t n = 0; n < row->conv->blocks; n += group)
        for (uint32_t x = 0; x < row->pixels; x += TILE) {
            const uint32_t pixels = min_u32(TILE, row->pixels - x);
            for (uint32_t i = 0; i < group && n + i < row->conv->blocks; i++)
                conv_block(row, n + i, x, pixels, w->results[i]);
            ac_scatter(&scatter_by, row, &source, n, x, pixels);
        }
}

void ac_c_conv_row(const ac_conv_row *row)
{
    const ac_row *o = &row->output;
    if (ac_scatter_needed(row))
        conv_scattered(row);
    else
        for (uint32_t n = 0; n < row->conv->blocks; n++)
            conv_block(row, n, 0, row->pixels, o->data + n * o->block_stride);
}

/* ---- depthwise ------------------------------------------------------------------------------ */

/* Adds column t of a step to the sums of all pixels: `w` are its weights of 16 channels, p its
 * bytes of the first pixel. */
static void add_bytes(const tile *t, const uint8_t *p, const int16_t *restrict w)
{
    int32_t *restrict acc = t->work->acc;
    int16_t a[AC_FRACTAL];
    for (uint32_t i = 0; i < t->pixels; i++, acc += AC_FRACTAL, p += t->conv->pixel_bytes) {
        widen_bytes(a, p, AC_FRACTAL, t->conv->source_type == MONA_S8);
        for (uint32_t o = 0; o < AC_FRACTAL; o++)
            acc[o] += a[o] * w[o];
    }
}

static void add_halves(const tile *t, const uint8_t *p, const float *restrict w)
{
    float *restrict acc = t->work->values;
    float a[AC_FRACTAL];
    for (uint32_t i = 0; i < t->pixels; i++, acc += AC_FRACTAL, p += t->conv->pixel_bytes) {
        ac_to_floats(a, p, MONA_F16, AC_FRACTAL);
        for (uint32_t o = 0; o < AC_FRACTAL; o++)
            acc[o] += a[o] * w[o];
    }
}

static void depthwise_int8_tile(const tile *t)
{
    work *to = t->work;
    const int8_t *w = (const int8_t *)t->conv->weights + t->conv->weights_offset[t->n];
    fill(to->acc, t->bias, t->pixels);
    for (uint32_t r = 0; r < t->run_count; r++) {
        const uint8_t *p = t->runs[r] + (size_t)t->x * t->conv->pixel_bytes;
        const uint32_t columns = t->conv->run_elements[t->first_run + r];
        for (uint32_t k = 0; k < columns; k++, p += AC_FRACTAL) {
            int16_t column[AC_FRACTAL];
            for (uint32_t o = 0; o < AC_FRACTAL; o++)
                column[o] = w[k / 4 * 64 + o * 4 + k % 4];
            add_bytes(t, p, column);
        }
        w += (size_t)(columns + 3) / 4 * 64;
    }
    for (uint32_t i = 0; i < t->pixels * AC_FRACTAL; i++)
        to->values[i] = (float)to->acc[i];
}

static void depthwise_f16_tile(const tile *t)
{
    const float *w =
        (const float *)(const void *)(t->conv->weights + t->conv->weights_offset[t->n]);
    fill(t->work->values, t->bias, t->pixels);
    for (uint32_t r = 0; r < t->run_count; r++) {
        const uint8_t *p = t->runs[r] + (size_t)t->x * t->conv->pixel_bytes;
        for (uint32_t k = t->conv->run_elements[t->first_run + r]; k > 0; k--, w += AC_FRACTAL) {
            add_halves(t, p, w);
            p += AC_FRACTAL * 2;
        }
    }
}

void ac_c_depthwise_row(const ac_depthwise_row *row)
{
    const size_t pixel = AC_FRACTAL * mona_type_size(row->output.type);
    for (uint32_t n = 0; n < row->conv->blocks; n++) {
        tile t = tile_of(row, n);
        uint8_t *out = row->output.data + n * row->output.block_stride;
        for (; t.x < row->pixels; t.x += t.pixels, out += t.pixels * pixel) {
            t.pixels = min_u32(TILE, row->pixels - t.x);
            if (row->conv->source_type == MONA_F16)
                depthwise_f16_tile(&t);
            else
                depthwise_int8_tile(&t);
            finish(&t, t.work->values, out);
        }
    }
}
