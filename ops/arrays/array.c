// SPDX-License-Identifier: Apache-2.0
/* Shared by all operators on arrays: the amount of work, bounds, and conversion of elements to
 * numbers. */
#include "ops/arrays/arrays.h"

#include "engine/cpu/c/compiler.h"

uint64_t mona_array_items(const mona_bound_op *b)
{
    return b->run->items ? b->run->items(b) : mona_shape_elements(&b->output);
}

uint64_t mona_array_work(const mona_bound_op *b)
{
    const mona_op_class *class = mona_ops[b->op->kind];
    uint64_t work = mona_shape_elements(&b->output) + (class->macs ? class->macs(b) : 0);
    for (uint32_t i = 0; i < b->op->input_count; i++)
        work += mona_shape_elements(&b->input[i]);
    return work;
}

/* ---- bounds -------------------------------------------------------------------------------- */

uint64_t mona_array_product(const uint32_t *extent, uint32_t dims)
{
    uint64_t product = 1;
    for (uint32_t d = 0; d < dims; d++) {
        product *= extent[d];
        if (!product || product > MONA_ARRAY_MAX_ELEMENTS)
            return 0;
    }
    return product;
}

/* Extents and strides are at most 2^30, so eight products cannot overflow. */
bool mona_array_inside(const uint32_t *extent, const int32_t *stride, uint32_t dims, uint64_t base,
                       uint64_t elements)
{
    int64_t min = (int64_t)base, max = min;
    for (uint32_t d = 0; d < dims; d++) {
        if (stride[d] > MONA_ARRAY_MAX_STRIDE || stride[d] < -MONA_ARRAY_MAX_STRIDE || !extent[d] ||
            extent[d] > MONA_ARRAY_MAX_ELEMENTS)
            return false;
        const int64_t reach = (int64_t)(extent[d] - 1) * stride[d];
        *(reach < 0 ? &min : &max) += reach;
    }
    return min >= 0 && max < (int64_t)elements;
}

/* ---- elements as numbers ------------------------------------------------------------------------
 *
 * Inlined for one type each, so that loops over elements side by side become vector code. */

INLINE size_t bytes_of(mona_type type)
{
    return type == MONA_U8 || type == MONA_S8                         ? 1
           : type == MONA_F16 || type == MONA_U16 || type == MONA_S16 ? 2
           : type == MONA_S64 || type == MONA_U64                     ? 8
                                                                      : 4;
}

typedef union element {
    uint16_t u16;
    int16_t s16;
    uint32_t u32;
    int32_t s32;
    uint64_t u64;
    int64_t s64;
    float f32;
} element;

INLINE element element_at(const uint8_t *p, mona_type type)
{
    element e;
    memcpy(&e, p, bytes_of(type));
    return e;
}

/* Reads an element of a type that fits 32 bits. Vectors of 32 bits convert to floats directly. */
INLINE int32_t narrow_at(const uint8_t *p, mona_type type)
{
    const element e = element_at(p, type);
    return type == MONA_U8    ? *p
           : type == MONA_S8  ? (int8_t)*p
           : type == MONA_U16 ? e.u16
           : type == MONA_S16 ? e.s16
                              : e.s32;
}

INLINE float float_at(const uint8_t *p, mona_type type)
{
    const element e = element_at(p, type);
    switch (type) {
    case MONA_F16:
        return mona_f32_from_f16(e.u16);
    case MONA_F32:
        return e.f32;
    case MONA_U32:
        return (float)e.u32;
    case MONA_S64:
        return (float)e.s64;
    case MONA_U64:
        return (float)e.u64;
    default:
        return (float)narrow_at(p, type);
    }
}

INLINE int64_t int_at(const uint8_t *p, mona_type type)
{
    const element e = element_at(p, type);
    switch (type) {
    case MONA_F16:
    case MONA_F32:
        return int_of(float_at(p, type));
    case MONA_U32:
        return e.u32;
    case MONA_S64:
    case MONA_U64:
        return e.s64;
    default:
        return narrow_at(p, type);
    }
}

