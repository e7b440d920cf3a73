// SPDX-License-Identifier: Apache-2.0
/* BT.601 full range, in 16-bit fixed point:
 *
 *   Y  =  0.299 R + 0.587 G + 0.114 B        R = Y + 1.402 Cr
 *   Cb = (B - Y) / 1.772 + 128               G = Y - 0.344136 Cb - 0.714136 Cr
 *   Cr = (R - Y) / 1.402 + 128               B = Y + 1.772 Cb          (Cb, Cr less 128)
 *
 * Each result is rounded to nearest; a colour that comes back differs by at most 1 step. */
#include "pipeline/image/colour.h"

#include <string.h>

enum { HALF = 1 << 15 };

static uint8_t clip(int value)
{
    return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
}

static int luma(const uint8_t *rgb)
{
    return (19595 * rgb[0] + 38470 * rgb[1] + 7471 * rgb[2] + HALF) >> 16;
}

/* Both chroma samples of the sum of count (1 or 4) pixels. */
static void chroma(const int sum[3], int count, uint8_t *cb, uint8_t *cr)
{
    const int centre = (128 << 16) * count + HALF * count - 1;
    *cb = clip((-11059 * sum[0] - 21709 * sum[1] + 32768 * sum[2] + centre) / (65536 * count));
    *cr = clip((32768 * sum[0] - 27439 * sum[1] - 5329 * sum[2] + centre) / (65536 * count));
}

static const uint8_t *pixel(const still *image, uint32_t x, uint32_t y)
{
    x = x < image->width ? x : image->width - 1;
    y = y < image->height ? y : image->height - 1;
    return image->pixels + ((size_t)y * image->width + x) * image->channels;
}

static void split_chroma(frame *to, const still *from)
{
    const mona_size size = frame_plane_size(&to->format, 1);
    const uint32_t block = 1u << to->format.shift_x;
    for (uint32_t y = 0; y < size.height; y++)
        for (uint32_t x = 0; x < size.width; x++) {
            int sum[3] = {0};
            for (uint32_t i = 0; i < block * block; i++) {
                const uint8_t *p = pixel(from, x * block + i % block, y * block + i / block);
                for (int c = 0; c < 3; c++)
                    sum[c] += p[c];
            }
            chroma(sum, (int)(block * block), to->data[1] + (ptrdiff_t)y * to->stride[1] + x,
                   to->data[2] + (ptrdiff_t)y * to->stride[2] + x);
        }
}

void colour_split(frame *to, const still *from)
{
    const mona_size size = frame_plane_size(&to->format, 0);
    const unsigned colours = from->channels < 3 ? 1 : 3;
    for (uint32_t y = 0; y < size.height; y++)
        for (uint32_t x = 0; x < size.width; x++) {
            const uint8_t *p = pixel(from, x, y);
            to->data[0][(ptrdiff_t)y * to->stride[0] + x] = colours == 3 ? (uint8_t)luma(p) : p[0];
            if (to->format.planes == 4)
                to->data[3][(ptrdiff_t)y * to->stride[3] + x] =
                    from->channels > colours ? p[colours] : 255;
        }
    if (to->format.planes < 3)
        return;
    if (colours == 3) {
        split_chroma(to, from);
        return;
    }
    for (unsigned plane = 1; plane < 3; plane++)
        memset(to->data[plane], 128,
               (size_t)to->stride[plane] * frame_plane_size(&to->format, plane).height);
}

static void to_rgb(uint8_t *rgb, int y, int cb, int cr)
{
    const int base = (y << 16) + HALF;
    rgb[0] = clip((base + 91881 * cr) >> 16);
    rgb[1] = clip((base - 22553 * cb - 46802 * cr) >> 16);
    rgb[2] = clip((base + 116130 * cb) >> 16);
}

void colour_join(still *to, const frame *from)
{
    const unsigned colours = to->channels < 3 ? 1 : 3;
    for (uint32_t y = 0; y < to->height; y++)
        for (uint32_t x = 0; x < to->width; x++) {
            const ptrdiff_t row = (ptrdiff_t)y;
            uint8_t *p = to->pixels + ((size_t)y * to->width + x) * to->channels;
            const uint8_t level = from->data[0][row * from->stride[0] + x];
            if (colours == 3)
                to_rgb(p, level, from->data[1][row * from->stride[1] + x] - 128,
                       from->data[2][row * from->stride[2] + x] - 128);
            else
                p[0] = level;
            if (to->channels > colours)
                p[colours] = from->data[3][row * from->stride[3] + x];
        }
}
