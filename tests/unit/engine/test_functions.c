// SPDX-License-Identifier: Apache-2.0
/* Functions of activations: every fp16 number on every instruction set, against the mathematics
 * library; on an AI Core's vector unit; and tables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/cpu/c/normalise.h"
#include "engine/model_format.h"
#include "engine/run/isas.h"
#include "formats/element.h"
#include "ops/ascend/functions.h"
#include "ops/ascend/polynomials.h"
#include "tests/cases.h"

enum { NUMBERS = 1 << 16 };

static const float alpha = 0.75f;

static double expected(mona_activation function, double x)
{
    switch (function) {
    case MONA_ACT_SIGMOID:
        return 1 / (1 + exp(-x));
    case MONA_ACT_SILU:
        return x / (1 + exp(-x));
    case MONA_ACT_HARD_SWISH:
        return x * fmin(fmax(x + 3, 0), 6) / 6;
    case MONA_ACT_TANH:
        return tanh(x);
    case MONA_ACT_GELU:
        return x * erfc(-x * sqrt(0.5)) / 2;
    case MONA_ACT_GELU_TANH:
        return x / (1 + exp(-2 * sqrt(2 / acos(-1)) * (x + 0.044715 * x * x * x)));
    case MONA_ACT_MISH:
        return x * tanh(x > 0 ? x + log1p(exp(-x)) : log1p(exp(x)));
    case MONA_ACT_ELU:
        return x > 0 ? x : (double)alpha * expm1(x);
    case MONA_ACT_SOFTPLUS:
        return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x));
    default:
        return NAN;
    }
}

/* fp16 numbers in order of their values. */
static int rank_of(uint16_t bits)
{
    return bits & 0x8000 ? -(bits & 0x7fff) : bits;
}

/* All finite numbers of fp16, and zeros in place of others. */
static void fill_numbers(uint16_t row[NUMBERS])
{
    for (uint32_t i = 0; i < NUMBERS; i++)
        row[i] = (i & 0x7c00) == 0x7c00 ? 0 : (uint16_t)i;
}

static void check_function(const mona_isa *isa, mona_activation function)
{
    uint16_t *row = malloc(NUMBERS * sizeof *row);
    unsigned finite = 0, exact = 0;
    fill_numbers(row);
    isa->function_row(&(mona_function_row){.row = {(uint8_t *)row, 0, 1, MONA_F16},
                                           .channels = 1,
                                           .pixels = NUMBERS,
                                           .function = (uint8_t)function,
                                           .alpha = alpha});
    for (uint32_t i = 0; i < NUMBERS; i++) {
        if ((i & 0x7c00) == 0x7c00)
            continue;
        const double x = half_value((uint16_t)i), y = expected(function, x);
        const int off = abs(rank_of(row[i]) - rank_of(half_from_double(y)));
        if (off > 1)
            fail_msg("%s, function %d of %g: %g, expected %g", isa->name, function, x,
                     half_value(row[i]), y);
        finite++;
        exact += !off;
    }
    if (exact < finite * 0.995)
        fail_msg("%s, function %d: %u of %u are rounded right", isa->name, function, exact, finite);
    free(row);
}

static void all_numbers_are_rounded_nearly_right(void **state)
{
    (void)state;
    for (size_t i = 0; i < MONA_ISAS; i++)
        for (int f = MONA_ACT_TABLE + 1; f < MONA_ACT_COUNT; f++)
            if (!(mona_isas[i].needs & ~mona_port_cpu_features()))
                check_function(mona_isas[i].isa, (mona_activation)f);
}

/* Every byte, rows of any length, and no byte beyond the row. */
static void tables_replace_bytes(void **state)
{
    (void)state;
    uint8_t table[256], row[300];
    for (int i = 0; i < 256; i++)
        table[i] = (uint8_t)(i * 7 + 3);
    for (size_t k = 0; k < MONA_ISAS; k++)
        for (uint32_t count = 1; count <= 270; count++) {
            if (mona_isas[k].needs & ~mona_port_cpu_features())
                continue;
            for (size_t i = 0; i < sizeof row; i++)
                row[i] = (uint8_t)(i + count);
            mona_isas[k].isa->function_row(&(mona_function_row){.row = {row, 0, 1, MONA_U8},
                                                                .channels = 1,
                                                                .pixels = count,
                                                                .function = MONA_ACT_TABLE,
                                                                .table = table});
            for (size_t i = 0; i < sizeof row; i++)
                assert_int_equal(row[i],
                                 i < count ? table[(uint8_t)(i + count)] : (uint8_t)(i + count));
        }
}

/* ---- functions on the vector unit ------------------------------------------------------------ */

