// SPDX-License-Identifier: Apache-2.0
/* Graphs no net looks like: windows that lie in padding altogether, strides that compound,
 * one-channel maps with several kinds of readers, and random graphs with several outputs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "engine/run/session.h"
#include "tests/unit/graph_check.h"
#include "tests/cases.h"

/* ---- particular graphs ----------------------------------------------------------------------- */

static void dilated_reader_of_a_resized_channel(void **state)
{
    (void)state;
    graph g;
    begin(&g, 1, 1, 1, 9, 35);
    add_resize(
        &g, &g.maps[0],
        (mona_file_resize){.mode = MONA_RESIZE_LINEAR, .scale_h = {1, 1}, .scale_w = {1, 1}});
    mona_file_conv dilated = plain;
    dilated.kernel_w = 3, dilated.dilation_w = 2, dilated.pad_left = dilated.pad_right = 2;
    add_conv(&g, &g.maps[1], 1, dilated, NULL);
    add_store(&g, 0, &g.maps[2]);
    check(&g);
}

/* The first band's windows lie above the map altogether. */
static void bands_inside_padding(void **state)
{
    (void)state;
    graph g;
    begin(&g, 2, 1, 1, 24, 700);
    mona_file_conv strided = plain, padded = plain;
    strided.stride_w = 2;
    padded.pad_top = 30;
    add_conv(&g, &g.maps[0], 1, strided, NULL);
    add_conv(&g, &g.maps[1], 1, padded, NULL);
    add_store(&g, 0, &g.maps[2]);
    check(&g);
}

static void maps_nobody_sees(void **state)
{
    (void)state;
    graph g;
    begin(&g, 3, 1, 2, 1, 3000);
    mona_file_conv far = plain;
    far.stride_h = 60, far.pad_top = 255;
    add_conv(&g, &g.maps[0], 3, plain, NULL);
    add_conv(&g, &g.maps[1], 2, far, NULL);
    add_store(&g, 0, &g.maps[2]);
    check(&g);
}

static void columns_inside_padding(void **state)
{
    (void)state;
    graph g;
    begin(&g, 4, 1, 3, 7, 9);
    mona_file_conv left = plain, wide = plain;
    left.stride_w = 3, left.pad_left = 40, left.pad_right = 50;
    wide.stride_w = 2, wide.pad_left = 33;
    add_conv(&g, &g.maps[0], 5, wide, NULL);
    add_conv(&g, &g.maps[1], 2, left, NULL);
    add_store(&g, 0, &g.maps[2]);
    check(&g);
}

static void strides_that_compound(void **state)
{
    (void)state;
    graph g;
    begin(&g, 5, 1, 1, 16, 16);
    mona_file_conv far = plain;
    far.stride_h = 63, far.pad_top = far.pad_bottom = 254;
    for (int i = 0; i < 14; i++)
        add_conv(&g, &g.maps[g.map_count - 1], 1, far, NULL);
    add_store(&g, 0, &g.maps[g.map_count - 1]);
    check(&g);
}

/* A sample beyond its type's range would be another number for every instruction set. */
static void largest_samples_must_fit_their_type(void **state)
{
    (void)state;
    for (uint32_t maximum = 0; maximum <= 256; maximum += 128) {
        graph g;
        begin(&g, 7, 1, 1, 2, 2);
        add_store(&g, 0, &g.maps[0]);
        g.b->ops[1].store.maximum = maximum;
        size_t size;
        uint8_t *bytes = builder_finish(g.b, &size);
        mona_model model;
        assert_int_equal(mona_model_open(&model, bytes, size),
                         maximum == 128 ? MONA_OK : MONA_ERR_MODEL);
        free(bytes);
    }
}

