// SPDX-License-Identifier: Apache-2.0
/* CONCAT and SLICE: whether channels lie in place or are copied, and whatever the bands, strips,
 * tiles and instruction set, the bytes are those of copies between whole maps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/unit/graph_check.h"
#include "tests/cases.h"

static uint32_t random_channels(graph *g)
{
    static const uint32_t likely[] = {16, 32, 32, 48, 64};
    return below(g, 3) ? likely[below(g, 5)] : 1 + below(g, 40);
}

static const map *random_map(graph *g)
{
    return &g->maps[below(g, 3) ? (uint32_t)g->map_count - 1 - below(g, 2) % (uint32_t)g->map_count
                                : below(g, (uint32_t)g->map_count)];
}

/* Keeps the size of the map, mostly, so that others can be put beside the result. */
static void random_conv(graph *g)
{
    const map *from = random_map(g), *residual = random_map(g);
    mona_file_conv c = plain;
    if (below(g, 2)) {
        c.kernel_h = c.kernel_w = 3;
        c.pad_top = c.pad_bottom = c.pad_left = c.pad_right = 1;
        if (below(g, 8) == 0)
            c.stride_h = c.stride_w = 2;
        if (below(g, 4) == 0)
            c.dilation_h = c.dilation_w = c.pad_top = c.pad_bottom = c.pad_left = c.pad_right = 3;
    }
    uint32_t channels = random_channels(g);
    while ((size_t)channels * from->channels * c.kernel_h * c.kernel_w > 1 << 15)
        channels = (channels + 1) / 2;
    add_conv(g, from, channels, c, below(g, 2) ? residual : NULL);
}

static void random_concat(graph *g)
{
    const map *parts[MONA_OP_MAX_INPUTS], *first = random_map(g);
    const uint32_t most = 1 + below(g, 4);
    uint32_t count = 0, channels = 0;
    for (int i = below(g, 3) ? 0 : g->map_count - 1; i >= 0 && i < g->map_count && count < most;
         i += 1) {
        const map *m = &g->maps[i];
        if (m->h != first->h || m->w != first->w || m->zero != first->zero || below(g, 3) == 0 ||
            channels + m->channels > 200)
            continue;
        parts[count++] = m;
        channels += m->channels;
    }
    if (count)
        add_concat(g, count, parts);
}

static void random_slice(graph *g)
{
    const map *from = random_map(g);
    uint32_t first = below(g, from->channels), count = 1 + below(g, from->channels - first);
    if (below(g, 4) && from->channels > 16) {
        first = first / 16 * 16;
        count = below(g, 2) ? from->channels - first : (count + 15) / 16 * 16;
    }
    if (first + count <= from->channels)
        add_slice(g, from, first, count);
}

static void random_other(graph *g)
{
    const map *from = random_map(g);
    mona_file_op *op;
    const uint32_t pair[2] = {from->tensor, from->tensor};
    if (below(g, 3) == 0) {
        add_resize(g, from,
                   (mona_file_resize){.mode = (uint8_t)below(g, 3),
                                      .scale_h = {1 + below(g, 2), 1},
                                      .scale_w = {1 + below(g, 2), 1},
                                      .cubic_a = -0.75f});
    } else if (below(g, 2)) {
        add_map(g, MONA_OP_MAX_POOL, from->channels, from->h, from->w, 1, pair, &op);
        op->pool = builder_pool_3x3();
    } else {
        add_map(g, MONA_OP_ADD, from->channels, from->h, from->w, 2, pair, &op);
        op->elementwise.scale[0] = 0x3800, op->elementwise.scale[1] = 0x2c00;
    }
}

static void random_op(graph *g)
{
    const uint32_t kind = below(g, 10);
    if (kind < 3)
        random_concat(g);
    else if (kind < 5)
        random_slice(g);
    else if (kind < 6)
        random_other(g);
    else
        random_conv(g);
}

