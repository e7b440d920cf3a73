// SPDX-License-Identifier: Apache-2.0
/* The functions of ARRAY_MAP in real arithmetic: over numbers of every size and all special ones,
 * against the mathematics library of this machine in fp64, in units of the last place. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/unit/array_fixture.h"

enum { COUNT = 40000 };

static float float_of(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static uint32_t next(uint32_t *seed)
{
    *seed = *seed * 1664525 + 1013904223;
    return *seed >> 8 ^ *seed << 13;
}

static const float specials[] = {0,
                                 -0.0f,
                                 1,
                                 -1,
                                 0.5f,
                                 -0.5f,
                                 1.5f,
                                 2.5f,
                                 -2.5f,
                                 INFINITY,
                                 -INFINITY,
                                 NAN,
                                 0x1p-149f,
                                 -0x1p-149f,
                                 0x1p-126f,
                                 0x1p-127f,
                                 0x1p127f,
                                 -0x1p127f,
                                 0x1.fffffep127f,
                                 -0x1.fffffep127f,
                                 88.7f,
                                 -88.7f,
                                 103.9f,
                                 -103.9f,
                                 0x1.921fb6p+0f,
                                 0x1.921fb6p+1f,
                                 0x1.2d97c8p+2f,
                                 8388607.5f,
                                 8388608,
                                 -8388609,
                                 16777216,
                                 3,
                                 -3,
                                 0x1.fffffep-1f,
                                 4,
                                 6};

enum { SPECIALS = sizeof specials / sizeof *specials };

/* Special numbers, numbers of any bits, and numbers of the size that networks have. */
static float *arguments(uint32_t seed)
{
    float *x = aligned(COUNT * sizeof *x);
    for (uint32_t i = 0; i < COUNT; i++)
        x[i] = i < SPECIALS ? specials[i]
               : i % 2      ? float_of(next(&seed) ^ next(&seed) << 16)
                            : ((float)(int32_t)next(&seed) * 0x1p-31f) * (i % 8 < 4 ? 20 : 2);
    return x;
}

static mona_array_map map_of(uint32_t function, const float *p)
{
    mona_array_map m = {.function = (uint8_t)function, .dims = 1, .extent = {COUNT}};
    for (int k = 0; k < 3; k++)
        m.stride[k][0] = 1;
    if (p)
        memcpy(m.parameter, p, sizeof m.parameter);
    return m;
}

static void apply(uint32_t function, const float *p, uint32_t operands, const float *a,
                  const float *b, const float *c, float *y)
{
    const mona_array_map m = map_of(function, p);
    const array_case one = {.kind = MONA_OP_ARRAY_MAP,
                            .record = &m,
                            .record_bytes = sizeof m,
                            .operand_count = operands,
                            .operands = {{MONA_F32, a, COUNT, false},
                                         {MONA_F32, b, COUNT, false},
                                         {MONA_F32, c, COUNT, false}},
                            .type = MONA_F32,
                            .elements = COUNT};
    array_run(&one, y);
}

/* Distance from the exact value in units of the last place of its fp32 neighbours; 0 where both are
 * the same special value. */
static double ulps(float found, double exact)
{
    const float nearest = (float)exact;
    if (isnan(exact) || isinf(nearest) || isnan(found) || isinf(found))
        return (isnan(exact) && isnan(found)) || found == nearest ? 0 : INFINITY;
    if (nearest == 0 && found == 0)
        return !signbit(found) != !signbit(exact) ? INFINITY : 0;
    int exponent;
    frexp(exact, &exponent);
    return fabs((double)found - exact) / ldexp(1, exponent - 24 < -149 ? -149 : exponent - 24);
}

typedef struct accurate {
    const char *name;
    uint32_t function;
    double (*exact)(double x);
    double most; /* ulp */
} accurate;

static double reciprocal(double x)
{
    return 1 / x;
}

static double sigmoid(double x)
{
    return x < 0 ? exp(x) / (1 + exp(x)) : 1 / (1 + exp(-x));
}

static double softplus(double x)
{
    return fmax(x, 0) + log1p(exp(-fabs(x)));
}

