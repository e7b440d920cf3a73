// SPDX-License-Identifier: Apache-2.0
/* The operators on arrays against loops written here from array_format.h's words: any rank, strides
 * and types, by one to four threads and on model310 (array_run). Float functions:
 * test_array_float.c. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "ops/arrays/real.h"
#include "tests/unit/array_fixture.h"

enum { MOST = 1 << 13 };

static uint32_t roll(uint32_t *seed, uint32_t below)
{
    *seed = *seed * 1664525 + 1013904223;
    return (*seed >> 16 ^ *seed) % below;
}

/* ---- elements ------------------------------------------------------------------------------ */

static bool is_real(mona_type type)
{
    return type == MONA_F16 || type == MONA_F32;
}

static float half_value(uint16_t h)
{
    const int exponent = h >> 10 & 31, fraction = h & 1023;
    const double size = exponent == 31 ? (fraction ? (double)NAN : (double)INFINITY)
                        : exponent     ? ldexp(1024 + fraction, exponent - 25)
                                       : ldexp(fraction, -24);
    return (float)(h & 0x8000 ? -size : size);
}

static uint16_t half_bits(float x)
{
    if (isnan(x))
        return 0x7e00;
    const uint16_t sign = signbit(x) ? 0x8000 : 0;
    const double size = fabs((double)x);
    uint32_t low = 0, high = 0x7c00; /* size lies in [low, high) as halves; 0x7c00: 2^16 */
    while (high - low > 1) {
        const uint32_t middle = (low + high) / 2;
        *(size < (double)half_value((uint16_t)middle) ? &high : &low) = middle;
    }
    const double above = high == 0x7c00 ? 0x1p16 : (double)half_value((uint16_t)high);
    const double middle = ((double)half_value((uint16_t)low) + above) / 2;
    return sign | (uint16_t)(size > middle || (size == middle && low % 2) ? high : low);
}

static int64_t whole_element(mona_type type, const void *data, int64_t i)
{
    switch (type) {
    case MONA_U8:
        return ((const uint8_t *)data)[i];
    case MONA_S8:
        return ((const int8_t *)data)[i];
    case MONA_U16:
        return ((const uint16_t *)data)[i];
    case MONA_S16:
        return ((const int16_t *)data)[i];
    case MONA_U32:
        return ((const uint32_t *)data)[i];
    case MONA_S32:
        return ((const int32_t *)data)[i];
    case MONA_F32:
        return (int64_t)((const float *)data)[i];
    case MONA_F16:
        return (int64_t)half_value(((const uint16_t *)data)[i]);
    default:
        return ((const int64_t *)data)[i];
    }
}

static float real_element(mona_type type, const void *data, int64_t i)
{
    if (type == MONA_F32)
        return ((const float *)data)[i];
    if (type == MONA_F16)
        return half_value(((const uint16_t *)data)[i]);
    return type == MONA_U64 ? (float)((const uint64_t *)data)[i]
                            : (float)whole_element(type, data, i);
}

static void put_whole(mona_type type, void *data, int64_t i, int64_t value)
{
    const float real = (float)value;
    const uint16_t half = half_bits(real);
    const size_t size = mona_type_size(type);
    memcpy((uint8_t *)data + (size_t)i * size,
           type == MONA_F32   ? (const void *)&real
           : type == MONA_F16 ? (const void *)&half
                              : (const void *)&value,
           size);
}

static void put_real(mona_type type, void *data, int64_t i, float value)
{
    if (type == MONA_F32) {
        const uint32_t nan = 0x7fc00000;
        memcpy((float *)data + i, isnan(value) ? (const void *)&nan : &value, 4);
    } else if (type == MONA_F16)
        ((uint16_t *)data)[i] = half_bits(value);
    else
        put_whole(type, data, i, isnan(value) ? 0 : (int64_t)value);
}

/* Numbers as networks have them; whole types get small and extreme ones. */
static void *elements(mona_type type, uint32_t count, uint32_t *seed)
{
    const size_t size = mona_type_size(type);
    uint8_t *data = aligned(count * size + 64);
    for (uint32_t i = 0; i < count; i++) {
        const int32_t small = (int32_t)roll(seed, 41) - 20;
        if (is_real(type))
            put_real(type, data, i, (float)small + (float)roll(seed, 1000) / 1000);
        else
            put_whole(type, data, i,
                      roll(seed, 4) ? small : (int64_t)roll(seed, 1u << 31) * (small | 1));
    }
    return data;
}

static mona_type any_type(uint32_t *seed)
{
    return (mona_type)roll(seed, MONA_TYPE_COUNT);
}

/* Index of each dimension of element i. */
static void indices(uint32_t i, uint32_t dims, const uint32_t *extent, uint32_t *index)
{
    for (uint32_t d = dims; d-- > 0; i /= extent[d])
        index[d] = i % extent[d];
}

static uint32_t product(const uint32_t *extent, uint32_t dims)
{
    uint32_t count = 1;
    for (uint32_t d = 0; d < dims; d++)
        count *= extent[d];
    return count;
}

/* Runs the case and compares; expected is freed, and what the operands are made of. */
static void check_case(array_case *c, void *expected)
{
    void *found = aligned(c->elements * mona_type_size(c->type));
    array_run(c, found);
    assert_memory_equal(found, expected, c->elements * mona_type_size(c->type));
    for (uint32_t i = 0; i < c->operand_count; i++)
        free((void *)(uintptr_t)c->operands[i].data);
    free(found), free(expected);
}

/* ---- MAP ----------------------------------------------------------------------------------- */

/* Strides of an operand: dense in some order, some dimensions broadcast, some backwards. */
static uint32_t random_strides(const mona_array_map *m, uint32_t k, uint32_t *seed, int32_t *stride,
                               uint32_t *base)
{
    uint32_t next = 1;
    *base = 0;
    (void)k;
    for (uint32_t n = 0, d = roll(seed, m->dims); n < m->dims; n++, d = (d + 1) % m->dims) {
        const uint32_t form = roll(seed, 5);
        stride[d] = form == 0 ? 0 : (int32_t)next;
        if (form == 1) {
            *base += next * (m->extent[d] - 1);
            stride[d] = -stride[d];
        }
        next *= form ? m->extent[d] : 1;
    }
    return next;
}

