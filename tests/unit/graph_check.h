// SPDX-License-Identifier: Apache-2.0
/* Graphs of random numbers, operator by operator, and a dozen ways to run them. Whatever the bands,
 * strips, tiles and instruction set, the bytes are those of portable C run on whole maps in one
 * strip; and those of copies, where channels could lie in place. Included after cmocka.h. */
#ifndef MONA_TESTS_GRAPH_CHECK_H
#define MONA_TESTS_GRAPH_CHECK_H

#include "formats/compiler/program/programs.h"
#include "tests/unit/modelled_check.h"
#include "tests/unit/sr_net.h"

enum { MAX_MAPS = 32, MAX_STORES = 4, MAX_OUT_CHANNELS = 256, MAX_WEIGHTS = 1 << 17 };

typedef struct map {
    uint32_t tensor, channels;
    int h, w;
    uint8_t zero; /* of its tensor */
} map;

/* A graph while it grows. Outputs are numbered before any map exists, so their number is fixed
 * first. */
typedef struct graph {
    model_builder *b;
    mona_type type; /* of maps */
    bool zeros;     /* of 8 bits may have a zero other than 0 */
    uint32_t seed, input, outputs[MAX_STORES];
    int h, w, map_count;
    map maps[MAX_MAPS];
} graph;

static inline uint32_t below(graph *g, uint32_t n)
{
    return test_random(&g->seed) % n;
}

/* LOAD of 8-bit planes; maps of 8 bits have their steps. */
static inline void begin_as(graph *g, mona_type type, uint32_t seed, int outputs, uint32_t channels,
                            int h, int w)
{
    *g = (graph){.b = builder_new(), .type = type, .seed = seed * 2654435761u + 1, .h = h, .w = w};
    g->input = builder_input(g->b, "in", MONA_U8, channels, 1 / 255.f);
    for (int i = 0; i < outputs; i++)
        g->outputs[i] = builder_output(g->b, "out", MONA_U8, 1, 1 / 255.f);
    const uint32_t loaded =
        builder_tensor(g->b, "map", type, channels, type == MONA_F16 ? 1 : 1 / 255.f);
    mona_file_op *load = builder_op(g->b, MONA_OP_LOAD, loaded, 1, &g->input);
    load->load.block[0] = 1, load->load.scale[0] = type == MONA_F16 ? 0x1c04 : 0x3c00;
    g->maps[g->map_count++] = (map){loaded, channels, h, w, 0};
}

static inline void begin(graph *g, uint32_t seed, int outputs, uint32_t channels, int h, int w)
{
    begin_as(g, MONA_U8, seed, outputs, channels, h, w);
}

/* What a new map has: those that move, choose or resample samples that of what they read. */
static inline uint8_t zero_of(graph *g, mona_op_kind kind, uint32_t read)
{
    static const uint8_t zeros[] = {0, 31, 255}; /* few, as parts of a CONCAT have the same */
    const bool makes = kind == MONA_OP_CONV || kind == MONA_OP_ADD || kind == MONA_OP_MUL;
    return kind == MONA_OP_AVERAGE_POOL ? 0
           : !makes                     ? g->b->tensors[read].zero
           : g->zeros                   ? zeros[below(g, 3)]
                                        : 0;
}

static inline map *add_map(graph *g, mona_op_kind kind, uint32_t channels, int h, int w,
                           uint32_t inputs, const uint32_t *tensors, mona_file_op **op)
{
    const uint32_t made =
        builder_tensor(g->b, "map", g->type, channels, g->type == MONA_F16 ? 1 : 1 / 255.f);
    *op = builder_op(g->b, kind, made, inputs, tensors);
    g->b->tensors[made].zero = zero_of(g, kind, tensors[0]);
    g->maps[g->map_count] = (map){made, channels, h, w, g->b->tensors[made].zero};
    return &g->maps[g->map_count++];
}

