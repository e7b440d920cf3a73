/* Planes to tensor rows and back, on x86. Included after a vector type, see x86_rows.h. */
#ifndef AC_X86_PLANES_H
#define AC_X86_PLANES_H

#include "x86_rows.h"

/* ---- pack ----------------------------------------------------------------------------------- */

/* 16 samples, step bytes apart (0, 1 or 2). One sample must follow the 16: with a step of 2, the
 * byte after the last one is read. */
INLINE __m128i samples16(const uint8_t *p, uint32_t step)
{
    if (step == 0)
        return _mm_set1_epi8((char)*p);
    if (step == 1)
        return load16(p);
    const __m128i low = _mm_set1_epi16(0xff);
    return _mm_packus_epi16(_mm_and_si128(load16(p), low), _mm_and_si128(load16(p + 16), low));
}

/* Eight channels of 16 samples, s[channel], to 16 pixels of 8 channels, two in each result. */
INLINE void interleave8(__m128i pixels[8], const __m128i s[8])
{
    __m128i pairs[8], quads[8];
    for (int i = 0; i < 4; i++) {
        pairs[i] = _mm_unpacklo_epi8(s[2 * i], s[2 * i + 1]); /* pixels 0..7, channels 2i, 2i+1 */
        pairs[4 + i] = _mm_unpackhi_epi8(s[2 * i], s[2 * i + 1]);
    }
    for (int i = 0; i < 8; i += 4) {
        quads[i] = _mm_unpacklo_epi16(pairs[i], pairs[i + 1]); /* pixels 0..3, channels 0..3 */
        quads[i + 1] = _mm_unpackhi_epi16(pairs[i], pairs[i + 1]);
        quads[i + 2] = _mm_unpacklo_epi16(pairs[i + 2], pairs[i + 3]); /* channels 4..7 */
        quads[i + 3] = _mm_unpackhi_epi16(pairs[i + 2], pairs[i + 3]);
    }
    for (int i = 0; i < 8; i += 4) {
        pixels[i] = _mm_unpacklo_epi32(quads[i], quads[i + 2]);
        pixels[i + 1] = _mm_unpackhi_epi32(quads[i], quads[i + 2]);
        pixels[i + 2] = _mm_unpacklo_epi32(quads[i + 1], quads[i + 3]);
        pixels[i + 3] = _mm_unpackhi_epi32(quads[i + 1], quads[i + 3]);
    }
}

/* The rest of a row, from pixel x on, in C. */
static void pack_rest(const ac_pack_row *p, uint32_t x)
{
    const uint8_t *source[8];
    ac_pack_row rest = *p;
    for (uint32_t c = 0; c < p->channels; c++)
        source[c] = p->source[c] + (size_t)x * p->step[c];
    rest.source = source;
    rest.pixels = p->pixels - x;
    rest.output.data += (size_t)x * p->output.c0 * mona_type_size(p->output.type);
    ac_c_pack_row(&rest);
}

/* Samples of 8 bits to up to 8 channels side by side, as bytes or scaled to fp16. */
static void pack_eight(const ac_pack_row *p)
{
    const bool half = p->output.type == MONA_F16;
    float scales[LANES] = {0};
    for (uint32_t c = 0; c < p->channels && half; c++)
        scales[c] = scales[c + 8] = p->scale[c];
    const vf scale = vf_load(scales);
    uint32_t x = 0;
    for (; x + LANES < p->pixels; x += LANES) {
        __m128i samples[8], pixels[8];
        for (uint32_t c = 0; c < 8; c++)
            samples[c] = c < p->channels
                             ? samples16(p->source[c] + (size_t)x * p->step[c], p->step[c])
                             : _mm_setzero_si128();
        interleave8(pixels, samples);
        for (uint32_t i = 0; i < 8; i++) {
            const size_t at = (size_t)x * 8 + i * 16;
            if (half)
                vf_to_f16(p->output.data + at * 2, vf_mul(vf_u8(pixels[i]), scale));
            else
                store16(p->output.data + at, pixels[i]);
        }
    }
    pack_rest(p, x);
}

/* One channel alone: a copy or a conversion. */
static void pack_single(const ac_pack_row *p)
{
    const size_t size = mona_type_size(p->output.type), from = mona_type_size(p->source_type);
    if (p->output.type != MONA_F16) {
        memcpy(p->output.data, p->source[0], p->pixels);
        return;
    }
    const vf scale = vf_set1(p->scale[0]);
    for (uint32_t x = 0; x < p->pixels; x += LANES) {
        const uint8_t *source = p->source[0] + x * from;
        uint8_t *to = p->output.data + x * size;
        if (p->pixels - x >= LANES)
            vf_to_f16(to, vf_clean(vf_mul(vf_from(p->source_type, source), scale)));
        else
            vf_to_some(MONA_F16, to,
                       vf_clean(vf_mul(vf_from_some(p->source_type, source, p->pixels - x), scale)),
                       p->pixels - x);
    }
}

