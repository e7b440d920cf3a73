// SPDX-License-Identifier: Apache-2.0
/* BT.601, between R, G and B of 8 bits and studio range of b bits. In steps of 8 bits
 *
 *     Y  =  16 + 219 / 255 W           W = 0.299 R + 0.587 G + 0.114 B
 *     Cb = 128 + 224 / 255 (B - W) / 1.772
 *     Cr = 128 + 224 / 255 (R - W) / 1.402
 *
 *     R = W + 1.402 V                  W = 255 / 219 (Y - 16)
 *     G = W - 0.344136 U - 0.714136 V  U = 255 / 224 (Cb - 128)
 *     B = W + 1.772 U                  V = 255 / 224 (Cr - 128)
 *
 * Each result is rounded to nearest. The rounding of planes, by half of 2^(8 - b), moves W by 0.58
 * of that, U and V by 0.57, and a colour by 1.59 at most: of 10 bits and more, by less than half a
 * step, so that a colour comes back as it was. Of 8 bits it differs by up to 2 steps. */
#include "pipeline/image/colour.h"

#include "pipeline/stages/sample.h"

/* Bits behind the point. On the way back 2^11 steps times 2.02 are to fit 31 bits, with luma's 2^11
 * times 1.16 besides. */
enum { THERE = 20, BACK = 18 };

static uint8_t clip(int value)
{
    return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
}

static void put(const frame *to, unsigned plane, uint32_t x, uint32_t y, int value)
{
    put_plane_sample(to->data[plane] + (ptrdiff_t)y * to->stride[plane], x, value,
                     to->format.bits > 8);
}

static int get(const frame *from, unsigned plane, uint32_t x, uint32_t y)
{
    return plane_sample(from->data[plane] + (ptrdiff_t)y * from->stride[plane], x,
                        from->format.bits > 8);
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
    return (16 << THERE) + 269262 * r + 528618 * g + 102662 * b;
}

static void split_chroma(frame *to, const still *from)
{
    const frame_format *f = &to->format;
    const mona_size size = frame_plane_size(f, 1);
    const uint32_t block = 1u << f->shift_x;
    const unsigned shift = THERE - (f->bits - 8) + 2 * f->shift_x;
    const int grey = 128 << (THERE + 2 * f->shift_x);
    for (uint32_t y = 0; y < size.height; y++)
        for (uint32_t x = 0; x < size.width; x++) {
            int r = 0, g = 0, b = 0;
            for (uint32_t i = 0; i < block * block; i++) {
                const uint8_t *p = pixel(from, x * block + i % block, y * block + i / block);
                r += p[0], g += p[1], b += p[2];
            }
            put(to, 1, x, y, rounded(grey - 155423 * r - 305128 * g + 460551 * b, shift));
            put(to, 2, x, y, rounded(grey + 460551 * r - 385654 * g - 74897 * b, shift));
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
            put(to, 0, x, y, rounded(level, THERE - more));
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
    const unsigned shift = BACK + more;
    for (uint32_t y = 0; y < to->height; y++)
        for (uint32_t x = 0; x < to->width; x++) {
            uint8_t *p = to->pixels + ((size_t)y * to->width + x) * to->channels;
            const int level = 305236 * (get(from, 0, x, y) - (16 << more));
            if (colours == 3) {
                const int cb = get(from, 1, x, y) - (128 << more);
                const int cr = get(from, 2, x, y) - (128 << more);
                p[0] = clip(rounded(level + 418389 * cr, shift));
                p[1] = clip(rounded(level - 102698 * cb - 213115 * cr, shift));
                p[2] = clip(rounded(level + 528805 * cb, shift));
            } else {
                p[0] = clip(rounded(level, shift));
            }
            if (to->channels > colours)
                p[colours] = clip(rounded(get(from, 3, x, y), more));
        }
}
