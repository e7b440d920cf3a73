// SPDX-License-Identifier: Apache-2.0
/* Many operators on arrays in one model, with maps between them: lifetimes, groups, threads. Models
 * are drawn at random; what they must give is computed here, step by step, in whole numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/unit/array_fixture.h"
#include "tests/unit/recorded.h"
#include "engine/model310/modelled.h"

enum { CHANNELS = 3, HEIGHT = 5, WIDTH = 7, N = CHANNELS * HEIGHT * WIDTH, STEPS = 24 };

static uint32_t roll(uint32_t *seed, uint32_t below)
{
    *seed = *seed * 1664525 + 1013904223;
    return (*seed >> 16 ^ *seed) % below;
}

/* A tensor of the model, and what it must hold. */
typedef struct value {
    uint32_t tensor;
    mona_type type;
    int64_t element[N];
} value;

typedef struct graph {
    model_builder *builder;
    value values[STEPS + 8];
    uint32_t count;
    uint32_t seed;
    uint32_t late_map; /* a map that is stored later, or MONA_NONE */
    int64_t late[N];
    bool crosses; /* a map reaches past an operator on arrays */
} graph;

static int64_t wrapped(mona_type type, int64_t x)
{
    switch (type) {
    case MONA_U8:
        return (uint8_t)x;
    case MONA_S16:
        return (int16_t)x;
    case MONA_S32:
        return (int32_t)x;
    default:
        return x;
    }
}

static uint32_t sized(graph *g, uint32_t tensor)
{
    mona_file_tensor *t = &g->builder->tensors[tensor];
    t->array = 1;
    t->channels = CHANNELS, t->height = HEIGHT, t->width = WIDTH;
    return tensor;
}

static value *new_value(graph *g, mona_type type)
{
    value *v = &g->values[g->count++];
    v->type = type;
    v->tensor = sized(g, builder_tensor(g->builder, "a", type, CHANNELS, 1));
    return v;
}

/* c = a + b or a - b or max(a, b), of earlier values, the last ones more often. */
static const value *any_value(graph *g, bool bytes)
{
    for (;;) {
        const uint32_t back = roll(&g->seed, roll(&g->seed, 2) ? 3 : g->count);
        const value *v = &g->values[g->count - 1 - (back < g->count ? back : 0)];
        if (!bytes || v->type == MONA_U8)
            return v;
    }
}

static void put_record(graph *g, mona_file_op *op, const mona_array_map *m)
{
    op->array.record = builder_data(g->builder, m, sizeof *m);
}

static void add_map(graph *g, uint32_t output, mona_type type, int64_t *element)
{
    static const uint8_t functions[] = {MONA_FN_ADD, MONA_FN_SUB, MONA_FN_MAX};
    const value *a = any_value(g, false), *b = any_value(g, false);
    const mona_array_map m = {.function = functions[roll(&g->seed, 3)],
                              .arithmetic = MONA_INT,
                              .dims = 1,
                              .extent = {N},
                              .stride = {{1}, {1}}};
    const uint32_t inputs[] = {a->tensor, b->tensor};
    put_record(g, builder_op(g->builder, MONA_OP_ARRAY_MAP, output, 2, inputs), &m);
    for (int i = 0; i < N; i++) {
        const int64_t x = a->element[i], y = b->element[i];
        element[i] =
            wrapped(type, m.function == MONA_FN_ADD   ? (int64_t)((uint64_t)x + (uint64_t)y)
                          : m.function == MONA_FN_SUB ? (int64_t)((uint64_t)x - (uint64_t)y)
                          : x > y                     ? x
                                                      : y);
    }
}

