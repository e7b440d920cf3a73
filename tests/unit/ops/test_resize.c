// SPDX-License-Identifier: Apache-2.0
/* RESIZE against a map-at-a-time reference written from the definition: every mode, coordinate rule
 * and several ratios, under tiles, strips and threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/unit/modelled_check.h"
#include "tests/unit/recorded.h"
#include "tests/unit/sr_net.h"
#include "tests/cases.h"

typedef struct resize_case {
    mona_file_resize resize;
    mona_type type;
    uint32_t channels;
    int w, h;
} resize_case;

static uint8_t *model_of(const resize_case *c, size_t *size)
{
    model_builder *b = builder_new();
    const float scale = c->type == MONA_F16 ? 1 : 1 / 255.f;
    const uint32_t in = builder_input(b, "in", c->type, c->channels, scale);
    const uint32_t out = builder_output(b, "out", c->type, c->channels, scale);
    const uint32_t loaded = builder_tensor(b, "loaded", c->type, c->channels, scale);
    const uint32_t resized = builder_tensor(b, "resized", c->type, c->channels, scale);
    mona_file_op *load = builder_op(b, MONA_OP_LOAD, loaded, 1, &in);
    load->load.block[0] = 1, load->load.scale[0] = 0x3c00;
    builder_op(b, MONA_OP_RESIZE, resized, 1, &loaded)->resize = c->resize;
    builder_op(b, MONA_OP_STORE, out, 1, &resized)->store =
        (mona_file_store){.block = 1, .scale = 0x3c00, .maximum = 255};
    return builder_finish(b, size);
}

static double coordinate(const resize_case *c, int i, int in, int out, const uint32_t *scale,
                         float offset)
{
    const double step = (double)scale[1] / scale[0];
    switch (c->resize.coordinates) {
    case MONA_RESIZE_HALF_PIXEL:
        return (i + 0.5) * step - 0.5 + offset;
    case MONA_RESIZE_ALIGN_CORNERS:
        return (out > 1 ? (double)i * (in - 1) / (out - 1) : 0) + offset;
    default:
        return i * step + offset;
    }
}

static double keys(double d, double a)
{
    d = fabs(d);
    if (d <= 1)
        return (a + 2) * d * d * d - (a + 3) * d * d + 1;
    return d < 2 ? a * d * d * d - 5 * a * d * d + 8 * a * d - 4 * a : 0;
}

/* Positions and weights of the samples that make one output sample; returns how many. */
static int samples(const resize_case *c, double u, int n, int *at, float *weight)
{
    const int taps = c->resize.mode == MONA_RESIZE_NEAREST  ? 1
                     : c->resize.mode == MONA_RESIZE_LINEAR ? 2
                                                            : 4;
    for (int t = 0; t < taps; t++) {
        const double base = taps == 1 ? ceil(u - 0.5) : floor(u) - (taps == 4) + t;
        at[t] = (int)fmin(fmax(base, 0), n - 1);
        weight[t] = taps == 1   ? 1
                    : taps == 2 ? (float)(1 - fabs(u - base))
                                : (float)keys(u - base, c->resize.cubic_a);
    }
    return taps;
}

static double sample_value(const resize_case *c, const void *plane, size_t at)
{
    if (c->type == MONA_F16)
        return value_of_f16(((const uint16_t *)plane)[at]);
    return c->type == MONA_S8 ? ((const int8_t *)plane)[at] : ((const uint8_t *)plane)[at];
}

static double expected(const resize_case *c, const void *plane, int y, int x, int out_h, int out_w)
{
    int rows[4], columns[4];
    float down[4], across[4], sum = 0;
    const int ny = samples(c, coordinate(c, y, c->h, out_h, c->resize.scale_h, c->resize.offset_h),
                           c->h, rows, down);
    const int nx = samples(c, coordinate(c, x, c->w, out_w, c->resize.scale_w, c->resize.offset_w),
                           c->w, columns, across);
    for (int i = 0; i < nx; i++) {
        float column = 0;
        for (int k = 0; k < ny; k++) {
            volatile float product =
                (float)sample_value(c, plane, (size_t)(rows[k] * c->w + columns[i])) * down[k];
            column = k ? column + product : product;
        }
        volatile float product = column * across[i];
        sum = i ? sum + product : product;
    }
    if (c->type == MONA_F16)
        return round_f16(sum);
    const int low = c->type == MONA_S8 ? -128 : 0;
    return fmin(fmax(rint(sum), low), low + 255);
}