static int64_t exact_whole(uint32_t f, int64_t a, int64_t b, int64_t c, bool no_sign)
{
    const uint64_t ua = (uint64_t)a, ub = (uint64_t)b;
    const bool less = no_sign ? ua < ub : a < b, more = no_sign ? ua > ub : a > b;
    switch (f) {
    case MONA_FN_ADD:
        return (int64_t)(ua + ub);
    case MONA_FN_SUB:
        return (int64_t)(ua - ub);
    case MONA_FN_MUL:
        return (int64_t)(ua * ub);
    case MONA_FN_DIV:
        return !b ? 0 : no_sign ? (int64_t)(ua / ub) : b == -1 ? (int64_t)(0 - ua) : a / b;
    case MONA_FN_MOD:
        return !b ? 0 : no_sign ? (int64_t)(ua % ub) : b == -1 ? 0 : ((a % b) + b) % b;
    case MONA_FN_FMOD:
        return !b ? 0 : no_sign ? (int64_t)(ua % ub) : b == -1 ? 0 : a % b;
    case MONA_FN_MIN:
        return less ? a : b;
    case MONA_FN_MAX:
        return more ? a : b;
    case MONA_FN_EQUAL:
        return a == b;
    case MONA_FN_LESS:
        return less;
    case MONA_FN_LESS_EQUAL:
        return !more;
    case MONA_FN_AND:
        return a && b;
    case MONA_FN_OR:
        return a || b;
    case MONA_FN_XOR:
        return !a ^ !b;
    case MONA_FN_BIT_AND:
        return a & b;
    case MONA_FN_BIT_OR:
        return a | b;
    case MONA_FN_BIT_XOR:
        return a ^ b;
    case MONA_FN_WHERE:
        return a ? b : c;
    case MONA_FN_MUL_ADD:
        return (int64_t)(ua * ub + (uint64_t)c);
    case MONA_FN_ABS:
        return !no_sign && a < 0 ? (int64_t)(0 - ua) : a;
    case MONA_FN_NEG:
        return (int64_t)(0 - ua);
    case MONA_FN_SIGN:
        return !no_sign && a < 0 ? -1 : a != 0;
    case MONA_FN_NOT:
        return !a;
    case MONA_FN_BIT_NOT:
        return ~a;
    default:
        return a;
    }
}

static float exact_real(uint32_t f, float a, float b, float c, const float *p)
{
    switch (f) {
    case MONA_FN_ADD:
        return a + b;
    case MONA_FN_SUB:
        return a - b;
    case MONA_FN_MUL:
        return a * b;
    case MONA_FN_DIV:
        return a / b;
    case MONA_FN_MOD: {
        const float r = fmodf(a, b);
        return r != 0 && (r < 0) != (b < 0) ? r + b : r;
    }
    case MONA_FN_FMOD:
        return fmodf(a, b);
    case MONA_FN_EQUAL:
        return a == b;
    case MONA_FN_LESS:
        return a < b;
    case MONA_FN_LESS_EQUAL:
        return a <= b;
    case MONA_FN_AND:
        return a != 0 && b != 0;
    case MONA_FN_OR:
        return a != 0 || b != 0;
    case MONA_FN_XOR:
        return (a != 0) != (b != 0);
    case MONA_FN_MIN:
        return a < b || isnan(a) ? a : b;
    case MONA_FN_MAX:
        return a > b || isnan(a) ? a : b;
    case MONA_FN_PRELU:
        return a < 0 ? a * b : a;
    case MONA_FN_WHERE:
        return a != 0 ? b : c;
    case MONA_FN_CLIP:
        a = a > b || isnan(a) ? a : b;
        return a < c || isnan(a) ? a : c;
    case MONA_FN_MUL_ADD: {
        const volatile float t = a * b;
        return t + c;
    }
    case MONA_FN_QUANTIZE:
        return rintf(a / b) + c;
    case MONA_FN_DEQUANTIZE:
        return (a - c) * b;
    case MONA_FN_ABS:
        return fabsf(a);
    case MONA_FN_NEG:
        return -a;
    case MONA_FN_SIGN:
        return a > 0 ? 1 : a < 0 ? -1 : a;
    case MONA_FN_NOT:
        return a == 0;
    case MONA_FN_RELU:
        return a < 0 ? 0 : a;
    case MONA_FN_FLOOR:
        return floorf(a);
    case MONA_FN_CEIL:
        return ceilf(a);
    case MONA_FN_ROUND:
        return rintf(a);
    case MONA_FN_TRUNC:
        return truncf(a);
    case MONA_FN_SOFTSIGN:
        return a / (1 + fabsf(a));
    case MONA_FN_LEAKY_RELU:
        return a < 0 ? p[0] * a : a;
    case MONA_FN_HARD_SIGMOID: {
        const volatile float t = p[0] * a;
        return isnan(a) ? a : fmaxf(0, fminf(1, t + p[1]));
    }
    case MONA_FN_HARD_SWISH: {
        const volatile float t = a / 6;
        return a * fmaxf(0, fminf(1, t + 0.5f));
    }
    case MONA_FN_THRESHOLD:
        return a > p[0] ? a : 0;
    case MONA_FN_SHRINK:
        return a < -p[0] ? a + p[1] : a > p[0] ? a - p[1] : 0;
    case MONA_FN_IS_NAN:
        return isnan(a);
    case MONA_FN_IS_INF:
        return isinf(a) && (a < 0 ? p[0] != 0 : p[1] != 0);
    default:
        return a;
    }
}

static uint32_t arity_of(uint32_t f)
{
    return f >= MONA_FN_WHERE ? 3 : f >= MONA_FN_ADD ? 2 : 1;
}