/* An array of bytes as a map, and the largest of each 3 x 3 of it. */
static uint32_t add_pool(graph *g, int64_t *element)
{
    const value *v = any_value(g, true);
    const uint32_t loaded = builder_tensor(g->builder, "m", MONA_U8, CHANNELS, 1);
    mona_file_op *load = builder_op(g->builder, MONA_OP_LOAD, loaded, 1, &v->tensor);
    load->load = (mona_file_load){.block = {1}, .scale = {0x3c00}};
    const uint32_t pooled = builder_tensor(g->builder, "p", MONA_U8, CHANNELS, 1);
    mona_file_op *pool = builder_op(g->builder, MONA_OP_MAX_POOL, pooled, 1, &loaded);
    pool->pool = builder_pool_3x3();
    for (int i = 0; i < N; i++) {
        const int y = i / WIDTH % HEIGHT, x = i % WIDTH;
        element[i] = 0;
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++) {
                const bool in = y + dy >= 0 && y + dy < HEIGHT && x + dx >= 0 && x + dx < WIDTH;
                const int64_t e = in ? v->element[i + dy * WIDTH + dx] : 0;
                element[i] = e > element[i] ? e : element[i];
            }
    }
    return pooled;
}

static void add_store(graph *g, uint32_t map, const int64_t *element)
{
    value *v = new_value(g, MONA_U8);
    mona_file_op *op = builder_op(g->builder, MONA_OP_STORE, v->tensor, 1, &map);
    op->store = (mona_file_store){.block = 1, .scale = 0x3c00, .maximum = 255};
    memcpy(v->element, element, sizeof v->element);
}

static void add_step(graph *g, bool may_cross)
{
    static const mona_type types[] = {MONA_U8, MONA_S16, MONA_S32, MONA_S64};
    const uint32_t form = roll(&g->seed, 6);
    if (form == 0) {
        int64_t element[N];
        const uint32_t map = add_pool(g, element);
        add_store(g, map, element);
    } else if (form == 1 && may_cross && g->late_map == MONA_NONE) {
        g->late_map = add_pool(g, g->late);
    } else {
        g->crosses |= g->late_map != MONA_NONE;
        const mona_type type = types[roll(&g->seed, 4)];
        int64_t element[N];
        const uint32_t tensor = sized(g, builder_tensor(g->builder, "a", type, CHANNELS, 1));
        add_map(g, tensor, type, element);
        value *v = &g->values[g->count++];
        v->tensor = tensor, v->type = type;
        memcpy(v->element, element, sizeof element);
    }
    if (g->late_map != MONA_NONE && roll(&g->seed, 3) == 0) {
        add_store(g, g->late_map, g->late);
        g->late_map = MONA_NONE;
    }
}

static uint8_t *random_graph(graph *g, uint32_t seed, bool may_cross, uint8_t *input,
                             int64_t *expected)
{
    *g = (graph){.builder = builder_new(), .seed = seed, .late_map = MONA_NONE};
    value *in = &g->values[g->count++];
    in->type = MONA_U8;
    in->tensor = sized(g, builder_input(g->builder, "x", MONA_U8, CHANNELS, 1));
    const uint32_t out = sized(g, builder_output(g->builder, "y", MONA_S64, CHANNELS, 1));
    for (int i = 0; i < N; i++)
        in->element[i] = input[i] = (uint8_t)roll(&g->seed, 256);
    for (int i = 0; i < STEPS - 4 && g->builder->op_count < 56; i++)
        add_step(g, may_cross);
    if (g->late_map != MONA_NONE)
        add_store(g, g->late_map, g->late);
    add_map(g, out, MONA_S64, expected);
    size_t size;
    return builder_finish(g->builder, &size);
}

static size_t region(const mona_plan *plan, const char *kind)
{
    mona_plan_buffer b;
    for (uint64_t i = 0; mona_plan_next_buffer(plan, &i, &b);)
        if (!strcmp(b.kind, kind))
            return b.bytes;
    return 0;
}