/* Gathering what a filter of 35 x 35 sees would take more memory than all rows of the picture. */
static void large_filters_stay_in_rows(void **state)
{
    (void)state;
    graph g;
    begin(&g, 6, 1, 4, 8, 256);
    mona_file_conv large = plain;
    large.kernel_h = large.kernel_w = 35;
    large.pad_top = large.pad_bottom = large.pad_left = large.pad_right = 17;
    assert_true(add_conv(&g, &g.maps[0], 16, large, NULL));
    add_store(&g, 0, &g.maps[1]);
    size_t size;
    uint8_t *bytes = builder_finish(g.b, &size);
    mona_model model;
    mona_plan *plan;
    assert_int_equal(mona_model_open(&model, bytes, size), MONA_OK);
    void *memory = aligned_alloc(64, mona_plan_bytes(&model));
    const mona_config config = {.threads = 1, .cache_bytes = 1, .sizes = {{256, 8}}};
    assert_int_equal(mona_plan_make(&plan, memory, &model, &config), MONA_OK);
    assert_true(mona_plan_arena_bytes(plan) < 1u << 20);
    free(memory), free(bytes);
}

/* Rows of two pixels are shorter than what planes are aligned to. */
static void rows_of_two_pixels(void **state)
{
    (void)state;
    graph g;
    begin(&g, 7, 1, 4, 24, 2);
    mona_file_conv wide = plain;
    wide.kernel_w = 2;
    assert_true(add_conv(&g, &g.maps[0], 128, plain, NULL));
    assert_true(add_conv(&g, &g.maps[1], 128, wide, NULL));
    assert_true(add_conv(&g, &g.maps[2], 16, plain, NULL));
    add_store(&g, 0, &g.maps[3]);
    size_t size;
    uint8_t *bytes = builder_finish(g.b, &size);
    mona_model model;
    assert_int_equal(mona_model_open(&model, bytes, size), MONA_OK);
    void *memory = aligned_alloc(64, mona_plan_bytes(&model));
    for (size_t cache = 1 << 10; cache <= 1 << 20; cache *= 2) {
        mona_plan *plan;
        const mona_config config = {
            .cpu = "amx", .threads = 1, .cache_bytes = cache, .sizes = {{2, 24}}};
        const mona_status status = mona_plan_make(&plan, memory, &model, &config);
        assert_true(status == MONA_OK || status == MONA_ERR_DEVICE);
    }
    free(memory), free(bytes);
}

/* Rows of 14 pixels do not fill a tile, the map does: with AMX no convolution of which the weights
 * are larger than a few rows runs row by row, though that takes less memory. */
static void rows_shorter_than_a_tile(void **state)
{
    (void)state;
    graph g;
    begin(&g, 8, 1, 4, 14, 14);
    assert_true(add_conv(&g, &g.maps[0], 128, plain, NULL));
    for (int i = 1; i < 6; i += 2) {
        assert_true(add_conv(&g, &g.maps[i], 128, plain, NULL));
        assert_true(add_conv(&g, &g.maps[i + 1], 128, plain, &g.maps[i]));
    }
    assert_true(add_conv(&g, &g.maps[7], 4, plain, NULL));
    add_store(&g, 0, &g.maps[8]);
    size_t size;
    uint8_t *bytes = builder_finish(g.b, &size);
    mona_model model;
    mona_plan *plan;
    assert_int_equal(mona_model_open(&model, bytes, size), MONA_OK);
    void *memory = aligned_alloc(64, mona_plan_bytes(&model));
    const mona_config config = {
        .cpu = "amx", .threads = 1, .cache_bytes = 1 << 14, .sizes = {{14, 14}}};
    const mona_status status = mona_plan_make(&plan, memory, &model, &config);
    assert_true(status == MONA_OK || status == MONA_ERR_DEVICE);
    mona_op_info info;
    for (unsigned i = 0; status == MONA_OK && mona_plan_op_at(plan, i, &info); i++)
        if (info.constant_bytes > 1 << 14)
            assert_int_equal(info.rows, 14);
    free(memory), free(bytes);
}

/* With AMX, whole maps have four channel blocks side by side, those of 5 blocks do not. Where maps
 * have no margins, products with padding are left out if rows are blocks of 14, 8 or 7 pixels. */