/* Maps of one size; at most MONA_OP_MAX_INPUTS. */
static inline const map *add_concat(graph *g, uint32_t count, const map *const *parts)
{
    uint32_t tensors[MONA_OP_MAX_INPUTS], channels = 0;
    for (uint32_t i = 0; i < count; i++) {
        tensors[i] = parts[i]->tensor;
        channels += parts[i]->channels;
    }
    mona_file_op *op;
    return add_map(g, MONA_OP_CONCAT, channels, parts[0]->h, parts[0]->w, count, tensors, &op);
}

static inline const map *add_slice(graph *g, const map *from, uint32_t first, uint32_t count)
{
    mona_file_op *op;
    const map *made = add_map(g, MONA_OP_SLICE, count, from->h, from->w, 1, &from->tensor, &op);
    op->channels.first = first;
    return made;
}

static inline int out_side(int in, int kernel, int stride, int dilation, int pad_a, int pad_b)
{
    const int span = in + pad_a + pad_b - dilation * (kernel - 1) - 1;
    return span < 0 ? 0 : span / stride + 1;
}

/* A convolution with random weights; false, and nothing added, where its output would be empty or
 * large. */
static inline bool add_conv(graph *g, const map *from, uint32_t channels, mona_file_conv c,
                            const map *residual)
{
    const int h = out_side(from->h, c.kernel_h, c.stride_h, c.dilation_h, c.pad_top, c.pad_bottom);
    const int w = out_side(from->w, c.kernel_w, c.stride_w, c.dilation_w, c.pad_left, c.pad_right);
    if (h < 1 || w < 1 || h * w > 60000)
        return false;
    if (residual && (residual->zero || residual->h != h || residual->w != w ||
                     (residual->channels > 1 && residual->channels < channels)))
        residual = NULL;
    static union {
        int8_t whole[MAX_WEIGHTS];
        uint16_t half[MAX_WEIGHTS];
    } weights;
    uint16_t scales[MAX_OUT_CHANNELS];
    const bool half = g->type == MONA_F16;
    c.groups = c.groups ? c.groups : 1;
    const size_t count = (size_t)channels * (from->channels / c.groups) * c.kernel_h * c.kernel_w;
    assert_true(count <= MAX_WEIGHTS && channels <= MAX_OUT_CHANNELS);
    for (size_t i = 0; i < count && !half; i++)
        weights.whole[i] = (int8_t)((int)below(g, 255) - 127);
    for (size_t i = 0; i < count && half; i++)
        weights.half[i] = (uint16_t)(below(g, 2) << 15 | (0x2400 + below(g, 0x800)));
    for (uint32_t o = 0; o < channels; o++)
        scales[o] = (uint16_t)(0x1400 + below(g, 0x800));
    c.weights = builder_data(g->b, &weights, count * (half ? 2 : 1));
    c.scales = half ? MONA_NONE : builder_data(g->b, scales, channels * 2);
    c.bias = MONA_NONE;
    const uint32_t inputs[2] = {from->tensor, residual ? residual->tensor : 0};
    mona_file_op *op;
    add_map(g, MONA_OP_CONV, channels, h, w, residual ? 2 : 1, inputs, &op);
    op->conv = c;
    return true;
}

static inline void add_resize(graph *g, const map *from, mona_file_resize r)
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

/* Attention of a map to itself. */
static inline void add_attention(graph *g, const map *from, uint32_t heads)
{
    mona_file_op *op;
    const uint32_t tensors[3] = {from->tensor, from->tensor, from->tensor};
    add_map(g, MONA_OP_ATTENTION, from->channels, from->h, from->w, 3, tensors, &op);
    op->attention = (mona_file_attention){.heads = heads, .scale = 0.25f, .value_scale = 1};
}

static inline void add_store(graph *g, int index, const map *from)
{
    assert_int_equal(from->zero, 0);
    mona_file_op *op = builder_op(g->b, MONA_OP_STORE, g->outputs[index], 1, &from->tensor);
    g->b->tensors[g->outputs[index]].channels = from->channels;
    const uint16_t scale = g->type == MONA_F16 ? 0x5bf8 : 0x3c00;
    op->store = (mona_file_store){.block = 1, .scale = scale, .maximum = 255};
}