static void random_graph(mona_type type, uint32_t seed, bool zeros)
{
    graph g;
    const int outputs = 1 + (int)(seed % MAX_STORES);
    begin_as(&g, type, seed, outputs, 1 + seed % 6, 1 + (int)(seed * 7 % 33),
             1 + (int)(seed * 13 % 61));
    g.zeros = zeros;
    mona_file_conv wide = plain;
    add_conv(&g, &g.maps[0], 16 * (1 + seed % 4), wide, NULL);
    for (int i = 0; i < 14; i++)
        random_op(&g);
    for (int i = 0; i < outputs; i++)
        add_store(
            &g, i,
            as_planes(&g,
                      &g.maps[i ? below(&g, (uint32_t)g.map_count) : (uint32_t)g.map_count - 1]));
    check(&g);
}

static void random_graphs_as(mona_type type, uint32_t seeds, bool zeros)
{
    for (uint32_t seed = 200; seed < 200 + CASES(seeds); seed++)
        random_graph(type, seed, zeros);
}

/* Of 37 outputs of a whole map the third thread has 5, from pixels gathered for tiles. */
static void few_outputs_of_many(void **state)
{
    (void)state;
    random_graph(MONA_U8, 202, false);
}

static void random_graphs_of_8_bits(void **state)
{
    (void)state;
    random_graphs_as(MONA_U8, 24, false);
}

static void random_graphs_with_zeros(void **state)
{
    (void)state;
    random_graphs_as(MONA_U8, 24, true);
}

static void random_graphs_of_halves(void **state)
{
    (void)state;
    random_graphs_as(MONA_F16, 16, false);
}

/* ---- networks ------------------------------------------------------------------------------- */

static const map *conv_3x3(graph *g, const map *from, uint32_t channels)
{
    mona_file_conv c = plain;
    c.kernel_h = c.kernel_w = 3;
    c.pad_top = c.pad_bottom = c.pad_left = c.pad_right = 1;
    assert_true(add_conv(g, from, channels, c, NULL));
    return &g->maps[g->map_count - 1];
}

/* Every layer reads all features so far, put together anew for each, as DenseNet does. */
static void dense_block(graph *g, uint32_t growth)
{
    const map *parts[MONA_OP_MAX_INPUTS] = {conv_3x3(g, &g->maps[0], 2 * growth)};
    const map *all = parts[0];
    for (uint32_t i = 1; i < 5; i++) {
        parts[i] = conv_3x3(g, all, growth);
        all = add_concat(g, i + 1, parts);
    }
    add_store(g, 0, conv_3x3(g, all, 3));
}

static const map *resized(graph *g, const map *from, uint32_t up, uint32_t down)
{
    add_resize(g, from,
               (mona_file_resize){.mode = MONA_RESIZE_NEAREST,
                                  .coordinates = MONA_RESIZE_ASYMMETRIC,
                                  .scale_h = {up, down},
                                  .scale_w = {up, down}});
    return &g->maps[g->map_count - 1];
}

/* Two levels down and up again, what went down beside what comes up. */
static void small_u_net(graph *g, uint32_t channels)
{
    const map *first = conv_3x3(g, &g->maps[0], channels);
    const map *second = conv_3x3(g, resized(g, first, 1, 2), 2 * channels);
    const map *third = conv_3x3(g, resized(g, second, 1, 2), 2 * channels);
    const map *up = conv_3x3(g, resized(g, third, 2, 1), 2 * channels);
    const map *low = conv_3x3(g, add_concat(g, 2, (const map *[]){up, second}), channels);
    up = conv_3x3(g, resized(g, low, 2, 1), channels);
    const map *high = conv_3x3(g, add_concat(g, 2, (const map *[]){first, up}), channels);
    add_store(g, 0, conv_3x3(g, high, 3));
}