static void whole_maps(void **state)
{
    (void)state;
    static const struct {
        uint16_t channels, outputs, h, w, kernel_h, kernel_w, top, bottom, left, right;
    } maps[] = {
        {64, 64, 14, 14, 3, 3, 1, 1, 1, 1}, {64, 40, 5, 7, 3, 2, 2, 0, 0, 1},
        {128, 17, 6, 28, 1, 4, 0, 0, 2, 3}, {80, 64, 9, 9, 3, 3, 1, 1, 1, 1},
        {64, 33, 3, 3, 3, 3, 1, 1, 1, 1},   {128, 80, 7, 7, 3, 3, 1, 1, 1, 1},
        {64, 48, 9, 16, 3, 3, 2, 1, 1, 1},  {96, 64, 5, 21, 2, 3, 3, 0, 1, 0},
        {96, 96, 6, 20, 3, 3, 1, 1, 1, 1},  {64, 24, 12, 28, 1, 2, 0, 0, 0, 1},
        {256, 40, 4, 30, 3, 3, 1, 1, 1, 1},
    };
    for (uint32_t k = 0; k < 2 * sizeof maps / sizeof *maps; k++) {
        const uint32_t i = k / 2;
        graph g;
        begin_as(&g, k % 2 ? MONA_F16 : MONA_U8, 9 + i, 1, 4, maps[i].h, maps[i].w);
        mona_file_conv c = plain;
        c.kernel_h = maps[i].kernel_h, c.kernel_w = maps[i].kernel_w;
        c.pad_top = maps[i].top, c.pad_bottom = maps[i].bottom;
        c.pad_left = maps[i].left, c.pad_right = maps[i].right;
        assert_true(add_conv(&g, &g.maps[0], maps[i].channels, plain, NULL));
        const map *residual = maps[i].outputs == maps[i].channels ? &g.maps[1] : NULL;
        assert_true(add_conv(&g, &g.maps[1], maps[i].outputs, c, residual));
        assert_true(add_conv(&g, &g.maps[2], 4, plain, NULL));
        add_store(&g, 0, &g.maps[3]);
        check(&g);
    }
}

/* Runs a model of one output with every share on a core of its own, the last one first. */
static void run_shares_apart(const mona_model *model, const mona_config *config, const uint8_t *in,
                             uint8_t *out)
{
    void *memory = aligned_alloc(64, mona_plan_bytes(model));
    mona_plan *plan;
    assert_int_equal(mona_plan_make(&plan, memory, model, config), MONA_OK);
    const mona_tensor_info from = mona_plan_input(plan, 0), to = mona_plan_output(plan, 0);
    const mona_buffer inputs = {(void *)(uintptr_t)in, (ptrdiff_t)from.width,
                                (ptrdiff_t)(from.width * from.height)};
    const mona_buffer outputs = {out, (ptrdiff_t)to.width, (ptrdiff_t)(to.width * to.height)};
    const size_t bytes = mona_plan_arena_bytes(plan);
    void *arena = aligned_alloc(64, bytes);
    mona_session *s;
    assert_int_equal(mona_session_open(&s, plan, arena, bytes), MONA_OK);
    s->inputs = &inputs, s->outputs = &outputs;
    for (const plan_group *g = mona_plan_first_group(s->plan); g;
         g = mona_plan_next_group(s->plan, g))
        for (uint32_t share = mona_session_shares(s, g); share-- > 0;)
            mona_session_run_share(&s->workers[share % s->plan->cores], g, share);
    mona_session_close(s);
    free(arena), free(memory);
}

/* Of a grouped convolution of S8, cores that share its outputs find the inputs of their own groups
 * alone. */
static void shares_of_grouped_outputs(void **state)
{
    (void)state;
    enum { H = 4, W = 5, CHANNELS = 128, OUTPUTS = 3 };
    graph g;
    begin_as(&g, MONA_U8, 90, 1, 4, H, W);
    mona_file_conv grouped = plain;
    grouped.kernel_h = grouped.kernel_w = 3, grouped.groups = 4;
    grouped.pad_top = grouped.pad_bottom = grouped.pad_left = grouped.pad_right = 1;
    g.type = MONA_S8;
    assert_true(add_conv(&g, &g.maps[0], CHANNELS, plain, NULL));
    assert_true(add_conv(&g, &g.maps[1], CHANNELS, grouped, NULL));
    g.type = MONA_U8;
    assert_true(add_conv(&g, &g.maps[2], OUTPUTS, plain, NULL));
    add_store(&g, 0, &g.maps[3]);
    size_t size;
    uint8_t *bytes = builder_finish(g.b, &size), in[4 * H * W], out[2][OUTPUTS * H * W];
    const mona_model model = open_as(bytes, size, false);
    for (uint32_t i = 0; i < sizeof in; i++)
        in[i] = (uint8_t)test_random(&g.seed);
    for (uint32_t i = 0; i < 2; i++)
        run_shares_apart(
            &model,
            &(mona_config){
                .cpu = i ? NULL : "c", .threads = i ? 4 : 1, .cache_bytes = 1, .sizes = {{W, H}}},
            in, out[i]);
    assert_memory_equal(out[0], out[1], sizeof out[0]);
    free(bytes);
}

