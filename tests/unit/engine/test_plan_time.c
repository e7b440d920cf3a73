// SPDX-License-Identifier: Apache-2.0
/* Models of as many operators as a file may have are opened, planned and told about in a time that
 * grows with their number: with its square, each of these would take minutes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#include <cmocka.h>

#include "tests/unit/fixture.h"

enum { MOST_SECONDS = 90 }; /* 2 on a free machine, 35 on a crowded one */

/* A model while it grows. model_builder has no room for this many operators. */
typedef struct large {
    mona_file_tensor *tensors;
    mona_file_op *ops;
    uint32_t tensor_count, op_count;
} large;

static uint32_t add_tensor(large *l, uint32_t channels)
{
    assert_true(l->tensor_count < MONA_MAX_TENSORS);
    l->tensors[l->tensor_count] = (mona_file_tensor){.channels = channels, .scale = 1};
    return l->tensor_count++;
}

static mona_file_op *add_op(large *l, mona_op_kind kind, uint32_t output, uint32_t count,
                            uint32_t a, uint32_t b)
{
    assert_true(l->op_count < MONA_MAX_OPS);
    mona_file_op *op = &l->ops[l->op_count++];
    *op = (mona_file_op){.kind = kind, .input_count = count, .inputs = {a, b}, .output = output};
    op->epilogue =
        (mona_file_epilogue){.residual_scale = 0x3c00, .output_scale = 0x3c00, .slopes = MONA_NONE};
    for (uint32_t i = count; i < MONA_OP_MAX_INPUTS; i++)
        op->inputs[i] = MONA_NONE;
    return op;
}

static uint32_t add_sum(large *l, uint32_t a, uint32_t b)
{
    mona_file_op *op = add_op(l, MONA_OP_ADD, add_tensor(l, l->tensors[a].channels), 2, a, b);
    op->elementwise.scale[0] = op->elementwise.scale[1] = 0x3c00;
    return op->output;
}

/* A pool over the whole map, whose result is added to it: nothing before it can run with what comes
 * after it. */
static uint32_t add_barrier(large *l, uint32_t a)
{
    mona_file_op *op =
        add_op(l, MONA_OP_AVERAGE_POOL, add_tensor(l, l->tensors[a].channels), 1, a, 0);
    op->pool = (mona_file_pool){
        .stride_h = 1, .stride_w = 1, .dilation_h = 1, .dilation_w = 1, .scale = 1};
    return add_sum(l, a, op->output);
}

/* Tensors that the parts of a network make, from the first LOAD's on. They leave no more than
 * `left` operators. */
typedef void (*network)(large *l, uint32_t loaded, uint32_t left);

static void chain(large *l, uint32_t t, uint32_t left)
{
    for (; left; left--)
        t = add_sum(l, t, t);
}

/* The second half reads all of the first again, the latest first. */
static void read_late(large *l, uint32_t t, uint32_t left)
{
    const uint32_t half = (left - 2) / 2, first = t;
    for (uint32_t i = 0; i < half; i++)
        t = add_sum(l, t, t);
    const uint32_t last = t;
    t = add_barrier(l, t);
    for (uint32_t i = 0; i < half; i++)
        t = add_sum(l, t, i < half ? last - i : first);
}

/* Every operator is read by the next two. */
static void read_twice(large *l, uint32_t t, uint32_t left)
{
    uint32_t before = t;
    for (uint32_t i = 0; i < left - 2; i++) {
        const uint32_t made = add_sum(l, t, before);
        before = t;
        t = made;
    }
    add_barrier(l, t);
}

/* Many barriers, over each of which a tensor is read. */
static void barriers(large *l, uint32_t t, uint32_t left)
{
    for (uint32_t i = 0; i < left / 4; i++) {
        const uint32_t kept = t;
        t = add_barrier(l, add_sum(l, t, t));
        t = add_sum(l, t, kept);
    }
}

/* Tensors that grow channel block by channel block, 60 blocks each, and are then read as a
 * whole. */
static void concats(large *l, uint32_t t, uint32_t left)
{
    const uint32_t loaded = t;
    for (uint32_t i = 0; i < left / 123; i++) {
        uint32_t grown = add_sum(l, loaded, loaded);
        for (uint32_t k = 0; k < 60; k++) {
            const uint32_t part = add_sum(l, loaded, loaded);
            const uint32_t channels = l->tensors[grown].channels + 16;
            grown = add_op(l, MONA_OP_CONCAT, add_tensor(l, channels), 2, grown, part)->output;
        }
        add_barrier(l, grown);
    }
}

