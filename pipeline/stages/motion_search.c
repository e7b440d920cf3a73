// SPDX-License-Identifier: Apache-2.0
#include "pipeline/stages/motion_search.h"

#include <stdlib.h>

#include "pipeline/stages/motion_mask.h"
#include "pipeline/stages/sample.h"
#include "pipeline/stages/vector.h"

enum { TAPS = 4, ONE = 128, MOVES = 4 };

/* Keys' cubic (a = -0.5) at each eighth of a sample, in ONE. */
static const int16_t CUBIC[8][TAPS] = {{0, 128, 0, 0},    {-6, 123, 12, -1}, {-9, 111, 29, -3},
                                       {-9, 93, 50, -6},  {-8, 72, 72, -8},  {-6, 50, 93, -9},
                                       {-3, 29, 111, -9}, {-1, 12, 123, -6}};

/* One plane; `wide`: more than 8 bits. */
typedef struct view {
    const uint8_t *data;
    ptrdiff_t stride;
    int32_t width, height;
    bool wide;
} view;

/* The search of one block. */
typedef struct search {
    view now, before;
    int32_t x, y;     /* the window's first sample */
    motion_vector at; /* the best so far */
    uint32_t sad;     /* its difference */
    uint32_t unmoved; /* the difference without motion */
    bool level;       /* windows are compared as if both were equally bright */
} search;

static view view_of(const frame *f, unsigned plane)
{
    const mona_size size = frame_plane_size(&f->format, plane);
    return (view){f->data[plane], f->stride[plane], (int32_t)size.width, (int32_t)size.height,
                  f->format.bits > 8};
}

static const uint8_t *sample_at(const view *v, int32_t x, int32_t y)
{
    return v->data + (ptrdiff_t)y * v->stride + (ptrdiff_t)x * (v->wide ? 2 : 1);
}

/* Whether the samples that interpolation needs for a square of this size are inside. */
static bool inside(const view *v, int32_t x, int32_t y, int32_t side)
{
    return x >= 1 && y >= 1 && x + side + 2 <= v->width && y + side + 2 <= v->height;
}

/* ---- differences ---------------------------------------------------------------------------- */

static inline int sum_of(const uint8_t *a, ptrdiff_t stride, const bool wide)
{
    int sum = 0;
    for (int y = 0; y < MOTION_WINDOW; y++, a += stride)
        for (int x = 0; x < MOTION_WINDOW; x++)
            sum += plane_sample(a, x, wide);
    return sum;
}

/* The sum of int is what compilers know as the instruction for it. level: as in a search. */
static inline uint32_t sad_of(const uint8_t *a, ptrdiff_t a_stride, const uint8_t *b,
                              ptrdiff_t b_stride, const bool level, const bool wide)
{
    const int brighter =
        level ? (sum_of(a, a_stride, wide) - sum_of(b, b_stride, wide)) / MOTION_WINDOW_AREA : 0;
    int sum = 0;
    for (int y = 0; y < MOTION_WINDOW; y++, a += a_stride, b += b_stride)
        for (int x = 0; x < MOTION_WINDOW; x++)
            sum += abs(plane_sample(a, x, wide) - plane_sample(b, x, wide) - brighter);
    return (uint32_t)sum;
}

/* The window that begins fx and fy quarters after b, linearly between samples. 8 bits: sums of 16
 * weights fit 16 bits, of which twice as many fit a vector. */
static inline void between(const uint8_t *b, ptrdiff_t stride, int fx, int fy, uint8_t *to,
                           const bool wide)
{
    const uint16_t weights[4] = {(uint16_t)((4 - fx) * (4 - fy)), (uint16_t)(fx * (4 - fy)),
                                 (uint16_t)((4 - fx) * fy), (uint16_t)(fx * fy)};
    for (int y = 0; y < MOTION_WINDOW; y++, b += stride)
        for (int x = 0; x < MOTION_WINDOW; x++) {
            const uint8_t *below = b + stride;
            const int sum = weights[0] * plane_sample(b, x, wide) +
                            weights[1] * plane_sample(b, x + 1, wide) +
                            weights[2] * plane_sample(below, x, wide) +
                            weights[3] * plane_sample(below, x + 1, wide) + 8;
            put_plane_sample(to, y * MOTION_WINDOW + x, wide ? sum >> 4 : (uint16_t)sum >> 4, wide);
        }
}