typedef struct few_rows {
    int h, w;
    uint32_t channels, last, widest; /* columns of a tile of the convolution of `last`, at most */
} few_rows;

static graph graph_of_few_rows(const few_rows *m, uint32_t seed)
{
    graph g;
    mona_file_conv wide = plain;
    wide.kernel_w = 3, wide.dilation_w = 4, wide.pad_left = wide.pad_right = 4;
    begin_as(&g, seed % 2 ? MONA_F16 : MONA_U8, seed, 2, 3, m->h, m->w);
    assert_true(add_conv(&g, &g.maps[0], m->channels, wide, NULL));
    assert_true(add_conv(&g, &g.maps[1], 128, plain, NULL));
    assert_true(add_conv(&g, &g.maps[2], 128, wide, NULL)); /* on whole maps */
    assert_true(add_conv(&g, &g.maps[3], m->last, plain, NULL));
    assert_true(add_conv(&g, &g.maps[4], 4, wide, NULL));
    add_store(&g, 0, &g.maps[5]);
    add_store(&g, 1, &g.maps[1]);
    return g;
}

/* Cores share the columns of groups that have fewer rows than there are cores: maps between groups
 * are written by several at once, those with partly filled channel blocks too. */
static void tiles_of_few_rows(void **state)
{
    (void)state;
    static const few_rows maps[] = {
        {1, 130, 16, 32, 33}, {1, 77, 20, 9, 39}, {2, 300, 24, 40, 150}, {3, 64, 9, 16, 64}};
    for (uint32_t i = 0; i < 4 * sizeof maps / sizeof *maps; i++) {
        const few_rows *m = &maps[i / 4];
        graph g = graph_of_few_rows(m, 60 + i);
        size_t size;
        uint8_t *bytes = builder_finish(g.b, &size);
        const mona_model model = open_as(bytes, size, true);
        mona_plan *plan;
        void *memory = aligned_alloc(64, mona_plan_bytes(&model));
        const mona_config config = {
            .threads = 4, .cache_bytes = 1, .sizes = {{(uint32_t)m->w, (uint32_t)m->h}}};
        assert_int_equal(mona_plan_make(&plan, memory, &model, &config), MONA_OK);
        mona_op_info info;
        assert_true(mona_plan_op_at(plan, 4, &info));
        assert_true(info.columns <= m->widest);
        free(memory), free(bytes);
        g = graph_of_few_rows(m, 60 + i);
        check(&g);
    }
}

/* Cores share the queries of attention over fewer rows than there are cores. Its result lies where
 * a map without margins did, and its own margins are what the convolution after it reads. Blocks of
 * channels that divide neither heads nor queries, and those of an only one. */
static void attention_of_few_rows(void **state)
{
    static const struct {
        uint32_t channels, heads;
        int h, w;
    } maps[] = {{64, 2, 1, 197}, {40, 5, 2, 123}, {16, 1, 1, 401}, {96, 3, 3, 55}};
    (void)state;
    for (uint32_t i = 0; i < sizeof maps / sizeof *maps; i++) {
        graph g;
        begin_as(&g, MONA_F16, 11 + i, 1, 4, maps[i].h, maps[i].w);
        mona_file_conv wide = plain;
        wide.kernel_w = 3, wide.pad_left = wide.pad_right = 1;
        assert_true(add_conv(&g, &g.maps[0], maps[i].channels, plain, NULL));
        add_attention(&g, &g.maps[1], maps[i].heads);
        add_attention(&g, &g.maps[2], maps[i].heads);
        assert_true(add_conv(&g, &g.maps[3], 4, wide, NULL));
        add_store(&g, 0, &g.maps[4]);
        check(&g);
    }
}