/* Every function listed, on shapes and types drawn anew for each. */
static void map_round(uint32_t f, mona_arithmetic arithmetic, uint32_t *seed)
{
    mona_array_map m = {.function = (uint8_t)f,
                        .arithmetic = (uint8_t)arithmetic,
                        .dims = (uint8_t)(1 + roll(seed, 5)),
                        .parameter = {0.3f, 0.6f, 1, 0}};
    for (uint32_t d = 0; d < m.dims; d++)
        m.extent[d] = 1 + roll(seed, d + 1 == m.dims ? 70 : 5);
    array_case c = {.kind = MONA_OP_ARRAY_MAP,
                    .record = &m,
                    .record_bytes = sizeof m,
                    .operand_count = arity_of(f),
                    .type = any_type(seed),
                    .elements = product(m.extent, m.dims)};
    if (arithmetic == MONA_FLOAT && !is_real(c.type))
        c.type = MONA_F32; /* conversions have a test of their own */
    for (uint32_t k = 0; k < c.operand_count; k++) {
        array_operand *o = &c.operands[k];
        o->elements = random_strides(&m, k, seed, m.stride[k], &m.base[k]);
        o->type = any_type(seed);
        o->constant = k && roll(seed, 2);
        o->data = elements(o->type, o->elements, seed);
    }
    const bool no_sign = c.operands[0].type == MONA_U64;
    void *expected = aligned(c.elements * 8);
    for (uint32_t i = 0; i < c.elements; i++) {
        uint32_t index[MONA_ARRAY_DIMS];
        float x[3] = {0};
        int64_t w[3] = {0};
        indices(i, m.dims, m.extent, index);
        for (uint32_t k = 0; k < c.operand_count; k++) {
            int64_t at = m.base[k];
            for (uint32_t d = 0; d < m.dims; d++)
                at += (int64_t)index[d] * m.stride[k][d];
            x[k] = real_element(c.operands[k].type, c.operands[k].data, at);
            w[k] = whole_element(c.operands[k].type, c.operands[k].data, at);
        }
        if (arithmetic == MONA_FLOAT)
            put_real(c.type, expected, i, exact_real(f, x[0], x[1], x[2], m.parameter));
        else {
            const int64_t y = exact_whole(f, w[0], w[1], w[2], no_sign);
            if (no_sign && is_real(c.type))
                put_real(c.type, expected, i, (float)(uint64_t)y);
            else
                put_whole(c.type, expected, i, y);
        }
    }
    check_case(&c, expected);
}

static void maps(void **state)
{
    (void)state;
    static const uint8_t real[] = {
        MONA_FN_COPY,      MONA_FN_ABS,          MONA_FN_NEG,        MONA_FN_SIGN,
        MONA_FN_NOT,       MONA_FN_RELU,         MONA_FN_FLOOR,      MONA_FN_CEIL,
        MONA_FN_ROUND,     MONA_FN_TRUNC,        MONA_FN_SOFTSIGN,   MONA_FN_LEAKY_RELU,
        MONA_FN_THRESHOLD, MONA_FN_HARD_SIGMOID, MONA_FN_HARD_SWISH, MONA_FN_SHRINK,
        MONA_FN_IS_NAN,    MONA_FN_IS_INF,       MONA_FN_ADD,        MONA_FN_SUB,
        MONA_FN_MUL,       MONA_FN_DIV,          MONA_FN_MOD,        MONA_FN_FMOD,
        MONA_FN_MIN,       MONA_FN_MAX,          MONA_FN_EQUAL,      MONA_FN_LESS,
        MONA_FN_AND,       MONA_FN_OR,           MONA_FN_XOR,        MONA_FN_LESS_EQUAL,
        MONA_FN_PRELU,     MONA_FN_WHERE,        MONA_FN_CLIP,       MONA_FN_MUL_ADD,
        MONA_FN_QUANTIZE,  MONA_FN_DEQUANTIZE};
    static const uint8_t whole[] = {
        MONA_FN_COPY,    MONA_FN_ABS,     MONA_FN_NEG,    MONA_FN_SIGN,    MONA_FN_NOT,
        MONA_FN_BIT_NOT, MONA_FN_ADD,     MONA_FN_SUB,    MONA_FN_MUL,     MONA_FN_DIV,
        MONA_FN_MOD,     MONA_FN_FMOD,    MONA_FN_MIN,    MONA_FN_MAX,     MONA_FN_EQUAL,
        MONA_FN_LESS,    MONA_FN_AND,     MONA_FN_OR,     MONA_FN_XOR,     MONA_FN_LESS_EQUAL,
        MONA_FN_WHERE,   MONA_FN_BIT_AND, MONA_FN_BIT_OR, MONA_FN_BIT_XOR, MONA_FN_MUL_ADD};
    uint32_t seed = 1;
    for (int round = 0; round < 4; round++) {
        for (size_t f = 0; f < sizeof real; f++)
            map_round(real[f], MONA_FLOAT, &seed);
        for (size_t f = 0; f < sizeof whole; f++)
            map_round(whole[f], MONA_INT, &seed);
    }
}

/* ---- PICK ---------------------------------------------------------------------------------- */

