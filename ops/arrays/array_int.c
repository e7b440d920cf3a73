// SPDX-License-Identifier: Apache-2.0
/* ARRAY_MAP's functions of integers: 64 bits, wrapping. Sums and products have the same bits with
 * and without a sign; where results differ, is_unsigned decides. */
#include "ops/arrays/arrays.h"

static int64_t wrapped(uint64_t x)
{
    return (int64_t)x;
}

static bool less(int64_t a, int64_t b, bool is_unsigned)
{
    return is_unsigned ? (uint64_t)a < (uint64_t)b : a < b;
}

static uint64_t magnitude(int64_t a)
{
    return a < 0 ? 0 - (uint64_t)a : (uint64_t)a;
}

/* Truncated; division by 0 gives 0. It divides magnitudes, since the smallest number / -1 has no
 * result. */
static int64_t quotient(int64_t a, int64_t b, bool is_unsigned)
{
    if (!b)
        return 0;
    if (is_unsigned)
        return wrapped((uint64_t)a / (uint64_t)b);
    const uint64_t q = magnitude(a) / magnitude(b);
    return wrapped((a < 0) != (b < 0) ? 0 - q : q);
}

/* With the sign of a; division by 0 gives 0. */
static int64_t remainder_of(int64_t a, int64_t b, bool is_unsigned)
{
    return b ? wrapped((uint64_t)a - (uint64_t)quotient(a, b, is_unsigned) * (uint64_t)b) : 0;
}

static int64_t modulo(int64_t a, int64_t b, bool is_unsigned)
{
    const int64_t r = remainder_of(a, b, is_unsigned);
    return !is_unsigned && r && (r < 0) != (b < 0) ? wrapped((uint64_t)r + (uint64_t)b) : r;
}

/* a^-n, for an integer n > 0, is between -1 and 1 unless a is 1 or -1. */
static int64_t power(int64_t a, int64_t n, bool is_unsigned)
{
    if (!is_unsigned && n < 0)
        return a == 1 ? 1 : a == -1 ? (n & 1 ? -1 : 1) : 0;
    uint64_t result = 1, square = (uint64_t)a;
    for (uint64_t rest = (uint64_t)n; rest; rest >>= 1, square *= square)
        result *= rest & 1 ? square : 1;
    return wrapped(result);
}

static int64_t unary(uint32_t function, bool is_unsigned, int64_t a)
{
    const bool negative = !is_unsigned && a < 0;
    switch (function) {
    case MONA_FN_ABS:
        return negative ? wrapped(magnitude(a)) : a;
    case MONA_FN_NEG:
        return wrapped(0 - (uint64_t)a);
    case MONA_FN_SIGN:
        return negative ? -1 : a != 0;
    case MONA_FN_NOT:
        return a == 0;
    case MONA_FN_RELU:
        return negative ? 0 : a;
    case MONA_FN_BIT_NOT:
        return ~a;
    default:
        return a;
    }
}

static int64_t shifted_right(int64_t a, int64_t b, bool is_unsigned)
{
    const uint64_t by = (uint64_t)b > 63 ? 63 : (uint64_t)b;
    if (is_unsigned)
        return (uint64_t)b > 63 ? 0 : wrapped((uint64_t)a >> by);
    return a < 0 ? ~(~a >> by) : a >> by;
}

static int64_t binary(uint32_t function, bool is_unsigned, int64_t a, int64_t b)
{
    const uint64_t ua = (uint64_t)a, ub = (uint64_t)b;
    switch (function) {
    case MONA_FN_ADD:
        return wrapped(ua + ub);
    case MONA_FN_SUB:
        return wrapped(ua - ub);
    case MONA_FN_MUL:
        return wrapped(ua * ub);
    case MONA_FN_DIV:
        return quotient(a, b, is_unsigned);
    case MONA_FN_MOD:
        return modulo(a, b, is_unsigned);
    case MONA_FN_FMOD:
        return remainder_of(a, b, is_unsigned);
    case MONA_FN_POW:
        return power(a, b, is_unsigned);
    case MONA_FN_MIN:
        return less(a, b, is_unsigned) ? a : b;
    case MONA_FN_MAX:
        return less(b, a, is_unsigned) ? a : b;
    case MONA_FN_EQUAL:
        return a == b;
    case MONA_FN_LESS:
        return less(a, b, is_unsigned);
    case MONA_FN_LESS_EQUAL:
        return !less(b, a, is_unsigned);
    case MONA_FN_AND:
        return a && b;
    case MONA_FN_OR:
        return a || b;
    case MONA_FN_XOR:
        return !a != !b;
    case MONA_FN_PRELU:
        return !is_unsigned && a < 0 ? wrapped(ua * ub) : a;
    case MONA_FN_BIT_AND:
        return a & b;
    case MONA_FN_BIT_OR:
        return a | b;
    case MONA_FN_BIT_XOR:
        return a ^ b;
    case MONA_FN_SHIFT_LEFT:
        return ub > 63 ? 0 : wrapped(ua << ub);
    default: /* MONA_FN_SHIFT_RIGHT */
        return shifted_right(a, b, is_unsigned);
    }
}

static int64_t ternary(uint32_t function, bool is_unsigned, int64_t a, int64_t b, int64_t c)
{
    switch (function) {
    case MONA_FN_WHERE:
        return a ? b : c;
    case MONA_FN_CLIP:
        return binary(MONA_FN_MIN, is_unsigned, binary(MONA_FN_MAX, is_unsigned, a, b), c);
    default: /* MONA_FN_MUL_ADD */
        return wrapped((uint64_t)a * (uint64_t)b + (uint64_t)c);
    }
}

bool mona_array_has_int(uint32_t f)
{
    return f <= MONA_FN_BIT_NOT || (f >= MONA_FN_ADD && f <= MONA_FN_SHIFT_RIGHT) ||
           (f >= MONA_FN_WHERE && f <= MONA_FN_MUL_ADD);
}

void mona_array_apply_int(uint32_t function, bool is_unsigned, int64_t *y,
                          const int64_t *const x[3], uint32_t count)
{
    const int64_t *a = x[0], *b = x[1], *c = x[2];
    const uint32_t arity = function_arity(function);
    for (uint32_t i = 0; i < count; i++)
        y[i] = arity == 1   ? unary(function, is_unsigned, a[i])
               : arity == 2 ? binary(function, is_unsigned, a[i], b[i])
                            : ternary(function, is_unsigned, a[i], b[i], c[i]);
}
