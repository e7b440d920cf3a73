// SPDX-License-Identifier: Apache-2.0
/* A stage that puts film grain back: noise like that which denoising took out (grain.h).
 *
 * White noise, a hash of the place and of the frame's seed, is filtered across and down. The filter
 * is that whose noise has the measured correlations: its spectrum is the square root of theirs. As
 * wide as the frame was enlarged since, it is interpolated as an enlarged frame is, so grain is as
 * much larger as the picture. What that gives is multiplied by the strength at the brightness of
 * each place. All of it is integers but for the few coefficients, so bytes are the same everywhere.
 */
#include <math.h>
#include <stdlib.h>

#include "pipeline/stages/grain.h"
#include "pipeline/stages/sample.h"
#include "pipeline/stages/stage.h"
#include "pipeline/stages/vector.h"

/* A filter's taps: their squares add up to about TAPS_ONE^2. REACH: of the filter before it is
 * made wider. White noise is the sum of four bytes, less its mean. */
enum {
    REACH = GRAIN_LAGS + 2,
    MOST_REACH = REACH * RESIZE_MAX,
    TAPS_ONE = 256,
    WHITE_MEAN = 2 * 255,
    FREQUENCIES = 2 * GRAIN_LAGS
};
#define WHITE_SIGMA 147.8
#define LEVEL_ONE 65536

typedef struct filter {
    int16_t taps[2 * MOST_REACH + 1];
    int reach;
    double gain; /* of noise */
} filter;

typedef struct grain_job {
    struct grain_stage_state *stage;
    const frame *in, *out;
    const grain_model *model; /* NULL: nothing was taken out */
} grain_job;

typedef struct grain_stage_state {
    double share; /* of the grain that comes back */
    int black, white;
    uint32_t width; /* of a line */
    int16_t *lines; /* 2 * MOST_REACH + 1 of them, and one of white noise */
    int32_t *sums;  /* one line */
    filter across, down;
    int32_t levels[256]; /* by luma */
    grain_job jobs[STAGE_SLOTS];
} grain_stage_state;

/* ---- its shape ------------------------------------------------------------------------------ */

/* cos(pi n / 8) */
static double cosine(int n)
{
    static const double quarter[] = {1, 0.92387953251128674, 0.70710678118654752,
                                     0.38268343236508977, 0};
    const int at = abs(n) % FREQUENCIES, half = at > GRAIN_LAGS ? FREQUENCIES - at : at;
    return half > 4 ? -quarter[GRAIN_LAGS - half] : quarter[half];
}

/* The filter before it is made wider: from 0 to GRAIN_LAGS, and alike below. */
static void shape(const double correlation[GRAIN_LAGS], double half[GRAIN_LAGS + 1])
{
    double amplitude[FREQUENCIES];
    for (int f = 0; f < FREQUENCIES; f++) {
        double power = 1;
        for (int k = 1; k < GRAIN_LAGS; k++)
            power += 2 * correlation[k] * (1 - (double)k * k / (GRAIN_LAGS * GRAIN_LAGS)) *
                     cosine(f * k);
        amplitude[f] = sqrt(fmax(power, 0));
    }
    for (int n = 0; n <= GRAIN_LAGS; n++) {
        half[n] = 0;
        for (int f = 0; f < FREQUENCIES; f++)
            half[n] += amplitude[f] * cosine(f * n) / FREQUENCIES;
    }
}

/* Keys' cubic, as frames are interpolated. */
static double cubic(double x)
{
    x = fabs(x);
    return x < 1 ? (1.5 * x - 2.5) * x * x + 1 : x < 2 ? ((-0.5 * x + 2.5) * x - 4) * x + 2 : 0;
}

