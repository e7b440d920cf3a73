/* Row programs on x86 other than convolution, written once for AVX2 and AVX-512. Included by each after
 * its vector type `vf` (16 floats) with
 *   vf_set1 vf_load vf_store vf_add vf_mul vf_from_s32
 *   vf_max(a, b)  a > b ? a : b           vf_min(a, b)  a < b ? a : b
 *   vf_round      rounded to fp16; for values that fp16 can hold
 *   vf_half       the same, saturating; no NaN may come in
 *   vf_clean      NaN becomes 0
 *   vf_first(v, n)  lanes n.. become zero
 *   vf_u8 vf_s8 vf_f16 vf_u16   16 stored elements to floats
 *   vf_to_u8 vf_to_s8           rounded half to even, saturated; a __m128i
 *   vf_to_f16                   rounded, saturating; stores 16
 * Shapes that no shipped network or plane format leads to are left to the C versions. */
#ifndef AC_X86_ROWS_H
#define AC_X86_ROWS_H

#include "epilogue.h"
#include "rows.h"

enum { LANES = 16 };

INLINE __m128i load16(const void *p)
{
    return _mm_loadu_si128((const __m128i *)p);
}

INLINE void store16(void *p, __m128i v)
{
    _mm_storeu_si128((__m128i *)p, v);
}

INLINE vf vf_from(mona_type type, const uint8_t *p)
{
    switch (type) {
    case MONA_U8: return vf_u8(load16(p));
    case MONA_S8: return vf_s8(load16(p));
    case MONA_U16: return vf_u16(p);
    case MONA_F16:
    case MONA_TYPE_COUNT: break;
    }
    return vf_f16(p);
}

INLINE void vf_to(mona_type type, uint8_t *p, vf v)
{
    if (type == MONA_U8)
        store16(p, vf_to_u8(v));
    else if (type == MONA_S8)
        store16(p, vf_to_s8(v));
    else
        vf_to_f16(p, v);
}

/* The same for the first count elements; nothing beyond them is touched. */
INLINE vf vf_from_some(mona_type type, const uint8_t *p, uint32_t count)
{
    uint8_t bytes[2 * LANES] = {0};
    memcpy(bytes, p, count * mona_type_size(type));
    return vf_from(type, bytes);
}

INLINE void vf_to_some(mona_type type, uint8_t *p, vf v, uint32_t count)
{
    uint8_t bytes[2 * LANES];
    vf_to(type, bytes, v);
    memcpy(p, bytes, count * mona_type_size(type));
}

INLINE vf activate(vf t, uint8_t activation, const ac_epilogue *e, vf slope)
{
    const vf zero = vf_set1(0);
    switch ((mona_activation)activation) {
    case MONA_ACT_RELU: return vf_max(t, zero);
    case MONA_ACT_PRELU: /* one of the two is zero, so their sum needs no rounding */
        return vf_add(vf_max(t, zero), vf_half(vf_mul(vf_min(t, zero), slope)));
    case MONA_ACT_CLIP: return vf_min(vf_max(t, vf_set1(e->clip_min)), vf_set1(e->clip_max));
    case MONA_ACT_NONE:
    case MONA_ACT_COUNT: break;
    }
    return t;
}

/* ---- pack ----------------------------------------------------------------------------------- */

/* 16 samples, step bytes apart (0, 1 or 2). One sample must follow the 16: with a step of 2, the byte
 * after the last one is read. */
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