/* ---- reading ------------------------------------------------------------------------------- */

/* Reads elements that lie `step` bytes apart. */
INLINE void read_floats(float *to, const uint8_t *from, ptrdiff_t step, uint32_t count,
                        mona_type type)
{
    if (step == (ptrdiff_t)bytes_of(type))
        for (uint32_t i = 0; i < count; i++)
            to[i] = float_at(from + i * bytes_of(type), type);
    else
        for (uint32_t i = 0; i < count; i++)
            to[i] = float_at(from + (ptrdiff_t)i * step, type);
}

INLINE void read_ints(int64_t *to, const uint8_t *from, ptrdiff_t step, uint32_t count,
                      mona_type type)
{
    if (step == (ptrdiff_t)bytes_of(type))
        for (uint32_t i = 0; i < count; i++)
            to[i] = int_at(from + i * bytes_of(type), type);
    else
        for (uint32_t i = 0; i < count; i++)
            to[i] = int_at(from + (ptrdiff_t)i * step, type);
}

void mona_array_read_floats(float *to, array_source from, int64_t at, int32_t stride,
                            uint32_t count)
{
    const ptrdiff_t element = (ptrdiff_t)mona_type_size(from.type), step = stride * element;
    const uint8_t *data = from.data + at * element;
    switch (from.type) {
        CASE(MONA_U8, read_floats(to, data, step, count, MONA_U8));
        CASE(MONA_S8, read_floats(to, data, step, count, MONA_S8));
        CASE(MONA_F16, read_floats(to, data, step, count, MONA_F16));
        CASE(MONA_F32, read_floats(to, data, step, count, MONA_F32));
        CASE(MONA_S32, read_floats(to, data, step, count, MONA_S32));
    default: /* rare */
        for (uint32_t i = 0; i < count; i++)
            to[i] = float_at(data + (ptrdiff_t)i * step, from.type);
        break;
    }
}

void mona_array_read_ints(int64_t *to, array_source from, int64_t at, int32_t stride,
                          uint32_t count)
{
    const ptrdiff_t element = (ptrdiff_t)mona_type_size(from.type), step = stride * element;
    const uint8_t *data = from.data + at * element;
    switch (from.type) {
        CASE(MONA_U8, read_ints(to, data, step, count, MONA_U8));
        CASE(MONA_S8, read_ints(to, data, step, count, MONA_S8));
        CASE(MONA_S32, read_ints(to, data, step, count, MONA_S32));
        CASE(MONA_S64, read_ints(to, data, step, count, MONA_S64));
    default:
        for (uint32_t i = 0; i < count; i++)
            to[i] = int_at(data + (ptrdiff_t)i * step, from.type);
        break;
    }
}

void mona_array_read(mona_arithmetic arithmetic, void *to, array_source from, int64_t at,
                     int32_t stride, uint32_t count)
{
    if (arithmetic == MONA_FLOAT)
        mona_array_read_floats(to, from, at, stride, count);
    else
        mona_array_read_ints(to, from, at, stride, count);
}

static int32_t last_stride(const array_walk *w)
{
    return w->dims ? w->stride[w->dims - 1] : 0;
}

static void array_floats(float *to, array_source from, array_walk *w, uint32_t count)
{
    for (uint32_t done = 0, run; done < count; done += run) {
        run = walk_run(w, count - done);
        mona_array_read_floats(to + done, from, w->at, last_stride(w), run);
        walk_pass(w, run);
    }
}

void mona_array_ints(int64_t *to, array_source from, array_walk *w, uint32_t count)
{
    for (uint32_t done = 0, run; done < count; done += run) {
        run = walk_run(w, count - done);
        mona_array_read_ints(to + done, from, w->at, last_stride(w), run);
        walk_pass(w, run);
    }
}

const float *mona_array_view(float *room, array_source from, array_walk *w, uint32_t count)
{
    if (from.type != MONA_F32 || last_stride(w) != 1 || walk_run(w, count) < count) {
        array_floats(room, from, w, count);
        return room;
    }
    const float *beside = (const float *)(const void *)from.data + w->at;
    walk_pass(w, count);
    return beside;
}