static void make_filter(filter *f, const double correlation[GRAIN_LAGS], double scale)
{
    double half[GRAIN_LAGS + 1], wide[MOST_REACH + 1] = {0}, energy = 0;
    shape(correlation, half);
    int reach = (int)fmin(REACH * scale, MOST_REACH);
    for (int m = 0; m <= reach; m++) {
        for (int n = -GRAIN_LAGS; n <= GRAIN_LAGS; n++)
            wide[m] += half[abs(n)] * cubic(m / scale - n);
        energy += (m ? 2 : 1) * wide[m] * wide[m];
    }
    const double unit = energy > 0 ? TAPS_ONE / sqrt(energy) : 0;
    while (reach && fabs(wide[reach] * unit) < 1.5)
        reach--;
    f->reach = reach;
    f->gain = 0;
    for (int m = 0; m <= reach; m++) {
        const int tap = (int)lrint(wide[m] * unit);
        f->taps[reach + m] = f->taps[reach - m] = (int16_t)tap;
        f->gain += (m ? 2.0 : 1.0) * tap * tap;
    }
    f->gain = sqrt(f->gain) / TAPS_ONE;
}

/* The factors by luma, between the middles of the measured levels. What is black or white, as
 * borders are, stays so; within BESIDE steps of it grain fades, since denoising leaves a border's
 * last rows a few steps off. */
static void make_levels(grain_stage_state *g, const grain_plane *plane, unsigned bits)
{
    enum { EACH = 256 / GRAIN_LEVELS, BESIDE = 8 };
    const double unit = g->share * LEVEL_ONE * (1u << (bits - 8)) /
                        (GRAIN_ONE * WHITE_SIGMA * g->across.gain * g->down.gain);
    for (int l = 0; l < 256; l++) {
        const int at = l < EACH / 2 ? 0 : (l - EACH / 2) / EACH;
        const int next = at + 1 < GRAIN_LEVELS ? at + 1 : at;
        const double part = l < EACH / 2 ? 0 : (double)((l - EACH / 2) % EACH) / EACH;
        const double sigma = plane->sigma[at] * (1 - part) + plane->sigma[next] * part;
        const int inside = l - g->black < g->white - l ? l - g->black : g->white - l;
        const double share = fmin(fmax((double)inside / BESIDE, 0), 1);
        g->levels[l] = (int32_t)lrint(unit * sigma * share);
    }
}

/* ---- noise ---------------------------------------------------------------------------------- */

static inline uint32_t scattered(uint32_t h)
{
    h = (h ^ h >> 16) * 0x21f0aaadu;
    h = (h ^ h >> 15) * 0x735a2d97u;
    return h ^ h >> 15;
}

static inline void white_line(int16_t *to, uint32_t count, uint32_t seed)
{
    for (uint32_t x = 0; x < count; x++) {
        const uint32_t h = scattered(seed + x * 0x9e3779b1u);
        to[x] =
            (int16_t)((int)((h & 255) + (h >> 8 & 255) + (h >> 16 & 255) + (h >> 24)) - WHITE_MEAN);
    }
}

static inline void add_tap(int32_t *sums, const int16_t *line, uint32_t count, int tap)
{
    for (uint32_t x = 0; x < count; x++)
        sums[x] += tap * line[x];
}

/* A line of noise that is filtered across. */
static inline void make_line(const grain_stage_state *g, uint32_t width, uint32_t seed, int16_t *to)
{
    const filter *f = &g->across;
    int16_t *white = g->lines + (size_t)(2 * MOST_REACH + 1) * g->width;
    white_line(white, width + 2 * (uint32_t)f->reach, seed);
    memset(g->sums, 0, width * sizeof *g->sums);
    for (int t = 0; t <= 2 * f->reach; t++)
        add_tap(g->sums, white + t, width, f->taps[t]);
    for (uint32_t x = 0; x < width; x++)
        to[x] = (int16_t)(g->sums[x] / TAPS_ONE);
}

static inline void put_line(const grain_stage_state *g, const uint8_t *in, const uint8_t *luma,
                            uint8_t *out, uint32_t width, unsigned bits, unsigned shift_x,
                            const bool wide)
{
    const int most = (1 << bits) - 1;
    for (uint32_t x = 0; x < width; x++) {
        const int light =
            plane_sample_within(luma, (ptrdiff_t)x << shift_x, most, wide) >> (bits - 8);
        const int add = g->sums[x] / TAPS_ONE * g->levels[light];
        const int made = plane_sample(in, x, wide) +
                         ((add + LEVEL_ONE / 2) >> 16); /* rounds down, which is all targets' way */
        put_plane_sample(out, x, made < 0 ? 0 : made > most ? most : made, wide);
    }
}

