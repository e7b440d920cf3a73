// SPDX-License-Identifier: Apache-2.0
/* LOAD, STORE, RESIZE, ADD, MUL and DEPTH_TO_SPACE on model310 give the host's bytes and nothing
 * for the checks to find, for any mix of planes, blocks and types, odd sizes, unaligned planes and
 * strides; and so do their programs, once recorded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/unit/modelled_check.h"
#include "tests/unit/recorded.h"
#include "tests/unit/sr_net.h"
#include "tests/cases.h"

enum { MAX_PLANES = 4, MAX_CHANNELS = 70, MAX_LOADED = 256, GUARD = 64, F16_ONE = 0x3c00 };

static uint32_t below(uint32_t *seed, uint32_t n)
{
    return test_random(seed) % n;
}

/* ---- models --------------------------------------------------------------------------------- */

typedef struct net {
    uint32_t seed;
    bool recorded;   /* every operator has a program */
    uint32_t planes; /* of an input, at most */
    mona_model model;
    uint8_t *bytes;
    mona_size sizes[MAX_PLANES]; /* of the inputs */
} net;

static uint16_t random_scale(uint32_t *seed)
{
    return (uint16_t)(0x3000 + below(seed, 0x1000)); /* 0.125 to 2 */
}

/* Inputs and the LOAD of them; channels in all. */
static uint32_t add_load(net *n, model_builder *b, mona_type from, mona_type to, uint32_t *tensor,
                         uint32_t outputs, const mona_type *output_types)
{
    const uint32_t count = 1 + below(&n->seed, 3), h = 1 + below(&n->seed, 12);
    const uint32_t w = below(&n->seed, 3)   ? 1 + below(&n->seed, 90)
                       : below(&n->seed, 2) ? 32 * (1 + below(&n->seed, 12))
                                            : 1 + below(&n->seed, 700);
    uint32_t inputs[MAX_PLANES], block[MAX_PLANES], channels = 0;
    for (uint32_t i = 0; i < count; i++) {
        static const uint32_t blocks[] = {1, 1, 1, 2, 2, 4, 3};
        const uint32_t planes = below(&n->seed, 4) ? 1 : 1 + below(&n->seed, n->planes);
        block[i] = blocks[below(&n->seed, 7)];
        inputs[i] = builder_input(b, "in", from, planes, 1);
        channels += planes * block[i] * block[i];
        n->sizes[i] = (mona_size){w * block[i], h * block[i]};
    }
    for (uint32_t i = 0; i < outputs; i++)
        builder_output(b, "out", output_types[i], 1, 1);
    *tensor = builder_tensor(b, "map", to, channels, 1);
    mona_file_op *op = builder_op(b, MONA_OP_LOAD, *tensor, count, inputs);
    for (uint32_t i = 0; i < count; i++) {
        op->load.block[i] = (uint8_t)block[i];
        op->load.scale[i] = to == MONA_F16 && below(&n->seed, 3) ? random_scale(&n->seed)
                            : to != from && to == MONA_U8
                                ? (uint16_t)(0x1c00 + below(&n->seed, 0x2001))
                                : F16_ONE;
    }
    return channels;
}

/* STORE of channels that are there to output tensor `output`. */
static void add_store(net *n, model_builder *b, uint32_t tensor, mona_type from, uint32_t channels,
                      uint32_t output)
{
    static const uint32_t of_16_bits[] = {1023, 4095, 65535};
    const mona_type to = (mona_type)b->tensors[output].type;
    uint32_t block = 1 + below(&n->seed, 4);
    while (block * block > channels)
        block--;
    const uint32_t planes = 1 + below(&n->seed, channels / (block * block));
    const uint32_t room = channels - planes * block * block;
    b->tensors[output].channels = planes;
    mona_file_op *op = builder_op(b, MONA_OP_STORE, output, 1, &tensor);
    op->store = (mona_file_store){
        .first_channel = below(&n->seed, room + 1),
        .block = block,
        .scale = from == MONA_F16 && below(&n->seed, 3) ? random_scale(&n->seed) : F16_ONE,
        .maximum = to == MONA_U16       ? of_16_bits[below(&n->seed, 3)]
                   : below(&n->seed, 3) ? 255
                                        : 200,
    };
}

