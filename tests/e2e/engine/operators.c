// SPDX-License-Identifier: Apache-2.0
/* Writes a small model for each operator, as every row kernel has it, and prints their names and
 * sizes:
 *
 *   operators FOLDER
 *
 * An operator without a case here is an error. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "engine/op/op.h"
#include "tests/unit/array_fixture.h"

enum { CHANNELS = 16, SIDE = 12 };

static const char *folder;

static void write_model(const char *name, unsigned variant, const char *type, uint8_t *bytes,
                        size_t size)
{
    char path[4096];
    mona_model model;
    if (mona_model_open(&model, bytes, size)) {
        fprintf(stderr, "operators: the model of %s %u in %s is refused\n", name, variant, type);
        exit(1);
    }
    snprintf(path, sizeof path, "%s/%s_%u_%s.mona", folder, name, variant, type);
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(bytes, 1, size, f) != size || fclose(f)) {
        perror(path);
        exit(1);
    }
    const mona_file_tensor *in = model.tensors;
    printf("%s_%u_%s %ux%u\n", name, variant, type, in->array ? in->width : SIDE,
           in->array ? in->height : SIDE);
    free(bytes);
}

/* ---- operators on maps: planes -> LOAD -> the operator -> STORE -> planes -------------------- */

typedef struct net {
    model_builder *b;
    mona_type type;
    uint32_t loaded;
    uint8_t after; /* the operator's activation_after_add */
} net;

static uint32_t tensor(net *n, uint32_t channels)
{
    return builder_tensor(n->b, "map", n->type, channels, n->type == MONA_F16 ? 1 : 1 / 255.f);
}

static mona_file_op *add(net *n, mona_op_kind kind, uint32_t made, uint32_t a, uint32_t b,
                         uint32_t inputs)
{
    const uint32_t read[] = {a, b, a};
    return builder_op(n->b, kind, made, inputs, read);
}

static uint32_t halves(net *n, uint32_t count, uint16_t value)
{
    uint16_t values[CHANNELS * 9 * CHANNELS];
    for (uint32_t i = 0; i < count; i++)
        values[i] = (uint16_t)(value + (i * 37) % 64);
    return builder_data(n->b, values, count * 2);
}

static mona_file_conv window(net *n, uint32_t groups)
{
    mona_file_conv c = builder_conv_3x3();
    int8_t bytes[CHANNELS * 9 * CHANNELS];
    const uint32_t count = CHANNELS * 9 * CHANNELS / groups;
    for (uint32_t i = 0; i < count; i++)
        bytes[i] = (int8_t)(i * 53 % 251 - 125);
    c.groups = groups;
    c.weights = n->type == MONA_F16 ? halves(n, count, 0x2400) : builder_data(n->b, bytes, count);
    c.scales = n->type == MONA_F16 ? MONA_NONE : halves(n, CHANNELS, 0x1400);
    c.bias = MONA_NONE;
    return c;
}

/* What convolutions differ in for the row kernels that they need. Tables make 8 bits, other
 * functions halves. */
static const struct {
    uint32_t groups;
    uint8_t activation, after;
    bool residual;
} convs[] = {
    {1, MONA_ACT_RELU, 0, false},    {CHANNELS, MONA_ACT_CLIP, 0, false},
    {4, MONA_ACT_NONE, 0, false},    {1, MONA_ACT_PRELU, 0, true},
    {1, 0, MONA_ACT_TABLE, false},   {CHANNELS, 0, MONA_ACT_TABLE, false},
    {1, 0, MONA_ACT_SIGMOID, false}, {CHANNELS, 0, MONA_ACT_SILU, false},
    {1, 0, MONA_ACT_GELU, true},
};

static bool conv(net *n, uint32_t made, unsigned variant)
{
    if (variant == sizeof convs / sizeof *convs)
        return false;
    mona_file_op *op =
        add(n, MONA_OP_CONV, made, n->loaded, n->loaded, 1 + convs[variant].residual);
    op->conv = window(n, convs[variant].groups);
    op->epilogue.activation = convs[variant].activation;
    op->epilogue.activation_after_add = n->after = convs[variant].after;
    op->epilogue.clip_max = 0x5400;
    static const uint8_t table[256] = {1, 2, 3};
    if (convs[variant].activation == MONA_ACT_PRELU)
        op->epilogue.slopes = halves(n, CHANNELS, 0x3000);
    if (convs[variant].after == MONA_ACT_TABLE)
        op->epilogue.slopes = builder_data(n->b, table, sizeof table);
    return true;
}

