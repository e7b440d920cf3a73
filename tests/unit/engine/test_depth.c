// SPDX-License-Identifier: Apache-2.0
/* Models for 8 bits on planes of more: the same bytes however they are computed, no sample changed
 * by a network that corrects nothing, and refusals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/unit/fixture.h"
#include "models/embedded.h"

static mona_model shipped(const char *name)
{
    const embedded_model *e = embedded_model_find(name);
    mona_model model;
    assert_non_null(e);
    assert_int_equal(mona_model_open(&model, e->begin, (size_t)(e->end - e->begin)), MONA_OK);
    return model;
}

/* ---- the same however it is computed -------------------------------------------------------- */

/* Outputs of a frame of random 10-bit samples; NULL: this CPU cannot. */
static uint16_t *run_frame(const mona_model *model, const mona_config *config, size_t *count)
{
    bound b;
    uint32_t seed = 5;
    mona_buffer in[MONA_MAX_IO], out[MONA_MAX_IO];
    uint16_t *planes[MONA_MAX_IO], *result;
    const mona_status status = bind(&b, model, config);
    if (status == MONA_ERR_DEVICE)
        return NULL;
    assert_int_equal(status, MONA_OK);
    for (unsigned i = 0; i < mona_model_input_count(model); i++) {
        const mona_tensor_info t = mona_plan_input(b.plan, i);
        assert_int_equal(t.type, MONA_U16);
        planes[i] = calloc((size_t)t.width * t.height, sizeof **planes);
        for (size_t k = 0; k < (size_t)t.width * t.height; k++)
            planes[i][k] = (uint16_t)(test_random(&seed) & 1023);
        in[i] = (mona_buffer){planes[i], (ptrdiff_t)t.width * 2, 0};
    }
    *count = 0;
    for (unsigned i = 0; i < mona_model_output_count(model); i++)
        *count += (size_t)mona_plan_output(b.plan, i).width * mona_plan_output(b.plan, i).height;
    uint16_t *to = result = calloc(*count, sizeof *result);
    for (unsigned i = 0; i < mona_model_output_count(model); i++) {
        const mona_tensor_info t = mona_plan_output(b.plan, i);
        out[i] = (mona_buffer){to, (ptrdiff_t)t.width * 2, 0};
        to += (size_t)t.width * t.height;
    }
    assert_int_equal(mona_session_run(b.session, in, out), MONA_OK);
    for (unsigned i = 0; i < mona_model_input_count(model); i++)
        free(planes[i]);
    unbind(&b);
    return result;
}

static void same_bytes_everywhere(const char *name)
{
    static const mona_config configs[] = {
        {.cpu = "avx2"},    {.cpu = "avxvnni"}, {.cpu = "avx512"},    {.cpu = "amx"},
        {.cpu = "neon"},    {.cpu = "dotprod"}, {.cpu = "i8mm"},      {.strip_rows = 1},
        {.strip_rows = 64}, {.threads = 3},     {.tile_columns = 16},
    };
    mona_model model = shipped(name);
    void *deep = deepened(&model, 10);
    mona_config config = {.cpu = "c", .threads = 1, .sizes = {{134, 46}}};
    size_t want_count, count;
    uint16_t *want = run_frame(&model, &config, &want_count);
    for (size_t i = 0; i < sizeof configs / sizeof *configs; i++) {
        config = configs[i];
        config.sizes[0] = (mona_size){134, 46};
        uint16_t *found = run_frame(&model, &config, &count);
        if (!found)
            continue;
        assert_int_equal(count, want_count);
        assert_memory_equal(found, want, count * sizeof *want);
        free(found);
    }
    free(want), free(deep);
}

static void shipped_models_give_the_same_bytes_everywhere(void **state)
{
    (void)state;
    same_bytes_everywhere("sr_x2_fast");
    same_bytes_everywhere("denoise_fast");
    same_bytes_everywhere("bicubic_x2");
}

/* ---- nothing corrected, nothing changed ------------------------------------------------------ */

static mona_file_op *add_conv(model_builder *b, uint32_t from, uint32_t residual, uint32_t to)
{
    static const int8_t weights[9];
    static const uint16_t scale = 0x3c00;
    const uint32_t in[] = {from, residual};
    mona_file_op *conv = builder_op(b, MONA_OP_CONV, to, residual == MONA_NONE ? 1 : 2, in);
    conv->conv = builder_conv_3x3();
    conv->conv.bias = MONA_NONE;
    conv->conv.weights = builder_data(b, weights, sizeof weights);
    conv->conv.scales = builder_data(b, &scale, sizeof scale);
    return conv;
}

typedef struct built {
    uint8_t *bytes;
    mona_model model;
} built;

static built finish(model_builder *b)
{
    built r;
    size_t size;
    r.bytes = builder_finish(b, &size);
    assert_int_equal(mona_model_open(&r.model, r.bytes, size), MONA_OK);
    return r;
}

static void store(model_builder *b, uint32_t from, uint32_t to)
{
    builder_op(b, MONA_OP_STORE, to, 1, &from)->store =
        (mona_file_store){.block = 1, .scale = 0x3c00, .maximum = 255};
}