static uint32_t add_resize(net *n, model_builder *b, uint32_t tensor, mona_type type,
                           uint32_t channels)
{
    static const uint32_t scales[][2] = {{2, 1}, {2, 1}, {1, 1}, {3, 2}, {1, 2}, {4, 1}, {5, 3}};
    const uint32_t made = builder_tensor(b, "resized", type, channels, 1);
    mona_file_op *op = builder_op(b, MONA_OP_RESIZE, made, 1, &tensor);
    const uint32_t *h = scales[below(&n->seed, 7)], *w = scales[below(&n->seed, 7)];
    op->resize = (mona_file_resize){
        .mode = (uint8_t)(below(&n->seed, 2) ? 2 : below(&n->seed, 3)),
        .coordinates = (uint8_t)below(&n->seed, 3),
        .scale_h = {h[0], h[1]},
        .scale_w = {w[0], w[1]},
        .cubic_a = below(&n->seed, 2) ? -0.5f : -0.75f,
        .offset_h = below(&n->seed, 2) ? 0 : 0.125f,
        .offset_w = below(&n->seed, 2) ? 0 : -0.25f,
    };
    return made;
}

/* Of two tensors, with any epilogue, of type `type`. */
static uint32_t add_combination(net *n, model_builder *b, const uint32_t both[2], mona_type type,
                                uint32_t channels)
{
    static const uint8_t activations[] = {MONA_ACT_NONE, MONA_ACT_RELU, MONA_ACT_CLIP,
                                          MONA_ACT_PRELU};
    const uint32_t made = builder_tensor(b, "combined", type, channels, 1);
    mona_file_op *op = builder_op(b, below(&n->seed, 2) ? MONA_OP_ADD : MONA_OP_MUL, made, 2, both);
    for (int i = 0; i < 2; i++)
        op->elementwise.scale[i] =
            below(&n->seed, 2)
                ? F16_ONE
                : (uint16_t)(random_scale(&n->seed) | (below(&n->seed, 2) ? 0x8000 : 0));
    op->epilogue = (mona_file_epilogue){
        .activation = activations[below(&n->seed, 4)],
        .activation_after_add = activations[below(&n->seed, 3)],
        .clip_min = below(&n->seed, 2) ? 0xc000 : 0x3c00, /* -2, 1 */
        .clip_max = below(&n->seed, 2) ? 0x5640 : 0x4200, /* 100, 3 */
        .residual_scale = F16_ONE,
        .output_scale = below(&n->seed, 2) ? F16_ONE : random_scale(&n->seed),
        .slopes = MONA_NONE,
    };
    uint16_t slopes[MAX_LOADED];
    for (uint32_t c = 0; c < channels; c++)
        slopes[c] = (uint16_t)(random_scale(&n->seed) | (below(&n->seed, 2) ? 0x8000 : 0));
    if (op->epilogue.activation == MONA_ACT_PRELU)
        op->epilogue.slopes = builder_data(b, slopes, channels * sizeof *slopes);
    return made;
}

/* Of tensors of other types, or with a single channel. */
static uint32_t add_mixture(net *n, model_builder *b, uint32_t tensor, mona_type type,
                            uint32_t channels)
{
    const uint32_t same[2] = {tensor, tensor};
    const mona_type other_type = (mona_type)below(&n->seed, 3);
    uint32_t other = add_combination(n, b, same, other_type, channels);
    if (below(&n->seed, 2)) {
        const uint32_t one = builder_tensor(b, "one", other_type, 1, 1);
        mona_file_op *op = builder_op(b, MONA_OP_SLICE, one, 1, &other);
        op->channels.first = below(&n->seed, channels);
        other = one;
    }
    return add_combination(n, b, (const uint32_t[]){tensor, other}, type, channels);
}

/* A tensor so many times that it has many channels. */
static uint32_t add_copies(model_builder *b, uint32_t tensor, mona_type type, uint32_t *channels)
{
    while (*channels < 300) {
        const uint32_t copies[] = {tensor, tensor, tensor};
        *channels *= 3;
        tensor = builder_tensor(b, "copies", type, *channels, 1);
        builder_op(b, MONA_OP_CONCAT, tensor, 3, copies);
    }
    return tensor;
}

/* Channels that no block can have are left out by a SLICE. */
static uint32_t add_shuffle(net *n, model_builder *b, uint32_t tensor, mona_type type,
                            uint32_t *channels)
{
    if (!below(&n->seed, 4))
        tensor = add_copies(b, tensor, type, channels);
    uint32_t block = 2 + below(&n->seed, 3);
    while (block * block > *channels && block > 1)
        block--;
    if (block < 2)
        return tensor;
    const uint32_t kept = *channels / (block * block) * block * block;
    const uint32_t sliced = builder_tensor(b, "sliced", type, kept, 1);
    builder_op(b, MONA_OP_SLICE, sliced, 1, &tensor);
    *channels = kept / (block * block);
    const uint32_t made = builder_tensor(b, "shuffled", type, *channels, 1);
    builder_op(b, MONA_OP_DEPTH_TO_SPACE, made, 1, &sliced)->block = block;
    return made;
}