static bool elementwise(net *n, uint32_t made, mona_op_kind kind, unsigned variant)
{
    static const uint8_t after[] = {MONA_ACT_NONE, MONA_ACT_TANH};
    if (variant == sizeof after)
        return false;
    mona_file_op *op = add(n, kind, made, n->loaded, n->loaded, 2);
    op->elementwise.scale[0] = op->elementwise.scale[1] = 0x3800;
    op->epilogue.activation_after_add = n->after = after[variant];
    return true;
}

static bool sum(net *n, uint32_t made, unsigned variant)
{
    return elementwise(n, made, MONA_OP_ADD, variant);
}

static bool product(net *n, uint32_t made, unsigned variant)
{
    return elementwise(n, made, MONA_OP_MUL, variant);
}

static bool resize(net *n, uint32_t made, unsigned variant)
{
    if (variant > MONA_RESIZE_CUBIC)
        return false;
    add(n, MONA_OP_RESIZE, made, n->loaded, 0, 1)->resize = (mona_file_resize){
        .mode = (uint8_t)variant, .scale_h = {3, 2}, .scale_w = {2, 1}, .cubic_a = -0.75f};
    return true;
}

static bool depth_to_space(net *n, uint32_t made, unsigned variant)
{
    if (variant)
        return false;
    n->b->tensors[made].channels = CHANNELS / 4;
    add(n, MONA_OP_DEPTH_TO_SPACE, made, n->loaded, 0, 1)->block = 2;
    return true;
}

static bool pool(net *n, uint32_t made, mona_op_kind kind, unsigned variant)
{
    if (variant == 2)
        return false;
    mona_file_pool whole = {
        .stride_h = 1, .stride_w = 1, .dilation_h = 1, .dilation_w = 1, .scale = 1};
    add(n, kind, made, n->loaded, 0, 1)->pool = variant ? whole : builder_pool_3x3();
    return true;
}

static bool max_pool(net *n, uint32_t made, unsigned variant)
{
    return pool(n, made, MONA_OP_MAX_POOL, variant);
}

static bool average_pool(net *n, uint32_t made, unsigned variant)
{
    return pool(n, made, MONA_OP_AVERAGE_POOL, variant);
}

static bool concat(net *n, uint32_t made, unsigned copy)
{
    if (copy == 2)
        return false;
    n->b->tensors[made].channels = 2 * CHANNELS;
    add(n, MONA_OP_CONCAT, made, n->loaded, n->loaded, 2)->channels.copy = copy;
    return true;
}

static bool slice(net *n, uint32_t made, unsigned copy)
{
    if (copy == 2)
        return false;
    n->b->tensors[made].channels = 5;
    add(n, MONA_OP_SLICE, made, n->loaded, 0, 1)->channels =
        (mona_file_channels){.first = 3, .copy = copy};
    return true;
}

static bool normalise(net *n, uint32_t made, unsigned variant)
{
    const float gain[CHANNELS] = {1, 2, 0.5f, 1}, shift[CHANNELS] = {0.25f};
    if (variant)
        return false;
    mona_file_op *op = add(n, MONA_OP_NORMALISE, made, n->loaded, 0, 1);
    op->normalise.epsilon = 1e-5f;
    op->normalise.gain = builder_data(n->b, gain, sizeof gain);
    op->normalise.shift = builder_data(n->b, shift, sizeof shift);
    return true;
}

static bool attention(net *n, uint32_t made, unsigned variant)
{
    if (variant)
        return false;
    add(n, MONA_OP_ATTENTION, made, n->loaded, n->loaded, 3)->attention =
        (mona_file_attention){.heads = 2, .scale = 0.01f, .value_scale = 1};
    return true;
}

static bool pad(net *n, uint32_t made, unsigned mode)
{
    if (mode > MONA_PAD_EDGE)
        return false;
    add(n, MONA_OP_PAD, made, n->loaded, 0, 1)->pad =
        (mona_file_pad){.mode = (uint8_t)mode, .top = 2, .left = 1, .bottom = 1, .right = 3};
    return true;
}

/* Tables make 8 bits, and all other functions fp16. */
static bool exists(mona_type type, uint8_t function)
{
    return !mona_is_function(function) || (function == MONA_ACT_TABLE) == (type == MONA_U8);
}