static const mona_file_conv plain = {
    .kernel_h = 1, .kernel_w = 1, .stride_h = 1, .stride_w = 1, .dilation_h = 1, .dilation_w = 1};

/* A map without a zero, which planes do not have. */
static inline const map *as_planes(graph *g, const map *from)
{
    const bool zeros = g->zeros;
    g->zeros = false;
    if (from->zero && add_conv(g, from, from->channels, plain, NULL))
        from = &g->maps[g->map_count - 1];
    g->zeros = zeros;
    return from;
}

/* ---- running --------------------------------------------------------------------------------- */

typedef struct results {
    uint8_t *planes[MAX_STORES];
    size_t bytes[MAX_STORES];
} results;

/* Regions follow one another from the arena's first byte to its last, whatever the groups. */
static inline void check_regions(const mona_plan *plan)
{
    size_t end = 0;
    mona_plan_buffer buffer;
    for (uint64_t i = 0; mona_plan_next_buffer(plan, &i, &buffer);) {
        assert_int_equal(buffer.offset, end);
        assert_true(buffer.bytes > 0);
        end += buffer.bytes;
    }
    assert_int_equal(end, mona_plan_arena_bytes(plan));
}

/* What the session makes of `in` where it is told in which rectangles another frame differed, and
 * has that frame's outputs: the same. */
static inline void check_changed(const graph *g, mona_session *session, const mona_buffer *in,
                                 const mona_buffer *out, const results *r)
{
    enum { RECTS = 3, CHANNELS = 16 };
    uint32_t seed = g->seed;
    mona_rect rects[RECTS];
    const size_t plane = (size_t)(g->w * g->h);
    uint8_t *earlier = malloc(CHANNELS * plane);
    memcpy(earlier, in->data, CHANNELS * plane);
    mona_buffer before[MAX_STORES];
    memcpy(before, out, sizeof before);
    const size_t count = test_random(&seed) % (RECTS + 1);
    for (size_t i = 0; i < count; i++) {
        const uint32_t x = test_random(&seed) % (uint32_t)g->w;
        const uint32_t y = test_random(&seed) % (uint32_t)g->h;
        rects[i] = (mona_rect){0, x, y, 1 + test_random(&seed) % ((uint32_t)g->w - x),
                               1 + test_random(&seed) % ((uint32_t)g->h - y)};
        for (size_t c = 0; c < CHANNELS; c++)
            for (uint32_t row = 0; row < rects[i].height; row++)
                for (uint32_t column = 0; column < rects[i].width; column++)
                    earlier[c * plane + (y + row) * (size_t)g->w + x + column] ^= 0x55;
    }
    for (int i = 0; i < MAX_STORES; i++)
        before[i].data = r->planes[i] ? malloc(r->bytes[i]) : NULL;
    const mona_buffer from = {earlier, in->row_stride, in->channel_stride};
    assert_int_equal(mona_session_run(session, &from, before), MONA_OK);
    const mona_change change = {before, rects, count};
    for (int i = 0; i < MAX_STORES; i++)
        if (r->planes[i])
            memset(r->planes[i], 0xa5, r->bytes[i]);
    assert_int_equal(mona_session_run_changed(session, in, out, &change), MONA_OK);
    for (int i = 0; i < MAX_STORES; i++)
        free(before[i].data);
    free(earlier);
}