typedef enum net_kind { PLANES, MANY, RESIZED, COMBINED, MIXED, SHUFFLED } net_kind;

static bool random_net(net *n, uint32_t seed, net_kind kind)
{
    *n = (net){.seed = seed * 2654435761u + 1,
               .recorded = kind != RESIZED,
               .planes = kind == MANY ? 90 : 5};
    model_builder *b = builder_new();
    const mona_type from = (mona_type)below(&n->seed, 4);
    const mona_type same = from == MONA_U16 ? MONA_U8 : from;
    const mona_type to = below(&n->seed, 3) ? same : MONA_F16;
    const uint32_t outputs = 1 + below(&n->seed, MAX_PLANES);
    mona_type types[MAX_PLANES];
    for (uint32_t i = 0; i < outputs; i++) {
        static const mona_type of_halves[] = {MONA_U8, MONA_F16, MONA_U16, MONA_U8};
        types[i] = to == MONA_F16 ? of_halves[below(&n->seed, 4)] : to;
    }
    uint32_t tensor;
    uint32_t channels = add_load(n, b, from, to, &tensor, outputs, types);
    const uint32_t first = b->inputs;
    if (kind == MANY)
        tensor = add_copies(b, tensor, to, &channels);
    if (kind == RESIZED)
        tensor = add_resize(n, b, tensor, to, channels);
    if (kind == COMBINED)
        tensor = add_combination(n, b, (const uint32_t[]){tensor, tensor}, to, channels);
    if (kind == MIXED)
        tensor = add_mixture(n, b, tensor, to, channels);
    if (kind == SHUFFLED)
        tensor = add_shuffle(n, b, tensor, to, &channels);
    for (uint32_t i = 0; i < outputs; i++)
        add_store(n, b, tensor, to, channels, first + i);
    size_t size;
    n->bytes = builder_finish(b, &size);
    return channels <= (kind == MANY ? 9 : 1) * MAX_CHANNELS &&
           mona_model_open(&n->model, n->bytes, size) == MONA_OK;
}

/* ---- planes --------------------------------------------------------------------------------- */

/* Rows at odd places of a block of memory, from the last to the first if upside_down. */
typedef struct image {
    uint8_t *memory;
    size_t bytes;
    mona_buffer buffer;
} image;

static image new_image(uint32_t *seed, const mona_tensor_info *t)
{
    const size_t element = mona_type_size(t->type), row = t->width * element;
    const size_t stride = below(seed, 2) ? (row + 31) / 32 * 32 + 32 * below(seed, 2)
                                         : row + element * below(seed, 9);
    const size_t plane = stride * t->height + element * below(seed, 3);
    const bool upside_down = !below(seed, 4);
    image i = {.bytes = 2 * GUARD + plane * t->channels};
    i.memory = malloc(i.bytes);
    memset(i.memory, 0xa5, i.bytes);
    uint8_t *first = i.memory + GUARD - element * below(seed, 5);
    i.buffer =
        (mona_buffer){first + (upside_down ? (t->height - 1) * stride : 0),
                      upside_down ? -(ptrdiff_t)stride : (ptrdiff_t)stride, (ptrdiff_t)plane};
    return i;
}

static void fill(uint32_t *seed, image *i, const mona_tensor_info *t)
{
    for (size_t k = 0; k < i->bytes; k++)
        i->memory[k] = (uint8_t)(test_random(seed) >> 5);
    if (t->type != MONA_F16)
        return;
    for (uint32_t c = 0; c < t->channels; c++)
        for (uint32_t y = 0; y < t->height; y++)
            for (uint32_t x = 0; x < t->width; x++) {
                const uint16_t any = (uint16_t)test_random(seed);
                const uint16_t value = below(seed, 50) ? any & 0xdfff : any; /* below 2^1 mostly */
                memcpy((uint8_t *)i->buffer.data + (ptrdiff_t)c * i->buffer.channel_stride +
                           (ptrdiff_t)y * i->buffer.row_stride + 2 * x,
                       &value, 2);
            }
}

/* ---- running -------------------------------------------------------------------------------- */

typedef struct frame {
    image in[MAX_PLANES], out[MAX_PLANES];
    unsigned inputs, outputs;
} frame;