/* A map cut in two, one half of which is worked on, and all of them joined: a block of YOLO. */
static void split_block(graph *g, uint32_t half)
{
    const map *x = conv_3x3(g, &g->maps[0], 2 * half);
    const map *a = add_slice(g, x, 0, half), *b = add_slice(g, x, half, half);
    const map *c = conv_3x3(g, conv_3x3(g, b, half), half);
    const map *all = add_concat(g, 3, (const map *[]){a, b, c});
    add_store(g, 0, conv_3x3(g, all, 3));
}

typedef struct cost {
    unsigned idle, copies; /* CONCATs and SLICEs */
    uint64_t bytes;        /* that all operators read and write */
    uint64_t copied;       /* that CONCATs and SLICEs do */
    size_t arena;
    double cycles; /* of the slower core, on model310 */
} cost;

static void count_ops(const mona_plan *plan, cost *c)
{
    mona_op_info info;
    for (unsigned i = 0; mona_plan_op_at(plan, i, &info); i++) {
        const uint64_t bytes = info.plane_bytes + info.ring_bytes;
        const bool moves = !strcmp(info.kind, "concat") || !strcmp(info.kind, "slice");
        c->bytes += bytes;
        c->copied += moves ? bytes : 0;
        c->idle += moves && info.fused;
        c->copies += moves && !info.fused;
    }
    c->arena = mona_plan_arena_bytes(plan);
}

static cost cost_of(graph *g, uint8_t *file, size_t size, mona_config config, bool copy)
{
    cost c = {0};
    const mona_model model = open_as(file, size, copy);
    void *memory = aligned_alloc(64, mona_plan_bytes(&model));
    mona_plan *plan;
    config.sizes[0] = (mona_size){(uint32_t)g->w, (uint32_t)g->h};
    assert_int_equal(mona_plan_make(&plan, memory, &model, &config), MONA_OK);
    count_ops(plan, &c);
    void *arena = NULL;
    assert_int_equal(posix_memalign(&arena, 64, c.arena), 0);
    mona_session *session;
    assert_int_equal(mona_session_open(&session, plan, arena, c.arena), MONA_OK);
    const mona_tensor_info t = mona_plan_output(plan, 0);
    uint8_t *in = calloc((size_t)(g->h * g->w), 16);
    uint8_t *out = malloc((size_t)t.channels * t.height * t.width);
    const mona_buffer from = {in, g->w, (ptrdiff_t)g->h * g->w};
    const mona_buffer to = {out, (ptrdiff_t)t.width, (ptrdiff_t)(t.width * t.height)};
    assert_int_equal(mona_session_run(session, &from, &to), MONA_OK);
    assert_nothing_found(session);
    const ac_model_report *r;
    for (unsigned core = 0; (r = mona_session_modelled(session, core)); core++)
        c.cycles = r->cycles > c.cycles ? r->cycles : c.cycles;
    mona_session_close(session);
    free(in), free(out), free(arena), free(memory);
    return c;
}

/* Nothing is copied in one group, little in many, and on the chip that takes less time. */
static void expect_in_place(graph *g, const char *name)
{
    const mona_config configs[] = {{.cache_bytes = 1},
                                   {.threads = 2, .cache_bytes = 1 << 20},
                                   {.device = &mona_device_model310}};
    size_t size;
    uint8_t *file = builder_finish(g->b, &size);
    for (size_t i = 0; i < sizeof configs / sizeof *configs; i++) {
        const cost with = cost_of(g, file, size, configs[i], false);
        const cost without = cost_of(g, file, size, configs[i], true);
        /* Of several groups, one may read what is made in it beside what was made before. */
        assert_true(with.copied <= (i ? 0 : without.copied / 2));
        assert_true(!without.idle && without.copies == with.idle + with.copies);
        assert_int_equal(with.bytes + without.copied, without.bytes + with.copied);
        assert_true(!with.cycles || with.cycles < without.cycles);
        print_message(
            "# %s, %s: %llu bytes read and written, %llu with copies; arena %zu, %zu; %.0f "
            "cycles, %.0f\n",
            name,
            configs[i].device ? "model310"
            : i               ? "host"
                              : "host in groups",
            (unsigned long long)with.bytes, (unsigned long long)without.bytes, with.arena,
            without.arena, with.cycles, without.cycles);
    }
    free(file);
}