static void graphs(void **state)
{
    (void)state;
    unsigned crossing = 0;
    for (uint32_t seed = 1; seed <= 60; seed++) {
        graph g;
        uint8_t input[N];
        int64_t expected[N], found[N];
        uint8_t *bytes = random_graph(&g, seed, seed % 2, input, expected);
        mona_model model;
        assert_int_equal(mona_model_open(&model, bytes, ((mona_file_header *)bytes)->file_bytes),
                         MONA_OK);
        crossing += g.crosses;
        for (unsigned threads = 1; threads <= 6; threads++) {
            const bool chip = threads >= 5, program = threads == 6;
            const mona_config config = {.threads = chip ? 0 : threads,
                                        .device = chip ? &mona_device_model310 : &mona_device_host};
            bound b;
            mona_model with = model;
            size_t file_bytes;
            if (program && g.crosses)
                continue;
            uint8_t *file =
                program ? recorded_file(&model, (mona_size){WIDTH, HEIGHT}, &file_bytes) : NULL;
            if (file)
                assert_int_equal(mona_model_open(&with, file, file_bytes), MONA_OK);
            const mona_status status = bind(&b, &with, &config);
            assert_int_equal(status, chip && g.crosses ? MONA_ERR_UNSUPPORTED : MONA_OK);
            if (status)
                continue;
            const mona_buffer from = {input, WIDTH, WIDTH * HEIGHT};
            const mona_buffer to = {found, WIDTH * 8, WIDTH * HEIGHT * 8};
            for (int run = 0; run < 2; run++) {
                memset(found, 0x5a, sizeof found);
                assert_int_equal(mona_session_run(b.session, &from, &to), MONA_OK);
                assert_memory_equal(found, expected, sizeof found);
            }
            for (unsigned core = 0; chip && core < mona_plan_threads(b.plan); core++)
                assert_int_equal(mona_session_modelled(b.session, core)->finding_count, 0);
            unbind(&b);
            free(file);
        }
        free(bytes);
    }
    assert_true(crossing > 5);
}

/* A chain needs room for what is read and what is written, however long it is. */
static void dead_arrays_make_room(void **state)
{
    (void)state;
    size_t bytes[2];
    for (int i = 0; i < 2; i++) {
        model_builder *b = builder_new();
        graph g = {.builder = b, .late_map = MONA_NONE};
        uint32_t last = sized(&g, builder_input(b, "x", MONA_S64, 1, 1));
        const uint32_t out = sized(&g, builder_output(b, "y", MONA_S64, 1, 1));
        const mona_array_map m = {.function = MONA_FN_NEG,
                                  .arithmetic = MONA_INT,
                                  .dims = 1,
                                  .extent = {N},
                                  .stride = {{1}}};
        for (int step = 0; step < (i ? 40 : 3); step++) {
            const uint32_t next = sized(&g, builder_tensor(b, "a", MONA_S64, 1, 1));
            put_record(&g, builder_op(b, MONA_OP_ARRAY_MAP, next, 1, &last), &m);
            last = next;
        }
        put_record(&g, builder_op(b, MONA_OP_ARRAY_MAP, out, 1, &last), &m);
        size_t size;
        uint8_t *file = builder_finish(b, &size);
        mona_model model;
        bound bound_;
        assert_int_equal(mona_model_open(&model, file, size), MONA_OK);
        const mona_config config = {.threads = 1};
        assert_int_equal(bind(&bound_, &model, &config), MONA_OK);
        bytes[i] = region(bound_.plan, "maps");
        unbind(&bound_);
        free(file);
    }
    assert_int_equal(bytes[0], bytes[1]);
    assert_int_equal(bytes[0], 2 * ((N * 8 + 63) / 64 * 64));
}

