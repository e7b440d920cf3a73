// SPDX-License-Identifier: Apache-2.0
#include "pipeline/image/picture_planes.h"

#include <stdint.h>
#include <stdlib.h>

#include <libavutil/intreadwrite.h>
#include <libavutil/pixdesc.h>

/* Samples of a picture; the last component is alpha. */
typedef struct samples {
    uint8_t *data[4];
    ptrdiff_t stride[4], step;
    unsigned colours; /* components before alpha */
    int width, height;
    bool deep, big; /* 16 bits; in big-endian order */
} samples;

static uint8_t *place(const samples *s, unsigned c, int x, int y)
{
    return s->data[c] + y * s->stride[c] + x * s->step;
}

static unsigned get(const samples *s, unsigned c, int x, int y)
{
    const uint8_t *p = place(s, c, x, y);
    return !s->deep ? *p : s->big ? AV_RB16(p) : AV_RN16(p);
}

static void put(const samples *s, unsigned c, int x, int y, unsigned value)
{
    uint8_t *p = place(s, c, x, y);
    if (!s->deep)
        *p = (uint8_t)value;
    else if (s->big)
        AV_WB16(p, value);
    else
        AV_WN16(p, value);
}

/* False: no such samples. Little-endian formats are the machine's own, or have no name here. */
static bool view(samples *s, const AVFrame *f)
{
    const AVPixFmtDescriptor *d = av_pix_fmt_desc_get(f->format);
    const int depth = d->comp[0].depth;
    const bool colours = d->nb_components == 2 || d->flags & AV_PIX_FMT_FLAG_RGB;
    if (!(d->flags & AV_PIX_FMT_FLAG_ALPHA) || d->flags & AV_PIX_FMT_FLAG_PAL || !colours ||
        (depth != 8 && depth != 16))
        return false;
    *s = (samples){.step = d->comp[0].step,
                   .colours = d->nb_components - 1u,
                   .width = f->width,
                   .height = f->height,
                   .deep = depth == 16,
                   .big = d->flags & AV_PIX_FMT_FLAG_BE};
    for (int i = 0; i < d->nb_components; i++) {
        s->data[i] = f->data[d->comp[i].plane] + d->comp[i].offset;
        s->stride[i] = f->linesize[d->comp[i].plane];
    }
    return true;
}

/* ---- spreading ------------------------------------------------------------------------------ */

/* Pixels that have got their colour, in the order in which they got it. */
typedef struct spreading {
    const samples *picture;
    uint8_t *has; /* a colour, for each pixel */
    uint32_t *queue;
    size_t count;
} spreading;

static void enter(spreading *s, int x, int y)
{
    const size_t i = (size_t)y * (size_t)s->picture->width + (size_t)x;
    s->has[i] = 1;
    s->queue[s->count++] = (uint32_t)i;
}

typedef void neighbour_action(spreading *s, int x, int y, void *context);

static void each_neighbour(spreading *s, int x, int y, neighbour_action *act, void *context)
{
    const int right = s->picture->width - 1, bottom = s->picture->height - 1;
    for (int v = y ? y - 1 : 0; v <= (y < bottom ? y + 1 : bottom); v++)
        for (int u = x ? x - 1 : 0; u <= (x < right ? x + 1 : right); u++)
            act(s, u, v, context);
}

typedef struct mean {
    uint32_t sum[3], count;
} mean;

static void add_coloured(spreading *s, int x, int y, void *context)
{
    mean *m = context;
    if (!s->has[(size_t)y * (size_t)s->picture->width + (size_t)x])
        return;
    for (unsigned c = 0; c < s->picture->colours; c++)
        m->sum[c] += get(s->picture, c, x, y);
    m->count++;
}

/* Gives a pixel the mean colour of the neighbours that have one. */
static void colour(spreading *s, int x, int y, void *unused)
{
    (void)unused;
    mean m = {0};
    if (s->has[(size_t)y * (size_t)s->picture->width + (size_t)x])
        return;
    each_neighbour(s, x, y, add_coloured, &m);
    for (unsigned c = 0; c < s->picture->colours; c++)
        put(s->picture, c, x, y, (m.sum[c] + m.count / 2) / m.count);
    enter(s, x, y);
}

static bool spread(const samples *picture)
{
    const size_t pixels = (size_t)picture->width * (size_t)picture->height;
    spreading s = {
        .picture = picture, .has = calloc(pixels, 1), .queue = malloc(pixels * sizeof *s.queue)};
    const bool good = s.has && s.queue;
    for (int y = 0; good && y < picture->height; y++)
        for (int x = 0; x < picture->width; x++)
            if (get(picture, picture->colours, x, y))
                enter(&s, x, y);
    for (size_t i = 0; s.count < pixels && i < s.count; i++)
        each_neighbour(&s, (int)(s.queue[i] % (uint32_t)picture->width),
                       (int)(s.queue[i] / (uint32_t)picture->width), colour, NULL);
    free(s.has);
    free(s.queue);
    return good;
}

bool alpha_spread_planes(const frame *f)
{
    samples s = {.step = 2,
                 .colours = 3,
                 .width = (int)f->format.width,
                 .height = (int)f->format.height,
                 .deep = true};
    for (unsigned i = 0; i < 4; i++) {
        s.data[i] = f->data[i];
        s.stride[i] = f->stride[i];
    }
    return spread(&s);
}

bool alpha_spread(AVFrame *f)
{
    samples s;
    return !view(&s, f) || spread(&s);
}

/* ---- the rest ------------------------------------------------------------------------------- */

void alpha_divide(AVFrame *f)
{
    samples s;
    if (!view(&s, f))
        return;
    const unsigned max = s.deep ? UINT16_MAX : UINT8_MAX;
    for (int y = 0; y < s.height; y++)
        for (int x = 0; x < s.width; x++) {
            const unsigned alpha = get(&s, s.colours, x, y);
            for (unsigned c = 0; alpha && c < s.colours; c++) {
                const unsigned whole = (get(&s, c, x, y) * max + alpha / 2) / alpha;
                put(&s, c, x, y, whole < max ? whole : max);
            }
        }
}

bool alpha_shows(const AVFrame *f)
{
    samples s;
    const AVPixFmtDescriptor *d = av_pix_fmt_desc_get(f->format);
    if (d->flags & AV_PIX_FMT_FLAG_PAL) {
        for (int i = 0; i < AVPALETTE_COUNT; i++)
            if (AV_RN32(f->data[1] + 4 * (ptrdiff_t)i) >> 24 != 255)
                return true;
        return false;
    }
    if (!view(&s, f))
        return false;
    const unsigned opaque = s.deep ? 65535 : 255;
    for (int y = 0; y < s.height; y++)
        for (int x = 0; x < s.width; x++)
            if (get(&s, s.colours, x, y) != opaque)
                return true;
    return false;
}