static void nothing_is_copied(void **state)
{
    (void)state;
    graph g;
    begin_as(&g, MONA_F16, 1, 1, 3, 32, 64);
    dense_block(&g, 16);
    expect_in_place(&g, "dense block of FP16");
    begin(&g, 1, 1, 3, 32, 64);
    dense_block(&g, 32);
    expect_in_place(&g, "dense block of INT8");
    begin(&g, 2, 1, 3, 64, 96);
    small_u_net(&g, 32);
    expect_in_place(&g, "U-Net of INT8");
    begin_as(&g, MONA_F16, 3, 1, 3, 64, 96);
    small_u_net(&g, 16);
    expect_in_place(&g, "U-Net of FP16");
    begin(&g, 4, 1, 3, 32, 64);
    split_block(&g, 32);
    expect_in_place(&g, "split block of INT8");
}

static cost cost_of_split(mona_type type, uint32_t half, bool copy)
{
    graph g;
    begin_as(&g, type, 7, 1, 3, 32, 160);
    split_block(&g, half);
    size_t size;
    uint8_t *file = builder_finish(g.b, &size);
    const cost c = cost_of(&g, file, size, (mona_config){.device = &mona_device_model310}, copy);
    free(file);
    return c;
}

/* The vector unit moves parts of channel blocks: beside a block of YOLO without any, one in which
 * all parts are halves of blocks, or end within one, does at most as much again. One by one, their
 * elements would take ten times as long. */
static void parts_of_blocks_are_vectors(void **state)
{
    (void)state;
    const double whole = cost_of_split(MONA_U8, 32, false).cycles;
    const double halves = cost_of_split(MONA_U8, 16, true).cycles;
    const double odd = cost_of_split(MONA_F16, 29, true).cycles;
    print_message("# whole blocks %.0f cycles, halves %.0f, odd %.0f\n", whole, halves, odd);
    assert_true(halves < 2 * whole);
    assert_true(odd < 4 * whole);
}

static double cycles_of_stored(uint32_t channels)
{
    graph g;
    begin_as(&g, MONA_F16, 8, 1, 3, 16, 64);
    add_store(&g, 0, conv_3x3(&g, conv_3x3(&g, &g.maps[0], 16), channels));
    size_t size;
    uint8_t *file = builder_finish(g.b, &size);
    const mona_config config = {.device = &mona_device_model310};
    const double cycles = cost_of(&g, file, size, config, false).cycles;
    free(file);
    return cycles;
}

/* Neither the scalar unit nor a copy for each plane and row stores the heads of a detector. */
static void many_planes_are_stored_together(void **state)
{
    (void)state;
    const double few = cycles_of_stored(16), many = cycles_of_stored(160);
    print_message("# 16 channels stored %.0f cycles, 160 %.0f\n", few, many);
    assert_true(many < 3 * few);
}

static void networks(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < CASES(6); seed++) {
        const mona_type type = seed % 2 ? MONA_F16 : MONA_U8;
        const uint32_t channels = seed < 4 ? 32 : 3 * seed;
        graph g;
        begin_as(&g, type, seed, 1, 3, 16, 24);
        dense_block(&g, channels > 32 ? 32 : channels);
        check(&g);
        begin_as(&g, type, seed, 1, 3, 16, 24);
        small_u_net(&g, channels);
        check(&g);
        begin_as(&g, type, seed, 1, 3, 16, 24);
        split_block(&g, channels);
        check(&g);
    }
}