static void load(model_builder *b, uint32_t from, uint32_t to)
{
    mona_file_op *op = builder_op(b, MONA_OP_LOAD, to, 1, &from);
    op->load.block[0] = 1;
    op->load.scale[0] = 0x3c00;
}

/* plane -> plane + conv(plane), with weights of zero; add: by an ADD of its own. */
static built neutral_net(bool add)
{
    model_builder *b = builder_new();
    const uint32_t in = builder_input(b, "plane", MONA_U8, 1, 1 / 255.f);
    const uint32_t out = builder_output(b, "plane_out", MONA_U8, 1, 1 / 255.f);
    const uint32_t seen = builder_tensor(b, "seen", MONA_U8, 1, 1 / 255.f);
    const uint32_t made = builder_tensor(b, "made", MONA_U8, 1, 1 / 255.f);
    load(b, in, seen);
    add_conv(b, seen, add ? MONA_NONE : seen, made);
    if (!add) {
        store(b, made, out);
        return finish(b);
    }
    const uint32_t sum = builder_tensor(b, "sum", MONA_U8, 1, 1 / 255.f);
    const uint32_t terms[] = {seen, made};
    mona_file_op *op = builder_op(b, MONA_OP_ADD, sum, 2, terms);
    op->elementwise.scale[0] = op->elementwise.scale[1] = 0x3c00;
    store(b, sum, out);
    return finish(b);
}

static void check_neutral(bool add, unsigned bits)
{
    enum { W = 64, H = 32 };
    uint16_t in[W * H], out[W * H];
    built n = neutral_net(add);
    void *deep = deepened(&n.model, bits);
    bound b;
    const mona_config config = {.threads = 1, .sizes = {{W, H}}};
    assert_int_equal(bind(&b, &n.model, &config), MONA_OK);
    for (unsigned i = 0; i < W * H; i++)
        in[i] = (uint16_t)(i & ((1u << bits) - 1));
    const mona_buffer from = {in, 2 * W, 0}, to = {out, 2 * W, 0};
    assert_int_equal(mona_session_run(b.session, &from, &to), MONA_OK);
    assert_memory_equal(in, out, sizeof in);
    unbind(&b);
    free(deep), free(n.bytes);
}

static void no_sample_is_changed_by_a_correction_of_zero(void **state)
{
    (void)state;
    for (unsigned bits = 9; bits <= MONA_MAX_DEPTH; bits++) {
        check_neutral(false, bits);
        check_neutral(true, bits);
    }
}

/* ---- refusals -------------------------------------------------------------------------------- */

static mona_status status_of(const mona_model *model, unsigned bits, size_t less, size_t shift)
{
    const size_t bytes = mona_model_deep_bytes(model);
    uint8_t *memory = aligned(bytes + shift);
    mona_model deep;
    const mona_status status = mona_model_deepen(&deep, memory + shift, bytes - less, model, bits);
    free(memory);
    return status;
}

static void what_it_cannot_do_is_refused(void **state)
{
    (void)state;
    const mona_model model = shipped("sr_x2_fast");
    assert_int_equal(status_of(&model, 10, 0, 0), MONA_OK);
    assert_int_equal(status_of(&model, 8, 0, 0), MONA_ERR_ARGUMENT);
    assert_int_equal(status_of(&model, MONA_MAX_DEPTH + 1, 0, 0), MONA_ERR_ARGUMENT);
    assert_int_equal(status_of(&model, 10, 1, 0), MONA_ERR_ARENA);
    assert_int_equal(status_of(&model, 10, 0, 8), MONA_ERR_ARGUMENT);
}

/* A map that is both what the next convolution looks at and what is stored. */
static void a_picture_that_is_also_a_feature_map_is_refused(void **state)
{
    (void)state;
    model_builder *b = builder_new();
    const uint32_t in = builder_input(b, "plane", MONA_U8, 1, 1 / 255.f);
    const uint32_t out[] = {builder_output(b, "a", MONA_U8, 1, 1 / 255.f),
                            builder_output(b, "b", MONA_U8, 1, 1 / 255.f)};
    const uint32_t seen = builder_tensor(b, "seen", MONA_U8, 1, 1 / 255.f);
    const uint32_t both = builder_tensor(b, "both", MONA_U8, 1, 1 / 255.f);
    const uint32_t made = builder_tensor(b, "made", MONA_U8, 1, 1 / 255.f);
    load(b, in, seen);
    add_conv(b, seen, MONA_NONE, both);
    add_conv(b, both, MONA_NONE, made);
    store(b, both, out[0]);
    store(b, made, out[1]);
    built n = finish(b);
    assert_int_equal(status_of(&n.model, 10, 0, 0), MONA_ERR_UNSUPPORTED);
    free(n.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shipped_models_give_the_same_bytes_everywhere),
        cmocka_unit_test(no_sample_is_changed_by_a_correction_of_zero),
        cmocka_unit_test(what_it_cannot_do_is_refused),
        cmocka_unit_test(a_picture_that_is_also_a_feature_map_is_refused),
    };
    return cmocka_run_group_tests_name("depth", tests, NULL, NULL);
}