static inline uint32_t sad(const search *s, int32_t x, int32_t y, int fx, int fy, const bool level,
                           const bool wide)
{
    uint8_t moved[MOTION_WINDOW_AREA * 2];
    const uint8_t *a = sample_at(&s->now, s->x, s->y), *b = sample_at(&s->before, x, y);
    if (!fx && !fy)
        return sad_of(a, s->now.stride, b, s->before.stride, level, wide);
    between(b, s->before.stride, fx, fy, moved, wide);
    return sad_of(a, s->now.stride, moved, MOTION_WINDOW * (wide ? 2 : 1), level, wide);
}

static uint32_t difference(const search *s, motion_vector v)
{
    const int32_t x = s->x + (v.x >> 2), y = s->y + (v.y >> 2);
    const int fx = v.x & 3, fy = v.y & 3;
    if (abs(v.x) > 4 * MOTION_FARTHEST || abs(v.y) > 4 * MOTION_FARTHEST ||
        !inside(&s->before, x, y, MOTION_WINDOW))
        return UINT32_MAX;
    if (s->level)
        return BY_WIDTH(s->now.wide, sad, s, x, y, fx, fy, true);
    return BY_WIDTH(s->now.wide, sad, s, x, y, fx, fy, false);
}

/* ---- the search ----------------------------------------------------------------------------- */

static bool consider(search *s, int32_t x, int32_t y)
{
    const motion_vector v = {(int16_t)x, (int16_t)y, false};
    const uint32_t sad = difference(s, v);
    if (sad >= s->sad)
        return false;
    s->sad = sad;
    s->at = v;
    return true;
}

/* Moves by `step` quarters up, down, left or right as long as that is better, a few times. */
static void descend(search *s, int32_t step)
{
    static const int8_t WAYS[4][2] = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}};
    for (int moves = 0; moves < MOVES; moves++) {
        const motion_vector from = s->at;
        bool better = false;
        for (int i = 0; i < 4; i++)
            better |= consider(s, from.x + WAYS[i][0] * step, from.y + WAYS[i][1] * step);
        if (!better)
            return;
    }
}

/* To whole samples, which the first steps look at. */
static int32_t whole(int32_t quarters)
{
    return ((quarters + 2) >> 2) * 4;
}

/* From the best so far. */
static void descend_all(search *s)
{
    for (int32_t step = 4 * 8; step; step >>= 1)
        descend(s, step);
}

static void find(search *s, const motion_vector *vectors, uint32_t across, uint32_t x, uint32_t y)
{
    const motion_vector *here = vectors + (size_t)y * across + x;
    s->sad = UINT32_MAX;
    consider(s, 0, 0);
    s->unmoved = s->sad;
    consider(s, whole(here->x), whole(here->y));
    if (x)
        consider(s, whole(here[-1].x), whole(here[-1].y));
    if (y)
        consider(s, whole(here[-(ptrdiff_t)across].x), whole(here[-(ptrdiff_t)across].y));
    if (y && x + 1 < across)
        consider(s, whole(here[1 - (ptrdiff_t)across].x), whole(here[1 - (ptrdiff_t)across].y));
    descend_all(s);
}

/* ---- fetching ------------------------------------------------------------------------------- */

/* The cubic between samples x and x + 1 of a row, in ONE. */
static inline int cubic_across(const uint8_t *row, ptrdiff_t x, const int16_t *weights,
                               const bool wide)
{
    int sum = 0;
    for (int k = 0; k < TAPS; k++)
        sum += weights[k] * plane_sample(row, x + k - 1, wide);
    return sum;
}

/* A square of `side` samples from (x, y) on, fx and fy eighths further. */
static inline void fetch(const view *v, int32_t x, int32_t y, int fx, int fy, int side, int most,
                         uint16_t *to, const bool wide)
{
    int rows[MOTION_WINDOW + TAPS - 1][MOTION_WINDOW];
    for (int j = 0; j < side + TAPS - 1; j++)
        for (int i = 0; i < side; i++)
            rows[j][i] = cubic_across(sample_at(v, x, y + j - 1), i, CUBIC[fx], wide);
    for (int j = 0; j < side; j++)
        for (int i = 0; i < side; i++) {
            int sum = ONE * ONE / 2;
            for (int k = 0; k < TAPS; k++)
                sum += CUBIC[fy][k] * rows[j + k][i];
            sum = sum < 0 ? 0 : sum / (ONE * ONE);
            to[j * side + i] = (uint16_t)(sum < most ? sum : most);
        }
}

