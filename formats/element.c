// SPDX-License-Identifier: Apache-2.0
#include "formats/element.h"

#include <math.h>
#include <string.h>

typedef enum element_kind { NOT_READ, REAL, SIGNED, UNSIGNED } element_kind;

static const struct element_row {
    const char *name;
    uint8_t size, bits;
    uint8_t kind;
} rows[ELEMENT_TYPE_COUNT] = {
    [ELEMENT_UNDEFINED] = {"undefined", 0, 0, NOT_READ},
    [ELEMENT_FLOAT32] = {"float32", 4, 32, REAL},
    [ELEMENT_UINT8] = {"uint8", 1, 8, UNSIGNED},
    [ELEMENT_INT8] = {"int8", 1, 8, SIGNED},
    [ELEMENT_UINT16] = {"uint16", 2, 16, UNSIGNED},
    [ELEMENT_INT16] = {"int16", 2, 16, SIGNED},
    [ELEMENT_INT32] = {"int32", 4, 32, SIGNED},
    [ELEMENT_INT64] = {"int64", 8, 64, SIGNED},
    [ELEMENT_STRING] = {"string", 0, 0, NOT_READ},
    [ELEMENT_BOOL] = {"bool", 1, 8, UNSIGNED},
    [ELEMENT_FLOAT16] = {"float16", 2, 16, REAL},
    [ELEMENT_DOUBLE] = {"double", 8, 64, REAL},
    [ELEMENT_UINT32] = {"uint32", 4, 32, UNSIGNED},
    [ELEMENT_UINT64] = {"uint64", 8, 64, UNSIGNED},
    [ELEMENT_COMPLEX64] = {"complex64", 0, 0, NOT_READ},
    [ELEMENT_COMPLEX128] = {"complex128", 0, 0, NOT_READ},
    [ELEMENT_BFLOAT16] = {"bfloat16", 2, 16, REAL},
    [ELEMENT_FLOAT8E4M3FN] = {"float8e4m3fn", 1, 8, REAL},
    [ELEMENT_FLOAT8E4M3FNUZ] = {"float8e4m3fnuz", 1, 8, REAL},
    [ELEMENT_FLOAT8E5M2] = {"float8e5m2", 1, 8, REAL},
    [ELEMENT_FLOAT8E5M2FNUZ] = {"float8e5m2fnuz", 1, 8, REAL},
    [ELEMENT_UINT4] = {"uint4", 1, 4, UNSIGNED},
    [ELEMENT_INT4] = {"int4", 1, 4, SIGNED},
    [ELEMENT_FLOAT4E2M1] = {"float4e2m1", 1, 4, REAL},
    [ELEMENT_FLOAT8E8M0] = {"float8e8m0", 1, 8, REAL},
    [ELEMENT_UINT2] = {"uint2", 1, 2, UNSIGNED},
    [ELEMENT_INT2] = {"int2", 1, 2, SIGNED},
};

static const struct element_row *row_of(int64_t type)
{
    return type >= 0 && type < ELEMENT_TYPE_COUNT ? &rows[type] : NULL;
}

element_type element_of(mona_type type)
{
    static const element_type elements[MONA_TYPE_COUNT] = {
        [MONA_U8] = ELEMENT_UINT8,   [MONA_S8] = ELEMENT_INT8,     [MONA_F16] = ELEMENT_FLOAT16,
        [MONA_U16] = ELEMENT_UINT16, [MONA_F32] = ELEMENT_FLOAT32, [MONA_S16] = ELEMENT_INT16,
        [MONA_S32] = ELEMENT_INT32,  [MONA_U32] = ELEMENT_UINT32,  [MONA_S64] = ELEMENT_INT64,
        [MONA_U64] = ELEMENT_UINT64,
    };
    return elements[type];
}

const char *element_name(int64_t type)
{
    const struct element_row *row = row_of(type);
    return row ? row->name : "unknown";
}

size_t element_size(int64_t type)
{
    const struct element_row *row = row_of(type);
    return row ? row->size : 0;
}

unsigned element_bits(int64_t type)
{
    const struct element_row *row = row_of(type);
    return row ? row->bits : 0;
}

