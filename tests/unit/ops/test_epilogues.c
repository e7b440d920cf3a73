// SPDX-License-Identifier: Apache-2.0
/* What a convolution does after its sums, in all combinations: every activation and function,
 * tables from one number to 256 different ones, residuals, types, channels and widths. All have AI
 * Core programs, which give the host's bytes and in which model310 finds nothing, above all no
 * vector instruction that reads what no barrier lets it know. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/unit/graph_check.h"
#include "tests/cases.h"

enum { TABLE = 256, TABLES = 8 };

/* Of so many different numbers, in steps of one length; 0: any numbers, in no order. */
static const uint32_t numbers[TABLES] = {1, 1, 2, 3, 16, 100, TABLE, 0};

static uint32_t random_table(graph *g, uint32_t k)
{
    uint8_t table[TABLE];
    const uint8_t first = (uint8_t)below(g, TABLE);
    for (uint32_t i = 0; i < TABLE; i++)
        table[i] = (uint8_t)(numbers[k] ? first + i * numbers[k] / TABLE : below(g, TABLE));
    return builder_data(g->b, table, sizeof table);
}

static uint32_t random_slopes(graph *g, uint32_t channels)
{
    uint16_t slopes[MAX_OUT_CHANNELS];
    for (uint32_t i = 0; i < channels; i++)
        slopes[i] = (uint16_t)(below(g, 2) << 15 | (0x2c00 + below(g, 0x1000)));
    return builder_data(g->b, slopes, channels * sizeof *slopes);
}

/* An epilogue whose second activation is one of MONA_ACT_*, a TABLE being table k. */
static void set_epilogue(graph *g, mona_file_op *op, uint32_t channels, uint8_t after, uint32_t k)
{
    static const uint8_t before[] = {MONA_ACT_NONE, MONA_ACT_RELU, MONA_ACT_CLIP, MONA_ACT_PRELU};
    mona_file_epilogue *e = &op->epilogue;
    e->activation = before[below(g, after == MONA_ACT_TABLE ? 3 : 4)];
    e->activation_after_add = after;
    e->clip_min = 0xbc00 + (uint16_t)below(g, 0x400), e->clip_max = 0x5000; /* -1 to -2, 32 */
    e->residual_scale = (uint16_t)(0x3000 + below(g, 0xc00));
    e->output_scale = below(g, 2)   ? 0x3c00
                      : below(g, 4) ? (uint16_t)(0x3400 + below(g, 0x1000))
                                    : (uint16_t)(below(g, 2) << 15 | below(g, 0x7c00)); /* any */
    e->alpha = 0x3a00;
    e->slopes = after == MONA_ACT_TABLE           ? random_table(g, k)
                : e->activation == MONA_ACT_PRELU ? random_slopes(g, channels)
                                                  : MONA_NONE;
}

/* Planes, a map, what is tested, a map of bytes, planes. maps: type of the maps before; made: of
 * what is tested, which for halves differs from that of bytes before it. */
static void check_epilogue(uint32_t seed, mona_type maps, mona_type made, uint8_t after, uint32_t k)
{
    static const uint32_t channels[] = {1, 3, 16, 17, 32, 48, 70};
    static const int widths[] = {1, 2, 9, 16, 31, 33, 64, 130, 300};
    graph g;
    begin_as(&g, maps, seed, 1, 3, 1 + (int)(seed * 7 % 5), widths[seed % 9]);
    const uint32_t count = channels[below(&g, 7)];
    mona_file_conv c = plain;
    if (below(&g, 2))
        c = builder_conv_3x3();
    assert_true(add_conv(&g, &g.maps[0], count, plain, NULL));
    assert_true(add_conv(&g, &g.maps[1], count, c, below(&g, 2) ? &g.maps[1] : NULL));
    g.b->tensors[g.maps[2].tensor].type = made;
    g.b->tensors[g.maps[2].tensor].scale = made == MONA_F16 ? 1 : 1 / 255.f;
    set_epilogue(&g, &g.b->ops[g.b->op_count - 1], count, after, k);
    g.type = made == MONA_F16 ? MONA_F16 : MONA_U8;
    assert_true(add_conv(&g, &g.maps[2], 4, plain, NULL));
    add_store(&g, 0, &g.maps[3]);
    check_program(&g);
    check(&g);
}

static void check_all(mona_type maps, mona_type made)
{
    uint32_t seed = 1 + 1000 * (4 * maps + made);
    for (uint32_t round = 0; round < CASES(12); round++) {
        for (uint8_t after = MONA_ACT_NONE; after < MONA_ACT_COUNT; after++)
            if (after != MONA_ACT_PRELU &&
                (!mona_is_function(after) || (after != MONA_ACT_TABLE && made == MONA_F16)))
                check_epilogue(seed++, maps, made, after, 0);
        for (uint32_t k = 0; k < TABLES && made != MONA_F16; k++)
            check_epilogue(seed++, maps, made, MONA_ACT_TABLE, k);
    }
}

static void bytes(void **state)
{
    (void)state;
    check_all(MONA_U8, MONA_U8);
}

static void signed_bytes(void **state)
{
    (void)state;
    check_all(MONA_U8, MONA_S8);
}

static void halves_of_bytes(void **state)
{
    (void)state;
    check_all(MONA_U8, MONA_F16);
}

static void halves(void **state)
{
    (void)state;
    check_all(MONA_F16, MONA_F16);
}

static void bytes_of_halves(void **state)
{
    (void)state;
    check_all(MONA_F16, MONA_U8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes),           cmocka_unit_test(signed_bytes),
        cmocka_unit_test(halves_of_bytes), cmocka_unit_test(halves),
        cmocka_unit_test(bytes_of_halves),
    };
    return cmocka_run_group_tests_name("epilogues", tests, NULL, NULL);
}