/* LOAD and STORE alone. */
static bool planes(net *n, uint32_t made, unsigned variant)
{
    (void)n, (void)made;
    return !variant;
}

/* ---- operators on arrays --------------------------------------------------------------------- */

static const float values[64] = {1, -2, 3, 0.5f, -0.25f, 7, 5, 2};

/* One that reads `elements` floats, and, unless `constants` is 0, as many constant ones. */
static void write_array(mona_op_kind kind, const void *record, size_t record_bytes,
                        uint32_t elements, uint32_t constants, uint32_t made)
{
    static uint32_t tables[3][16] = {{0, 1, 1, 3}, {4, 0, 2}, {0x3f800000, 0x3f000000, 0x40000000}};
    mona_array_resample *r = (void *)(uintptr_t)record;
    array_case c = {
        .kind = kind,
        .record = record,
        .record_bytes = record_bytes,
        .operand_count = constants ? 2 : 1,
        .operands = {{MONA_F32, values, elements, false}, {MONA_F32, values, constants, true}},
        .type = MONA_F32,
        .elements = made};
    if (kind == MONA_OP_ARRAY_GATHER)
        c.operands[1].type = MONA_S8;
    if (kind == MONA_OP_ARRAY_RESAMPLE) {
        c.tables = tables, c.table_bytes = sizeof tables;
        c.offsets[0] = &r->first, c.offsets[1] = &r->index, c.offsets[2] = &r->weight;
    }
    size_t size;
    uint8_t *bytes = array_model(&c, &size);
    write_model(mona_ops[kind]->name, 0, "f32", bytes, size);
}

static void array_map(void)
{
    const mona_array_map m = {
        .function = MONA_FN_ADD, .dims = 1, .extent = {24}, .stride = {{1}, {1}}};
    write_array(MONA_OP_ARRAY_MAP, &m, sizeof m, 24, 24, 24);
}

static void array_pick(void)
{
    mona_array_pick p = {.dims = 1,
                         .source_axis = MONA_NONE,
                         .source_table = MONA_NONE,
                         .extent = {24},
                         .base = {23},
                         .stride = {{-1}}};
    for (uint32_t d = 0; d < MONA_ARRAY_DIMS; d++)
        p.table[d] = MONA_NONE;
    write_array(MONA_OP_ARRAY_PICK, &p, sizeof p, 24, 0, 24);
}

static void array_reduce(void)
{
    const mona_array_reduce r = {.function = MONA_REDUCE_LOG_SUM_EXP,
                                 .kept = 1,
                                 .reduced = 1,
                                 .extent = {4, 6},
                                 .stride = {6, 1}};
    write_array(MONA_OP_ARRAY_REDUCE, &r, sizeof r, 24, 0, 4);
}

static void array_matmul(void)
{
    const mona_array_matmul m = {.m = 4, .n = 5, .k = 6, .a_m = 6, .a_k = 1, .b_k = 5, .b_n = 1};
    write_array(MONA_OP_ARRAY_MATMUL, &m, sizeof m, 24, 30, 20);
}

static void array_window(void)
{
    const mona_array_axis axis = {.in = 6, .out = 5, .kernel = 2, .stride = 1, .dilation = 1};
    const mona_array_window w = {
        .axes = 1, .batch = 1, .channels = 4, .outputs = 2, .groups = 1, .axis = {axis}};
    write_array(MONA_OP_ARRAY_WINDOW, &w, sizeof w, 24, 16, 10);
}

static void array_resample(void)
{
    mona_array_resample r = {
        .outer = 2, .in = 5, .out = 3, .inner = 4, .first = 0, .index = 64, .weight = 128};
    write_array(MONA_OP_ARRAY_RESAMPLE, &r, sizeof r, 40, 0, 24);
}

static void array_gather(void)
{
    const mona_array_gather g = {.outer = 2, .extent = 5, .inner = 4, .count = 3};
    write_array(MONA_OP_ARRAY_GATHER, &g, sizeof g, 40, 3, 24);
}

static void array_sort(void)
{
    const mona_array_sort s = {.outer = 2, .extent = 6, .inner = 2, .count = 3, .values = 1};
    write_array(MONA_OP_ARRAY_SORT, &s, sizeof s, 24, 0, 12);
}