/* On an AI Core rows of such a tile lie in several pieces of each 16 channels. */
static void residuals_of_halves(void **state)
{
    static const int sizes[][2] = {{14, 14}, {7, 7}, {9, 20}, {28, 28}, {5, 3}, {12, 48}};
    (void)state;
    for (uint32_t i = 0; i < 4 * sizeof sizes / sizeof *sizes; i++) {
        graph g;
        begin(&g, 3 + i, 1, 4, sizes[i / 4][0], sizes[i / 4][1]);
        const uint32_t channels = (uint32_t[]){112, 64, 33, 24}[i % 4];
        assert_true(add_conv(&g, &g.maps[0], channels, plain, NULL));
        assert_true(add_conv(&g, &g.maps[1], channels, plain, NULL));
        g.b->tensors[g.maps[2].tensor].type = MONA_F16;
        g.b->tensors[g.maps[2].tensor].scale = 1;
        assert_true(add_conv(&g, &g.maps[1], channels, plain, &g.maps[2]));
        assert_true(add_conv(&g, &g.maps[3], 4, plain, NULL));
        add_store(&g, 0, &g.maps[4]);
        check_program(&g);
        check(&g);
    }
}

static void random_conv(graph *g, const map *from)
{
    mona_file_conv c = plain;
    c.kernel_h = (uint16_t)(1 + below(g, 4)), c.kernel_w = (uint16_t)(1 + below(g, 4));
    c.stride_h = (uint16_t)(1 + below(g, 4) / 3), c.stride_w = (uint16_t)(1 + below(g, 4) / 3);
    c.dilation_h = (uint16_t)(1 + below(g, 4) / 3), c.dilation_w = (uint16_t)(1 + below(g, 4) / 3);
    const uint32_t most = below(g, 4) ? 3 : 20;
    c.pad_top = (uint16_t)below(g, most), c.pad_bottom = (uint16_t)below(g, most);
    c.pad_left = (uint16_t)below(g, most), c.pad_right = (uint16_t)below(g, most);
    const map *residual = &g->maps[below(g, (uint32_t)g->map_count)];
    add_conv(g, from, 1 + below(g, below(g, 3) ? 16 : 40), c, below(g, 2) ? residual : NULL);
}

static void random_pool(graph *g, const map *from)
{
    mona_file_pool p = {.stride_h = 1, .stride_w = 1, .dilation_h = 1, .dilation_w = 1, .scale = 1};
    const bool whole = below(g, 4) == 0;
    int h = 1, w = 1;
    if (!whole) {
        p.kernel_h = (uint16_t)(1 + below(g, 4)), p.kernel_w = (uint16_t)(1 + below(g, 4));
        p.stride_h = (uint16_t)(1 + below(g, 3)), p.stride_w = (uint16_t)(1 + below(g, 3));
        p.dilation_h = (uint16_t)(1 + below(g, 4) / 3);
        p.pad_top = (uint16_t)below(g, 4), p.pad_bottom = (uint16_t)below(g, 4);
        p.pad_left = (uint16_t)below(g, 20), p.pad_right = (uint16_t)below(g, 4);
        p.count_include_pad = (uint8_t)below(g, 2);
        h = out_side(from->h, p.kernel_h, p.stride_h, p.dilation_h, p.pad_top, p.pad_bottom);
        w = out_side(from->w, p.kernel_w, p.stride_w, p.dilation_w, p.pad_left, p.pad_right);
    }
    if (h < 1 || w < 1)
        return;
    mona_file_op *op;
    const uint32_t tensor = from->tensor;
    add_map(g, below(g, 2) ? MONA_OP_MAX_POOL : MONA_OP_AVERAGE_POOL, from->channels, h, w, 1,
            &tensor, &op);
    op->pool = p;
}