static void pick_round(uint32_t *seed)
{
    enum { TABLE = 64 };
    const uint32_t sources = 1 + roll(seed, 3), size = 1u << roll(seed, 4);
    const mona_type types[] = {MONA_U8, MONA_F16, MONA_F32, MONA_S64};
    const mona_type type = types[size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3];
    static uint32_t tables[MONA_ARRAY_DIMS + 1][TABLE];
    mona_array_pick p = {.dims = 1 + roll(seed, 4),
                         .source_axis = MONA_NONE,
                         .source_table = MONA_NONE,
                         .fill = 0x0102030405060708};
    uint32_t held[MONA_ARRAY_DIMS]; /* positions of the sources' axes */
    for (uint32_t d = 0; d < p.dims; d++) {
        p.extent[d] = 1 + roll(seed, d + 1 == p.dims ? 50 : 6);
        p.table[d] = roll(seed, 2) ? (uint32_t)(d * sizeof tables[0]) : MONA_NONE;
        held[d] = p.table[d] == MONA_NONE ? p.extent[d] : 1 + roll(seed, 9);
        for (uint32_t i = 0; i < p.extent[d]; i++)
            tables[d][i] = roll(seed, 8) ? roll(seed, held[d]) : MONA_NONE;
    }
    uint8_t *source_of = (uint8_t *)tables[p.dims];
    memset(source_of, 0, TABLE);
    if (sources > 1) {
        p.source_axis = roll(seed, p.dims);
        p.source_table = (uint32_t)(p.dims * sizeof tables[0]);
        for (uint32_t i = 0; i < p.extent[p.source_axis]; i++)
            source_of[i] = (uint8_t)roll(seed, sources);
    }
    array_case c = {.kind = MONA_OP_ARRAY_PICK,
                    .record = &p,
                    .record_bytes = sizeof p,
                    .operand_count = sources,
                    .type = type,
                    .elements = product(p.extent, p.dims),
                    .tables = tables,
                    .table_bytes = sizeof tables,
                    .offsets = {&p.source_table}};
    for (uint32_t d = 0; d < p.dims; d++)
        c.offsets[1 + d] = &p.table[d];
    for (uint32_t s = 0; s < sources; s++) {
        array_operand *o = &c.operands[s];
        o->elements = 1;
        for (uint32_t n = 0, d = roll(seed, p.dims); n < p.dims; n++, d = (d + 1) % p.dims) {
            const bool back = roll(seed, 3) == 0;
            p.stride[s][d] = back ? -(int32_t)o->elements : (int32_t)o->elements;
            p.base[s] += back ? o->elements * (held[d] - 1) : 0;
            o->elements *= held[d];
        }
        o->type = type;
        o->data = elements(type, o->elements, seed);
        o->constant = s % 2;
    }
    uint8_t *expected = aligned(c.elements * size);
    for (uint32_t i = 0; i < c.elements; i++) {
        uint32_t index[MONA_ARRAY_DIMS] = {0};
        bool none = false;
        indices(i, p.dims, p.extent, index);
        const uint32_t s = sources > 1 ? source_of[index[p.source_axis]] : 0;
        int64_t at = p.base[s];
        for (uint32_t d = 0; d < p.dims; d++) {
            const uint32_t position = p.table[d] == MONA_NONE ? index[d] : tables[d][index[d]];
            none |= position == MONA_NONE;
            at += none ? 0 : (int64_t)position * p.stride[s][d];
        }
        memcpy(expected + i * size,
               none ? (const void *)&p.fill
                    : (const uint8_t *)c.operands[s].data + at * (int64_t)size,
               size);
    }
    check_case(&c, expected);
}

static void picks(void **state)
{
    (void)state;
    uint32_t seed = 2;
    for (int round = 0; round < 200; round++)
        pick_round(&seed);
}

/* ---- REDUCE -------------------------------------------------------------------------------- */

static double exact_reduction(uint32_t f, const float *x, uint32_t count)
{
    double sum = f == MONA_REDUCE_PRODUCT ? 1 : 0, most = -INFINITY;
    uint32_t best = 0;
    for (uint32_t i = 0; i < count; i++) {
        const double d = (double)x[i];
        most = fmax(most, d);
        const bool takes = f == MONA_REDUCE_MAX || f == MONA_REDUCE_ARG_MAX ? x[i] > x[best]
                           : f == MONA_REDUCE_ARG_MAX_LAST                  ? x[i] >= x[best]
                           : f == MONA_REDUCE_ARG_MIN_LAST                  ? x[i] <= x[best]
                                                                            : x[i] < x[best];
        best = takes ? i : best;
        sum = f == MONA_REDUCE_PRODUCT                             ? sum * d
              : f == MONA_REDUCE_SUM_SQUARE || f == MONA_REDUCE_L2 ? sum + d * d
              : f == MONA_REDUCE_L1                                ? sum + fabs(d)
                                                                   : sum + d;
    }
    if (f >= MONA_REDUCE_ARG_MAX)
        return best;
    if (f == MONA_REDUCE_MAX || f == MONA_REDUCE_MIN)
        return (double)x[best];
    if (f == MONA_REDUCE_LOG_SUM_EXP) {
        sum = 0;
        for (uint32_t i = 0; i < count; i++)
            sum += exp((double)x[i] - most);
        return most + log(sum);
    }
    return f == MONA_REDUCE_MEAN      ? sum / count
           : f == MONA_REDUCE_L2      ? sqrt(sum)
           : f == MONA_REDUCE_LOG_SUM ? log(sum)
                                      : sum;
}

static void reduce_round(uint32_t f, mona_arithmetic arithmetic, uint32_t *seed)
{
    mona_array_reduce r = {.function = (uint8_t)f, .arithmetic = (uint8_t)arithmetic};
    r.kept = (uint8_t)roll(seed, 4);
    r.reduced = (uint8_t)roll(seed, 4);
    r.reduced = r.kept + r.reduced ? r.reduced : 1;
    const uint32_t dims = (uint32_t)r.kept + r.reduced;
    uint32_t all = 1;
    for (uint32_t n = 0, d = roll(seed, dims); n < dims; n++, d = (d + 1) % dims) {
        r.extent[d] = 1 + roll(seed, 9);
        r.stride[d] = (int32_t)all;
        all *= r.extent[d];
    }
    const bool arg = f >= MONA_REDUCE_ARG_MAX;
    array_case c = {.kind = MONA_OP_ARRAY_REDUCE,
                    .record = &r,
                    .record_bytes = sizeof r,
                    .operand_count = 1,
                    .operands = {{arithmetic == MONA_FLOAT ? MONA_F32 : MONA_S8, NULL, all, false}},
                    .type = arg                        ? MONA_S64
                            : arithmetic == MONA_FLOAT ? MONA_F32
                                                       : MONA_S32,
                    .elements = product(r.extent, r.kept)};
    c.operands[0].data = elements(c.operands[0].type, all, seed);
    void *found = aligned(c.elements * 8);
    array_run(&c, found);
    const uint32_t count = product(r.extent + r.kept, r.reduced);
    float *x = aligned(count * sizeof *x);
    for (uint32_t i = 0; i < c.elements; i++) {
        uint32_t kept[MONA_ARRAY_DIMS], reduced[MONA_ARRAY_DIMS];
        indices(i, r.kept, r.extent, kept);
        for (uint32_t k = 0; k < count; k++) {
            int64_t at = 0;
            indices(k, r.reduced, r.extent + r.kept, reduced);
            for (uint32_t d = 0; d < dims; d++)
                at += (int64_t)(d < r.kept ? kept[d] : reduced[d - r.kept]) * r.stride[d];
            x[k] = real_element(c.operands[0].type, c.operands[0].data, at);
            if (f == MONA_REDUCE_LOG_SUM) /* of positive numbers */
                x[k] = fabsf(x[k]);
        }
        const double exact = exact_reduction(f, x, count);
        if (f == MONA_REDUCE_LOG_SUM)
            continue; /* below */
        if (c.type == MONA_S64)
            assert_int_equal(((const int64_t *)found)[i], (int64_t)exact);
        else if (c.type == MONA_S32 && fabs(exact) < 0x1p50)
            assert_int_equal(((const int32_t *)found)[i], (int32_t)(int64_t)exact);
        else if (c.type == MONA_F32)
            assert_true(((const float *)found)[i] == (float)exact ||
                        (f == MONA_REDUCE_LOG_SUM_EXP &&
                         fabs((double)((const float *)found)[i] - exact) <= 1e-7 * fabs(exact)));
    }
    free((void *)(uintptr_t)c.operands[0].data), free(found), free(x);
}

