// SPDX-License-Identifier: Apache-2.0
/* Records of operators on arrays with every field set to what no compiler would write: refused when
 * the model is opened, or harmless. Built with the sanitisers this shows that no element outside an
 * array is touched. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/unit/array_fixture.h"

/* Blocks of exactly their size, so that a sanitiser sees one byte too many. */
static void *exact(size_t bytes)
{
    void *block = NULL;
    assert_int_equal(posix_memalign(&block, 64, bytes ? bytes : 1), 0);
    memset(block, 3, bytes);
    return block;
}

static size_t bytes_of(mona_tensor_info t)
{
    return (size_t)t.channels * t.height * t.width * mona_type_size(t.type);
}

static mona_buffer buffer_for(mona_tensor_info t)
{
    const size_t row = t.width * mona_type_size(t.type);
    return (mona_buffer){exact(bytes_of(t)), (ptrdiff_t)row, (ptrdiff_t)(row * t.height)};
}

static void run(const mona_plan *plan, unsigned inputs)
{
    const size_t bytes = mona_plan_arena_bytes(plan);
    mona_buffer in[MONA_MAX_IO], out = buffer_for(mona_plan_output(plan, 0));
    mona_session *session;
    void *arena = exact(bytes);
    for (unsigned i = 0; i < inputs; i++)
        in[i] = buffer_for(mona_plan_input(plan, i));
    assert_int_equal(mona_session_open(&session, plan, arena, bytes), MONA_OK);
    assert_int_equal(mona_session_run(session, in, &out), MONA_OK);
    mona_session_close(session);
    for (unsigned i = 0; i < inputs; i++)
        free(in[i].data);
    free(out.data), free(arena);
}

/* Opens, plans and, unless that would take long, runs; whether it could be opened. */
static bool survives(const uint8_t *bytes, size_t size)
{
    static uint8_t memory[1 << 20] __attribute__((aligned(64)));
    uint8_t *copy = exact(size);
    memcpy(copy, bytes, size);
    builder_seal(copy);
    mona_model model;
    mona_plan *plan;
    const bool opened = array_open_bytes(&model, copy, size) == MONA_OK;
    const mona_config config = {.threads = 1};
    assert_true(!opened || mona_plan_bytes(&model) <= sizeof memory);
    if (opened && mona_plan_make(&plan, memory, &model, &config) == MONA_OK) {
        const unsigned inputs = mona_model_input_count(&model);
        size_t most = mona_plan_arena_bytes(plan) + bytes_of(mona_plan_output(plan, 0));
        for (unsigned i = 0; i < inputs; i++)
            most += bytes_of(mona_plan_input(plan, i));
        if (mona_plan_macs(plan) < 1 << 20 && most < 1 << 22)
            run(plan, inputs);
    }
    free(copy);
    return opened;
}

/* Every byte and every word of [at, at + count) of the file set to hostile values; how many of
 * these models were refused. */
static unsigned spoil(uint8_t *bytes, size_t size, size_t at, size_t count)
{
    static const uint8_t values[] = {0, 1, 2, 3, 8, 0x7f, 0x80, 0xff};
    static const uint32_t words[] = {0,          1,          5,          0x7fffffff, 0x80000000,
                                     0xffffffff, 0x40000000, 0xc0000000, 0x00100000, 0x7fc00000};
    unsigned refused = 0;
    for (size_t i = at; i < at + count; i++)
        for (size_t v = 0; v < sizeof values; v++) {
            const uint8_t was = bytes[i];
            bytes[i] = values[v];
            refused += !survives(bytes, size);
            bytes[i] = was;
        }
    for (size_t i = at; i + 4 <= at + count; i += 4)
        for (size_t v = 0; v < sizeof words / sizeof *words; v++) {
            uint32_t was;
            memcpy(&was, bytes + i, 4);
            memcpy(bytes + i, &words[v], 4);
            refused += !survives(bytes, size);
            memcpy(bytes + i, &was, 4);
        }
    return refused;
}