/* Weights computed along another path may differ in the last place, and a half then rounds the
 * other way: so one step is allowed in at most one sample of a hundred. Returns the cycles of the
 * RESIZE on model310. */
static double check(const resize_case *c)
{
    double cycles = 0;
    size_t size;
    uint8_t *bytes = model_of(c, &size);
    mona_model model;
    assert_int_equal(mona_model_open(&model, bytes, size), MONA_OK);
    const size_t element = mona_type_size(c->type), in_plane = (size_t)(c->w * c->h);
    uint8_t *in = malloc(in_plane * c->channels * element);
    uint32_t seed = 3;
    for (size_t i = 0; i < in_plane * c->channels * element; i++) {
        in[i] = (uint8_t)test_random(&seed);
        if (c->type == MONA_F16 && i & 1)
            in[i] &= 0xbf; /* magnitudes below 2 */
    }
    uint8_t *first = NULL;
    size_t out_bytes = 0;
    const mona_size of_plane = {(uint32_t)c->w, (uint32_t)c->h};
    size_t file_size;
    uint8_t *file = recorded_file(&model, of_plane, &file_size);
    mona_model with_program;
    assert_int_equal(mona_model_open(&with_program, file, file_size), MONA_OK);
    for (unsigned k = 0; k < 6; k++) {
        const mona_model *taken = k == 4 ? &with_program : &model;
        const mona_config config = {.cpu = k == 0 ? "c" : NULL,
                                    .device = k < 4 ? NULL : &mona_device_model310,
                                    .threads = k < 4 ? 1 + k % 3 : 0,
                                    .strip_rows = k < 4 ? k * 3 : 0,
                                    .tile_columns = k == 2   ? 16
                                                    : k == 5 ? 32
                                                             : 0,
                                    .sizes = {of_plane}};
        void *memory = aligned_alloc(64, mona_plan_bytes(taken));
        mona_plan *plan;
        assert_int_equal(mona_plan_make(&plan, memory, taken, &config), MONA_OK);
        const mona_tensor_info info = mona_plan_output(plan, 0);
        const int oh = (int)info.height, ow = (int)info.width;
        assert_int_equal(oh, c->h * c->resize.scale_h[0] / c->resize.scale_h[1]);
        void *arena = aligned_alloc(64, (mona_plan_arena_bytes(plan) + 63) / 64 * 64);
        mona_session *session;
        assert_int_equal(mona_session_open(&session, plan, arena, mona_plan_arena_bytes(plan)),
                         MONA_OK);
        out_bytes = (size_t)(oh * ow) * c->channels * element;
        uint8_t *out = malloc(out_bytes);
        const mona_buffer from = {in, (ptrdiff_t)((size_t)c->w * element),
                                  (ptrdiff_t)(in_plane * element)};
        const mona_buffer to = {out, (ptrdiff_t)((size_t)ow * element),
                                (ptrdiff_t)((size_t)(oh * ow) * element)};
        assert_int_equal(mona_session_run(session, &from, &to), MONA_OK);
        assert_nothing_found(session);
        if (k == 4)
            cycles = mona_session_modelled_op(session, 0, 1)->cycles;
        int off = 0;
        for (uint32_t p = 0; p < c->channels; p++)
            for (int y = 0; y < oh; y++)
                for (int x = 0; x < ow; x++) {
                    const double want = expected(c, in + p * in_plane * element, y, x, oh, ow);
                    const double found = sample_value(c, out + p * (size_t)(oh * ow) * element,
                                                      (size_t)(y * ow + x));
                    const double step = c->type == MONA_F16 ? fmax(fabs(want) / 1024, 1e-4) : 1;
                    if (fabs(found - want) > step)
                        fail_msg("mode %d rule %d %dx%d row %d column %d: %g, not %g",
                                 c->resize.mode, c->resize.coordinates, c->w, c->h, y, x, found,
                                 want);
                    off += found != want;
                }
        assert_true(off * 100 <= (int)(out_bytes / element));
        if (first)
            assert_memory_equal(out, first, out_bytes);
        if (!first)
            first = out;
        else
            free(out);
        mona_session_close(session);
        free(arena), free(memory);
    }
    free(first), free(in), free(file), free(bytes);
    return cycles;
}