static void array_normalise(void)
{
    const mona_array_normalise n = {
        .function = MONA_NORMALISE_SOFTMAX, .extent = 6, .inner = 2, .run = 1};
    write_array(MONA_OP_ARRAY_NORMALISE, &n, sizeof n, 24, 0, 24);
}

/* Kernels are an application's, which the command has none of: user_kernels.sh. */
static void own_kernel(void) {}

/* ---- all ------------------------------------------------------------------------------------- */

/* Adds a variant of an operator; false: there is none of this number. */
static const struct {
    bool (*map)(net *n, uint32_t made, unsigned variant);
    void (*array)(void);
} cases[MONA_OP_COUNT] = {
    [MONA_OP_LOAD] = {planes, NULL},
    [MONA_OP_STORE] = {planes, NULL},
    [MONA_OP_CONV] = {conv, NULL},
    [MONA_OP_ADD] = {sum, NULL},
    [MONA_OP_MUL] = {product, NULL},
    [MONA_OP_RESIZE] = {resize, NULL},
    [MONA_OP_DEPTH_TO_SPACE] = {depth_to_space, NULL},
    [MONA_OP_MAX_POOL] = {max_pool, NULL},
    [MONA_OP_AVERAGE_POOL] = {average_pool, NULL},
    [MONA_OP_ARRAY_MAP] = {NULL, array_map},
    [MONA_OP_ARRAY_PICK] = {NULL, array_pick},
    [MONA_OP_ARRAY_REDUCE] = {NULL, array_reduce},
    [MONA_OP_ARRAY_MATMUL] = {NULL, array_matmul},
    [MONA_OP_ARRAY_WINDOW] = {NULL, array_window},
    [MONA_OP_ARRAY_RESAMPLE] = {NULL, array_resample},
    [MONA_OP_ARRAY_GATHER] = {NULL, array_gather},
    [MONA_OP_CONCAT] = {concat, NULL},
    [MONA_OP_SLICE] = {slice, NULL},
    [MONA_OP_NORMALISE] = {normalise, NULL},
    [MONA_OP_ATTENTION] = {attention, NULL},
    [MONA_OP_ARRAY_SORT] = {NULL, array_sort},
    [MONA_OP_ARRAY_NORMALISE] = {NULL, array_normalise},
    [MONA_OP_PAD] = {pad, NULL},
    [MONA_OP_ARRAY_KERNEL] = {NULL, own_kernel},
    [MONA_OP_KERNEL] = {NULL, own_kernel},
};

/* Returns false when there is no such variant. */
static bool write_map(mona_op_kind kind, mona_type type, unsigned variant)
{
    const bool half = type == MONA_F16;
    const float step = half ? 1 : 1 / 255.f;
    net n = {.b = builder_new(), .type = type};
    const uint32_t in = builder_input(n.b, "in", MONA_U8, CHANNELS, 1 / 255.f);
    const uint32_t out = builder_output(n.b, "out", type, CHANNELS, step);
    n.loaded = tensor(&n, CHANNELS);
    mona_file_op *load = builder_op(n.b, MONA_OP_LOAD, n.loaded, 1, &in);
    load->load.block[0] = 1;
    load->load.scale[0] = half ? 0x1c04 : 0x3c00;
    const uint32_t made = cases[kind].map == planes ? n.loaded : tensor(&n, CHANNELS);
    const bool any = cases[kind].map(&n, made, variant);
    n.b->tensors[out].channels = n.b->tensors[made].channels;
    builder_op(n.b, MONA_OP_STORE, out, 1, &made)->store =
        (mona_file_store){.block = 1, .scale = 0x3c00, .maximum = half ? 0 : 255};
    size_t size;
    uint8_t *bytes = builder_finish(n.b, &size);
    if (any && exists(type, n.after))
        write_model(mona_ops[kind]->name, variant, half ? "f16" : "u8", bytes, size);
    else
        free(bytes);
    return any;
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    folder = argv[1];
    for (mona_op_kind kind = 0; kind < MONA_OP_COUNT; kind++) {
        if (!cases[kind].map && !cases[kind].array) {
            fprintf(stderr, "operators: %s has no case here\n", mona_ops[kind]->name);
            return 1;
        }
        if (cases[kind].array)
            cases[kind].array();
        bool more = cases[kind].map;
        for (unsigned variant = 0; more; variant++) {
            const bool bytes = write_map(kind, MONA_U8, variant);
            more = write_map(kind, MONA_F16, variant) && bytes;
        }
    }
    return 0;
}