static void spoil_case(const array_case *c)
{
    size_t size;
    uint8_t *bytes = array_model(c, &size);
    const mona_file_header *h = (const mona_file_header *)bytes;
    mona_file_op *op = (mona_file_op *)(void *)(bytes + h->ops_offset);
    assert_true(survives(bytes, size));
    const size_t record = h->data_offset + op->array.record;
    unsigned refused = spoil(bytes, size, record, c->record_bytes);
    refused += spoil(bytes, size, h->ops_offset, sizeof *op);
    refused += spoil(bytes, size, h->tensors_offset, h->tensor_count * sizeof(mona_file_tensor));
    if (c->table_bytes) /* which lie before it */
        refused += spoil(bytes, size, record - (c->table_bytes + 63) / 64 * 64, c->table_bytes);
    assert_true(refused > 100);
    free(bytes);
}

static float x[120];

static void maps(void **state)
{
    (void)state;
    const mona_array_map m = {.function = MONA_FN_CLIP,
                              .conversion = MONA_SATURATE,
                              .dims = 3,
                              .extent = {4, 5, 6},
                              .base = {0, 5, 0},
                              .stride = {{30, 6, 1}, {0, 0, -1}, {0, 0, 0}}};
    const mona_array_map narrow = {.function = MONA_FN_NARROW,
                                   .dims = 1,
                                   .parameter = {3, -6, 448, 448},
                                   .extent = {120},
                                   .stride = {{1}}};
    array_case c = {
        .kind = MONA_OP_ARRAY_MAP,
        .record = &m,
        .record_bytes = sizeof m,
        .operand_count = 3,
        .operands = {{MONA_F32, x, 120, false}, {MONA_F16, x, 6, true}, {MONA_S8, x, 1, true}},
        .type = MONA_S16,
        .elements = 120};
    spoil_case(&c);
    c.record = &narrow;
    c.operand_count = 1;
    spoil_case(&c);
}

static void picks(void **state)
{
    (void)state;
    static uint32_t tables[2][16] = {{1, MONA_NONE, 0, 2, 1}, {0x01000001, 0}};
    mona_array_pick p = {.dims = 2,
                         .source_axis = 1,
                         .source_table = 64,
                         .extent = {4, 5},
                         .table = {MONA_NONE, 0},
                         .base = {11},
                         .stride = {{-3, -1}, {3, 1}}};
    const array_case c = {.kind = MONA_OP_ARRAY_PICK,
                          .record = &p,
                          .record_bytes = sizeof p,
                          .operand_count = 2,
                          .operands = {{MONA_F32, x, 12, false}, {MONA_S32, x, 12, true}},
                          .type = MONA_F32,
                          .elements = 20,
                          .tables = tables,
                          .table_bytes = sizeof tables,
                          .offsets = {&p.table[1], &p.source_table}};
    spoil_case(&c);
}

static void reductions(void **state)
{
    (void)state;
    const mona_array_reduce r = {.function = MONA_REDUCE_LOG_SUM_EXP,
                                 .kept = 2,
                                 .reduced = 1,
                                 .extent = {4, 5, 6},
                                 .stride = {30, 1, 5}};
    const array_case c = {.kind = MONA_OP_ARRAY_REDUCE,
                          .record = &r,
                          .record_bytes = sizeof r,
                          .operand_count = 1,
                          .operands = {{MONA_F32, x, 120, false}},
                          .type = MONA_F32,
                          .elements = 20};
    spoil_case(&c);
}

static void products(void **state)
{
    (void)state;
    const mona_array_matmul m = {.batch_dims = 1,
                                 .m = 4,
                                 .n = 3,
                                 .k = 5,
                                 .extent = {2},
                                 .batch_stride = {{20}, {0}},
                                 .a_m = 5,
                                 .a_k = 1,
                                 .b_k = 3,
                                 .b_n = 1};
    const array_case c = {.kind = MONA_OP_ARRAY_MATMUL,
                          .record = &m,
                          .record_bytes = sizeof m,
                          .operand_count = 2,
                          .operands = {{MONA_F32, x, 40, false}, {MONA_F16, x, 15, true}},
                          .type = MONA_F32,
                          .elements = 24};
    spoil_case(&c);
}