static double square_root(double x)
{
    return (double)sqrtf((float)x);
}

static void functions_are_within_the_last_place(void **state)
{
    (void)state;
    static const accurate rows[] = {
        {"sqrt", MONA_FN_SQRT, square_root, 0},
        {"1/x", MONA_FN_RECIPROCAL, reciprocal, 0.5},
        {"exp", MONA_FN_EXP, exp, 0.501},
        {"log", MONA_FN_LOG, log, 0.501},
        {"sin", MONA_FN_SIN, sin, 0.501},
        {"cos", MONA_FN_COS, cos, 0.501},
        {"tan", MONA_FN_TAN, tan, 0.501},
        {"asin", MONA_FN_ASIN, asin, 0.501},
        {"acos", MONA_FN_ACOS, acos, 0.501},
        {"atan", MONA_FN_ATAN, atan, 0.501},
        {"sinh", MONA_FN_SINH, sinh, 0.501},
        {"cosh", MONA_FN_COSH, cosh, 0.501},
        {"tanh", MONA_FN_TANH, tanh, 0.501},
        {"asinh", MONA_FN_ASINH, asinh, 0.501},
        {"acosh", MONA_FN_ACOSH, acosh, 0.501},
        {"atanh", MONA_FN_ATANH, atanh, 0.501},
        {"erf", MONA_FN_ERF, erf, 0.501},
        {"sigmoid", MONA_FN_SIGMOID, sigmoid, 0.501},
        {"softplus", MONA_FN_SOFTPLUS, softplus, 0.501},
    };
    float *x = arguments(3), *y = aligned(COUNT * sizeof *y);
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        double worst = 0;
        apply(rows[r].function, NULL, 1, x, NULL, NULL, y);
        for (uint32_t i = 0; i < COUNT; i++) {
            const double d = ulps(y[i], rows[r].exact((double)x[i]));
            if (d > worst && d > rows[r].most)
                print_message("%s(%a) = %a, exact %a\n", rows[r].name, (double)x[i], (double)y[i],
                              rows[r].exact((double)x[i]));
            worst = fmax(worst, d);
        }
        print_message("%s: %.4f ulp\n", rows[r].name, worst);
        assert_true(worst <= rows[r].most);
    }
    free(x), free(y);
}

/* ---- with parameters, or not within an ulp everywhere ---------------------------------------- */

static const float parameters[4] = {1.67f, 1.05f, 0.8f, 0};

static double elu(double x)
{
    const double p0 = (double)parameters[0], p1 = (double)parameters[1], p2 = (double)parameters[2];
    return p1 * (x > 0 ? x : p0 * expm1(x * p2));
}

static double swish(double x)
{
    return x * sigmoid((double)parameters[0] * x);
}

static double mish(double x)
{
    return x * tanh(softplus(x));
}

/* erfc has no cancellation where the engine's 1 + erf does. */
static double gelu(double x)
{
    return x / 2 * erfc(-x / sqrt(2));
}

static double gelu_tanh(double x)
{
    return x / 2 * (1 + tanh(sqrt(2 / acos(-1)) * (x + 0.044715 * x * x * x)));
}

static void functions_of_networks(void **state)
{
    (void)state;
    static const accurate rows[] = {{"elu", MONA_FN_ELU, elu, 0},
                                    {"swish", MONA_FN_SWISH, swish, 0},
                                    {"mish", MONA_FN_MISH, mish, 0},
                                    {"gelu", MONA_FN_GELU, gelu, 0},
                                    {"gelu_tanh", MONA_FN_GELU_TANH, gelu_tanh, 0}};
    float *x = arguments(11), *y = aligned(COUNT * sizeof *y);
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        double worst = 0;
        apply(rows[r].function, parameters, 1, x, NULL, NULL, y);
        for (uint32_t i = 0; i < COUNT; i++) {
            const double exact = rows[r].exact((double)x[i]);
            if (!isfinite(x[i]) || !isfinite((float)exact)) { /* limits: mish(-inf) may be a NaN */
                assert_true(isnan(x[i]) ? isnan(y[i]) : isinf(x[i]) || !isfinite(y[i]));
                continue;
            }
            /* Half a last place, and what fp64 loses where nearly nothing is left. */
            const double allowed = fabs(exact) * 0x1.004p-24 + 1e-12;
            worst = fmax(worst, fabs((double)y[i] - exact) / fmax(fabs(exact), 1e-5));
            if (fabs((double)y[i] - exact) > allowed)
                fail_msg("%s(%a) = %a, exact %a", rows[r].name, (double)x[i], (double)y[i], exact);
        }
        print_message("%s: %.3g relative\n", rows[r].name, worst);
    }
    free(x), free(y);
}