static void put_plane(grain_stage_state *g, const grain_job *job, unsigned plane)
{
    const frame_format *format = &job->in->format;
    const mona_size size = frame_shown_size(format, plane);
    const mona_size from = frame_shown_size(&job->model->format, plane);
    const grain_plane *grain = &job->model->planes[plane];
    const bool chroma = plane == 1 || plane == 2;
    const unsigned shift_x = chroma ? format->shift_x : 0, shift_y = chroma ? format->shift_y : 0;
    make_filter(&g->across, grain->across, (double)size.width / from.width);
    make_filter(&g->down, grain->down, (double)size.height / from.height);
    make_levels(g, grain, format->bits);
    const uint32_t lines = 2 * (uint32_t)g->down.reach + 1;
    for (uint32_t y = 0; y < size.height + lines - 1; y++) {
        const uint32_t seed = scattered(job->model->seed + scattered(y * GRAIN_PLANES + plane));
        make_line(g, size.width, seed, g->lines + (size_t)(y % lines) * g->width);
        if (y + 1 < lines)
            continue;
        const uint32_t row = y + 1 - lines;
        memset(g->sums, 0, size.width * sizeof *g->sums);
        for (uint32_t t = 0; t < lines; t++)
            add_tap(g->sums, g->lines + (size_t)((row + t) % lines) * g->width, size.width,
                    g->down.taps[t]);
        const uint8_t *luma = frame_row(job->in, 0, (size_t)row << shift_y);
        const uint8_t *in = frame_row(job->in, plane, row);
        uint8_t *out = frame_row(job->out, plane, row);
        BY_WIDTH(format->bits > 8, put_line, g, in, luma, out, size.width, format->bits, shift_x);
    }
    frame_pad_plane(job->out, plane);
}

/* ---- the stage ------------------------------------------------------------------------------ */

static bool has_grain(const grain_job *job, unsigned plane)
{
    uint32_t all = 0;
    for (unsigned l = 0; job->model && l < GRAIN_LEVELS; l++)
        all |= job->model->planes[plane].sigma[l];
    return all;
}

static void copy(const grain_job *job, unsigned plane)
{
    frame_fill_plane((frame *)job->out, plane, job->in->data[plane], job->in->stride[plane]);
}

static void grain_put_back_any(grain_job *job)
{
    for (unsigned p = 0; p < job->in->format.planes; p++)
        if (p < GRAIN_PLANES && has_grain(job, p))
            put_plane(job->stage, job, p);
        else
            copy(job, p);
}

VECTOR_PROCEDURE(grain_put_back, (grain_job * job), (job))

static void run(void *argument)
{
    grain_put_back(argument);
}

static bool open(stage *s, const stage_settings *settings, pipeline_error *error)
{
    grain_stage_state *g = s->state;
    g->share = settings->grain;
    g->black = settings->full_range ? 0 : 16;
    g->white = settings->full_range ? 255 : 235;
    g->width = s->in.width + 2 * MOST_REACH;
    g->lines = stage_take(s, (2 * MOST_REACH + 2) * (size_t)g->width * sizeof *g->lines);
    g->sums = stage_take(s, (size_t)g->width * sizeof *g->sums);
    return (g->lines && g->sums) || pipeline_fail(error, "out of memory");
}

static mona_status enqueue(stage *s, const stage_work *work)
{
    grain_stage_state *g = s->state;
    grain_job *job = &g->jobs[work->slot];
    *job = (grain_job){g, work->in, work->out, work->removed};
    return mona_stream_call(s->stream, run, job);
}

const stage_row grain_stage = {
    .state_bytes = sizeof(grain_stage_state), .open = open, .enqueue = enqueue};
