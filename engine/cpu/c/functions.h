// SPDX-License-Identifier: Apache-2.0
/* The functions of activations after FP16 layers, in fp32. Every operation is rounded separately,
 * so all instruction sets give the same bits; the result is then rounded to fp16. Before that its
 * relative error is below 2^-18, except near a zero of the function other than 0.
 *
 * Included after a type `vf` with vf_set1, vf_add, vf_sub, vf_mul, vf_div, vf_max, vf_min and
 *   vf_power2(v)   2^k for v = 1.5 * 2^23 + k, -126 <= k <= 127 */
#ifndef MONA_FUNCTIONS_H
#define MONA_FUNCTIONS_H

#include "engine/cpu/c/compiler.h"
#include "engine/model_format.h"

/* exp(x) = scale * (1 + more) */
typedef struct power {
    vf scale, more;
} power;

/* Taylor's polynomial of exp(r) - 1 after x = k log(2) + r, |r| < 0.347: the next term is below
 * 2^-22 of it. k times the first part of log(2) is exact. Beyond 64 no result of a function
 * changes any more, and 1 / exp(x) is no denormal number. */
INLINE power power_of(vf x)
{
    static const float factors[] = {1.0f / 720, 1.0f / 120, 1.0f / 24, 1.0f / 6, 1.0f / 2, 1};
    x = vf_min(vf_max(x, vf_set1(-87)), vf_set1(64));
    const vf shifted = vf_add(vf_mul(x, vf_set1(0x1.715476p+0f)), vf_set1(0x1.8p23f));
    const vf k = vf_sub(shifted, vf_set1(0x1.8p23f));
    const vf r =
        vf_sub(vf_sub(x, vf_mul(k, vf_set1(0x1.62e4p-1f))), vf_mul(k, vf_set1(0x1.7f7d1cp-20f)));
    vf p = vf_set1(1.0f / 5040);
    UNROLL
    for (unsigned i = 0; i < sizeof factors / sizeof *factors; i++)
        p = vf_add(vf_mul(p, r), vf_set1(factors[i]));
    return (power){vf_power2(shifted), vf_mul(p, r)};
}

INLINE vf exp_of(vf x)
{
    const power p = power_of(x);
    return vf_add(p.scale, vf_mul(p.scale, p.more));
}

INLINE vf expm1_of(vf x)
{
    const power p = power_of(x);
    return vf_add(vf_mul(p.scale, p.more), vf_sub(p.scale, vf_set1(1)));
}

/* log(1 + u) = 2 artanh(s), s = u / (2 + u), for u in [0, 1]: after s^13 less than 2^-22 is
 * left. */
INLINE vf log1p_of(vf u)
{
    static const float factors[] = {1.0f / 11, 1.0f / 9, 1.0f / 7, 1.0f / 5, 1.0f / 3, 1};
    const vf s = vf_div(u, vf_add(u, vf_set1(2))), square = vf_mul(s, s);
    vf p = vf_set1(1.0f / 13);
    UNROLL
    for (unsigned i = 0; i < sizeof factors / sizeof *factors; i++)
        p = vf_add(vf_mul(p, square), vf_set1(factors[i]));
    return vf_mul(vf_add(s, s), p);
}

INLINE vf minus(vf x)
{
    return vf_sub(vf_set1(0), x);
}

INLINE vf magnitude(vf x)
{
    return vf_max(x, minus(x));
}

/* x / (1 + exp(-y)) */
INLINE vf gated(vf x, vf y)
{
    return vf_div(x, vf_add(exp_of(minus(y)), vf_set1(1)));
}

INLINE vf tanh_of(vf x)
{
    const vf e = expm1_of(vf_add(x, x));
    return vf_div(e, vf_add(e, vf_set1(2)));
}

/* max(x, 0) - |x| erfc(z) / 2 with z = |x| / sqrt(2). erfc(z) exp(z^2) = u P(u), u = 1 / (1 + 0.42
 * z): P interpolates it in the zeros of Chebyshev's polynomial for z up to 4.3, with a relative
 * error of 1.4e-6. Beyond that the second term is less than half of fp16's smallest number. */
INLINE vf gelu_of(vf x)
{
    static const float factors[] = {0.51023839f, -0.1246412f, 0.33676844f, 0.21164983f,
                                    0.23913345f};
    const vf a = magnitude(x), z = vf_mul(a, vf_set1(0x1.6a09e6p-1f));
    const vf u = vf_div(vf_set1(1), vf_add(vf_mul(z, vf_set1(0.42f)), vf_set1(1)));
    vf p = vf_set1(-0.17315023f);
    UNROLL
    for (unsigned i = 0; i < sizeof factors / sizeof *factors; i++)
        p = vf_add(vf_mul(p, u), vf_set1(factors[i]));
    const vf tail = vf_mul(vf_mul(p, u), exp_of(minus(vf_mul(z, z))));
    return vf_sub(vf_max(x, vf_set1(0)), vf_mul(vf_mul(a, vf_set1(0.5f)), tail));
}

/* 2 sqrt(2 / pi) (x + 0.044715 x^3) */
INLINE vf gelu_tanh_of(vf x)
{
    const vf cubic = vf_mul(vf_mul(x, x), vf_set1(0.044715f * 0x1.988453p+0f));
    return gated(x, vf_mul(x, vf_add(cubic, vf_set1(0x1.988453p+0f))));
}

/* x n / (n + 2), n = e^2 + 2 e, e = exp(x); where e is large, this is x. */
INLINE vf mish_of(vf x)
{
    const vf e = exp_of(vf_min(x, vf_set1(30)));
    const vf n = vf_mul(e, vf_add(e, vf_set1(2)));
    return vf_div(vf_mul(x, n), vf_add(n, vf_set1(2)));
}

INLINE vf function_of(mona_activation function, vf x, vf alpha)
{
    const vf zero = vf_set1(0);
    switch (function) {
    case MONA_ACT_SIGMOID:
        return gated(vf_set1(1), x);
    case MONA_ACT_SILU:
        return gated(x, x);
    case MONA_ACT_HARD_SWISH: {
        const vf gate = vf_min(vf_max(vf_add(x, vf_set1(3)), zero), vf_set1(6));
        return vf_mul(x, vf_mul(gate, vf_set1(1.0f / 6)));
    }
    case MONA_ACT_TANH:
        return tanh_of(x);
    case MONA_ACT_GELU:
        return gelu_of(x);
    case MONA_ACT_GELU_TANH:
        return gelu_tanh_of(x);
    case MONA_ACT_MISH:
        return mish_of(x);
    case MONA_ACT_ELU: /* one summand is zero */
        return vf_add(vf_max(x, zero), vf_mul(alpha, expm1_of(vf_min(x, zero))));
    case MONA_ACT_SOFTPLUS:
        return vf_add(vf_max(x, zero), log1p_of(exp_of(minus(magnitude(x)))));
    default:
        return x;
    }
}

#endif