/* What an array may not be given as. */
static void arrays_with_gaps_are_refused(void **state)
{
    (void)state;
    graph g;
    uint8_t input[N];
    int64_t expected[N], found[N + 1];
    uint8_t *bytes = random_graph(&g, 3, false, input, expected);
    mona_model model;
    assert_int_equal(mona_model_open(&model, bytes, ((mona_file_header *)bytes)->file_bytes),
                     MONA_OK);
    assert_true(mona_model_input(&model, 0).array);
    const mona_config config = {.threads = 2};
    bound b;
    assert_int_equal(bind(&b, &model, &config), MONA_OK);
    const mona_buffer from = {input, WIDTH, WIDTH * HEIGHT};
    const mona_buffer to = {found, WIDTH * 8, WIDTH * HEIGHT * 8};
    mona_buffer bad = from;
    bad.row_stride++;
    assert_int_equal(mona_session_run(b.session, &bad, &to), MONA_ERR_ARGUMENT);
    bad = to;
    bad.channel_stride += 8;
    assert_int_equal(mona_session_run(b.session, &from, &bad), MONA_ERR_ARGUMENT);
    bad = to;
    bad.data = (uint8_t *)found + 4;
    assert_int_equal(mona_session_run(b.session, &from, &bad), MONA_ERR_ARGUMENT);
    assert_int_equal(mona_session_run(b.session, &from, &to), MONA_OK);
    unbind(&b);
    void *memory = aligned(mona_model_deep_bytes(&model));
    mona_model deep;
    assert_int_equal(mona_model_deepen(&deep, memory, mona_model_deep_bytes(&model), &model, 10),
                     MONA_ERR_UNSUPPORTED);
    free(memory), free(bytes);
}

/* Dims that the file tells of an input, and those that are wrong: too many, beyond the data, of
 * other numbers, 0. */
static void dims_of_inputs_are_told(void **state)
{
    (void)state;
    const uint32_t dims[4] = {1, 1, 1, N};
    model_builder *b = builder_new();
    graph g = {.builder = b, .late_map = MONA_NONE};
    const uint32_t x = sized(&g, builder_input(b, "x", MONA_S64, 1, 1));
    const uint32_t out = sized(&g, builder_output(b, "y", MONA_S64, 1, 1));
    const mona_array_map m = {
        .function = MONA_FN_NEG, .arithmetic = MONA_INT, .dims = 1, .extent = {N}, .stride = {{1}}};
    put_record(&g, builder_op(b, MONA_OP_ARRAY_MAP, out, 1, &x), &m);
    const uint32_t offset = builder_data(b, dims, sizeof dims);
    b->tensors[x].shape.rank = 4, b->tensors[x].shape.dims = offset;
    size_t size;
    mona_model model;
    uint8_t *file = builder_finish(b, &size);
    mona_file_header *h = (mona_file_header *)(void *)file;
    mona_file_tensor *t = (mona_file_tensor *)(void *)(file + h->tensors_offset) + x;
    uint32_t *stored = (uint32_t *)(void *)(file + h->data_offset + offset);
    assert_int_equal(mona_model_open(&model, file, size), MONA_OK);
    const mona_tensor_info told = mona_model_input(&model, 0);
    assert_int_equal(told.rank, 4);
    assert_memory_equal(told.dims, dims, sizeof dims);
    assert_int_equal(mona_model_output(&model, 0).rank, 0);
    const struct {
        uint32_t rank, dims, last;
    } wrong[] = {{MONA_MAX_RANK + 1, offset, N},
                 {4, offset + 4, N},
                 {4, offset + 64, N},
                 {3, offset, N},
                 {4, offset, 2 * N},
                 {4, offset, N - 1},
                 {4, offset, 0},
                 {4, offset, UINT32_MAX},
                 {0, offset + 64, N}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        t->shape.rank = wrong[i].rank, t->shape.dims = wrong[i].dims, stored[3] = wrong[i].last;
        builder_seal(file);
        assert_int_equal(mona_model_open(&model, file, size), MONA_ERR_MODEL);
    }
    t->shape.rank = t->shape.dims = 0; /* as older versions wrote it */
    builder_seal(file);
    assert_int_equal(mona_model_open(&model, file, size), MONA_OK);
    assert_int_equal(mona_model_input(&model, 0).rank, 0);
    free(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(graphs),
        cmocka_unit_test(dead_arrays_make_room),
        cmocka_unit_test(arrays_with_gaps_are_refused),
        cmocka_unit_test(dims_of_inputs_are_told),
    };
    return cmocka_run_group_tests_name("array_graphs", tests, NULL, NULL);
}