bool element_is_float(element_type type)
{
    return rows[type].kind == REAL;
}

int64_t element_lowest(element_type type)
{
    return rows[type].kind != SIGNED ? 0 : -1 - (int64_t)element_highest(type);
}

uint64_t element_highest(element_type type)
{
    if (type == ELEMENT_BOOL)
        return 1;
    return UINT64_MAX >> (64 - rows[type].bits + (rows[type].kind == SIGNED));
}

/* ---- floats of 16 bits and fewer ---------------------------------------------------------- */

/* Sign, exponent, mantissa; exponent 0 is for subnormal numbers. */
typedef struct small_float {
    int exponent_bits, mantissa_bits, bias;
    double max;             /* the largest finite number */
    uint16_t infinity, nan; /* codes; infinity 0: there is none, and NaN replaces it */
    uint16_t max_code;
    bool one_zero; /* there is no minus zero; its code is NaN */
} small_float;

static small_float small_of(element_type type)
{
    switch (type) {
    case ELEMENT_FLOAT16:
        return (small_float){5, 10, 15, 65504, 0x7c00, 0x7e00, 0x7bff, false};
    case ELEMENT_BFLOAT16:
        return (small_float){8, 7, 127, 0x1.fep127, 0x7f80, 0x7fc0, 0x7f7f, false};
    case ELEMENT_FLOAT8E4M3FN:
        return (small_float){4, 3, 7, 448, 0, 0x7f, 0x7e, false};
    case ELEMENT_FLOAT8E4M3FNUZ:
        return (small_float){4, 3, 8, 240, 0, 0x80, 0x7f, true};
    case ELEMENT_FLOAT8E5M2:
        return (small_float){5, 2, 15, 57344, 0x7c, 0x7e, 0x7b, false};
    case ELEMENT_FLOAT8E5M2FNUZ:
        return (small_float){5, 2, 16, 57344, 0, 0x80, 0x7f, true};
    default: /* FLOAT4E2M1, which has neither: NaN becomes minus zero */
        return (small_float){2, 1, 1, 6, 7, 8, 7, false};
    }
}

static uint32_t encode(const small_float *f, double value, element_overflow overflow)
{
    const uint32_t sign = signbit(value) ? 1u << (f->exponent_bits + f->mantissa_bits) : 0;
    const int min_exponent = 1 - f->bias; /* exponent of the smallest normal number */
    const double magnitude = fabs(value);
    int exponent = 0;
    if (isnan(value))
        return f->one_zero ? f->nan : sign | f->nan;
    double rounded = magnitude;
    if (isfinite(magnitude) && magnitude > 0) {
        exponent = ilogb(magnitude) < min_exponent ? min_exponent : ilogb(magnitude);
        const double unit = ldexp(1, exponent - f->mantissa_bits);
        rounded = nearbyint(magnitude / unit) * unit;
    }
    if (rounded > f->max) {
        const uint32_t beyond = f->infinity ? f->infinity : f->nan;
        const uint32_t code = overflow == ELEMENT_SATURATES ? f->max_code : beyond;
        return f->one_zero && code == f->nan ? code : sign | code;
    }
    if (rounded == 0)
        return f->one_zero ? 0 : sign;
    exponent = ilogb(rounded) < min_exponent ? min_exponent : ilogb(rounded);
    /* The leading 1 of a normal number carries into the exponent field. */
    const uint32_t units = (uint32_t)ldexp(rounded, f->mantissa_bits - exponent);
    return sign | (((uint32_t)(exponent - min_exponent) << f->mantissa_bits) + units);
}

static double decode(const small_float *f, uint32_t code)
{
    const int sign_bit = f->exponent_bits + f->mantissa_bits;
    const uint32_t magnitude = code & ((1u << sign_bit) - 1);
    const uint32_t exponent = magnitude >> f->mantissa_bits;
    const uint32_t mantissa = magnitude & ((1u << f->mantissa_bits) - 1);
    const bool negative = code >> sign_bit & 1;
    if (f->one_zero && code == f->nan)
        return NAN;
    double value;
    if (f->infinity && magnitude == f->infinity && magnitude != f->max_code)
        value = INFINITY;
    else if (!f->one_zero && magnitude > f->max_code)
        value = NAN;
    else if (exponent)
        value =
            ldexp(mantissa + (1u << f->mantissa_bits), (int)exponent - f->bias - f->mantissa_bits);
    else
        value = ldexp(mantissa, 1 - f->bias - f->mantissa_bits);
    return negative ? -value : value;
}

