/* Convolution row programs on x86: everything around the arithmetic, which differs between AVX2 and
 * AVX-512. Included once by each, after its vector type `vf` (16 floats) and x86_rows.h; the
 * includer then defines run_block().
 *
 * Pixels are taken in register blocks. When a row is no multiple of the block, the last block is
 * moved back to end at the last pixel: some pixels are computed twice, to the same values. */
#ifndef AC_X86_CONV_H
#define AC_X86_CONV_H

#include "scatter.h"
#include "x86_rows.h"

enum {
    STAGE = 2048,        /* elements of a run converted at a time, on the stack */
    SCATTER_PIXELS = 96, /* pixels computed before they are spread */
    MAX_PIXELS = 24,     /* of a register block */
};

/* Unless a PReLU or an output scale takes part, everything between the roundings to fp16 is a
 * clamp: the activation, fp16's saturation, and for bytes the saturation of the result. Limits are
 * fp16 values, and rounding is monotonic and keeps fp16 values (round half to even keeps the bytes'
 * limits, integers), so clamps may be merged and moved before a rounding. stage[0] is applied to
 * the scaled accumulator; with a residual, stage[1] to the sum. */
typedef struct clamp {
    float low, high;
} clamp;

typedef struct clamps {
    bool possible, add;
    clamp stage[2];
    bool tame;  /* INT8: fp16's subnormals do not matter on the way, see avx512_epilogue.h */
    bool plain; /* tame, sums are small, and what clamps there are saturating the integers does too,
                   but for stage[0].low of two */
} clamps;

/* One block of 16 outputs, or two with the same runs, on the way. */
typedef struct job {
    const ac_conv_row *row;
    const ac_conv *conv;
    const clamps *limits;
    uint32_t n; /* first block */
    const uint8_t *const *runs;
    uint32_t runs_origin; /* the pixel that runs are the addresses for */
    uint32_t first_run, run_count;
    const uint8_t *weights[2];
    const void *start[2]; /* 16 accumulators each */
    uint8_t *out[2];      /* rounded results of pixel `origin`, 16 channels a pixel */
    uint32_t origin, pixels;
    size_t pixel_size; /* bytes of a result */
} job;

static inline uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static job job_of(const ac_conv_row *row, const clamps *limits, uint32_t n)
{
    const ac_conv *c = row->conv;
    job j = {.row = row,
             .conv = c,
             .limits = limits,
             .n = n,
             .runs = row->runs + c->first_run[n],
             .first_run = c->first_run[n],
             .run_count = c->run_count[n],
             .pixel_size = AC_FRACTAL * mona_type_size(row->output.type)};
    for (uint32_t b = 0; b < 2 && n + b < c->blocks; b++) {
        j.weights[b] = c->weights + c->weights_offset[n + b];
        j.start[b] = (const uint8_t *)c->bias + (size_t)(n + b) * AC_FRACTAL * sizeof(int32_t);
    }
    return j;
}

static uint8_t *result_of(const job *j, uint32_t b, uint32_t x)
{
    return j->out[b] + (size_t)(x - j->origin) * j->pixel_size;
}

/* Elements from one output pixel to the next. */
static uint32_t pixel_elements(const ac_conv *c)
{
    return c->c0 * c->stride;
}

/* Elements of a run to stage at a time for a register block of so many pixels, a multiple of 4. */
static uint32_t stage_elements(const ac_conv *c, uint32_t pixels)
{
    return (STAGE - (pixels - 1) * pixel_elements(c)) / 4 * 4;
}

/* Whether every run of block n of outputs is whole taps of 16 channels. */
static bool whole_taps(const ac_conv *c, uint32_t n)
{
    return c->run_elements[c->first_run[n] + c->run_count[n] - 1] % 16 == 0;
}

static bool stage_fits(const ac_conv *c, uint32_t pixels)
{
    return (pixels - 1) * pixel_elements(c) <= STAGE / 2;
}

/* ---- the epilogue --------------------------------------------------------------------------- */

static void narrow(clamp *c, float low, float high)
{
    c->low = c->low > low ? c->low : low;
    c->low = c->low < high ? c->low : high;
    c->high = c->high > low ? c->high : low;
    c->high = c->high < high ? c->high : high;
}

static bool same_clamp(clamp a, clamp b)
{
    return a.low == b.low && a.high == b.high;
}

