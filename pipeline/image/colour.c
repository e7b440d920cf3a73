// SPDX-License-Identifier: Apache-2.0
/* BT.601 full range. Planes have b bits; for 8-bit pictures, b - 8 of them are fractions of a step:
 *
 *     Y  =  0.299 R + 0.587 G + 0.114 B        R = Y + 1.402 Cr
 *     Cb = (B - Y) / 1.772 + 128               G = Y - 0.344136 Cb - 0.714136 Cr
 *     Cr = (R - Y) / 1.402 + 128               B = Y + 1.772 Cb          (Cb, Cr less 128)
 *
 * Each result is rounded to nearest. Planes are then off by at most half of 2^(8 - b), and a colour
 * by at most 1 + 1.772 times that. With 10 bits or more this is less than half a step, so colours
 * of 8 bits are restored exactly. Colours of 16 bits are off by up to two steps. */
#include "pipeline/image/picture_planes.h"

#include "pipeline/stages/sample.h"

enum { POINT = 18 }; /* fraction bits of a coefficient */

static unsigned depth_of(const still *image)
{
    return image->depth == 16 ? 16 : 8;
}

/* The largest chroma of 16 bits is rounded past the range. */
static void put(const frame *to, unsigned plane, uint32_t x, uint32_t y, int value)
{
    const int max = (1 << to->format.bits) - 1;
    put_plane_sample(frame_row(to, plane, y), x, value < max ? value : max, true);
}

static int get(const frame *from, unsigned plane, uint32_t x, uint32_t y)
{
    return plane_sample(frame_row(from, plane, y), x, true);
}

static int rounded(int64_t value, unsigned shift)
{
    return (int)((value + ((int64_t)1 << shift >> 1)) >> shift);
}

/* Where the samples of a pixel begin. */
static size_t pixel(const still *image, uint32_t x, uint32_t y)
{
    x = x < image->width ? x : image->width - 1;
    y = y < image->height ? y : image->height - 1;
    return ((size_t)y * image->width + x) * image->channels;
}

static int sample_of(const still *image, size_t i)
{
    return plane_sample(image->pixels, (ptrdiff_t)i, image->depth == 16);
}

static int64_t luma(int64_t r, int64_t g, int64_t b)
{
    return 78381 * r + 153879 * g + 29884 * b;
}

static void split_chroma(frame *to, const still *from)
{
    const frame_format *f = &to->format;
    const mona_size size = frame_plane_size(f, 1);
    const uint32_t block = 1u << f->shift_x;
    const unsigned depth = depth_of(from), shift = POINT - (f->bits - depth) + 2 * f->shift_x;
    const int64_t grey = (int64_t)1 << (depth - 1 + POINT + 2 * f->shift_x);
    for (uint32_t y = 0; y < size.height; y++)
        for (uint32_t x = 0; x < size.width; x++) {
            int64_t r = 0, g = 0, b = 0;
            for (uint32_t i = 0; i < block * block; i++) {
                const size_t p = pixel(from, x * block + i % block, y * block + i / block);
                r += sample_of(from, p);
                g += sample_of(from, p + 1);
                b += sample_of(from, p + 2);
            }
            put(to, 1, x, y, rounded(grey - 44233 * r - 86839 * g + 131072 * b, shift));
            put(to, 2, x, y, rounded(grey + 131072 * r - 109756 * g - 21316 * b, shift));
        }
}

static void set_grey(frame *to, unsigned plane)
{
    const mona_size size = frame_plane_size(&to->format, plane);
    for (uint32_t y = 0; y < size.height; y++)
        frame_set_samples(frame_row(to, plane, y), &to->format, 1u << (to->format.bits - 1),
                          size.width);
}

void colour_split(frame *to, const still *from)
{
    const mona_size size = frame_plane_size(&to->format, 0);
    const unsigned colours = from->channels < 3 ? 1 : 3, depth = depth_of(from);
    const unsigned more = to->format.bits - depth;
    for (uint32_t y = 0; y < size.height; y++)
        for (uint32_t x = 0; x < size.width; x++) {
            const size_t p = pixel(from, x, y);
            const int64_t level = luma(sample_of(from, p), sample_of(from, p + colours / 2),
                                       sample_of(from, p + colours - 1));
            const int opaque = (1 << depth) - 1;
            put(to, 0, x, y, rounded(level, POINT - more));
            if (to->format.planes == 4)
                put(to, 3, x, y,
                    (from->channels > colours ? sample_of(from, p + colours) : opaque) << more);
        }
    if (to->format.planes < 3)
        return;
    if (colours == 3) {
        split_chroma(to, from);
        return;
    }
    set_grey(to, 1);
    set_grey(to, 2);
}

/* Sets sample i, limited to the range. */
static void set(still *to, size_t i, int value)
{
    const int max = (1 << depth_of(to)) - 1;
    put_plane_sample(to->pixels, (ptrdiff_t)i,
                     value < 0     ? 0
                     : value > max ? max
                                   : value,
                     to->depth == 16);
}

void colour_join(still *to, const frame *from)
{
    const unsigned colours = to->channels < 3 ? 1 : 3, more = from->format.bits - depth_of(to);
    const unsigned shift = POINT + more;
    const int grey = 1 << (from->format.bits - 1);
    for (uint32_t y = 0; y < to->height; y++)
        for (uint32_t x = 0; x < to->width; x++) {
            const size_t p = pixel(to, x, y);
            const int64_t level = get(from, 0, x, y) * ((int64_t)1 << POINT);
            if (colours == 3) {
                const int64_t cb = get(from, 1, x, y) - grey, cr = get(from, 2, x, y) - grey;
                set(to, p, rounded(level + 367526 * cr, shift));
                set(to, p + 1, rounded(level - 90213 * cb - 187207 * cr, shift));
                set(to, p + 2, rounded(level + 464519 * cb, shift));
            } else {
                set(to, p, rounded(level, shift));
            }
            if (to->channels > colours)
                set(to, p + colours, rounded(get(from, 3, x, y), more));
        }
}
