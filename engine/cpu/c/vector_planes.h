// SPDX-License-Identifier: Apache-2.0
/* Planes to tensor rows and back. Included after a vector type, see vector_rows.h. */
#ifndef MONA_VECTOR_PLANES_H
#define MONA_VECTOR_PLANES_H

#include "engine/arith.h"
#include "engine/cpu/c/vector_rows.h"

/* ---- pack ----------------------------------------------------------------------------------- */

/* Loads 16 samples, step bytes apart (0, 1 or 2). One more sample must follow them: with a step of
 * 2, the byte after the last one is read. */
INLINE v16 samples16(const uint8_t *p, uint32_t step)
{
    if (step == 0)
        return set16(*p);
    return step == 1 ? load16(p) : even16(p);
}

/* Copies 16 samples of 16 bits, step bytes apart. */
static __attribute__((noinline)) void gather16(uint16_t *to, const uint8_t *p, uint32_t step)
{
    for (uint32_t i = 0; i < LANES; i++)
        memcpy(to + i, p + (size_t)i * step, sizeof *to);
}

/* Loads 16 samples of 16 bits in the same way, scaled and rounded to bytes. */
INLINE v16 narrow16(const uint8_t *p, uint32_t step, vf scale)
{
    uint16_t gathered[LANES];
    if (step != 2) {
        gather16(gathered, p, step);
        p = (const uint8_t *)gathered;
    }
    return vf_to_u8(vf_mul(vf_u16(p), scale));
}

/* Turns eight channels of 16 samples, s[channel], into 16 pixels of 8 channels, two in each
 * result. */
INLINE void interleave8(v16 pixels[8], const v16 s[8])
{
    v16 pairs[8], quads[8];
    for (int i = 0; i < 4; i++) {
        pairs[i] = zip8_low(s[2 * i], s[2 * i + 1]); /* pixels 0..7, channels 2i, 2i+1 */
        pairs[4 + i] = zip8_high(s[2 * i], s[2 * i + 1]);
    }
    for (int i = 0; i < 8; i += 4) {
        quads[i] = zip16_low(pairs[i], pairs[i + 1]); /* pixels 0..3, channels 0..3 */
        quads[i + 1] = zip16_high(pairs[i], pairs[i + 1]);
        quads[i + 2] = zip16_low(pairs[i + 2], pairs[i + 3]); /* channels 4..7 */
        quads[i + 3] = zip16_high(pairs[i + 2], pairs[i + 3]);
    }
    for (int i = 0; i < 8; i += 4) {
        pixels[i] = zip32_low(quads[i], quads[i + 2]);
        pixels[i + 1] = zip32_high(quads[i], quads[i + 2]);
        pixels[i + 2] = zip32_low(quads[i + 1], quads[i + 3]);
        pixels[i + 3] = zip32_high(quads[i + 1], quads[i + 3]);
    }
}

/* The same for four channels: four pixels in each result. */
INLINE void interleave4(v16 pixels[4], const v16 s[4])
{
    for (int i = 0; i < 2; i++) {
        const v16 first = i ? zip8_high(s[0], s[1]) : zip8_low(s[0], s[1]);
        const v16 second = i ? zip8_high(s[2], s[3]) : zip8_low(s[2], s[3]);
        pixels[2 * i] = zip16_low(first, second);
        pixels[2 * i + 1] = zip16_high(first, second);
    }
}

/* The same for sixteen channels: a pixel in each result. */
INLINE void interleave16(v16 pixels[16], const v16 s[16])
{
    v16 low[8], high[8];
    interleave8(low, s);
    interleave8(high, s + 8);
    for (int i = 0; i < 8; i++) {
        pixels[2 * i] = zip64_low(low[i], high[i]);
        pixels[2 * i + 1] = zip64_high(low[i], high[i]);
    }
}

/* Packs the rest of a row, from pixel x on, in C. */
static void pack_rest(const mona_pack_row *p, uint32_t x)
{
    const uint8_t *source[16];
    mona_pack_row rest = *p;
    for (uint32_t c = 0; c < p->channels; c++)
        source[c] = p->source[c] + (size_t)x * p->step[c];
    rest.source = source;
    rest.pixels = p->pixels - x;
    rest.output.data += (size_t)x * p->output.c0 * mona_type_size(p->output.type);
    mona_c_pack_row(&rest);
}