/* Reflected pads as large as the map allows, now and then. */
static void random_pad(graph *g, const map *from)
{
    const bool reflects = below(g, 2), wide = below(g, 4) == 0;
    const uint32_t rows = reflects ? (uint32_t)from->h - 1 : wide ? 40 : 3;
    const uint32_t columns = reflects ? (uint32_t)from->w - 1 : wide ? 40 : 3;
    const uint32_t most_rows = (wide || rows < 3 ? rows : 3) + 1;
    const uint32_t most_columns = (wide || columns < 3 ? columns : 3) + 1;
    const mona_file_pad p = {.mode = reflects ? MONA_PAD_REFLECT : MONA_PAD_EDGE,
                             .top = (uint8_t)below(g, most_rows),
                             .bottom = (uint8_t)below(g, most_rows),
                             .left = (uint8_t)below(g, most_columns),
                             .right = (uint8_t)below(g, most_columns)};
    const int h = from->h + p.top + p.bottom, w = from->w + p.left + p.right;
    mona_file_op *op;
    const uint32_t tensor = from->tensor;
    if (h * w > 20000)
        return;
    add_map(g, MONA_OP_PAD, from->channels, h, w, 1, &tensor, &op);
    op->pad = p;
}

static void random_op(graph *g)
{
    const map *from =
        &g->maps[below(g, 2) ? (uint32_t)g->map_count - 1 : below(g, (uint32_t)g->map_count)];
    mona_file_op *op;
    const uint32_t pair[2] = {from->tensor, from->tensor}, kind = below(g, 12);
    if (kind == 0) {
        add_resize(g, from,
                   (mona_file_resize){.mode = (uint8_t)below(g, 3),
                                      .coordinates = (uint8_t)below(g, 3),
                                      .scale_h = {1 + below(g, 3), 1 + below(g, 3)},
                                      .scale_w = {1 + below(g, 3), 1 + below(g, 3)},
                                      .cubic_a = -0.75f});
    } else if (kind == 1) {
        add_map(g, below(g, 2) ? MONA_OP_ADD : MONA_OP_MUL, from->channels, from->h, from->w, 2,
                pair, &op);
        op->elementwise.scale[0] = 0x3800, op->elementwise.scale[1] = 0x2c00;
    } else if (kind == 2 && from->channels % 4 == 0 && from->h * from->w < 3000) {
        const uint32_t channels = from->channels / 4;
        add_map(g, MONA_OP_DEPTH_TO_SPACE, channels, 2 * from->h, 2 * from->w, 1, pair, &op);
        op->block = 2;
    } else if (kind == 3 || kind == 4) {
        random_pool(g, from);
    } else if (kind == 10 || kind == 11) {
        random_pad(g, from);
    } else {
        random_conv(g, from);
    }
}

static void random_graph(uint32_t seed, int operators, int h, int w, bool zeros)
{
    graph g;
    const int outputs = 1 + (int)(seed % MAX_STORES);
    begin(&g, seed, outputs, 1 + seed % 6, h, w);
    g.zeros = zeros;
    for (int i = 0; i < operators; i++)
        random_op(&g);
    for (int i = 0; i < outputs; i++) {
        const map *from = &g.maps[i ? below(&g, (uint32_t)g.map_count) : (uint32_t)g.map_count - 1];
        add_store(&g, i, as_planes(&g, from));
    }
    check(&g);
}

static void random_graphs(void **state)
{
    (void)state;
    for (uint32_t seed = 100; seed < 100 + CASES(80); seed++)
        random_graph(seed, 9, 1 + (int)(seed * 7 % 33), 1 + (int)(seed * 13 % 61), false);
}

/* Padding, sums and means around what stands for 0. */
static void random_graphs_with_zeros(void **state)
{
    (void)state;
    for (uint32_t seed = 300; seed < 300 + CASES(80); seed++)
        random_graph(seed, 9, 1 + (int)(seed * 7 % 33), 1 + (int)(seed * 13 % 61), true);
}

/* Higher than what a result depends on, so that parts of them can be made alone. */
static void random_graphs_of_tall_pictures(void **state)
{
    (void)state;
    for (uint32_t seed = 100; seed < 100 + CASES(12); seed++)
        random_graph(seed, 3, 90 + (int)(seed * 7 % 64), 40 + (int)(seed * 13 % 61), seed & 1);
}