/* The images depend on the seed alone. false: the plan is refused. */
static bool run(const net *n, mona_config config, frame *f)
{
    uint32_t seed = n->seed;
    void *memory = aligned_alloc(64, mona_plan_bytes(&n->model));
    mona_plan *plan;
    memcpy(config.sizes, n->sizes, sizeof n->sizes);
    *f = (frame){.inputs = mona_model_input_count(&n->model),
                 .outputs = mona_model_output_count(&n->model)};
    const mona_status status = mona_plan_make(&plan, memory, &n->model, &config);
    if (status) {
        assert_true(status == MONA_ERR_SHAPE || status == MONA_ERR_UNSUPPORTED);
        free(memory);
        return false;
    }
    mona_buffer in[MAX_PLANES], out[MAX_PLANES];
    for (unsigned i = 0; i < f->inputs; i++) {
        const mona_tensor_info t = mona_plan_input(plan, i);
        f->in[i] = new_image(&seed, &t);
        fill(&seed, &f->in[i], &t);
        in[i] = f->in[i].buffer;
    }
    for (unsigned i = 0; i < f->outputs; i++) {
        const mona_tensor_info t = mona_plan_output(plan, i);
        f->out[i] = new_image(&seed, &t);
        out[i] = f->out[i].buffer;
    }
    void *arena = NULL;
    assert_int_equal(posix_memalign(&arena, 64, mona_plan_arena_bytes(plan)), 0);
    mona_session *session;
    assert_int_equal(mona_session_open(&session, plan, arena, mona_plan_arena_bytes(plan)),
                     MONA_OK);
    assert_int_equal(mona_session_run(session, in, out), MONA_OK);
    assert_nothing_found(session);
    mona_session_close(session);
    free(arena), free(memory);
    return true;
}

static void release(frame *f)
{
    for (unsigned i = 0; i < MAX_PLANES; i++)
        free(f->in[i].memory), free(f->out[i].memory);
}

/* false: the plan is refused. */
static bool gives(const net *n, uint32_t seed, const char *what, mona_config config,
                  const frame *want)
{
    frame found;
    if (!run(n, config, &found))
        return false;
    for (unsigned i = 0; i < want->outputs; i++)
        if (memcmp(want->out[i].memory, found.out[i].memory, want->out[i].bytes))
            fail_msg("seed %u: output %u differs on %s", seed, i, what);
    release(&found);
    return true;
}

static bool recorded_gives(const net *n, uint32_t seed, const frame *want)
{
    const mona_config config = {.device = &mona_device_model310};
    net with = *n;
    size_t size;
    if (!gives(n, seed, "model310", config, want))
        return false;
    with.bytes = recorded_file(&n->model, n->sizes[0], &size);
    assert_int_equal(mona_model_open(&with.model, with.bytes, size), MONA_OK);
    assert_true(gives(&with, seed, "its program", config, want));
    free(with.bytes);
    return true;
}

static void compare(net_kind kind, uint32_t count)
{
    uint32_t compared = 0, recorded = 0;
    count = CASES(count);
    for (uint32_t seed = 1; seed <= count; seed++) {
        net n;
        frame want;
        const bool opened = random_net(&n, seed, kind);
        const mona_config host = {.device = &mona_device_host, .cpu = "c"};
        if (opened && run(&n, host, &want)) {
            uint32_t state = seed;
            const mona_config modelled = {.device = &mona_device_model310,
                                          .threads = 1 + below(&state, 2),
                                          .strip_rows = below(&state, 9),
                                          .tile_columns =
                                              below(&state, 3) ? 0 : 1 + below(&state, 200)};
            compared += gives(&n, seed, "model310", modelled, &want);
            recorded += n.recorded && recorded_gives(&n, seed, &want);
            release(&want);
        }
        free(n.bytes);
    }
    const uint32_t least = kind == MANY ? count / 3 : count / 2; /* others do not fit L1 */
    assert_true(compared > least);
    assert_true(kind == RESIZED || recorded > least);
}

static void planes_of_any_kind(void **state)
{
    (void)state;
    compare(PLANES, 600);
}

/* Those of most do not fit the unified buffer together. */
static void many_planes(void **state)
{
    (void)state;
    compare(MANY, 150);
}

static void resized_planes(void **state)
{
    (void)state;
    compare(RESIZED, 400);
}

static void combined_planes(void **state)
{
    (void)state;
    compare(COMBINED, 400);
}

static void shuffled_planes(void **state)
{
    (void)state;
    compare(SHUFFLED, 400);
}

static void mixed_planes(void **state)
{
    (void)state;
    compare(MIXED, 400);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planes_of_any_kind), cmocka_unit_test(many_planes),
        cmocka_unit_test(resized_planes),     cmocka_unit_test(combined_planes),
        cmocka_unit_test(mixed_planes),       cmocka_unit_test(shuffled_planes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