/* 16 samples of channel c from pixel x on, as bytes. */
INLINE v16 samples_of(const mona_pack_row *p, uint32_t c, uint32_t x)
{
    const uint8_t *from = p->source[c] + (size_t)x * p->step[c];
    return p->source_type == MONA_U16 ? narrow16(from, p->step[c], vf_set1(p->scale[c]))
                                      : samples16(from, p->step[c]);
}

/* Puts the samples of up to c0 channels side by side, c0 = 4, 8 or 16. Samples of 8 bits are copied
 * or scaled to fp16; samples of 16 bits are scaled to 8. */
INLINE void pack_few(const mona_pack_row *p, const uint32_t c0)
{
    const bool half = p->output.type == MONA_F16;
    float scales[LANES] = {0};
    for (uint32_t i = 0; i < LANES && half; i++)
        scales[i] = i % c0 < p->channels ? p->scale[i % c0] : 0;
    const vf scale = vf_load(scales);
    uint32_t x = 0;
    for (; x + LANES < p->pixels; x += LANES) {
        v16 samples[16], pixels[16];
        for (uint32_t c = 0; c < c0; c++)
            samples[c] = c < p->channels ? samples_of(p, c, x) : set16(0);
        if (c0 == 4)
            interleave4(pixels, samples);
        else if (c0 == 8)
            interleave8(pixels, samples);
        else
            interleave16(pixels, samples);
        for (uint32_t i = 0; i < c0; i++) {
            const size_t at = (size_t)x * c0 + i * 16;
            if (half)
                vf_to_f16(p->output.data + at * 2, vf_mul(vf_u8(pixels[i]), scale));
            else
                store16(p->output.data + at, pixels[i]);
        }
    }
    pack_rest(p, x);
}

/* Packs one channel alone: a copy or a conversion. */
static void pack_single(const mona_pack_row *p)
{
    const size_t size = mona_type_size(p->output.type), from = mona_type_size(p->source_type);
    if (p->output.type == p->source_type && p->output.type != MONA_F16) {
        memcpy(p->output.data, p->source[0], p->pixels);
        return;
    }
    const vf scale = vf_set1(p->scale[0]);
    for (uint32_t x = 0; x < p->pixels; x += LANES) {
        const uint8_t *source = p->source[0] + x * from;
        uint8_t *to = p->output.data + x * size;
        if (p->pixels - x >= LANES)
            vf_to(p->output.type, to, vf_clean(vf_mul(vf_from(p->source_type, source), scale)));
        else
            vf_to_some(p->output.type, to,
                       vf_clean(vf_mul(vf_from_some(p->source_type, source, p->pixels - x), scale)),
                       p->pixels - x);
    }
}

/* Turns eight pixels of eight numbers of 16 bits into eight numbers of eight pixels, or back: three
 * times, the first four vectors' elements and the last four's alternate. */
INLINE void turn8(v16 v[8])
{
    UNROLL
    for (int round = 0; round < 3; round++) {
        v16 t[8];
        UNROLL
        for (int i = 0; i < 4; i++) {
            t[2 * i] = zip16_low(v[i], v[i + 4]);
            t[2 * i + 1] = zip16_high(v[i], v[i + 4]);
        }
        memcpy(v, t, sizeof t);
    }
}

/* Packs up to eight fp16 channels from c on whose samples lie side by side, 16 pixels at a time.
 * The last pixels are moved back to end at the last one. */