static void pack_bytes8(const ac_pack_row *p)
{
    uint32_t x = 0;
    for (; x + LANES < p->pixels; x += LANES) {
        __m128i samples[8], pixels[8];
        for (uint32_t c = 0; c < 8; c++)
            samples[c] = c < p->channels
                             ? samples16(p->source[c] + (size_t)x * p->step[c], p->step[c])
                             : _mm_setzero_si128();
        interleave8(pixels, samples);
        for (uint32_t i = 0; i < 8; i++)
            store16(p->output.data + (size_t)x * 8 + i * 16, pixels[i]);
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
    else if (c0 == 8 && p->channels <= 8 && close && p->output.type != MONA_F16)
        pack_bytes8(p);
    else
        ac_c_pack_row(p);
}

/* ---- unpack --------------------------------------------------------------------------------- */

/* Bytes to bytes of the same kind, no saturation needed: block channels of a pixel go to neighbouring
 * samples of one plane row. */
INLINE void unpack_bytes(uint8_t *to, const uint8_t *from, uint32_t c0, uint32_t block,
                         uint32_t pixels)
{
    for (uint32_t x = 0; x < pixels; x++)
        memcpy(to + (size_t)x * block, from + (size_t)x * c0, block);
}

static void unpack_bytes_row(uint8_t *to, const uint8_t *from, uint32_t c0, uint32_t block,
                             uint32_t pixels)
{
    if (c0 == block)
        memcpy(to, from, (size_t)pixels * block);
    else if (block == 2 && c0 == 4)
        unpack_bytes(to, from, 4, 2, pixels);
    else if (block == 2 && c0 == 8)
        unpack_bytes(to, from, 8, 2, pixels);
    else if (block == 2 && c0 == 16)
        unpack_bytes(to, from, 16, 2, pixels);
    else if (block == 1 && c0 == 8)
        unpack_bytes(to, from, 8, 1, pixels);
    else if (block == 1)
        unpack_bytes(to, from, c0, 1, pixels);
    else if (block == 2)
        unpack_bytes(to, from, c0, 2, pixels);
    else if (block == 3)
        unpack_bytes(to, from, c0, 3, pixels);
    else
        unpack_bytes(to, from, c0, 4, pixels);
}

static void unpack_row(const ac_unpack_row *u)
{
    const ac_planes *planes = &u->planes;
    const uint32_t block = planes->block, c0 = u->source.c0;
    const bool bytes = u->source.type == planes->type &&
                       (planes->type == MONA_S8 ||
                        (planes->type == MONA_U8 && planes->maximum >= 255));
    /* A plane row's channels must not straddle two channel blocks. */
    if (!bytes || (block > 1 && (u->first % block || c0 % block))) {
        ac_c_unpack_row(u);
        return;
    }
    for (uint32_t i = 0; i < u->channels / block; i++) {
        const uint32_t c = u->first + i * block;
        const uint8_t *from = u->source.data + c / c0 * u->source.block_stride + c % c0;
        unpack_bytes_row(planes->rows[i], from, c0, block, u->pixels);
    }
}

/* ---- resize --------------------------------------------------------------------------------- */

/* Rows to one row of floats. */
INLINE vf column_sum(const ac_resize_row *r, size_t at, uint32_t count)
{
    vf sum = vf_set1(0);
    for (uint32_t t = 0; t < r->taps_y; t++) {
        const uint8_t *p = r->rows[t] + at;
        const vf v = count == LANES ? vf_from(r->type, p) : vf_from_some(r->type, p, count);
        const vf product = vf_mul(v, vf_set1(r->weight_y[t]));
        sum = t ? vf_add(sum, product) : product;
    }
    return sum;
}

static void resize_rows(const ac_resize_row *r)
{
    const size_t size = mona_type_size(r->type), count = (size_t)r->in_columns * r->c0;
    size_t i = 0;
    for (; i + LANES <= count; i += LANES)
        vf_store(r->scratch + i, column_sum(r, i * size, LANES));
    if (i < count)
        vf_store(r->scratch + i, column_sum(r, i * size, (uint32_t)(count - i)));
}

/* Output columns [x, end) one by one, with taps clamped to the row. Rows of several channels: 16 lanes at a
 * time, of which the pixel's c0 count. */
static void resize_columns(const ac_resize_row *r, uint32_t x, uint32_t end)
{
    const size_t size = mona_type_size(r->type);
    const int32_t last = (int32_t)r->in_columns - 1;
    for (; x < end; x++)
        for (uint32_t c = 0; c < r->c0; c += LANES) {
            vf sum = vf_set1(0);
            for (uint32_t t = 0; t < r->taps_x; t++) {
                int32_t column = r->first[x] + (int32_t)t;
                column = column < 0 ? 0 : column > last ? last : column;
                const float *p = r->scratch + (size_t)column * r->c0 + c;
                const vf product = vf_mul(vf_load(p), vf_set1(r->weight_x[x * r->taps_x + t]));
                sum = t ? vf_add(sum, product) : product;
            }
            const uint32_t left = r->c0 - c < LANES ? r->c0 - c : LANES;
            vf_to_some(r->type, r->out + ((size_t)x * r->c0 + c) * size, sum, left);
        }
}

/* Single channel: the 2 * LANES output columns from x on advance by one input column every two outputs,
 * each of the two with its own four weights, and all taps lie inside: doubling, as for chroma planes. */
INLINE bool doubles(const ac_resize_row *r, uint32_t x)
{
    const int32_t *first = r->first + x;
    const float *w = r->weight_x + (size_t)x * 4;
    if (first[2 * LANES - 1] - first[1] != LANES - 1 || first[0] < 0 || first[1] < 0 || first[2 * LANES - 1] + 4 > (int32_t)r->in_columns ||
        first[2 * LANES - 2] + 4 > (int32_t)r->in_columns)
        return false;
    int32_t steps_differ = 0;
    for (uint32_t i = 0; i + 2 < 2 * LANES; i++)
        steps_differ |= first[i + 2] - first[i] - 1;
    uint32_t weights_differ = 0;
    for (uint32_t i = 8; i < 8 * LANES; i += 8)
        for (uint32_t k = 0; k < 8; k++)
            weights_differ |= ac_bits(w[i + k]) ^ ac_bits(w[k]);
    return !steps_differ && !weights_differ;
}

INLINE vf four_taps(const float *p, const float *weight)
{
    vf sum = vf_mul(vf_load(p), vf_set1(weight[0]));
    sum = vf_add(sum, vf_mul(vf_load(p + 1), vf_set1(weight[1])));
    sum = vf_add(sum, vf_mul(vf_load(p + 2), vf_set1(weight[2])));
    return vf_add(sum, vf_mul(vf_load(p + 3), vf_set1(weight[3])));
}

INLINE void store_alternating(mona_type type, uint8_t *out, vf even, vf odd)
{
    const size_t size = mona_type_size(type);
    uint8_t e[2 * LANES], o[2 * LANES];
    vf_to(type, e, even);
    vf_to(type, o, odd);
    for (size_t i = 0; i < size; i++) {
        const __m128i a = load16(e + 16 * i), b = load16(o + 16 * i);
        const bool wide = size == 2;
        store16(out + 32 * i, wide ? _mm_unpacklo_epi16(a, b) : _mm_unpacklo_epi8(a, b));
        store16(out + 32 * i + 16, wide ? _mm_unpackhi_epi16(a, b) : _mm_unpackhi_epi8(a, b));
    }
}

static void resize_row(const ac_resize_row *r)
{
    resize_rows(r);
    uint32_t x = 0;
    if (r->c0 == 1 && r->taps_x == 4) {
        const size_t size = mona_type_size(r->type);
        while (x + 2 * LANES <= r->out_columns) {
            if (!doubles(r, x)) {
                resize_columns(r, x, x + 1);
                x++;
                continue;
            }
            const float *w = r->weight_x + (size_t)x * 4;
            store_alternating(r->type, r->out + x * size, four_taps(r->scratch + r->first[x], w),
                              four_taps(r->scratch + r->first[x + 1], w + 4));
            x += 2 * LANES;
        }
    }
    resize_columns(r, x, r->out_columns);
}

/* ---- elementwise ---------------------------------------------------------------------------- */

/* c0 divides 16 or is 16: a channel block is a flat array whose 16 lanes are always the same channels. */
INLINE vf elementwise_lanes(const ac_elementwise_row *e, vf a, vf b, vf slope)
{
    const ac_epilogue *ep = &e->epilogue;
    const vf sa = vf_half(vf_mul(a, vf_set1(e->scale_a)));
    const vf sb = vf_half(vf_mul(b, vf_set1(e->scale_b)));
    vf t = vf_half(e->multiply ? vf_mul(sa, sb) : vf_add(sa, sb));
    t = activate(t, ep->activation, ep, slope);
    t = activate(t, ep->activation_after_add, ep, slope);
    return ep->output_scale != 1 ? vf_half(vf_mul(t, vf_set1(ep->output_scale))) : t;
}

static void elementwise_block(const ac_elementwise_row *e, uint32_t block, const float *mask,
                              vf slope)
{
    const uint8_t *a = e->a.data + block * e->a.block_stride;
    const uint8_t *b = e->b.data + block * e->b.block_stride;
    uint8_t *out = e->output.data + block * e->output.block_stride;
    const size_t sa = mona_type_size(e->a.type), sb = mona_type_size(e->b.type);
    const size_t so = mona_type_size(e->output.type), count = (size_t)e->pixels * e->output.c0;
    const vf keep = vf_load(mask);
    for (size_t i = 0; i < count; i += LANES) {
        const uint32_t n = count - i < LANES ? (uint32_t)(count - i) : LANES;
        const vf va = n == LANES ? vf_from(e->a.type, a + i * sa)
                                 : vf_from_some(e->a.type, a + i * sa, n);
        const vf vb = n == LANES ? vf_from(e->b.type, b + i * sb)
                                 : vf_from_some(e->b.type, b + i * sb, n);
        const vf t = vf_and(elementwise_lanes(e, va, vb, slope), keep);
        if (n == LANES)
            vf_to(e->output.type, out + i * so, t);
        else
            vf_to_some(e->output.type, out + i * so, t, n);
    }
}

static void elementwise_row(const ac_elementwise_row *e)
{
    const uint32_t c0 = e->output.c0;
    if (e->broadcast_b || c0 > LANES || e->a.c0 != c0 || e->b.c0 != c0) {
        ac_c_elementwise_row(e);
        return;
    }
    for (uint32_t block = 0; block * c0 < e->channels; block++) {
        float mask[LANES], slope[LANES];
        for (uint32_t i = 0; i < LANES; i++) {
            const uint32_t c = block * c0 + i % c0;
            mask[i] = ac_float(c < e->channels ? UINT32_MAX : 0);
            slope[i] = e->epilogue.slope && c < e->channels ? e->epilogue.slope[c] : 0;
        }
        elementwise_block(e, block, mask, vf_load(slope));
    }
}

#endif