static void pack_row(const ac_pack_row *p)
{
    const uint32_t c0 = p->output.c0;
    bool close = true; /* samples16 can take them */
    for (uint32_t c = 0; c < p->channels; c++)
        close = close && p->step[c] <= 2;
    if (c0 == 1 && p->channels == 1 && p->step[0] == mona_type_size(p->source_type))
        pack_single(p);
    else if (c0 == 8 && p->channels <= 8 && close &&
             (p->output.type != MONA_F16 || p->source_type == MONA_U8))
        pack_eight(p);
    else
        ac_c_pack_row(p);
}

/* ---- unpack --------------------------------------------------------------------------------- */

/* A unit, the neighbouring samples a pixel has in one plane row, every stride bytes. */
INLINE void copy_units(uint8_t *to, const uint8_t *from, size_t stride, size_t unit,
                       uint32_t pixels)
{
    for (uint32_t x = 0; x < pixels; x++)
        memcpy(to + x * unit, from + x * stride, unit);
}

INLINE void copy_units_by_stride(uint8_t *to, const uint8_t *from, size_t stride, size_t unit,
                                 uint32_t pixels)
{
    if (stride == unit)
        memcpy(to, from, pixels * unit);
    else if (stride == 4)
        copy_units(to, from, 4, unit, pixels);
    else if (stride == 8)
        copy_units(to, from, 8, unit, pixels);
    else if (stride == 16)
        copy_units(to, from, 16, unit, pixels);
    else
        copy_units(to, from, stride, unit, pixels);
}

static void unpack_units(uint8_t *to, const uint8_t *from, size_t stride, size_t unit,
                         uint32_t pixels)
{
    switch (unit) {
    case 1:
        copy_units_by_stride(to, from, stride, 1, pixels);
        break;
    case 2:
        copy_units_by_stride(to, from, stride, 2, pixels);
        break;
    case 4:
        copy_units_by_stride(to, from, stride, 4, pixels);
        break;
    default:
        copy_units(to, from, stride, unit, pixels);
        break;
    }
}

/* count elements to the planes' type; converted has room for whole vectors. */
static void convert(const ac_unpack_row *u, const uint8_t *from, size_t count, uint8_t *converted)
{
    const mona_type type = u->planes.type;
    const bool half = u->source.type == MONA_F16 || type == MONA_F16;
    const size_t source = mona_type_size(u->source.type), size = mona_type_size(type);
    const vf scale = vf_set1(half ? u->planes.scale : 1), most = vf_set1((float)u->planes.maximum);
    for (size_t i = 0; i < count; i += LANES) {
        const uint8_t *p = from + i * source;
        const uint32_t n = count - i < LANES ? (uint32_t)(count - i) : LANES;
        const vf v = n < LANES ? vf_from_some(u->source.type, p, n) : vf_from(u->source.type, p);
        const vf t = half ? vf_half(vf_mul(v, scale)) : v;
        if (type == MONA_U16)
            vf_to_u16(converted + i * size, vf_min(t, most));
        else
            vf_to(type, converted + i * size, type == MONA_U8 ? vf_min(t, most) : t);
    }
}

/* Plane rows made of channel block k, from pixel x on: source holds its pixels, in the planes'
 * type. */
static void unpack_block(const ac_unpack_row *u, uint32_t k, uint32_t x, uint32_t pixels,
                         const uint8_t *source)
{
    const uint32_t block = u->planes.block, c0 = u->source.c0;
    const size_t size = mona_type_size(u->planes.type);
    for (uint32_t i = 0; i < u->channels / block; i++) {
        const uint32_t c = u->first + i * block;
        if (c / c0 == k)
            unpack_units(u->planes.rows[i] + (size_t)x * block * size, source + c % c0 * size,
                         c0 * size, block * size, pixels);
    }
}

static void unpack_row(const ac_unpack_row *u)
{
    enum { PIXELS = 64, MAX_C0 = 32 };
    _Alignas(64) uint8_t converted[PIXELS * MAX_C0 * 2];
    const ac_planes *planes = &u->planes;
    const uint32_t block = planes->block, c0 = u->source.c0;
    /* A pixel's samples in a plane row must not straddle two channel blocks. */
    if (c0 > MAX_C0 || u->first % block || c0 % block) {
        ac_c_unpack_row(u);
        return;
    }
    const bool same =
        u->source.type == planes->type &&
        (planes->type == MONA_S8 || (planes->type == MONA_U8 && planes->maximum >= 255));
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