static void pack_halves(const mona_pack_row *p, uint32_t c)
{
    const size_t c0 = p->output.c0;
    uint8_t *to = p->output.data + c / c0 * p->output.block_stride + c % c0 * 2;
    uint16_t samples[8][LANES] = {{0}};
    for (uint32_t i = 0; i < p->pixels; i += LANES) {
        const size_t x = min_u32(i, p->pixels - LANES);
        for (uint32_t k = 0; k < 8 && c + k < p->channels; k++)
            vf_to_f16((uint8_t *)samples[k],
                      vf_clean(vf_mul(vf_f16(p->source[c + k] + x * 2), vf_set1(p->scale[c + k]))));
        for (uint32_t half = 0; half < LANES; half += 8) {
            v16 v[8];
            UNROLL
            for (uint32_t k = 0; k < 8; k++)
                v[k] = load16(samples[k] + half);
            turn8(v);
            for (uint32_t k = 0; k < 8; k++)
                memcpy(to + (x + half + k) * c0 * 2, v + k, c0 == 4 ? 8 : 16);
        }
    }
}

static void pack_row(const mona_pack_row *p)
{
    const uint32_t c0 = p->output.c0;
    const bool narrowed = p->source_type == MONA_U16 && p->output.type == MONA_U8;
    bool simple = p->output.type != MONA_F16 || p->source_type == MONA_U8;
    bool halves = p->source_type == MONA_F16 && p->output.type == MONA_F16 && p->pixels >= LANES &&
                  c0 % 4 == 0;
    for (uint32_t c = 0; c < p->channels && !narrowed; c++) {
        simple = simple && p->step[c] <= 2; /* samples16() can load them */
        halves = halves && p->step[c] == 2;
    }
    if (c0 == 1 && p->channels == 1 && p->step[0] == mona_type_size(p->source_type))
        pack_single(p);
    else if (c0 == 4 && simple)
        pack_few(p, 4);
    else if (c0 == 8 && simple)
        pack_few(p, 8);
    else if (c0 == 16 && p->channels <= 16 && simple)
        pack_few(p, 16);
    else if (halves)
        for (uint32_t c = 0; c < (p->channels + c0 - 1) / c0 * c0; c += min_u32(c0, 8))
            pack_halves(p, c);
    else
        mona_c_pack_row(p);
}

/* ---- unpack --------------------------------------------------------------------------------- */

/* Copies units, stride bytes apart. A unit is the neighbouring samples of a pixel in one row of a
 * plane. */
INLINE void copy_units(uint8_t *to, const uint8_t *from, size_t stride, size_t unit,
                       uint32_t pixels)
{
    for (uint32_t x = 0; x < pixels; x++)
        memcpy(to + x * unit, from + x * stride, unit);
}

/* With a stride that is known, loops become shuffles: those of networks that give few channels. */
INLINE void copy_units_by_stride(uint8_t *to, const uint8_t *from, size_t stride, size_t unit,
                                 uint32_t pixels)
{
    if (stride == 4)
        copy_units(to, from, 4, unit, pixels);
    else if (stride == 8)
        copy_units(to, from, 8, unit, pixels);
    else
        copy_units(to, from, stride, unit, pixels);
}

static void unpack_units(uint8_t *to, const uint8_t *from, size_t stride, size_t unit,
                         uint32_t pixels)
{
    if (stride == unit)
        memcpy(to, from, pixels * unit);
    else if (unit == 1)
        copy_units_by_stride(to, from, stride, 1, pixels);
    else if (unit == 2 && stride == 16)
        copy_units(to, from, 16, 2, pixels);
    else if (unit == 2)
        copy_units_by_stride(to, from, stride, 2, pixels);
    else if (unit == 3)
        copy_units(to, from, stride, 3, pixels);
    else if (unit == 4)
        copy_units(to, from, stride, 4, pixels);
    else
        copy_units(to, from, stride, unit, pixels);
}

/* Copies channels [begin, end) of at least eight pixels with numbers of 16 bits, eight by eight;
 * the last pixels are moved back. rows: of the channels; from: channel 0 of a block. */
static void unpack_eights(uint8_t *const *rows, size_t column, uint32_t begin, uint32_t end,
                          const uint8_t *from, size_t stride, uint32_t pixels)
{
    for (uint32_t c = begin / 8 * 8; c < end; c += 8)
        for (uint32_t i = 0; i < pixels; i += 8) {
            const size_t x = min_u32(i, pixels - 8);
            v16 v[8];
            UNROLL
            for (uint32_t k = 0; k < 8; k++)
                v[k] = load16(from + (x + k) * stride + (size_t)c * 2);
            turn8(v);
            UNROLL
            for (uint32_t k = 0; k < 8; k++)
                if (c + k >= begin && c + k < end)
                    store16(rows[c + k - begin] + column + x * 2, v[k]);
        }
}

