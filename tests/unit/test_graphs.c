/* Graphs no net looks like: windows that lie in padding altogether, strides that compound,
 * one-channel maps with several kinds of readers, and random graphs with several outputs. Whatever
 * the bands, strips, tiles and instruction set, the bytes are those of the C instructions run on
 * whole maps in one strip. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "modelled_check.h"
#include "sr_net.h"

enum { MAX_MAPS = 16, MAX_STORES = 4 };

typedef struct map {
    uint32_t tensor, channels;
    int h, w;
} map;

/* A graph while it grows. Outputs are numbered before any map exists, so their number is fixed
 * first. */
typedef struct graph {
    model_builder *b;
    uint32_t seed, input, outputs[MAX_STORES];
    int h, w, map_count;
    map maps[MAX_MAPS];
} graph;

static uint32_t below(graph *g, uint32_t n)
{
    return test_random(&g->seed) % n;
}

static void begin(graph *g, uint32_t seed, int outputs, uint32_t channels, int h, int w)
{
    *g = (graph){.b = builder_new(), .seed = seed * 2654435761u + 1, .h = h, .w = w};
    g->input = builder_input(g->b, "in", MONA_U8, channels, 1 / 255.f);
    for (int i = 0; i < outputs; i++)
        g->outputs[i] = builder_output(g->b, "out", MONA_U8, 1, 1 / 255.f);
    const uint32_t loaded = builder_tensor(g->b, "map", MONA_U8, channels, 1 / 255.f);
    mona_file_op *load = builder_op(g->b, MONA_OP_LOAD, loaded, 1, &g->input);
    load->load.block[0] = 1, load->load.scale[0] = 0x3c00;
    g->maps[g->map_count++] = (map){loaded, channels, h, w};
}

static map *add_map(graph *g, mona_op_kind kind, uint32_t channels, int h, int w, uint32_t inputs,
                    const uint32_t *tensors, mona_file_op **op)
{
    const uint32_t made = builder_tensor(g->b, "map", MONA_U8, channels, 1 / 255.f);
    *op = builder_op(g->b, kind, made, inputs, tensors);
    g->maps[g->map_count] = (map){made, channels, h, w};
    return &g->maps[g->map_count++];
}

static int out_side(int in, int kernel, int stride, int dilation, int pad_a, int pad_b)
{
    const int span = in + pad_a + pad_b - dilation * (kernel - 1) - 1;
    return span < 0 ? 0 : span / stride + 1;
}

/* A convolution with random weights; false, and nothing added, where its output would be empty or
 * large. */
static bool add_conv(graph *g, const map *from, uint32_t channels, mona_file_conv c,
                     const map *residual)
{
    const int h = out_side(from->h, c.kernel_h, c.stride_h, c.dilation_h, c.pad_top, c.pad_bottom);
    const int w = out_side(from->w, c.kernel_w, c.stride_w, c.dilation_w, c.pad_left, c.pad_right);
    if (h < 1 || w < 1 || h * w > 60000)
        return false;
    if (residual && (residual->h != h || residual->w != w ||
                     (residual->channels > 1 && residual->channels < channels)))
        residual = NULL;
    enum { MOST = 40 };
    static int8_t weights[MOST * MOST * 49];
    uint16_t scales[MOST];
    const size_t count = (size_t)channels * from->channels * c.kernel_h * c.kernel_w;
    assert_true(count <= sizeof weights && channels <= MOST);
    for (size_t i = 0; i < count; i++)
        weights[i] = (int8_t)((int)below(g, 255) - 127);
    for (uint32_t o = 0; o < channels; o++)
        scales[o] = (uint16_t)(0x1400 + below(g, 0x800));
    c.groups = 1;
    c.weights = builder_data(g->b, weights, count);
    c.scales = builder_data(g->b, scales, channels * 2);
    c.bias = MONA_NONE;
    const uint32_t inputs[2] = {from->tensor, residual ? residual->tensor : 0};
    mona_file_op *op;
    add_map(g, MONA_OP_CONV, channels, h, w, residual ? 2 : 1, inputs, &op);
    op->conv = c;
    return true;
}