static void fetch_square(const view *v, int32_t x, int32_t y, int fx, int fy, int side, int most,
                         uint16_t *to)
{
    BY_WIDTH(v->wide, fetch, v, x, y, fx, fy, side, most, to);
}

/* The window's first sample: as far around the block as the plane reaches. */
static int32_t window_start(uint32_t block, int32_t size)
{
    const int32_t start = (int32_t)block * MOTION_MASK_BLOCK - MOTION_AROUND;
    const int32_t last = size - MOTION_WINDOW;
    return start < 0 ? 0 : start > last ? last : start;
}

static bool motion_search_any(motion_vector *vectors, uint32_t across, uint32_t x, uint32_t y,
                              const frame *now, const frame *before, motion_difference *difference)
{
    search s = {.now = view_of(now, 0), .before = view_of(before, 0)};
    if (s.now.width < MOTION_WINDOW || s.now.height < MOTION_WINDOW)
        return false;
    s.x = window_start(x, s.now.width);
    s.y = window_start(y, s.now.height);
    find(&s, vectors, across, x, y);
    vectors[(size_t)y * across + x] = s.at;
    *difference = (motion_difference){s.unmoved, s.sad};
    return s.sad != UINT32_MAX;
}

int motion_brighter(const frame *now, const frame *before, uint32_t x, uint32_t y)
{
    const view a = view_of(now, 0), b = view_of(before, 0);
    return (sum_of(sample_at(&a, (int32_t)x, (int32_t)y), a.stride, a.wide) -
            sum_of(sample_at(&b, (int32_t)x, (int32_t)y), b.stride, b.wide)) /
           MOTION_WINDOW_AREA;
}

static uint32_t motion_residual_any(const frame *now, const frame *before, uint32_t x, uint32_t y,
                                    bool level, motion_vector *at)
{
    search s = {
        .now = view_of(now, 0), .before = view_of(before, 0), .sad = UINT32_MAX, .level = level};
    s.x = (int32_t)x;
    s.y = (int32_t)y;
    consider(&s, 0, 0);
    consider(&s, whole(at->x), whole(at->y));
    descend_all(&s);
    *at = s.at;
    return s.sad;
}

VECTOR_FUNCTION(uint32_t, motion_residual,
                (const frame *now, const frame *before, uint32_t x, uint32_t y, bool level,
                 motion_vector *at),
                (now, before, x, y, level, at))

VECTOR_FUNCTION(bool, motion_search,
                (motion_vector * vectors, uint32_t across, uint32_t x, uint32_t y, const frame *now,
                 const frame *before, motion_difference *difference),
                (vectors, across, x, y, now, before, difference))

static void motion_fetch_luma_any(const frame *before, uint32_t x, uint32_t y, motion_vector by,
                                  motion_window *window)
{
    const view v = view_of(before, 0);
    const int32_t left = window_start(x, v.width), top = window_start(y, v.height);
    window->x = (uint32_t)left;
    window->y = (uint32_t)top;
    fetch_square(&v, left + (by.x >> 2), top + (by.y >> 2), 2 * (by.x & 3), 2 * (by.y & 3),
                 MOTION_WINDOW, (1 << before->format.bits) - 1, window->luma[0]);
}

VECTOR_PROCEDURE(motion_fetch_luma,
                 (const frame *before, uint32_t x, uint32_t y, motion_vector by,
                  motion_window *window),
                 (before, x, y, by, window))

static bool motion_fetch_chroma_any(const frame *before, unsigned plane, uint32_t x, uint32_t y,
                                    motion_vector by, uint16_t to[MOTION_CHROMA][MOTION_CHROMA])
{
    const view v = view_of(before, plane);
    const int32_t from_x = (int32_t)x * MOTION_CHROMA + (by.x >> 3),
                  from_y = (int32_t)y * MOTION_CHROMA + (by.y >> 3);
    if (!inside(&v, from_x, from_y, MOTION_CHROMA))
        return false;
    fetch_square(&v, from_x, from_y, by.x & 7, by.y & 7, MOTION_CHROMA,
                 (1 << before->format.bits) - 1, to[0]);
    return true;
}

VECTOR_FUNCTION(bool, motion_fetch_chroma,
                (const frame *before, unsigned plane, uint32_t x, uint32_t y, motion_vector by,
                 uint16_t to[MOTION_CHROMA][MOTION_CHROMA]),
                (before, plane, x, y, by, to))