/* The same, until they have as many channels as there may be. */
static void wide_concats(large *l, uint32_t t, uint32_t left)
{
    const uint32_t loaded = t, blocks = MONA_MAX_CHANNELS / 16 - 1;
    for (uint32_t i = 0; i < left / (2 * blocks + 3); i++) {
        uint32_t grown = loaded;
        for (uint32_t k = 0; k < blocks; k++) {
            const uint32_t part = add_sum(l, loaded, loaded);
            const uint32_t channels = l->tensors[grown].channels + 16;
            grown = add_op(l, MONA_OP_CONCAT, add_tensor(l, channels), 2, grown, part)->output;
        }
        add_barrier(l, grown);
    }
}

/* As in a dense block: each part is made of all before it. */
static void dense_concats(large *l, uint32_t t, uint32_t left)
{
    const uint32_t loaded = t, blocks = 60;
    for (uint32_t i = 0; i < left / (3 * blocks + 3); i++) {
        uint32_t grown = loaded;
        for (uint32_t k = 0; k < blocks; k++) {
            const uint32_t all = add_sum(l, grown, grown), part = add_sum(l, loaded, loaded);
            const uint32_t channels = l->tensors[grown].channels + 16;
            grown = add_op(l, MONA_OP_CONCAT, add_tensor(l, channels), 2, all, part)->output;
        }
        add_barrier(l, grown);
    }
}

/* Half of the operators read what was loaded. */
static void star(large *l, uint32_t t, uint32_t left)
{
    const uint32_t loaded = t;
    for (uint32_t i = 0; i < left / 2; i++)
        t = add_sum(l, t, add_sum(l, loaded, loaded));
}

/* The same, where nothing can run together. */
static void star_of_barriers(large *l, uint32_t t, uint32_t left)
{
    const uint32_t loaded = t;
    for (uint32_t i = 0; i < left / 3; i++)
        t = add_sum(l, add_barrier(l, t), loaded);
}

/* A chain, each link of which has a tooth that nothing reads. */
static void comb(large *l, uint32_t t, uint32_t left)
{
    for (uint32_t i = 0; i < left / 2; i++) {
        const uint32_t link = add_sum(l, t, t);
        add_sum(l, t, link);
        t = link;
    }
    add_sum(l, t, t);
}

/* Sums of pairs, then of pairs of those, and so on. */
static void tree(large *l, uint32_t t, uint32_t left)
{
    const uint32_t leaves = left / 2;
    uint32_t first = t + 1;
    for (uint32_t i = 0; i < leaves; i++)
        add_sum(l, t, t);
    for (uint32_t made = leaves; made + 1 < 2 * leaves; made++, first += 2)
        add_sum(l, first, first + 1);
}

/* Maps of many sizes, each of which is read again much later. */
static void sizes_read_late(large *l, uint32_t t, uint32_t left)
{
    enum { KEPT = 64 };
    uint32_t kept[KEPT];
    const uint32_t loaded = t;
    for (uint32_t i = 0; i < KEPT; i++)
        kept[i] = loaded;
    for (uint32_t i = 0; i < left / 5; i++) {
        uint32_t grown = loaded;
        for (uint32_t k = 0; k < i % 3; k++) {
            const uint32_t channels = l->tensors[grown].channels + 16;
            grown = add_op(l, MONA_OP_CONCAT, add_tensor(l, channels), 2, grown, loaded)->output;
        }
        grown = add_barrier(l, grown);
        const uint32_t late = kept[i % KEPT];
        if (l->tensors[late].channels == l->tensors[grown].channels)
            grown = add_sum(l, grown, late);
        kept[i % KEPT] = grown;
    }
}

static const struct {
    const char *name;
    network make;
    uint32_t channels;
} networks[] = {
    {"a chain", chain, 1},
    {"read late", read_late, 1},
    {"read twice", read_twice, 1},
    {"barriers", barriers, 1},
    {"concats", concats, 16},
    {"star", star, 1},
    {"star of barriers", star_of_barriers, 1},
    {"comb", comb, 1},
    {"tree", tree, 1},
    {"wide concats", wide_concats, 16},
    {"dense concats", dense_concats, 16},
    {"sizes read late", sizes_read_late, 16},
};