/* c: clamps_of() has merged the limits of all else. */
static void find_tame(clamps *c, const ac_conv_row *row)
{
    const ac_epilogue *e = &row->conv->epilogue;
    const clamp type = row->output.type == MONA_U8 ? (clamp){0, 255} : (clamp){-128, 127};
    c->tame = c->possible && e->scale && row->output.type != MONA_F16 &&
              (!c->add || (row->residual.type != MONA_F16 && e->residual_scale >= 0.25f &&
                           e->residual_scale <= 64));
    c->plain = c->tame && row->conv->small_sums && same_clamp(c->stage[c->add], type) &&
               (!c->add || c->stage[0].high == 65504);
}

static clamps clamps_of(const ac_conv_row *row)
{
    const ac_epilogue *e = &row->conv->epilogue;
    const uint8_t activations[2] = {e->activation, e->activation_after_add};
    clamps c = {.possible = e->output_scale == 1,
                .add = e->add,
                .stage = {{-65504, 65504}, {-65504, 65504}}};
    for (int i = 0; i < 2; i++) {
        clamp *stage = &c.stage[e->add ? i : 0];
        if (activations[i] == MONA_ACT_RELU)
            narrow(stage, 0, 65504);
        else if (activations[i] == MONA_ACT_CLIP)
            narrow(stage, e->clip_min, e->clip_max);
        /* A clip's limit may be a zero of either sign, which an fp16 result or summand would show.
         */
        if (activations[i] == MONA_ACT_PRELU ||
            (activations[i] == MONA_ACT_CLIP && (e->add || row->output.type == MONA_F16)))
            c.possible = false;
    }
    if (row->output.type == MONA_U8)
        narrow(&c.stage[e->add], 0, 255);
    else if (row->output.type == MONA_S8)
        narrow(&c.stage[e->add], -128, 127);
    find_tame(&c, row);
    return c;
}

INLINE vf apply(clamp c, vf v)
{
    return vf_min(vf_max(v, vf_set1(c.low)), vf_set1(c.high));
}

/* One channel for all 16: scaled 16 pixels at a time. */
static void broadcast_residual(const ac_conv_row *row, uint32_t x, uint32_t count, float *to)
{
    const ac_row *r = &row->residual;
    const vf scale = vf_set1(row->conv->epilogue.residual_scale);
    const uint32_t pixel = r->c0 * (uint32_t)mona_type_size(r->type);
    _Alignas(64) float values[LANES];
    for (uint32_t i = 0; i < count; i++) {
        if (i % LANES == 0) {
            const uint8_t *from = r->data + (size_t)(x + i) * pixel;
            for (uint32_t k = 0; k < LANES && r->c0 > 1; k++)
                values[k] = i + k < count ? ac_element(from + (size_t)k * pixel, r->type) : 0;
            const vf v = r->c0 > 1 ? vf_load(values) : vf_from(r->type, from);
            vf_store(values, vf_half(vf_mul(v, scale)));
        }
        vf_store(to + (size_t)i * AC_FRACTAL, vf_set1(values[i % LANES]));
    }
}

/* The scaled residual of block n, pixels x .. x + count - 1, to [count][16] floats; channels beyond
 * a smaller channel block are zero. */
static void prepare_residual(const ac_conv_row *row, uint32_t n, uint32_t x, uint32_t count,
                             float *to)
{
    const ac_row *r = &row->residual;
    const size_t element = mona_type_size(r->type);
    const uint32_t first = n * AC_FRACTAL;
    if (row->conv->epilogue.broadcast) {
        broadcast_residual(row, x, count, to);
        return;
    }
    const uint8_t *from =
        r->data + first / r->c0 * r->block_stride + ((size_t)x * r->c0 + first % r->c0) * element;
    const float scale = row->conv->epilogue.residual_scale;
    const size_t pixel = r->c0 * element;
    /* The common cases: bytes as they are, or scaled to nowhere near fp16's limit. */
    const bool bytes = r->type == MONA_U8 && r->c0 >= AC_FRACTAL;
    for (uint32_t i = 0; i < count && bytes && scale == 1; i++)
        vf_store(to + (size_t)i * AC_FRACTAL, vf_u8(load16(from + i * pixel)));
    if (bytes && scale == 1)
        return;
    if (bytes && scale >= -256 && scale <= 256) {
        for (uint32_t i = 0; i < count; i++)
            vf_store(to + (size_t)i * AC_FRACTAL,
                     vf_round(vf_mul(vf_u8(load16(from + i * pixel)), vf_set1(scale))));
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        vf v = vf_half(vf_mul(vf_from(r->type, from + i * pixel), vf_set1(scale)));
        if (r->c0 < AC_FRACTAL)
            v = vf_first(v, r->c0); /* last: a negative scale would make -0 of the zeros */
        vf_store(to + (size_t)i * AC_FRACTAL, v);
    }
}