/* ---- narrow floats --------------------------------------------------------------------------- */

/* All numbers of a format with so many mantissa bits, from its least exponent up to its largest. */
static uint32_t all_narrow(int mantissa, int exponent, double most, double *number)
{
    uint32_t count = 0;
    number[count++] = 0;
    for (double step = ldexp(1, exponent - mantissa), n = 1; number[count - 1] < most; count++) {
        number[count] = number[count - 1] + step;
        n = number[count] / step;
        step *= n == ldexp(2, mantissa) ? 2 : 1;
    }
    return count;
}

static void narrow_floats_are_the_nearest(void **state)
{
    (void)state;
    static const struct {
        int mantissa, exponent;
        float most, beyond;
    } formats[] = {{3, -6, 448, NAN}, {3, -7, 240, 240}, {2, -14, 57344, INFINITY}, {1, 0, 6, 6}};
    static double number[1 << 10];
    float *x = arguments(13), *y = aligned(COUNT * sizeof *y);
    for (size_t f = 0; f < sizeof formats / sizeof *formats; f++)
        for (uint32_t way = 0; way < 3; way++) { /* nearest, up, down */
            const float p[4] = {(float)formats[f].mantissa, (float)formats[f].exponent,
                                formats[f].most, formats[f].beyond};
            const double most = (double)p[2];
            const uint32_t count =
                all_narrow(formats[f].mantissa, formats[f].exponent, most, number);
            const double step = number[count - 1] - number[count - 2];
            apply(MONA_FN_NARROW + way, p, 1, x, NULL, NULL, y);
            for (uint32_t i = 0; i < COUNT; i++) {
                const double size = fabs((double)x[i]);
                uint32_t k = 0;
                while (k + 1 < count && number[k + 1] <= size)
                    k++;
                const double above = k + 1 < count ? number[k + 1] : most + step;
                const double middle = (number[k] + above) / 2;
                const bool even = fmod(number[k] / (above - number[k]), 2) == 0;
                const bool rises = way == 1   ? size > number[k]
                                   : way == 2 ? false
                                              : size > middle || (size == middle && !even);
                double expected = rises ? above : number[k];
                if (expected > most || size >= most + step)
                    expected = (double)p[3];
                expected = copysign(expected, (double)x[i]);
                if (isnan(x[i]) || isnan(expected))
                    assert_true(isnan(y[i]));
                else if ((double)y[i] != expected || !signbit(y[i]) != !signbit(x[i]))
                    fail_msg("way %u of %a: %a, expected %a", way, (double)x[i], (double)y[i],
                             expected);
            }
        }
    free(x), free(y);
}

/* ---- storing ------------------------------------------------------------------------------ */