/* The last tensor is stored as it is. */
static void *finish(large *l, size_t *size)
{
    static const char strings[64] = "\0n";
    const size_t tensors = sizeof(mona_file_header);
    const size_t ops = tensors + (l->tensor_count * sizeof *l->tensors + 63) / 64 * 64;
    const size_t text = ops + l->op_count * sizeof *l->ops, data = text + sizeof strings;
    *size = data + 64;
    uint8_t *bytes = aligned(*size);
    memset(bytes, 0, *size);
    mona_file_header *h = (mona_file_header *)(void *)bytes;
    *h = (mona_file_header){.version = MONA_FILE_VERSION,
                            .file_bytes = *size,
                            .input_count = 1,
                            .output_count = 1,
                            .tensor_count = l->tensor_count,
                            .op_count = l->op_count,
                            .tensors_offset = tensors,
                            .ops_offset = ops,
                            .strings_offset = text,
                            .strings_bytes = sizeof strings,
                            .data_offset = data,
                            .data_bytes = 64,
                            .name = 1};
    memcpy(h->magic, MONA_FILE_MAGIC, sizeof h->magic);
    memcpy(bytes + tensors, l->tensors, l->tensor_count * sizeof *l->tensors);
    memcpy(bytes + ops, l->ops, l->op_count * sizeof *l->ops);
    memcpy(bytes + text, strings, sizeof strings);
    builder_seal(bytes);
    free(l->tensors), free(l->ops);
    return bytes;
}

static void *build(size_t which, size_t *size)
{
    large l = {calloc(MONA_MAX_TENSORS, sizeof(mona_file_tensor)),
               calloc(MONA_MAX_OPS, sizeof(mona_file_op)), 0, 0};
    const uint32_t in = add_tensor(&l, networks[which].channels), out = add_tensor(&l, 1);
    mona_file_op *load =
        add_op(&l, MONA_OP_LOAD, add_tensor(&l, networks[which].channels), 1, in, 0);
    load->load.block[0] = 1;
    load->load.scale[0] = 0x3c00;
    networks[which].make(&l, load->output, MONA_MAX_OPS - 4);
    l.tensors[out].channels = l.tensors[l.tensor_count - 1].channels;
    add_op(&l, MONA_OP_STORE, out, 1, l.tensor_count - 1, 0)->store =
        (mona_file_store){.block = 1, .scale = 0x3c00, .maximum = 255};
    return finish(&l, size);
}

static double seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

/* Regions cover the arena in order. */
static void check_buffers(const mona_plan *plan)
{
    mona_plan_buffer b;
    size_t end = 0;
    for (uint64_t at = 0; mona_plan_next_buffer(plan, &at, &b); end += b.bytes)
        assert_int_equal(b.offset, end);
    assert_int_equal(end, mona_plan_arena_bytes(plan));
}

static void time_grows_with_the_number_of_operators(void **state)
{
    (void)state;
    for (size_t n = 0; n < sizeof networks / sizeof *networks; n++) {
        size_t size;
        void *bytes = build(n, &size);
        const double begin = seconds();
        mona_model model;
        assert_int_equal(mona_model_open(&model, bytes, size), MONA_OK);
        assert_true(model.header->op_count > MONA_MAX_OPS / 2);
        void *memory = aligned(mona_plan_bytes(&model));
        mona_plan *plan;
        const mona_config config = {.threads = 2, .sizes = {{64, 64}}};
        assert_int_equal(mona_plan_make(&plan, memory, &model, &config), MONA_OK);
        const double planned = seconds();
        check_buffers(plan);
        mona_plan_tensors between;
        mona_plan_tensors_of(plan, &between);
        mona_op_info info;
        for (unsigned o = 0; mona_plan_op_at(plan, o, &info); o++)
            assert_true(info.rows > 0);
        print_message("# %s: planned in %.2f s, told in %.2f s, arena %zu\n", networks[n].name,
                      planned - begin, seconds() - planned, mona_plan_arena_bytes(plan));
        assert_true(seconds() - begin < MOST_SECONDS);
        free(memory), free(bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(time_grows_with_the_number_of_operators)};
    return cmocka_run_group_tests_name("plan_time", tests, NULL, NULL);
}