/* A map weighted by means of all of it. */
static void add_weighted(graph *g, const map *from, bool one, bool multiplied)
{
    const map all = *from;
    mona_file_op *op;
    add_map(g, MONA_OP_AVERAGE_POOL, all.channels, 1, 1, 1, &all.tensor, &op);
    op->pool = (mona_file_pool){
        .stride_h = 1, .stride_w = 1, .dilation_h = 1, .dilation_w = 1, .scale = 1};
    if (one)
        assert_true(add_conv(g, &g->maps[g->map_count - 1], 1, plain, NULL));
    const uint32_t pair[2] = {all.tensor, g->maps[g->map_count - 1].tensor};
    add_map(g, multiplied ? MONA_OP_MUL : MONA_OP_ADD, all.channels, all.h, all.w, 2, pair, &op);
    op->elementwise.scale[0] = 0x3800, op->elementwise.scale[1] = 0x2c00;
}

/* As where channels are weighted by means of the whole map: the weights may be one for all
 * channels, and channels fill whole blocks, parts of them or several. */
static void single_pixels_for_all(void **state)
{
    static const uint32_t channels[] = {1, 3, 4, 16, 20, 32, 33, 70};
    (void)state;
    for (uint32_t seed = 0; seed < 64; seed++) {
        graph g;
        begin_as(&g, seed & 2 ? MONA_F16 : MONA_U8, seed, 1, 3, 1 + (int)(seed * 7 % 13),
                 1 + (int)(seed * 29 % 90));
        assert_true(add_conv(&g, &g.maps[0], channels[seed / 8], plain, NULL));
        add_weighted(&g, &g.maps[1], seed & 1, seed & 4);
        add_store(&g, 0, &g.maps[g.map_count - 1]);
        check_program(&g);
        check(&g);
    }
}

/* A mean of the whole map and what is before it are computed once, however many tiles that behind
 * it has. */
static void means_of_few_rows(void **state)
{
    (void)state;
    enum { W = 600 };
    for (int h = 1; h < 4; h++) {
        graph g;
        begin(&g, 80, 1, 3, h, W);
        assert_true(add_conv(&g, &g.maps[0], 16, plain, NULL));
        add_weighted(&g, &g.maps[1], false, true);
        add_store(&g, 0, &g.maps[g.map_count - 1]);
        size_t size;
        uint8_t *bytes = builder_finish(g.b, &size);
        const mona_model model = open_as(bytes, size, true);
        mona_plan *plan;
        void *memory = aligned_alloc(64, mona_plan_bytes(&model));
        const mona_config config = {.threads = 1, .cache_bytes = 1, .sizes = {{W, (uint32_t)h}}};
        assert_int_equal(mona_plan_make(&plan, memory, &model, &config), MONA_OK);
        assert_true(plan->ops[0].group.tiles > 1 && plan->ops[3].group.tiles > 1);
        assert_int_equal(plan->ops[2].group_first, 2);
        assert_int_equal(plan->ops[2].group.last, 3);
        free(memory), free(bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dilated_reader_of_a_resized_channel),
        cmocka_unit_test(bands_inside_padding),
        cmocka_unit_test(maps_nobody_sees),
        cmocka_unit_test(columns_inside_padding),
        cmocka_unit_test(strides_that_compound),
        cmocka_unit_test(largest_samples_must_fit_their_type),
        cmocka_unit_test(large_filters_stay_in_rows),
        cmocka_unit_test(rows_of_two_pixels),
        cmocka_unit_test(rows_shorter_than_a_tile),
        cmocka_unit_test(whole_maps),
        cmocka_unit_test(shares_of_grouped_outputs),
        cmocka_unit_test(tiles_of_few_rows),
        cmocka_unit_test(attention_of_few_rows),
        cmocka_unit_test(residuals_of_halves),
        cmocka_unit_test(single_pixels_for_all),
        cmocka_unit_test(means_of_few_rows),
        cmocka_unit_test(random_graphs),
        cmocka_unit_test(random_graphs_with_zeros),
        cmocka_unit_test(random_graphs_of_tall_pictures),
    };
    return cmocka_run_group_tests_name("graphs", tests, NULL, NULL);
}
