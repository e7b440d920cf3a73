// SPDX-License-Identifier: Apache-2.0
/* Row programs in portable C that process one channel of a piece of a row at a time: they gather
 * its elements as floats, work on these in loops that compilers vectorise, and store the results.
 * These equal those of c_rows.c, which is the reference. */
#include "engine/arith.h"
#include "engine/cpu/c/c_vector.h"
#include "engine/cpu/c/rows.h"

enum { PIECE = 64 }; /* pixels */

/* A channel of a tensor row: elements that lie `stride` bytes apart. */
typedef struct channel {
    uint8_t *at;
    size_t stride;
    mona_type type;
} channel;

static channel channel_of(const mona_row *row, uint32_t c)
{
    const size_t size = mona_type_size(row->type);
    return (channel){row->data + (size_t)(c / row->c0) * row->block_stride + c % row->c0 * size,
                     row->c0 * size, row->type};
}

/* Reads count elements, stride bytes apart. */
static void gather(float *to, const uint8_t *from, size_t stride, mona_type type, uint32_t count)
{
    uint8_t packed[PIECE * 2];
    const size_t size = mona_type_size(type);
    for (uint32_t i = 0; i < count && stride != size; i++)
        if (size == 1)
            packed[i] = from[i * stride];
        else
            memcpy(packed + (size_t)i * 2, from + i * stride, 2);
    mona_to_floats(to, stride == size ? from : packed, type, count);
}

static void put(uint8_t *to, size_t stride, mona_type type, const float *from, uint32_t count,
                uint32_t maximum)
{
    uint8_t packed[PIECE * 2];
    const size_t size = mona_type_size(type);
    mona_from_floats(stride == size ? to : packed, from, type, count, maximum);
    for (uint32_t i = 0; i < count && stride != size; i++)
        if (size == 1)
            to[i * stride] = packed[i];
        else
            memcpy(to + i * stride, packed + (size_t)i * 2, 2);
}

static void gather_channel(float *to, const channel *c, uint32_t x, uint32_t count)
{
    gather(to, c->at + x * c->stride, c->stride, c->type, count);
}

static void put_channel(const channel *c, uint32_t x, const float *from, uint32_t count)
{
    put(c->at + x * c->stride, c->stride, c->type, from, count, 255);
}

static void round_scaled(float *v, uint32_t count, float scale)
{
    for (uint32_t i = 0; i < count; i++)
        v[i] = mona_round_finite(v[i] * scale);
}

/* Clears the channels after the last one in its channel block. */
static void put_zeros(const mona_row *row, uint32_t channels, uint32_t pixels)
{
    const float zeros[PIECE] = {0};
    for (uint32_t c = channels; c % row->c0; c++) {
        const channel to = channel_of(row, c);
        for (uint32_t x = 0; x < pixels; x += PIECE)
            put_channel(&to, x, zeros, min_u32(PIECE, pixels - x));
    }
}

/* ---- planes --------------------------------------------------------------------------------- */

void mona_c_pack_row(const mona_pack_row *p)
{
    const bool halves = p->source_type == MONA_F16;
    const bool scaled = halves || p->output.type != p->source_type;
    float v[PIECE];
    for (uint32_t c = 0; c < p->channels; c++) {
        const channel to = channel_of(&p->output, c);
        for (uint32_t x = 0, count; x < p->pixels; x += count) {
            count = min_u32(PIECE, p->pixels - x);
            gather(v, p->source[c] + (size_t)x * p->step[c], p->step[c], p->source_type, count);
            for (uint32_t i = 0; i < count && scaled; i++)
                v[i] *= p->scale[c];
            for (uint32_t i = 0; i < count && halves; i++)
                v[i] = v[i] == v[i] ? v[i] : 0; /* infinities saturate when they are put */
            put_channel(&to, x, v, count);
        }
    }
    put_zeros(&p->output, p->channels, p->pixels);
}

void mona_c_unpack_row(const mona_unpack_row *u)
{
    const mona_planes *planes = &u->planes;
    const uint32_t block = planes->block;
    const size_t size = mona_type_size(planes->type);
    const bool half = u->source.type == MONA_F16 || planes->type == MONA_F16;
    float v[PIECE];
    for (uint32_t c = 0; c < u->channels; c++) {
        const channel from = channel_of(&u->source, u->first + c);
        uint8_t *to = planes->rows[c / block] + c % block * size;
        for (uint32_t x = 0, count; x < u->pixels; x += count) {
            count = min_u32(PIECE, u->pixels - x);
            gather_channel(v, &from, x, count);
            if (half)
                round_scaled(v, count, planes->scale);
            put(to + x * block * size, block * size, planes->type, v, count, planes->maximum);
        }
    }
}

/* ---- elementwise ---------------------------------------------------------------------------- */

static void add_all(float *values, uint32_t count, float x)
{
    for (uint32_t i = 0; i < count && x != 0; i++)
        values[i] += x;
}

static void combine(const mona_elementwise_row *e, float *a, float *b, uint32_t count, uint32_t c)
{
    const mona_epilogue *ep = &e->epilogue;
    add_all(a, count, -e->zero_a);
    add_all(b, count, -e->zero_b);
    round_scaled(a, count, e->scale_a);
    round_scaled(b, count, e->scale_b);
    if (e->multiply)
        for (uint32_t i = 0; i < count; i++)
            a[i] = mona_round_finite(a[i] * b[i]);
    else
        for (uint32_t i = 0; i < count; i++)
            a[i] = mona_round_finite(a[i] + b[i]);
    for (uint32_t i = 0; i < count && ep->slope; i++)
        b[i] = ep->slope[c];
    mona_activate_all(a, count, ep->activation, ep, b);
    mona_activate_all(a, count, ep->activation_after_add, ep, b);
    if (ep->output_scale != 1)
        round_scaled(a, count, ep->output_scale);
    add_all(a, count, e->zero);
}

static void repeat_pixel(float *b, const channel *from, uint32_t count)
{
    gather_channel(b, from, 0, 1);
    for (uint32_t i = 1; i < count; i++)
        b[i] = b[0];
}

void mona_c_elementwise_row(const mona_elementwise_row *e)
{
    float a[PIECE], b[PIECE];
    for (uint32_t c = 0; c < e->channels; c++) {
        const channel from_a = channel_of(&e->a, c);
        const channel from_b = channel_of(&e->b, e->broadcast_b ? 0 : c);
        const channel to = channel_of(&e->output, c);
        for (uint32_t x = 0, count; x < e->pixels; x += count) {
            count = min_u32(PIECE, e->pixels - x);
            gather_channel(a, &from_a, x, count);
            if (e->one_pixel_b)
                repeat_pixel(b, &from_b, count);
            else
                gather_channel(b, &from_b, x, count);
            combine(e, a, b, count, c);
            put_channel(&to, x, a, count);
        }
    }
    put_zeros(&e->output, e->channels, e->pixels);
}
