// SPDX-License-Identifier: Apache-2.0
/* BT.601 full range. Planes have b bits, b - 8 of which are fractions of an 8-bit step:
 *
 *     Y  =  0.299 R + 0.587 G + 0.114 B        R = Y + 1.402 Cr
 *     Cb = (B - Y) / 1.772 + 128               G = Y - 0.344136 Cb - 0.714136 Cr
 *     Cr = (R - Y) / 1.402 + 128               B = Y + 1.772 Cb          (Cb, Cr less 128)
 *
 * Each result is rounded to nearest. Planes are then off by at most half of 2^(8 - b), and a colour
 * by at most 1 + 1.772 times that. With 10 bits or more this is less than half a step, so colours
 * are restored exactly. */
#include "pipeline/image/colour.h"

#include "pipeline/stages/sample.h"

/* Fraction bits of a coefficient: 2^11 (1 + 1.772 / 2) 2^18 is below 2^31. */
enum { POINT = 18 };

static uint8_t clip(int value)
{
    return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
}

static void put(const frame *to, unsigned plane, uint32_t x, uint32_t y, int value)
{
    put_plane_sample(to->data[plane] + (ptrdiff_t)y * to->stride[plane], x, value, true);
}

static int get(const frame *from, unsigned plane, uint32_t x, uint32_t y)
{
    return plane_sample(from->data[plane] + (ptrdiff_t)y * from->stride[plane], x, true);
}

static int rounded(int value, unsigned shift)
{
    return (value + (1 << shift >> 1)) >> shift;
}

static const uint8_t *pixel(const still *image, uint32_t x, uint32_t y)
{
    x = x < image->width ? x : image->width - 1;
    y = y < image->height ? y : image->height - 1;
    return image->pixels + ((size_t)y * image->width + x) * image->channels;
}

static int luma(int r, int g, int b)
{
    return 78381 * r + 153879 * g + 29884 * b;
}

static void split_chroma(frame *to, const still *from)
{
    const frame_format *f = &to->format;
    const mona_size size = frame_plane_size(f, 1);
    const uint32_t block = 1u << f->shift_x;
    const unsigned shift = POINT - (f->bits - 8) + 2 * f->shift_x;
    const int grey = 128 << (POINT + 2 * f->shift_x);
    for (uint32_t y = 0; y < size.height; y++)
        for (uint32_t x = 0; x < size.width; x++) {
            int r = 0, g = 0, b = 0;
            for (uint32_t i = 0; i < block * block; i++) {
                const uint8_t *p = pixel(from, x * block + i % block, y * block + i / block);
                r += p[0], g += p[1], b += p[2];
            }
            put(to, 1, x, y, rounded(grey - 44233 * r - 86839 * g + 131072 * b, shift));
            put(to, 2, x, y, rounded(grey + 131072 * r - 109756 * g - 21316 * b, shift));
        }
}

static void set_grey(frame *to, unsigned plane)
{
    const mona_size size = frame_plane_size(&to->format, plane);
    for (uint32_t y = 0; y < size.height; y++)
        frame_set_samples(to->data[plane] + (ptrdiff_t)y * to->stride[plane], &to->format,
                          1u << (to->format.bits - 1), size.width);
}

void colour_split(frame *to, const still *from)
{
    const mona_size size = frame_plane_size(&to->format, 0);
    const unsigned colours = from->channels < 3 ? 1 : 3, more = to->format.bits - 8;
    for (uint32_t y = 0; y < size.height; y++)
        for (uint32_t x = 0; x < size.width; x++) {
            const uint8_t *p = pixel(from, x, y);
            const int level = luma(p[0], p[colours / 2], p[colours - 1]);
            put(to, 0, x, y, rounded(level, POINT - more));
            if (to->format.planes == 4)
                put(to, 3, x, y, (from->channels > colours ? p[colours] : 255) << more);
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

void colour_join(still *to, const frame *from)
{
    const unsigned colours = to->channels < 3 ? 1 : 3, more = from->format.bits - 8;
    const unsigned shift = POINT + more;
    for (uint32_t y = 0; y < to->height; y++)
        for (uint32_t x = 0; x < to->width; x++) {
            uint8_t *p = to->pixels + ((size_t)y * to->width + x) * to->channels;
            const int level = get(from, 0, x, y) * (1 << POINT);
            if (colours == 3) {
                const int cb = get(from, 1, x, y) - (128 << more);
                const int cr = get(from, 2, x, y) - (128 << more);
                p[0] = clip(rounded(level + 367526 * cr, shift));
                p[1] = clip(rounded(level - 90213 * cb - 187207 * cr, shift));
                p[2] = clip(rounded(level + 464519 * cb, shift));
            } else {
                p[0] = clip(rounded(level, shift));
            }
            if (to->channels > colours)
                p[colours] = clip(rounded(get(from, 3, x, y), more));
        }
}