/* Converts count elements to the planes' type. converted must have room for whole vectors. */
static void convert(const mona_unpack_row *u, const uint8_t *from, size_t count, uint8_t *converted)
{
    const mona_type type = u->planes.type;
    const bool half = u->source.type == MONA_F16 || type == MONA_F16;
    const size_t source = mona_type_size(u->source.type), size = mona_type_size(type);
    const vf scale = vf_set1(half ? u->planes.scale : 1), max = vf_set1((float)u->planes.maximum);
    for (size_t i = 0; i < count; i += LANES) {
        const uint8_t *p = from + i * source;
        const uint32_t n = count - i < LANES ? (uint32_t)(count - i) : LANES;
        const vf v = n < LANES ? vf_from_some(u->source.type, p, n) : vf_from(u->source.type, p);
        const vf t = half ? vf_half(vf_mul(v, scale)) : v;
        if (type == MONA_U16)
            vf_to_u16(converted + i * size, vf_min(t, max));
        else
            vf_to(type, converted + i * size, type == MONA_U8 ? vf_min(t, max) : t);
    }
}

/* Writes the plane rows that channel block k has samples of, from pixel x on. source: its pixels,
 * in the planes' type. */
static void unpack_block(const mona_unpack_row *u, uint32_t k, uint32_t x, uint32_t pixels,
                         const uint8_t *source)
{
    const uint32_t block = u->planes.block, c0 = u->source.c0;
    const size_t size = mona_type_size(u->planes.type);
    const uint32_t begin = k * c0 > u->first ? k * c0 : u->first;
    const uint32_t last = u->first + u->channels, end = (k + 1) * c0 < last ? (k + 1) * c0 : last;
    if (block == 1 && size == 2 && c0 % 8 == 0 && pixels >= 8) {
        unpack_eights(u->planes.rows + (begin - u->first), (size_t)x * 2, begin % c0,
                      begin % c0 + (end - begin), source, c0 * 2, pixels);
        return;
    }
    for (uint32_t c = begin; c < end; c += block)
        unpack_units(u->planes.rows[(c - u->first) / block] + (size_t)x * block * size,
                     source + c % c0 * size, c0 * size, block * size, pixels);
}

static void unpack_row(const mona_unpack_row *u)
{
    enum { PIXELS = 32, MAX_C0 = 32 };
    _Alignas(64) uint8_t converted[PIXELS * MAX_C0 * 2];
    const mona_planes *planes = &u->planes;
    const uint32_t block = planes->block, c0 = u->source.c0;
    /* A pixel's samples in one row of a plane must not straddle two channel blocks. */
    const bool aligned = u->first % block == 0 && c0 % block == 0;
    if (c0 > MAX_C0 || (!aligned && u->first % c0 + u->channels > c0)) {
        mona_c_unpack_row(u);
        return;
    }
    const bool same =
        u->source.type == planes->type &&
        (planes->type == MONA_S8 || (planes->type == MONA_U8 && planes->maximum >= 255) ||
         (planes->type == MONA_F16 && planes->scale == 1));
    const size_t pixel = c0 * mona_type_size(u->source.type);
    for (uint32_t k = u->first / c0; k * c0 < u->first + u->channels; k++) {
        const uint8_t *from = u->source.data + k * u->source.block_stride;
        if (same) {
            unpack_block(u, k, 0, u->pixels, from);
            continue;
        }
        for (uint32_t x = 0; x < u->pixels; x += PIXELS) {
            const uint32_t n = u->pixels - x < PIXELS ? u->pixels - x : PIXELS;
            convert(u, from + x * pixel, (size_t)n * c0, converted);
            unpack_block(u, k, x, n, converted);
        }
    }
}

#endif