static void windows(void **state)
{
    (void)state;
    const mona_array_axis axis = {.in = 5,
                                  .out = 3,
                                  .kernel = 2,
                                  .stride = 2,
                                  .dilation = 1,
                                  .pad_before = 1,
                                  .pad_after = 1};
    mona_array_window w = {
        .axes = 2, .batch = 1, .channels = 4, .outputs = 2, .groups = 2, .axis = {axis, axis}};
    array_case c = {
        .kind = MONA_OP_ARRAY_WINDOW,
        .record = &w,
        .record_bytes = sizeof w,
        .operand_count = 3,
        .operands = {{MONA_F32, x, 100, false}, {MONA_F32, x, 16, true}, {MONA_F32, x, 2, true}},
        .type = MONA_F32,
        .elements = 18};
    spoil_case(&c);
    w.groups = 1;
    w.outputs = 4;
    c.operand_count = 1;
    c.elements = 36;
    for (uint32_t f = MONA_WINDOW_MAX; f < MONA_WINDOW_COUNT; f++) {
        w.function = (uint8_t)f;
        spoil_case(&c);
    }
}

static void resamplings(void **state)
{
    (void)state;
    static uint32_t tables[3][16] = {{0, 1, 1, 3}, {4, 0, 2}};
    mona_array_resample r = {
        .outer = 2, .in = 5, .out = 3, .inner = 4, .first = 0, .index = 64, .weight = 128};
    const array_case c = {.kind = MONA_OP_ARRAY_RESAMPLE,
                          .record = &r,
                          .record_bytes = sizeof r,
                          .operand_count = 1,
                          .operands = {{MONA_F32, x, 40, false}},
                          .type = MONA_F32,
                          .elements = 24,
                          .tables = tables,
                          .table_bytes = sizeof tables,
                          .offsets = {&r.first, &r.index, &r.weight}};
    spoil_case(&c);
}

static void gathers(void **state)
{
    (void)state;
    const mona_array_gather g = {.outer = 2, .extent = 5, .inner = 4, .count = 3};
    const array_case c = {.kind = MONA_OP_ARRAY_GATHER,
                          .record = &g,
                          .record_bytes = sizeof g,
                          .operand_count = 2,
                          .operands = {{MONA_F32, x, 40, false}, {MONA_S64, x, 3, false}},
                          .type = MONA_F32,
                          .elements = 24};
    spoil_case(&c);
}

static void normalisations(void **state)
{
    (void)state;
    mona_array_normalise n = {.extent = 6, .inner = 1, .run = 2, .epsilon = 1e-5f};
    array_case c = {
        .kind = MONA_OP_ARRAY_NORMALISE,
        .record = &n,
        .record_bytes = sizeof n,
        .operand_count = 3,
        .operands = {{MONA_F16, x, 30, false}, {MONA_F32, x, 5, false}, {MONA_F32, x, 5, true}},
        .type = MONA_F32,
        .elements = 30};
    spoil_case(&c);
    c.operand_count = 1;
    n.extent = 5;
    n.inner = 3;
    n.run = 1;
    for (n.function = MONA_NORMALISE_SOFTMAX; n.function < MONA_NORMALISE_COUNT; n.function++)
        spoil_case(&c);
}

/* The name of the kernel is a table, which is spoilt too. */
static void kernels(void **state)
{
    (void)state;
    static char name[] = "test::Sum";
    mona_array_kernel k = {.name_bytes = sizeof name, .rows = 4, .columns = 5};
    array_case c = {.kind = MONA_OP_ARRAY_KERNEL,
                    .record = &k,
                    .record_bytes = sizeof k,
                    .operand_count = 3,
                    .operands = {{MONA_U8, x, 20, false},
                                 {MONA_U16, x, 160, false},
                                 {MONA_S32, x, USER_TABLE, true}},
                    .type = MONA_S32,
                    .elements = 20,
                    .tables = name,
                    .table_bytes = sizeof name,
                    .offsets = {&k.name}};
    spoil_case(&c);
    k.output = 1;
    c.type = MONA_U8;
    c.elements = 80;
    spoil_case(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(maps),     cmocka_unit_test(picks),          cmocka_unit_test(reductions),
        cmocka_unit_test(products), cmocka_unit_test(windows),        cmocka_unit_test(resamplings),
        cmocka_unit_test(gathers),  cmocka_unit_test(normalisations), cmocka_unit_test(kernels),
    };
    return cmocka_run_group_tests_name("array_records", tests, NULL, NULL);
}