static void every_mode_and_rule(void **state)
{
    (void)state;
    static const uint32_t ratios[][2] = {{2, 1}, {3, 1}, {1, 2}, {5, 3}};
    for (uint8_t mode = 0; mode <= MONA_RESIZE_CUBIC; mode++)
        for (uint8_t rule = 0; rule <= MONA_RESIZE_ASYMMETRIC; rule++)
            for (int r = 0; r < 4; r++) {
                const resize_case c = {.resize = {.mode = mode,
                                                  .coordinates = rule,
                                                  .cubic_a = -0.5f,
                                                  .scale_h = {ratios[r][0], ratios[r][1]},
                                                  .scale_w = {ratios[r][0], ratios[r][1]}},
                                       .type = (mona_type)(rule % 3),
                                       .channels = r == 0 ? 3 : 1,
                                       .w = 45,
                                       .h = 26};
                check(&c);
            }
}

static void chroma_offset(void **state)
{
    (void)state;
    for (int w = 1; w < 70; w += 17) {
        const resize_case c = {.resize = {.mode = MONA_RESIZE_CUBIC,
                                          .cubic_a = -0.5f,
                                          .scale_h = {2, 1},
                                          .scale_w = {2, 1},
                                          .offset_w = 0.125f},
                               .type = MONA_U8,
                               .channels = 2,
                               .w = w,
                               .h = 9};
        check(&c);
    }
}

static void different_axes(void **state)
{
    (void)state;
    const resize_case c = {
        .resize = {.mode = MONA_RESIZE_LINEAR, .scale_h = {1, 1}, .scale_w = {7, 2}},
        .type = MONA_U8,
        .channels = 20,
        .w = 30,
        .h = 12};
    check(&c);
}

/* 17 columns of every 16, and weights that differ from column to column. */
static void columns_that_do_not_repeat(void **state)
{
    (void)state;
    static const uint32_t ratios[][2] = {{17, 16}, {16, 17}, {3, 100}, {100, 3}, {2, 1}};
    static const uint32_t channels[] = {1, 3, 16, 40};
    for (uint32_t i = 0; i < CASES(60); i++) {
        const uint32_t *ratio = ratios[i % 5];
        const resize_case c = {.resize = {.mode = (uint8_t)(i % 3),
                                          .coordinates = ratio[1] == 1 ? MONA_RESIZE_ALIGN_CORNERS
                                                                       : (uint8_t)(i / 3 % 3),
                                          .cubic_a = -0.75f,
                                          .scale_h = {i & 8 ? 3 : 1, i & 4 ? 2 : 1},
                                          .scale_w = {ratio[0], ratio[1]}},
                               .type = (mona_type)(i / 5 % 3),
                               .channels = channels[i / 15],
                               .w = ratio[0] == 100 ? 45 : 230,
                               .h = 20};
        check(&c);
    }
}

/* To the nearest by a whole number, a column of 32 bytes is copied, whatever is in it; linearly,
 * columns of the same weights are taken together. */
static void nearest_columns_are_copied(void **state)
{
    (void)state;
    static const int widths[] = {1, 20, 45, 700};
    static const uint32_t most[][2] = {
        {210, 670}, {430, 3650}, {810, 14600}, {1250, 34000}}; /* cycles */
    for (uint32_t i = 0; i < 8; i++) {
        resize_case c = {.resize = {.mode = MONA_RESIZE_NEAREST,
                                    .coordinates = (uint8_t)(i % 2 ? MONA_RESIZE_ASYMMETRIC
                                                                   : MONA_RESIZE_HALF_PIXEL),
                                    .scale_h = {1 + i % 3, 1},
                                    .scale_w = {i < 4 ? 2 : 1 + i % 4, 1}},
                         .type = (mona_type)(i % 3),
                         .channels = i % 2 ? 32 : 40,
                         .w = widths[i % 4],
                         .h = 5};
        const double nearest = check(&c);
        c.resize.mode = MONA_RESIZE_LINEAR;
        if (i >= 4)
            continue;
        const double linear = check(&c);
        print_message("# %d columns, nearest %.0f cycles, linear %.0f\n", c.w, nearest, linear);
        assert_true(nearest <= most[i][0] && linear <= most[i][1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_mode_and_rule),
        cmocka_unit_test(chroma_offset),
        cmocka_unit_test(different_axes),
        cmocka_unit_test(columns_that_do_not_repeat),
        cmocka_unit_test(nearest_columns_are_copied),
    };
    return cmocka_run_group_tests_name("resize", tests, NULL, NULL);
}