static void reals_become_whole_numbers(void **state)
{
    (void)state;
    static const struct {
        float from;
        mona_type type;
        mona_conversion conversion;
        int64_t to;
    } rows[] = {
        {2.5f, MONA_S8, MONA_SATURATE, 2},
        {3.5f, MONA_S8, MONA_SATURATE, 4},
        {-2.5f, MONA_S8, MONA_SATURATE, -2},
        {127.6f, MONA_S8, MONA_SATURATE, 127},
        {-1e30f, MONA_S8, MONA_SATURATE, -128},
        {-0.6f, MONA_U8, MONA_SATURATE, 0},
        {255.5f, MONA_U8, MONA_SATURATE, 255},
        {INFINITY, MONA_U16, MONA_SATURATE, 65535},
        {NAN, MONA_S8, MONA_SATURATE, 0},
        {1e30f, MONA_S32, MONA_SATURATE, INT32_MAX},
        {1e30f, MONA_S64, MONA_SATURATE, INT64_MAX},
        {-1, MONA_U64, MONA_SATURATE, 0},
        {1e30f, MONA_U64, MONA_SATURATE, -1},
        {0x1p63f, MONA_U64, MONA_WRAP, INT64_MIN},
        {2.9f, MONA_S8, MONA_WRAP, 2},
        {-2.9f, MONA_S8, MONA_WRAP, -2},
        {300, MONA_U8, MONA_WRAP, 44},
        {-1, MONA_U8, MONA_WRAP, 255},
        {NAN, MONA_S32, MONA_WRAP, 0},
        {1e30f, MONA_S64, MONA_WRAP, INT64_MAX},
        {-1e30f, MONA_S64, MONA_WRAP, INT64_MIN},
        {40000, MONA_S16, MONA_WRAP, -25536},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const mona_array_map m = {
            .conversion = (uint8_t)rows[i].conversion, .dims = 1, .extent = {1}, .stride = {{1}}};
        const array_case c = {.kind = MONA_OP_ARRAY_MAP,
                              .record = &m,
                              .record_bytes = sizeof m,
                              .operand_count = 1,
                              .operands = {{MONA_F32, &rows[i].from, 1, false}},
                              .type = rows[i].type,
                              .elements = 1};
        int64_t found = 0;
        array_run(&c, &found);
        const uint64_t mask = UINT64_MAX >> (64 - 8 * mona_type_size(rows[i].type));
        if (((uint64_t)found & mask) != ((uint64_t)rows[i].to & mask))
            fail_msg("row %zu: %a became %lld", i, (double)rows[i].from, (long long)found);
    }
}

/* Arguments of every exponent: what takes a reduction is right for the largest numbers too. */
static void angles_of_any_size(void **state)
{
    (void)state;
    float *x = aligned(COUNT * sizeof *x), *y = aligned(COUNT * sizeof *y);
    uint32_t seed = 9;
    for (uint32_t i = 0; i < COUNT; i++)
        x[i] = float_of((0x30000000 + (next(&seed) ^ next(&seed) << 16) % 0x4f800000));
    apply(MONA_FN_SIN, NULL, 1, x, NULL, NULL, y);
    for (uint32_t i = 0; i < COUNT; i++)
        assert_true(ulps(y[i], sin((double)x[i])) <= 0.501);
    free(x), free(y);
}

static void powers_are_within_the_last_place(void **state)
{
    (void)state;
    float *x = arguments(5), *e = arguments(77), *y = aligned(COUNT * sizeof *y);
    uint32_t at = SPECIALS; /* every special number to the power of every other */
    for (uint32_t i = 0; i < SPECIALS; i++)
        for (uint32_t k = 0; k < SPECIALS; k++, at++)
            x[at] = specials[i], e[at] = specials[k];
    for (; at < COUNT / 2; at++)
        x[at] = fabsf(x[at]), e[at] = (float)((int)(at % 21) - 10) / 2;
    double worst = 0;
    apply(MONA_FN_POW, NULL, 2, x, e, NULL, y);
    for (uint32_t i = 0; i < COUNT; i++) {
        const double exact = pow((double)x[i], (double)e[i]), d = ulps(y[i], exact);
        if (d > 0.501 && d > worst)
            print_message("pow(%a, %a) = %a, exact %a\n", (double)x[i], (double)e[i], (double)y[i],
                          exact);
        worst = fmax(worst, d);
    }
    print_message("pow: %.4f ulp\n", worst);
    assert_true(worst <= 0.501);
    free(x), free(e), free(y);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_are_within_the_last_place),
        cmocka_unit_test(functions_of_networks),
        cmocka_unit_test(narrow_floats_are_the_nearest),
        cmocka_unit_test(reals_become_whole_numbers),
        cmocka_unit_test(angles_of_any_size),
        cmocka_unit_test(powers_are_within_the_last_place),
    };
    return cmocka_run_group_tests_name("array_float", tests, NULL, NULL);
}