static void add_resize(graph *g, const map *from, mona_file_resize r)
{
    const int h = (int)((uint32_t)from->h * r.scale_h[0] / r.scale_h[1]);
    const int w = (int)((uint32_t)from->w * r.scale_w[0] / r.scale_w[1]);
    if (h < 1 || w < 1 || h * w > 20000)
        return;
    mona_file_op *op;
    const uint32_t tensor = from->tensor;
    add_map(g, MONA_OP_RESIZE, from->channels, h, w, 1, &tensor, &op);
    op->resize = r;
}

static void add_store(graph *g, int index, const map *from)
{
    mona_file_op *op = builder_op(g->b, MONA_OP_STORE, g->outputs[index], 1, &from->tensor);
    g->b->tensors[g->outputs[index]].channels = from->channels;
    op->store = (mona_file_store){.block = 1, .scale = 0x3c00, .maximum = 255};
}

/* ---- running --------------------------------------------------------------------------------- */

typedef struct results {
    uint8_t *planes[MAX_STORES];
    size_t bytes[MAX_STORES];
} results;

/* Regions follow one another from the arena's first byte to its last, whatever the groups. */
static void check_regions(const mona_plan *plan)
{
    size_t end = 0;
    mona_plan_buffer buffer;
    for (unsigned i = 0; mona_plan_buffer_at(plan, i, &buffer); i++) {
        assert_int_equal(buffer.offset, end);
        assert_true(buffer.bytes > 0);
        end += buffer.bytes;
    }
    assert_int_equal(end, mona_plan_arena_bytes(plan));
}

static mona_status run(const graph *g, const mona_model *model, mona_config config,
                       const uint8_t *in, results *r)
{
    void *memory = aligned_alloc(64, mona_plan_bytes());
    mona_plan *plan;
    config.sizes[0] = (mona_size){(uint32_t)g->w, (uint32_t)g->h};
    const mona_status status = mona_plan_make(&plan, memory, model, &config);
    *r = (results){{NULL}, {0}};
    if (!status) {
        check_regions(plan);
        mona_buffer out[MAX_STORES], from = {(void *)(uintptr_t)in, g->w, (ptrdiff_t)g->w * g->h};
        for (unsigned i = 0; i < mona_model_output_count(model); i++) {
            const mona_tensor_info info = mona_plan_output(plan, i);
            r->bytes[i] = (size_t)info.channels * info.height * info.width;
            r->planes[i] = malloc(r->bytes[i]);
            memset(r->planes[i], 0xa5, r->bytes[i]);
            out[i] = (mona_buffer){r->planes[i], (ptrdiff_t)info.width,
                                   (ptrdiff_t)(info.width * info.height)};
        }
        /* A block of exactly the size, for sanitisers. */
        void *arena = NULL;
        assert_int_equal(posix_memalign(&arena, 64, mona_plan_arena_bytes(plan)), 0);
        memset(arena, 0xa7, mona_plan_arena_bytes(plan));
        mona_session *session;
        assert_int_equal(mona_session_open(&session, plan, arena, mona_plan_arena_bytes(plan)),
                         MONA_OK);
        assert_int_equal(mona_session_run(session, &from, out), MONA_OK);
        assert_int_equal(mona_session_run(session, &from, out), MONA_OK);
        assert_nothing_found(session);
        mona_session_close(session);
        free(arena);
    }
    free(memory);
    return status;
}

static void release(results *r)
{
    for (int i = 0; i < MAX_STORES; i++)
        free(r->planes[i]);
}

/* The same bytes from model310, and no finding of its checks. Graphs whose rows do not fit a core's
 * L1 are refused there. */
static void check_modelled(graph *g, const mona_model *model, const uint8_t *in,
                           const results *want, uint32_t seed)
{
    const mona_config config = {.device = mona_device_find("model310"),
                                .threads = 1 + below(g, 2),
                                .strip_rows = below(g, 4)};
    results found;
    const mona_status status = run(g, model, config, in, &found);
    if (status == MONA_ERR_UNSUPPORTED)
        return;
    assert_int_equal(status, MONA_OK);
    for (int i = 0; i < MAX_STORES; i++)
        if (want->planes[i] && memcmp(found.planes[i], want->planes[i], want->bytes[i]))
            fail_msg("seed %08x: output %d differs on model310", seed, i);
    release(&found);
}