/* ---- writing ------------------------------------------------------------------------------- */

static const uint32_t f32_nan = 0x7fc00000;

/* Rounds to nearest even, like mona_f16_from_f32 except for infinities and NaNs. */
static inline uint16_t half_of(float x)
{
    const uint32_t u = mona_bits(x) & 0x7fffffff;
    const uint16_t sign = (uint16_t)(mona_bits(x) >> 16 & 0x8000);
    if (u >= 0x477ff000) /* 65520, halfway from 65504 to 2^16 */
        return u > 0x7f800000 ? 0x7e00 : sign | 0x7c00;
    return mona_f16_from_f32(x);
}

typedef struct bounds {
    int64_t low;
    uint64_t high;
} bounds;

static bounds bounds_of(mona_type type)
{
    static const bounds of[MONA_TYPE_COUNT] = {
        [MONA_U8] = {0, UINT8_MAX},   [MONA_S8] = {INT8_MIN, INT8_MAX},
        [MONA_U16] = {0, UINT16_MAX}, [MONA_S16] = {INT16_MIN, INT16_MAX},
        [MONA_U32] = {0, UINT32_MAX}, [MONA_S32] = {INT32_MIN, INT32_MAX},
        [MONA_U64] = {0, UINT64_MAX}, [MONA_S64] = {INT64_MIN, INT64_MAX},
    };
    return of[type];
}

/* Stores the low bytes of value. */
static inline void put_whole(uint8_t *data, mona_type type, uint64_t i, uint64_t value)
{
    memcpy(data + i * bytes_of(type), &value, bytes_of(type));
}

/* A number as 64 bits of the type; for U64 without a sign. */
static uint64_t bits_of(float x, mona_type type)
{
    if (type == MONA_U64 && x >= 0x1p63f)
        return x < 0x1p64f ? (uint64_t)x : UINT64_MAX;
    return (uint64_t)int_of(x);
}

static uint64_t saturated(int64_t value, bool negative, mona_type type)
{
    const bounds b = bounds_of(type);
    if (negative)
        return (uint64_t)(value < b.low ? b.low : value);
    return (uint64_t)value > b.high ? b.high : (uint64_t)value;
}

static void put_floats_as_ints(uint8_t *data, mona_type type, mona_conversion conversion,
                               uint64_t first, const float *from, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const float x = conversion == MONA_SATURATE ? round_even(from[i]) : from[i];
        const uint64_t value = bits_of(x, type);
        put_whole(data, type, first + i,
                  conversion == MONA_SATURATE ? saturated((int64_t)value, x < 0, type) : value);
    }
}

void mona_array_put_floats(uint8_t *data, mona_type type, mona_conversion conversion,
                           uint64_t first, const float *from, uint32_t count)
{
    if (type == MONA_F32) {
        float *to = (float *)(void *)data + first;
        for (uint32_t i = 0; i < count; i++)
            to[i] = from[i] == from[i] ? from[i] : mona_float(f32_nan);
    } else if (type == MONA_F16) {
        uint16_t *to = (uint16_t *)(void *)data + first;
        for (uint32_t i = 0; i < count; i++)
            to[i] = half_of(from[i]);
    } else
        put_floats_as_ints(data, type, conversion, first, from, count);
}

/* from_unsigned: the numbers have no sign. */
void mona_array_put_ints(uint8_t *data, mona_type type, mona_conversion conversion,
                         bool from_unsigned, uint64_t first, const int64_t *from, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const bool negative = !from_unsigned && from[i] < 0;
        const float x = from_unsigned ? (float)(uint64_t)from[i] : (float)from[i];
        if (type == MONA_F32 || type == MONA_F16)
            mona_array_put_floats(data, type, conversion, first + i, &x, 1);
        else
            put_whole(data, type, first + i,
                      conversion == MONA_SATURATE ? saturated(from[i], negative, type)
                                                  : (uint64_t)from[i]);
    }
}