/* It can only lie in one of them. */
static void one_of_two_places_is_copied(void **state)
{
    (void)state;
    graph g;
    begin(&g, 5, 2, 2, 16, 40);
    const map *a = conv_3x3(&g, &g.maps[0], 32), *b = conv_3x3(&g, &g.maps[0], 32);
    add_store(&g, 0, add_concat(&g, 2, (const map *[]){a, b}));
    add_store(&g, 1, add_concat(&g, 3, (const map *[]){b, a, b}));
    size_t size;
    uint8_t *file = builder_finish(g.b, &size);
    const mona_model model = open_as(file, size, false);
    void *memory = aligned_alloc(64, mona_plan_bytes(&model));
    mona_plan *plan;
    const mona_config config = {.sizes = {{40, 16}}};
    assert_int_equal(mona_plan_make(&plan, memory, &model, &config), MONA_OK);
    cost c = {0};
    count_ops(plan, &c);
    assert_int_equal(c.idle, 1);
    assert_int_equal(c.copies, 1);
    assert_int_equal(c.copied, 2 * 32 * 16 * 40); /* the first of b, a, b */
    free(memory), free(file);
}

/* A skip connection's rows are needed for longer than what it is put beside: in one ring both are
 * that deep. The chip has no room for that at this width but in narrower tiles, which make more
 * columns twice. */
static void copies_where_placement_takes_more_tiles(void **state)
{
    (void)state;
    const mona_config chip = {.device = &mona_device_model310};
    for (int wide = 0; wide < 2; wide++) {
        graph g;
        begin_as(&g, MONA_F16, 9, 1, 3, 32, wide ? 512 : 128);
        small_u_net(&g, 16);
        size_t size;
        uint8_t *file = builder_finish(g.b, &size);
        const cost with = cost_of(&g, file, size, chip, false);
        const cost without = cost_of(&g, file, size, chip, true);
        assert_int_equal(with.copies, wide ? 2 : 0);
        assert_true(with.cycles <= without.cycles);
        free(file);
    }
}

static void records_must_fit_their_tensors(void **state)
{
    (void)state;
    for (int wrong = 0; wrong < 6; wrong++) {
        graph g;
        begin(&g, 6, 1, 4, 3, 3);
        const map *a = conv_3x3(&g, &g.maps[0], 5);
        const map *c = add_concat(&g, 2, (const map *[]){a, &g.maps[0]});
        mona_file_op *concat = &g.b->ops[g.b->op_count - 1];
        const map *s = add_slice(&g, c, 3, 6);
        mona_file_op *slice = &g.b->ops[g.b->op_count - 1];
        add_store(&g, 0, s);
        if (wrong == 1)
            slice->channels.first = 4;
        if (wrong == 2)
            slice->channels.first = UINT32_MAX;
        if (wrong == 3)
            slice->channels.copy = 2;
        if (wrong == 4)
            concat->channels.first = 1;
        if (wrong == 5)
            g.b->tensors[a->tensor].type = MONA_S8;
        size_t size;
        uint8_t *file = builder_finish(g.b, &size);
        mona_model model;
        assert_int_equal(mona_model_open(&model, file, size), wrong ? MONA_ERR_MODEL : MONA_OK);
        free(file);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_must_fit_their_tensors),
        cmocka_unit_test(nothing_is_copied),
        cmocka_unit_test(one_of_two_places_is_copied),
        cmocka_unit_test(copies_where_placement_takes_more_tiles),
        cmocka_unit_test(parts_of_blocks_are_vectors),
        cmocka_unit_test(many_planes_are_stored_together),
        cmocka_unit_test(networks),
        cmocka_unit_test(few_outputs_of_many),
        cmocka_unit_test(random_graphs_of_8_bits),
        cmocka_unit_test(random_graphs_with_zeros),
        cmocka_unit_test(random_graphs_of_halves),
    };
    return cmocka_run_group_tests_name("channels", tests, NULL, NULL);
}