static inline mona_status run(const graph *g, const mona_model *model, mona_config config,
                              const uint8_t *in, results *r)
{
    void *memory = aligned_alloc(64, mona_plan_bytes(model));
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
        uint8_t *whole[MAX_STORES];
        for (int i = 0; i < MAX_STORES && r->planes[i]; i++)
            whole[i] = memcpy(malloc(r->bytes[i]), r->planes[i], r->bytes[i]);
        check_changed(g, session, &from, out, r);
        for (int i = 0; i < MAX_STORES && r->planes[i]; i++) {
            if (memcmp(whole[i], r->planes[i], r->bytes[i]))
                fail_msg("seed %08x: output %d differs where only what changed is made", g->seed,
                         i);
            free(whole[i]);
        }
        assert_nothing_found(session);
        mona_session_close(session);
        free(arena);
    }
    free(memory);
    return status;
}

static inline void release(results *r)
{
    for (int i = 0; i < MAX_STORES; i++)
        free(r->planes[i]);
}

/* The same bytes from model310, and no finding of its checks. Graphs whose rows do not fit a core's
 * L1 are refused there. */
static inline void check_modelled(graph *g, const mona_model *model, const uint8_t *in,
                                  const results *want, uint32_t seed)
{
    const mona_config config = {
        .device = &mona_device_model310, .threads = 1 + below(g, 2), .strip_rows = below(g, 4)};
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

/* Opens the model, its CONCATs and SLICEs all to copy or not. */
static inline mona_model open_as(uint8_t *bytes, size_t size, bool copy)
{
    mona_model model;
    const mona_file_header *h = (const mona_file_header *)(const void *)bytes;
    mona_file_op *ops = (mona_file_op *)(void *)(bytes + h->ops_offset);
    for (uint32_t o = 0; o < h->op_count; o++)
        if (ops[o].kind == MONA_OP_CONCAT || ops[o].kind == MONA_OP_SLICE)
            ops[o].channels.copy = copy;
    builder_seal(bytes);
    assert_int_equal(mona_model_open(&model, bytes, size), MONA_OK);
    return model;
}

/* Finishes the graph and compares a dozen ways to run it with whole maps and copies. */
static inline void check(graph *g)
{
    static const char *const levels[] = {"c",   "avx2", "avxvnni", "avx512",
                                         "amx", "neon", "dotprod", "i8mm"};
    enum { LEVELS = sizeof levels / sizeof *levels };
    const uint32_t seed = g->seed;
    size_t size;
    uint8_t *bytes = builder_finish(g->b, &size), *in = malloc((size_t)(16 * g->h * g->w));
    mona_model model = open_as(bytes, size, true);
    for (int i = 0; i < 16 * g->h * g->w; i++)
        in[i] = (uint8_t)test_random(&g->seed);
    results want;
    const mona_config whole = {
        .cpu = "c", .threads = 1, .strip_rows = MONA_MAX_SIDE, .cache_bytes = (size_t)1 << 40};
    assert_int_equal(run(g, &model, whole, in, &want), MONA_OK);
    for (int k = 0; k < 3 * LEVELS; k++) {
        const mona_config config = {.cpu = levels[k % LEVELS],
                                    .threads = 1 + below(g, 4),
                                    .strip_rows = below(g, 3) * 2,
                                    .tile_columns = below(g, 2) * (1 + below(g, 20)),
                                    .cache_bytes = below(g, 2)}; /* one byte: several groups */
        results found;
        model = open_as(bytes, size, below(g, 4) == 0);
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
    for (int copy = 0; copy < 2; copy++) {
        model = open_as(bytes, size, copy);
        check_modelled(g, &model, in, &want, seed);
    }
    release(&want);
    free(in), free(bytes);
}

/* The graph has an AI Core program, all of it. */
static inline void check_program(const graph *g)
{
    size_t size, count;
    model_builder *b = memcpy(malloc(sizeof *b), g->b, sizeof *b); /* builder_finish() frees it */
    uint8_t *file = builder_finish(b, &size), *program;
    mona_model model;
    format_error error = {0};
    assert_int_equal(mona_model_open(&model, file, size), MONA_OK);
    if (!program_record(&model, (mona_size){(uint32_t)g->w, (uint32_t)g->h}, &program, &count,
                        &error))
        fail_msg("seed %08x: %s", g->seed, error.text);
    free(program), free(file);
}

#endif