static void reductions(void **state)
{
    (void)state;
    uint32_t seed = 3;
    for (int round = 0; round < 12; round++)
        for (uint32_t f = 0; f < MONA_REDUCE_COUNT; f++) {
            reduce_round(f, MONA_FLOAT, &seed);
            if (f != MONA_REDUCE_MEAN && (f < MONA_REDUCE_L2 || f > MONA_REDUCE_LOG_SUM_EXP))
                reduce_round(f, MONA_INT, &seed);
        }
}

static void reductions_of_special_numbers(void **state)
{
    (void)state;
    const float x[] = {1, NAN, 3, -INFINITY, -INFINITY, -INFINITY, 2, INFINITY, 5, 4, 9, 9};
    static const struct {
        uint32_t function;
        float expected[4];
    } rows[] = {
        {MONA_REDUCE_MAX, {NAN, -INFINITY, INFINITY, 9}},
        {MONA_REDUCE_MIN, {NAN, -INFINITY, 2, 4}},
        {MONA_REDUCE_SUM, {NAN, -INFINITY, INFINITY, 22}},
        {MONA_REDUCE_LOG_SUM_EXP, {NAN, -INFINITY, INFINITY, 9.6965117f}},
        {MONA_REDUCE_LOG_SUM, {NAN, NAN, INFINITY, 3.09104245f}},
        {MONA_REDUCE_ARG_MAX, {1, 0, 1, 1}},
        {MONA_REDUCE_ARG_MAX_LAST, {1, 2, 1, 2}},
        {MONA_REDUCE_ARG_MIN, {1, 0, 0, 0}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const mona_array_reduce r = {.function = (uint8_t)rows[i].function,
                                     .kept = 1,
                                     .reduced = 1,
                                     .extent = {4, 3},
                                     .stride = {3, 1}};
        const array_case c = {.kind = MONA_OP_ARRAY_REDUCE,
                              .record = &r,
                              .record_bytes = sizeof r,
                              .operand_count = 1,
                              .operands = {{MONA_F32, x, 12, false}},
                              .type = MONA_F32,
                              .elements = 4};
        float found[4] __attribute__((aligned(64)));
        array_run(&c, found);
        for (int k = 0; k < 4; k++)
            assert_true(isnan(rows[i].expected[k])
                            ? isnan(found[k])
                            : found[k] == rows[i].expected[k] ||
                                  fabsf(found[k] - rows[i].expected[k]) < 1e-5f);
    }
}

/* ---- MATMUL -------------------------------------------------------------------------------- */

static void matmul_round(mona_arithmetic arithmetic, uint32_t *seed)
{
    mona_array_matmul m = {.arithmetic = (uint8_t)arithmetic, .batch_dims = (uint8_t)roll(seed, 3)};
    const uint32_t sides[3] = {1 + roll(seed, 40), 1 + roll(seed, 300), 1 + roll(seed, 150)};
    m.m = sides[0], m.n = sides[1], m.k = sides[2];
    const bool a_turned = roll(seed, 2), b_turned = roll(seed, 2);
    m.a_m = (int32_t)(a_turned ? 1 : m.k), m.a_k = (int32_t)(a_turned ? m.m : 1);
    m.b_k = (int32_t)(b_turned ? 1 : m.n), m.b_n = (int32_t)(b_turned ? m.k : 1);
    uint32_t held[2] = {m.m * m.k, m.k * m.n};
    for (uint32_t d = m.batch_dims; d-- > 0;) {
        m.extent[d] = 1 + roll(seed, 3);
        for (int i = 0; i < 2; i++) {
            const bool shared = roll(seed, 3) == 0;
            m.batch_stride[i][d] = shared ? 0 : (int32_t)held[i];
            held[i] *= shared ? 1 : m.extent[d];
        }
    }
    array_case c = {.kind = MONA_OP_ARRAY_MATMUL,
                    .record = &m,
                    .record_bytes = sizeof m,
                    .operand_count = 2,
                    .type = arithmetic == MONA_FLOAT ? MONA_F32 : MONA_S32,
                    .elements = product(m.extent, m.batch_dims) * m.m * m.n};
    for (int i = 0; i < 2; i++) {
        const mona_type types[2][2] = {{MONA_F32, MONA_F16}, {MONA_U8, MONA_S8}};
        c.operands[i].type = types[arithmetic][roll(seed, 2)];
        c.operands[i].elements = held[i];
        c.operands[i].data = elements(c.operands[i].type, held[i], seed);
        c.operands[i].constant = i;
    }
    void *expected = aligned(c.elements * 4);
    for (uint32_t e = 0; e < c.elements; e++) {
        const uint32_t row = e / m.n % m.m, column = e % m.n;
        uint32_t batch[6];
        int64_t at[2] = {(int64_t)row * m.a_m, (int64_t)column * m.b_n}, whole = 0;
        float real = 0;
        indices(e / m.n / m.m, m.batch_dims, m.extent, batch);
        for (uint32_t d = 0; d < m.batch_dims; d++)
            for (int i = 0; i < 2; i++)
                at[i] += (int64_t)batch[d] * m.batch_stride[i][d];
        for (uint32_t k = 0; k < m.k; k++, at[0] += m.a_k, at[1] += m.b_k) {
            const volatile float t = real_element(c.operands[0].type, c.operands[0].data, at[0]) *
                                     real_element(c.operands[1].type, c.operands[1].data, at[1]);
            real += t;
            whole += whole_element(c.operands[0].type, c.operands[0].data, at[0]) *
                     whole_element(c.operands[1].type, c.operands[1].data, at[1]);
        }
        if (arithmetic == MONA_FLOAT)
            put_real(c.type, expected, e, real);
        else
            put_whole(c.type, expected, e, whole);
    }
    check_case(&c, expected);
}

static void products(void **state)
{
    (void)state;
    uint32_t seed = 4;
    for (int round = 0; round < 16; round++)
        matmul_round(round % 2 ? MONA_INT : MONA_FLOAT, &seed);
}

/* ---- WINDOW -------------------------------------------------------------------------------- */

static uint32_t side_product(const mona_array_window *w, size_t side)
{
    uint32_t count = 1;
    for (uint32_t d = 0; d < w->axes; d++)
        count *= *(const uint32_t *)(const void *)((const uint8_t *)&w->axis[d] + side);
    return count;
}

/* Element of the plane that a tap of an output sees, or -1; whether it counts when padding does. */
static int64_t sample_at(const mona_array_window *w, uint32_t out, uint32_t tap, bool *padded)
{
    uint32_t outs[3], taps[3], extent[2][3];
    int64_t at = 0;
    bool inside = true;
    for (uint32_t d = 0; d < w->axes; d++)
        extent[0][d] = w->axis[d].out, extent[1][d] = w->axis[d].kernel;
    indices(out, w->axes, extent[0], outs);
    indices(tap, w->axes, extent[1], taps);
    *padded = true;
    for (uint32_t d = 0; d < w->axes; d++) {
        const mona_array_axis *a = &w->axis[d];
        const int64_t x =
            (int64_t)outs[d] * a->stride - a->pad_before + (int64_t)taps[d] * a->dilation;
        inside &= x >= 0 && x < a->in;
        *padded &= x < (int64_t)a->in + a->pad_after;
        at = at * a->in + x;
    }
    return inside ? at : -1;
}

static mona_array_window random_window(uint32_t *seed)
{
    mona_array_window w = {.axes = (uint8_t)(1 + roll(seed, 3)), .groups = 1};
    w.batch = 1 + roll(seed, 2);
    for (uint32_t d = 0; d < w.axes; d++) {
        mona_array_axis *a = &w.axis[d];
        *a = (mona_array_axis){.in = 3 + roll(seed, w.axes == 1 ? 200 : 9),
                               .kernel = 1 + roll(seed, 3),
                               .stride = 1 + roll(seed, 3),
                               .dilation = 1 + roll(seed, 2),
                               .pad_before = (int32_t)roll(seed, 3),
                               .pad_after = (int32_t)roll(seed, 3)};
        const int32_t reach = (int32_t)((a->kernel - 1) * a->dilation + 1);
        const int32_t room = (int32_t)a->in + a->pad_before + a->pad_after - reach;
        a->out = room < 0 ? 1 : (uint32_t)room / a->stride + 1 + roll(seed, 2);
    }
    return w;
}

static void conv_round(mona_arithmetic arithmetic, uint32_t *seed)
{
    mona_array_window w = random_window(seed);
    w.function = MONA_WINDOW_CONV;
    w.arithmetic = (uint8_t)arithmetic;
    w.groups = 1 + roll(seed, 3);
    w.channels = w.groups * (1 + roll(seed, 4));
    w.outputs = w.groups * (1 + roll(seed, 20));
    const uint32_t ins = side_product(&w, offsetof(mona_array_axis, in));
    const uint32_t outs = side_product(&w, offsetof(mona_array_axis, out));
    const uint32_t taps = side_product(&w, offsetof(mona_array_axis, kernel));
    const uint32_t depth = w.channels / w.groups;
    array_case c = {.kind = MONA_OP_ARRAY_WINDOW,
                    .record = &w,
                    .record_bytes = sizeof w,
                    .operand_count = 2 + roll(seed, 2),
                    .type = arithmetic == MONA_FLOAT ? MONA_F32 : MONA_S32,
                    .elements = w.batch * w.outputs * outs};
    const uint32_t sizes[] = {w.batch * w.channels * ins, w.outputs * depth * taps, w.outputs};
    for (uint32_t i = 0; i < c.operand_count; i++) {
        c.operands[i] =
            (array_operand){arithmetic == MONA_FLOAT ? MONA_F32 : MONA_S8, NULL, sizes[i], i == 2};
        c.operands[i].data = elements(c.operands[i].type, sizes[i], seed);
    }
    void *expected = aligned(c.elements * 4);
    for (uint32_t e = 0; e < c.elements; e++) {
        const uint32_t o = e / outs % w.outputs, group = o / (w.outputs / w.groups);
        const bool biased = c.operand_count == 3;
        float real = biased ? real_element(c.operands[2].type, c.operands[2].data, o) : 0;
        int64_t whole = biased ? whole_element(c.operands[2].type, c.operands[2].data, o) : 0;
        for (uint32_t k = 0; k < depth * taps; k++) {
            const uint32_t plane = e / outs / w.outputs * w.channels + group * depth + k / taps;
            bool padded;
            const int64_t at = sample_at(&w, e % outs, k % taps, &padded);
            const int64_t x = (int64_t)plane * ins + at, y = (int64_t)o * depth * taps + k;
            const volatile float t =
                real_element(c.operands[1].type, c.operands[1].data, y) *
                (at < 0 ? 0 : real_element(c.operands[0].type, c.operands[0].data, x));
            real += t;
            whole += whole_element(c.operands[1].type, c.operands[1].data, y) *
                     (at < 0 ? 0 : whole_element(c.operands[0].type, c.operands[0].data, x));
        }
        if (arithmetic == MONA_FLOAT)
            put_real(c.type, expected, e, real);
        else
            put_whole(c.type, expected, e, whole);
    }
    check_case(&c, expected);
}

static void convolutions(void **state)
{
    (void)state;
    uint32_t seed = 5;
    for (int round = 0; round < 30; round++)
        conv_round(round % 3 ? MONA_FLOAT : MONA_INT, &seed);
}

static void pool_round(uint32_t function, mona_arithmetic arithmetic, uint32_t *seed)
{
    mona_array_window w = random_window(seed);
    w.function = (uint8_t)function;
    w.arithmetic = (uint8_t)arithmetic;
    w.count_include_pad = (uint8_t)roll(seed, 2);
    w.channels = w.outputs = 1 + roll(seed, 4);
    const uint32_t ins = side_product(&w, offsetof(mona_array_axis, in));
    const uint32_t outs = side_product(&w, offsetof(mona_array_axis, out));
    const uint32_t taps = side_product(&w, offsetof(mona_array_axis, kernel));
    const bool indexed = function == MONA_WINDOW_MAX_INDEX;
    array_case c = {.kind = MONA_OP_ARRAY_WINDOW,
                    .record = &w,
                    .record_bytes = sizeof w,
                    .operand_count = 1,
                    .type = indexed                    ? MONA_S64
                            : arithmetic == MONA_FLOAT ? MONA_F32
                                                       : MONA_S64,
                    .elements = w.batch * w.outputs * outs};
    array_operand *o = &c.operands[0];
    *o = (array_operand){arithmetic == MONA_FLOAT ? MONA_F32 : MONA_U8, NULL,
                         w.batch * w.channels * ins, false};
    o->data = elements(o->type, o->elements, seed);
    void *expected = aligned(c.elements * 8);
    for (uint32_t e = 0; e < c.elements; e++) {
        int64_t best = -1, n = 0, whole = 0;
        float sum = 0, most = -INFINITY;
        for (uint32_t tap = 0; tap < taps; tap++) {
            bool padded;
            const int64_t at = sample_at(&w, e % outs, tap, &padded);
            const int64_t x = (int64_t)(e / outs) * ins + at;
            n += w.count_include_pad ? padded : at >= 0;
            if (at < 0)
                continue;
            const float v = real_element(o->type, o->data, x);
            sum += v;
            whole += (int64_t)v * (arithmetic == MONA_INT);
            best = best < 0 || v > most ? x : best;
            most = v > most ? v : most;
        }
        const int64_t nothing = function == MONA_WINDOW_SUM ? 0 : INT64_MIN;
        if (indexed)
            put_whole(c.type, expected, e, best < 0 ? 0 : best);
        else if (arithmetic == MONA_INT)
            put_whole(c.type, expected, e,
                      function == MONA_WINDOW_SUM ? whole
                      : best < 0                  ? nothing
                                                  : (int64_t)most);
        else
            put_real(c.type, expected, e,
                     function == MONA_WINDOW_MAX   ? most
                     : function == MONA_WINDOW_SUM ? sum
                                                   : sum / (float)(n ? n : 1));
    }
    check_case(&c, expected);
}

static void pools(void **state)
{
    (void)state;
    uint32_t seed = 6;
    for (int round = 0; round < 12; round++)
        for (uint32_t f = MONA_WINDOW_MAX; f < MONA_WINDOW_COUNT; f++) {
            pool_round(f, MONA_FLOAT, &seed);
            if (f != MONA_WINDOW_AVERAGE)
                pool_round(f, MONA_INT, &seed);
        }
}

/* ---- RESAMPLE, GATHER ---------------------------------------------------------------------- */

static void resamplings(void **state)
{
    (void)state;
    enum { OUT = 40, ENTRIES = 4 * OUT };
    static uint32_t tables[3][ENTRIES + 16];
    uint32_t seed = 7;
    for (int round = 0; round < 30; round++) {
        mona_array_resample r = {.outer = 1 + roll(&seed, 5),
                                 .in = 1 + roll(&seed, 30),
                                 .out = 1 + roll(&seed, OUT),
                                 .inner = 1 + roll(&seed, round % 2 ? 400 : 1),
                                 .first = 0,
                                 .index = sizeof tables[0],
                                 .weight = 2 * sizeof tables[0],
                                 .fill = -7.5f};
        float *weight = (float *)(void *)tables[2];
        tables[0][0] = 0;
        for (uint32_t o = 0; o < r.out; o++)
            tables[0][o + 1] = tables[0][o] + roll(&seed, 5);
        for (uint32_t e = 0; e < tables[0][r.out]; e++) {
            tables[1][e] = roll(&seed, r.in);
            weight[e] = (float)roll(&seed, 1000) / 500 - 1;
        }
        const uint32_t held = r.outer * r.in * r.inner;
        float *x = elements(MONA_F32, held, &seed);
        array_case c = {.kind = MONA_OP_ARRAY_RESAMPLE,
                        .record = &r,
                        .record_bytes = sizeof r,
                        .operand_count = 1,
                        .operands = {{MONA_F32, x, held, false}},
                        .type = MONA_F32,
                        .elements = r.outer * r.out * r.inner,
                        .tables = tables,
                        .table_bytes = sizeof tables,
                        .offsets = {&r.first, &r.index, &r.weight}};
        float *expected = aligned(c.elements * sizeof *expected);
        for (uint32_t e = 0; e < c.elements; e++) {
            const uint32_t i = e % r.inner, o = e / r.inner % r.out, row = e / r.inner / r.out;
            float sum = tables[0][o] == tables[0][o + 1] ? r.fill : 0;
            for (uint32_t k = tables[0][o]; k < tables[0][o + 1]; k++) {
                const volatile float t =
                    weight[k] * x[((size_t)row * r.in + tables[1][k]) * r.inner + i];
                sum += t;
            }
            expected[e] = sum;
        }
        check_case(&c, expected);
    }
}

static void gathers(void **state)
{
    (void)state;
    uint32_t seed = 8;
    for (int round = 0; round < 30; round++) {
        const mona_array_gather g = {.outer = 1 + roll(&seed, 4),
                                     .extent = 1 + roll(&seed, 9),
                                     .inner = 1 + roll(&seed, 7),
                                     .count = 1 + roll(&seed, 20)};
        const mona_type types[] = {MONA_U8, MONA_F16, MONA_F32, MONA_S64};
        const mona_type type = types[roll(&seed, 4)],
                        index_type = roll(&seed, 2) ? MONA_S64 : MONA_S32;
        const size_t size = mona_type_size(type) * g.inner;
        const uint32_t held = g.outer * g.extent * g.inner;
        array_case c = {
            .kind = MONA_OP_ARRAY_GATHER,
            .record = &g,
            .record_bytes = sizeof g,
            .operand_count = 2,
            .operands = {{type, elements(type, held, &seed), held, false},
                         {index_type, elements(index_type, g.count, &seed), g.count, false}},
            .type = type,
            .elements = g.outer * g.count * g.inner};
        uint8_t *expected = aligned(c.elements * mona_type_size(type));
        for (uint32_t i = 0; i < g.outer * g.count; i++) {
            int64_t at = whole_element(index_type, c.operands[1].data, i % g.count);
            at += at < 0 ? g.extent : 0;
            at = at < 0 ? 0 : at >= g.extent ? (int64_t)g.extent - 1 : at;
            memcpy(expected + i * size,
                   (const uint8_t *)c.operands[0].data +
                       ((size_t)(i / g.count) * g.extent + (size_t)at) * size,
                   size);
        }
        check_case(&c, expected);
    }
}

/* ---- NORMALISE ----------------------------------------------------------------------------- */

/* The sum of f(row element), in the order that the format defines. */
static double in_lanes(const double *x, uint32_t count)
{
    double s[32] = {0};
    for (uint32_t i = 0; i < count; i++)
        s[i % 32] += x[i];
    for (uint32_t i = 0; i < 31; i++) /* 0 to 15 get 16 to 31, then 0 to 7 get 8 to 15, ... */
        s[i < 16   ? i
          : i < 24 ? i - 16
          : i < 28 ? i - 24
          : i < 30 ? i - 28
                   : 0] += s[i < 16   ? i + 16
                             : i < 24 ? i - 8
                             : i < 28 ? i - 20
                             : i < 30 ? i - 26
                                      : 1];
    return s[0];
}

/* Row number `row`, which `inner` divides into those of the same outer index. */
static void normalise_row(const mona_array_normalise *n, const array_case *c, uint32_t row,
                          float *to)
{
    const uint32_t first = row / n->inner * n->extent * n->inner + row % n->inner;
    double *x = aligned(n->extent * sizeof *x), *t = aligned(n->extent * sizeof *t);
    float most = -INFINITY;
    for (uint32_t i = 0; i < n->extent; i++) {
        x[i] = (double)real_element(c->operands[0].type, c->operands[0].data, first + i * n->inner);
        most = (float)fmax((double)most, x[i]);
    }
    const double mean = in_lanes(x, n->extent) / n->extent;
    for (uint32_t i = 0; i < n->extent; i++)
        t[i] = n->function == MONA_NORMALISE_MOMENTS
                   ? (x[i] - mean) * (x[i] - mean)
                   : (double)(float)mona_real_exp((double)((float)x[i] - most));
    const double sum = in_lanes(t, n->extent);
    const double by = 1 / mona_real_sqrt(sum / n->extent + (double)n->epsilon);
    for (uint32_t i = 0; i < n->extent; i++) {
        const uint32_t at = first + i * n->inner, number = at / n->run;
        const float gain = c->operand_count > 1 ? real_element(MONA_F32, c->operands[1].data,
                                                               number % c->operands[1].elements)
                                                : 1;
        const float shift = c->operand_count > 2 ? real_element(MONA_F32, c->operands[2].data,
                                                                number % c->operands[2].elements)
                                                 : 0;
        to[at] = (float)(n->function == MONA_NORMALISE_MOMENTS
                             ? (x[i] - mean) * (by * (double)gain) + (double)shift
                         : n->function == MONA_NORMALISE_SOFTMAX
                             ? t[i] * (1 / sum)
                             : (double)((float)x[i] - most) - mona_real_log(sum));
    }
    free(x), free(t);
}

static void normalisations(void **state)
{
    (void)state;
    uint32_t seed = 9;
    for (uint32_t round = 0; round < 60; round++) {
        mona_array_normalise n = {
            .function = round % MONA_NORMALISE_COUNT, .run = 1 + roll(&seed, 3), .epsilon = 1e-3f};
        const bool moments = n.function == MONA_NORMALISE_MOMENTS;
        n.extent = n.run * (1 + roll(&seed, round % 2 ? 300 : 7));
        n.inner = moments || roll(&seed, 2) ? 1 : 1 + roll(&seed, 40);
        const uint32_t rows = n.inner * (1 + roll(&seed, 4)), held = rows * n.extent;
        const uint32_t numbers = 1 + roll(&seed, 20);
        array_case c = {.kind = MONA_OP_ARRAY_NORMALISE,
                        .record = &n,
                        .record_bytes = sizeof n,
                        .operand_count = moments ? 1 + roll(&seed, 3) : 1,
                        .operands = {{roll(&seed, 2) ? MONA_F32 : MONA_F16, NULL, held, false},
                                     {MONA_F32, NULL, numbers, false},
                                     {MONA_F32, NULL, numbers, true}},
                        .type = MONA_F32,
                        .elements = held};
        for (uint32_t i = 0; i < c.operand_count; i++)
            c.operands[i].data = elements(c.operands[i].type, c.operands[i].elements, &seed);
        float *expected = aligned(c.elements * sizeof *expected);
        for (uint32_t row = 0; row < rows; row++)
            normalise_row(&n, &c, row, expected);
        check_case(&c, expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(maps),       cmocka_unit_test(picks),
        cmocka_unit_test(reductions), cmocka_unit_test(reductions_of_special_numbers),
        cmocka_unit_test(products),   cmocka_unit_test(convolutions),
        cmocka_unit_test(pools),      cmocka_unit_test(resamplings),
        cmocka_unit_test(gathers),    cmocka_unit_test(normalisations),
    };
    return cmocka_run_group_tests_name("arrays", tests, NULL, NULL);
}