/* Finishes the graph and compares a dozen ways to run it with whole maps. */
static void check(graph *g)
{
    static const char *const levels[] = {"instructions", "c",    "avx2",   "avxvnni",
                                         "avx512",       "neon", "dotprod"};
    enum { LEVELS = sizeof levels / sizeof *levels };
    const uint32_t seed = g->seed;
    size_t size;
    uint8_t *bytes = builder_finish(g->b, &size), *in = malloc((size_t)(16 * g->h * g->w));
    mona_model model;
    assert_int_equal(mona_model_open(&model, bytes, size), MONA_OK);
    for (int i = 0; i < 16 * g->h * g->w; i++)
        in[i] = (uint8_t)test_random(&g->seed);
    results want;
    const mona_config whole = {.cpu = "instructions",
                               .threads = 1,
                               .strip_rows = MONA_MAX_SIDE,
                               .cache_bytes = (size_t)1 << 40};
    assert_int_equal(run(g, &model, whole, in, &want), MONA_OK);
    for (int k = 0; k < 3 * LEVELS; k++) {
        const mona_config config = {.cpu = levels[k % LEVELS],
                                    .threads = 1 + below(g, 4),
                                    .strip_rows = below(g, 3) * 2,
                                    .tile_columns = below(g, 2) * (1 + below(g, 20)),
                                    .cache_bytes = below(g, 2)}; /* one byte: several groups */
        results found;
        const mona_status status = run(g, &model, config, in, &found);
        if (status == MONA_ERR_DEVICE)
            continue; /* not this CPU */
        assert_int_equal(status, MONA_OK);
        for (int i = 0; i < MAX_STORES; i++)
            if (want.planes[i] && memcmp(found.planes[i], want.planes[i], want.bytes[i]))
                fail_msg(
                    "seed %08x: output %d differs for %s, %u threads, strip %u, tile %u, cache %zu",
                    seed, i, config.cpu, config.threads, config.strip_rows, config.tile_columns,
                    config.cache_bytes);
        release(&found);
    }
    check_modelled(g, &model, in, &want, seed);
    release(&want);
    free(in), free(bytes);
}

/* ---- particular graphs ----------------------------------------------------------------------- */

static const mona_file_conv plain = {
    .kernel_h = 1, .kernel_w = 1, .stride_h = 1, .stride_w = 1, .dilation_h = 1, .dilation_w = 1};

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
    void *memory = aligned_alloc(64, mona_plan_bytes());
    mona_model model;
    mona_plan *plan;
    assert_int_equal(mona_model_open(&model, bytes, size), MONA_OK);
    const mona_config config = {.threads = 1, .cache_bytes = 1, .sizes = {{256, 8}}};
    assert_int_equal(mona_plan_make(&plan, memory, &model, &config), MONA_OK);
    assert_true(mona_plan_arena_bytes(plan) < 1u << 20);
    free(memory), free(bytes);
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

static void random_op(graph *g)
{
    const map *from =
        &g->maps[below(g, 2) ? (uint32_t)g->map_count - 1 : below(g, (uint32_t)g->map_count)];
    mona_file_op *op;
    const uint32_t pair[2] = {from->tensor, from->tensor}, kind = below(g, 10);
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
    } else {
        random_conv(g, from);
    }
}

static void random_graphs(void **state)
{
    (void)state;
    for (uint32_t seed = 100; seed < 180; seed++) {
        graph g;
        const int outputs = 1 + (int)(seed % MAX_STORES);
        begin(&g, seed, outputs, 1 + seed % 6, 1 + (int)(seed * 7 % 33), 1 + (int)(seed * 13 % 61));
        for (int i = 0; i < 9; i++)
            random_op(&g);
        for (int i = 0; i < outputs; i++)
            add_store(&g, i,
                      &g.maps[i ? below(&g, (uint32_t)g.map_count) : (uint32_t)g.map_count - 1]);
        check(&g);
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
        cmocka_unit_test(random_graphs),
    };
    return cmocka_run_group_tests_name("graphs", tests, NULL, NULL);
}