static void check_on_vector_unit(mona_activation function, float a)
{
    static uint8_t ub[1 << 18];
    static uint16_t want[NUMBERS];
    mona_function found;
    ac_core core = {.target = &ac_target_ascend310, .take = ac_execute};
    core.memory[AC_UB] = (ac_memory){ub, sizeof ub, true};
    fill_numbers(want);
    fill_numbers((uint16_t *)(void *)ub);
    mona_isas[0].isa->function_row(&(mona_function_row){.row = {(uint8_t *)want, 0, 1, MONA_F16},
                                                        .channels = 1,
                                                        .pixels = NUMBERS,
                                                        .function = (uint8_t)function,
                                                        .alpha = a});
    mona_function_find(&found, function, a);
    assert_true(found.count < FUNCTION_STEPS && found.uniforms <= FUNCTION_UNIFORMS);
    const size_t uniforms = NUMBERS * sizeof(uint16_t);
    const size_t work = uniforms + mona_function_uniform_bytes(&found);
    assert_true(work + mona_function_work_bytes(&found, NUMBERS) <= sizeof ub);
    mona_function_begin(&core, &found, ac_at(AC_UB, uniforms));
    mona_function_apply(&core, &found, ac_at(AC_UB, uniforms), ac_at(AC_UB, work), ac_at(AC_UB, 0),
                        NUMBERS);
    const uint16_t *got = (const uint16_t *)(const void *)ub;
    for (uint32_t i = 0; i < NUMBERS; i++)
        if (got[i] != want[i])
            fail_msg("function %d of 0x%04x: 0x%04x, not 0x%04x", function, i, got[i], want[i]);
}

static void the_vector_unit_gives_the_same_numbers(void **state)
{
    (void)state;
    const float alphas[] = {0.75f, 1, 0, -2.5f, 65504};
    for (int f = MONA_ACT_TABLE + 1; f < MONA_ACT_COUNT; f++)
        for (size_t i = 0; i < (f == MONA_ACT_ELU ? sizeof alphas / sizeof *alphas : 1); i++)
            check_on_vector_unit((mona_activation)f, alphas[i]);
}

enum { FLOATS = 512 };

/* What a function of fp32 makes of numbers. */
static const float *on_vector_unit(const mona_function *f, const float *numbers)
{
    static uint8_t ub[1 << 16];
    ac_core core = {.target = &ac_target_ascend310, .take = ac_execute};
    core.memory[AC_UB] = (ac_memory){ub, sizeof ub, true};
    const size_t uniforms = mona_function_work_bytes(f, FLOATS);
    assert_true(f->count < FUNCTION_STEPS && f->uniforms <= FUNCTION_UNIFORMS);
    assert_true(uniforms + mona_function_uniform_bytes(f) <= sizeof ub);
    mona_function_put_uniforms(f, ub + uniforms);
    memcpy(ub, numbers, FLOATS * sizeof *numbers);
    const ac_address at =
        mona_function_run(&core, f, ac_at(AC_UB, uniforms), ac_at(AC_UB, 0), FLOATS);
    return (const float *)(const void *)(ub + ac_offset_of(at));
}

static void the_vector_unit_finds_the_same_roots(void **state)
{
    (void)state;
    float x[FLOATS];
    uint32_t seed = 1;
    mona_function f;
    mona_function_find_inverse_root(&f);
    for (int exponent = -100; exponent < 100; exponent++)
        for (int round = 0; round < 20; round++) {
            for (uint32_t i = 0; i < FLOATS; i++) {
                seed = seed * 1664525 + 1013904223;
                x[i] = ldexpf(1 + (float)(seed >> 9) / (1 << 23), exponent);
            }
            const float *found = on_vector_unit(&f, x);
            for (uint32_t i = 0; i < FLOATS; i++)
                if (found[i] != mona_inverse_root(x[i]))
                    fail_msg("of %a", (double)x[i]);
        }
}

static void check_quotients(const mona_function *f, float a, const float x[FLOATS])
{
    const float *found = on_vector_unit(f, x);
    for (uint32_t i = 0; i < FLOATS; i++)
        if (found[i] != a / x[i])
            fail_msg("%a / %a: %a, not %a", (double)a, (double)x[i], (double)found[i],
                     (double)(a / x[i]));
}

/* By all mantissas, or one in 16; and by those whose reciprocals lie nearest to the middle between
 * two numbers. */
static void reciprocals_are_rounded_right(void **state)
{
    (void)state;
    float x[FLOATS];
    mona_function f;
    mona_function_find_quotient(&f, 1);
    for (uint32_t first = 0; first < 1 << 23; first += FLOATS) {
        bool near = false;
        for (uint32_t i = 0; i < FLOATS; i++) {
            x[i] = ldexpf((float)((1 << 23) + first + i), (int)(first / FLOATS % 31) - 38);
            const double y = ldexp(1 / (double)((1 << 23) + first + i), 47);
            near |= fabs(y - floor(y) - 0.5) < 0x1p-19;
        }
        if (CASES(16) == 16 || first / FLOATS % 16 == 0 || near)
            check_quotients(&f, 1, x);
    }
}

