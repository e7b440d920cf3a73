// SPDX-License-Identifier: Apache-2.0
/* A stage that smooths bands: steps in what was a slow gradient before it was rounded or
 * compressed. Where four samples around one are all within a few steps of it, it becomes their
 * mean, rounded by a pattern. Their distances differ from sample to sample, so an edge of a band
 * becomes a mixture of both sides. Whatever differs by more, as edges and most texture do, stays.
 * Samples and pattern depend on the place alone: what stands still does not flicker. */
#include <stdlib.h>

#include "pipeline/stages/sample.h"
#include "pipeline/stages/stage.h"

/* The first in steps of 8 bits, the others in samples. */
enum { THRESHOLD = 3, RANGE = 16, SIDE = 64 };

/* What differs from place to place; it repeats every SIDE samples. */
typedef struct pattern {
    uint8_t across, down; /* to the four samples; up to RANGE */
    uint8_t rounding;     /* added before a sum is divided by 4 */
} pattern;

typedef struct deband_job {
    const struct deband *deband;
    const frame *in, *out;
} deband_job;

typedef struct deband {
    pattern patterns[SIDE][SIDE];
    deband_job jobs[STAGE_SLOTS];
} deband;

static pattern scattered(uint32_t x, uint32_t y)
{
    uint32_t h = x * 0x9e3779b1u ^ y * 0x85ebca77u;
    h = (h ^ h >> 15) * 0x2c1b3c6du;
    h ^= h >> 13;
    return (pattern){(uint8_t)(1 + h % RANGE), (uint8_t)(1 + h / RANGE % RANGE), h >> 30};
}

static uint32_t within(int64_t at, uint32_t size)
{
    return at < 0 ? 0 : at < size ? (uint32_t)at : size - 1;
}

/* rows: from RANGE above to RANGE below. */
static inline void smooth_row(const uint8_t *rows[2 * RANGE + 1], uint8_t *to,
                              const pattern *patterns, uint32_t width, int limit, bool wide)
{
    for (uint32_t x = 0; x < width; x++) {
        const pattern p = patterns[x % SIDE];
        const uint8_t *above = rows[RANGE - p.down], *below = rows[RANGE + p.down];
        const uint32_t left = x < p.across ? 0 : x - p.across;
        const uint32_t right = x + p.across < width ? x + p.across : width - 1;
        const int sample = plane_sample(rows[RANGE], x, wide);
        const int a = plane_sample(above, left, wide), b = plane_sample(above, right, wide);
        const int c = plane_sample(below, left, wide), d = plane_sample(below, right, wide);
        const bool near = (abs(a - sample) <= limit) & (abs(b - sample) <= limit) &
                          (abs(c - sample) <= limit) & (abs(d - sample) <= limit);
        put_plane_sample(to, x, near ? (a + b + c + d + p.rounding) / 4 : sample, wide);
    }
}

static void smooth_plane(const deband_job *job, unsigned plane)
{
    const frame_format *format = &job->in->format;
    const mona_size size = frame_shown_size(format, plane);
    const int limit = THRESHOLD << (format->bits - 8);
    for (uint32_t y = 0; y < size.height; y++) {
        const pattern *patterns = job->deband->patterns[y % SIDE];
        const uint8_t *rows[2 * RANGE + 1];
        for (int r = -RANGE; r <= RANGE; r++)
            rows[RANGE + r] = frame_row(job->in, plane, within((int64_t)y + r, size.height));
        BY_WIDTH(format->bits > 8, smooth_row, rows, frame_row(job->out, plane, y), patterns,
                 size.width, limit);
    }
    frame_pad_plane(job->out, plane);
}

static void smooth(void *argument)
{
    const deband_job *job = argument;
    for (unsigned p = 0; p < job->in->format.planes && p < 3; p++)
        smooth_plane(job, p);
}

static bool open(stage *s, const stage_settings *settings, pipeline_error *error)
{
    deband *d = s->state;
    (void)settings, (void)error;
    for (uint32_t y = 0; y < SIDE; y++)
        for (uint32_t x = 0; x < SIDE; x++)
            d->patterns[y][x] = scattered(x, y);
    return true;
}

static mona_status enqueue(stage *s, const stage_work *work)
{
    deband *d = s->state;
    deband_job *job = &d->jobs[work->slot];
    *job = (deband_job){d, work->in, work->out};
    const mona_status status = mona_stream_call(s->stream, smooth, job);
    return status || work->in->format.planes < 4
               ? status
               : frame_copy_plane(s->stream, work->in, work->out, 3);
}

const stage_row deband_stage = {.state_bytes = sizeof(deband), .open = open, .enqueue = enqueue};