INLINE vf scaled(const ac_epilogue *e, const void *acc, size_t at, vf scale)
{
    return e->scale ? vf_mul(vf_from_s32((const int32_t *)acc + at), scale)
                    : vf_load((const float *)acc + at);
}

/* acc: [count][16] accumulators of pixels x .. x + count - 1 of the job's block b. residual:
 * prepared, of the same pixels, if there is one. */
static void finish_pixels(const job *j, uint32_t b, uint32_t x, uint32_t count, const void *acc,
                          const float *residual)
{
    const ac_epilogue *e = &j->conv->epilogue;
    const size_t channel = (size_t)(j->n + b) * AC_FRACTAL;
    const mona_type type = j->row->output.type;
    const vf scale = e->scale ? vf_load(e->scale + channel) : vf_set1(1);
    const vf slope = e->slope ? vf_load(e->slope + channel) : vf_set1(0);
    const vf output_scale = vf_set1(e->output_scale);
    const clamps *limits = j->limits;
    uint8_t *out = result_of(j, b, x);
    for (uint32_t i = 0; i < count && limits->possible; i++, out += j->pixel_size) {
        const size_t at = (size_t)i * AC_FRACTAL;
        vf t = apply(limits->stage[0], scaled(e, acc, at, scale));
        if (limits->add)
            t = apply(limits->stage[1], vf_add(vf_round(t), vf_load(residual + at)));
        vf_to(type, out, vf_round(t));
    }
    if (limits->possible)
        return;
    for (uint32_t i = 0; i < count; i++, out += j->pixel_size) {
        vf t = vf_half(scaled(e, acc, (size_t)i * AC_FRACTAL, scale));
        t = activate(t, e->activation, e, slope);
        if (e->add)
            t = vf_half(vf_add(t, vf_load(residual + (size_t)i * AC_FRACTAL)));
        t = activate(t, e->activation_after_add, e, slope);
        if (e->output_scale != 1)
            t = vf_half(vf_mul(t, output_scale));
        vf_to(type, out, t);
    }
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* Computes pixels [j->origin, j->origin + j->pixels) of the job's `blocks` blocks, 1 or 2. */
static void run_blocks(const job *j, uint32_t blocks);

static void conv_direct(const ac_conv_row *row, const clamps *limits)
{
    const ac_conv *c = row->conv;
    for (uint32_t n = 0, blocks; n < c->blocks; n += blocks) {
        job j = job_of(row, limits, n);
        const bool pair = n + 1 < c->blocks && c->first_run[n] == c->first_run[n + 1] &&
                          c->run_count[n] == c->run_count[n + 1];
        blocks = pair ? 2 : 1;
        j.out[0] = row->output.data + n * row->output.block_stride;
        j.out[1] = j.out[0] + row->output.block_stride;
        j.pixels = row->pixels;
        run_blocks(&j, blocks);
    }
}

static void conv_scattered(const ac_conv_row *row, const clamps *limits, const ac_isa *isa)
{
    _Alignas(64) uint8_t results[AC_MAX_GROUP][SCATTER_PIXELS * AC_FRACTAL * 2];
    const uint32_t group = ac_scatter_group(row);
    const ac_row tile = {results[0], sizeof results[0], AC_FRACTAL, row->output.type};
    for (uint32_t n = 0; n < row->conv->blocks; n += group)
        for (uint32_t x = 0; x < row->pixels; x += SCATTER_PIXELS) {
            const uint32_t pixels = least(SCATTER_PIXELS, row->pixels - x);
            for (uint32_t i = 0; i < group && n + i < row->conv->blocks; i++) {
                job j = job_of(row, limits, n + i);
                j.out[0] = results[i];
                j.origin = x;
                j.pixels = pixels;
                run_blocks(&j, 1);
            }
            ac_scatter(isa, row, &tile, n, x, pixels);
        }
}

static void conv_any(const ac_conv_row *row, const ac_isa *isa)
{
    const clamps limits = clamps_of(row);
    if (ac_scatter_needed(row))
        conv_scattered(row, &limits, isa);
    else
        conv_direct(row, &limits);
}

/* Goes on to the second block of a pair. */
static void next_block(job *j)
{
    j->n++;
    j->weights[0] = j->weights[1];
    j->start[0] = j->start[1];
    j->out[0] = j->out[1];
}

#endif