/* ---- E8M0: powers of two ------------------------------------------------------------------ */

static uint8_t encode_power(double value, element_overflow overflow)
{
    if (isnan(value))
        return 0xff;
    const double magnitude = fabs(value);
    if (magnitude == 0)
        return 0;
    int exponent = isinf(magnitude) ? 128 : ilogb(magnitude);
    if (isfinite(magnitude) && ldexp(magnitude, -exponent) >= 1.5) /* to nearest, halves up */
        exponent++;
    if (exponent > 127)
        return overflow == ELEMENT_SATURATES ? 0xfe : 0xff;
    return (uint8_t)(exponent < -127 ? 0 : exponent + 127);
}

element_format element_format_of(element_type type)
{
    if (type == ELEMENT_FLOAT8E8M0)
        return (element_format){0, -127, 0x1p127, NAN};
    const small_float f = small_of(type);
    const double beyond = f.infinity == f.max_code ? f.max : f.infinity ? INFINITY : NAN;
    return (element_format){f.mantissa_bits, 1 - f.bias, f.max, beyond};
}

/* ---- any type ----------------------------------------------------------------------------- */

void element_store_float(element_type type, void *data, double value, element_overflow overflow)
{
    const float single = (float)value;
    if (type == ELEMENT_FLOAT32) {
        memcpy(data, &single, sizeof single);
    } else if (type == ELEMENT_DOUBLE) {
        memcpy(data, &value, sizeof value);
    } else if (type == ELEMENT_FLOAT8E8M0) {
        *(uint8_t *)data = encode_power(value, overflow);
    } else {
        const small_float f = small_of(type);
        const uint16_t code = (uint16_t)encode(&f, value, overflow);
        if (element_size(type) == 2)
            memcpy(data, &code, 2);
        else
            *(uint8_t *)data = (uint8_t)code;
    }
}

double element_number(element_type type, const void *data)
{
    float single;
    double wide;
    uint16_t code = 0;
    if (type == ELEMENT_FLOAT32) {
        memcpy(&single, data, sizeof single);
        return (double)single;
    }
    if (type == ELEMENT_DOUBLE) {
        memcpy(&wide, data, sizeof wide);
        return wide;
    }
    if (type == ELEMENT_UINT64)
        return (double)(uint64_t)element_int(type, data);
    if (!element_is_float(type))
        return (double)element_int(type, data);
    if (element_size(type) == 2)
        memcpy(&code, data, 2);
    else
        code = *(const uint8_t *)data;
    if (type == ELEMENT_FLOAT8E8M0)
        return code == 0xff ? NAN : ldexp(1, code - 127);
    const small_float f = small_of(type);
    return decode(&f, code);
}

/* Sign-extends the low bits in two's complement. */
static int64_t sign_extend(uint64_t value, unsigned bits)
{
    const uint64_t half = UINT64_C(1) << (bits - 1), mask = half | (half - 1);
    return (int64_t)(((value & mask) ^ half) - half);
}

int64_t element_int(element_type type, const void *data)
{
    uint64_t value = 0; /* the machine is little-endian, like the files */
    memcpy(&value, data, rows[type].size);
    return rows[type].kind == SIGNED ? sign_extend(value, rows[type].bits) : (int64_t)value;
}

void element_store_int(element_type type, void *data, int64_t value)
{
    uint64_t bits = (uint64_t)value;
    if (type == ELEMENT_BOOL)
        bits = bits != 0;
    else if (rows[type].kind == SIGNED)
        bits = (uint64_t)sign_extend(bits, rows[type].bits);
    else
        bits &= element_highest(type);
    memcpy(data, &bits, rows[type].size);
}