/* Of random numbers, by random ones and by those that make powers of 2 and what is next to them. */
static void quotients_are_rounded_right(void **state)
{
    (void)state;
    float x[FLOATS];
    uint32_t seed = 1;
    mona_function f;
    for (uint32_t round = 0; round < CASES(4000); round++) {
        seed = seed * 1664525 + 1013904223;
        const float a = ldexpf(1 + (float)(seed >> 9) / (1 << 23), (int)(seed % 40) - 20);
        for (uint32_t i = 0; i < FLOATS; i++) {
            seed = seed * 1664525 + 1013904223;
            x[i] = ldexpf(1 + (float)(seed >> 9) / (1 << 23), (int)(seed % 31) - 15);
            if (i % 2) {
                int exponent;
                x[i] = ldexpf(frexpf(a, &exponent), (int)(seed % 31) - 15);
                for (uint32_t k = 0; k < i % 16 / 2; k++)
                    x[i] = nextafterf(x[i], i & 16 ? 0 : INFINITY);
            }
        }
        mona_function_find_quotient(&f, a);
        check_quotients(&f, a, x);
    }
}

/* ---- tables on the vector unit --------------------------------------------------------------- */

enum { INDICES = 4096 }; /* fp16 numbers from below 0 to above 255, a quarter apart */

/* most: degrees of all polynomials together. */
static void check_polynomials(const uint8_t table[TABLE_ENTRIES], mona_type type, uint32_t most)
{
    static uint8_t ub[1 << 17];
    static mona_polynomials found;
    ac_core core = {.target = &ac_target_ascend310, .take = ac_execute};
    core.memory[AC_UB] = (ac_memory){ub, sizeof ub, true};
    mona_polynomials_find(&found, table, type);
    const uint32_t bytes = INDICES * sizeof(uint16_t);
    const size_t bounds = mona_polynomials_bound_bytes(&found);
    const ac_address at = ac_at(AC_UB, bytes);
    assert_true(bytes + bounds + mona_polynomials_work_bytes(INDICES) <= sizeof ub);
    uint16_t *x = (uint16_t *)(void *)ub;
    float index[INDICES];
    for (uint32_t i = 0; i < INDICES; i++) {
        x[i] = mona_f16_from_f32((float)i / 4 - 300);
        index[i] = mona_f32_from_f16(x[i]);
    }
    mona_polynomials_begin(&core, &found, at);
    mona_polynomials_apply(&core, &found, at, at + bounds, ac_at(AC_UB, 0), INDICES);
    for (uint32_t i = 0; i < INDICES; i++) {
        const uint8_t want = table[(uint8_t)fmaxf(0, fminf(rintf(index[i]), 255))];
        const float got = mona_f32_from_f16(x[i]);
        if (got != (type == MONA_S8 ? (float)(int8_t)want : (float)want))
            fail_msg("index %g: %g, not %d", (double)index[i], (double)got, want);
    }
    uint32_t degrees = 0;
    for (uint32_t k = 0; k < found.count; k++)
        degrees += found.at[k].degree;
    if (degrees > most)
        fail_msg("%u polynomials, %u degrees", found.count, degrees);
}

static void tables_are_sums_of_polynomials(void **state)
{
    (void)state;
    uint8_t table[TABLE_ENTRIES];
    uint32_t seed = 3;
    for (int type = MONA_U8; type <= MONA_S8; type++) {
        for (int f = MONA_ACT_SIGMOID; f <= MONA_ACT_SOFTPLUS; f++)
            for (int to = 2; to <= 16; to += 7) { /* from -to to to, as far as results go */
                const double y = expected((mona_activation)f, to), scale = 120 / (y > 1 ? y : 1);
                if (isnan(y))
                    continue;
                for (int i = 0; i < TABLE_ENTRIES; i++)
                    table[i] = (uint8_t)(int)rint(
                        scale * expected((mona_activation)f, (i - 128) * to / 128.0));
                check_polynomials(table, (mona_type)type, type == MONA_S8 ? 24 : 400);
            }
        for (int i = 0; i < TABLE_ENTRIES; i++)
            table[i] = 7;
        check_polynomials(table, (mona_type)type, 0);
        for (int i = 0; i < TABLE_ENTRIES; i++)
            table[i] = (uint8_t)(i < 128 ? 0 : 255 - i / 2);
        check_polynomials(table, (mona_type)type, 3 + 255 * (type == MONA_S8));
        for (int round = 0; round < 20; round++) {
            for (int i = 0; i < TABLE_ENTRIES; i++) {
                seed = seed * 1664525 + 1013904223;
                table[i] = (uint8_t)(seed >> 24 >> round % 8);
            }
            check_polynomials(table, (mona_type)type, 255);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_numbers_are_rounded_nearly_right),
        cmocka_unit_test(tables_replace_bytes),
        cmocka_unit_test(the_vector_unit_gives_the_same_numbers),
        cmocka_unit_test(the_vector_unit_finds_the_same_roots),
        cmocka_unit_test(reciprocals_are_rounded_right),
        cmocka_unit_test(quotients_are_rounded_right),
        cmocka_unit_test(tables_are_sums_of_polynomials),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
