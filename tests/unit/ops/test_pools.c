// SPDX-License-Identifier: Apache-2.0
/* MAX_POOL and AVERAGE_POOL on the engine against loops written here from model_format.h's words:
 * every type, windows of all forms, ragged channels, and any bands, strips, tiles and instruction
 * set. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/unit/modelled_check.h"
#include "tests/unit/model_builder.h"
#include "tests/unit/recorded.h"
#include "tests/unit/reference.h"
#include "tests/cases.h"

/* ---- what a pool must give ------------------------------------------------------------------- */

typedef struct window {
    int kernel_h, kernel_w, stride_h, stride_w, dilation_h, dilation_w;
    int top, left, bottom, right;
    int ceil, include_pad;
} window;

/* Numbers of outputs along one axis, counted: a window must end inside the padding, or, rounded up,
 * begin before the padding at the end. */
static int outputs(int in, int kernel, int stride, int dilation, int before, int after, int ceil)
{
    int count = 0;
    for (int start = -before;; start += stride) {
        const int end = start + dilation * (kernel - 1) + 1;
        if (end > in + after && (!ceil || start >= in || end - stride >= in + after))
            return count;
        count++;
    }
}

typedef struct sum {
    double columns; /* of column sums, fp32 for FP16 */
    double largest;
    int samples, counted;
} sum;

static sum sum_window(const tensor *x, const window *w, int c, int y, int column)
{
    const bool half_ = x->type == MONA_F16;
    sum s = {.largest = -INFINITY};
    for (int kx = 0; kx < w->kernel_w; kx++) {
        const int ix = column * w->stride_w - w->left + kx * w->dilation_w;
        double down = 0, highest = -INFINITY;
        for (int ky = 0; ky < w->kernel_h; ky++) {
            const int iy = y * w->stride_h - w->top + ky * w->dilation_h;
            s.counted += w->include_pad && iy < x->height + w->bottom && ix < x->width + w->right;
            if (iy < 0 || iy >= x->height || ix < 0 || ix >= x->width)
                continue;
            const double v = *at(x, c, iy, ix);
            down = half_ ? (double)((float)down + (float)v) : down + v;
            highest = highest > v ? highest : v;
            s.samples++;
            s.counted += !w->include_pad;
        }
        s.columns = half_ ? (double)((float)s.columns + (float)down) : s.columns + down;
        if (highest > -INFINITY)
            s.largest = s.largest > highest ? s.largest : highest;
    }
    return s;
}

static tensor expect(const tensor *x, const window *w, bool largest, mona_type type, float scale)
{
    const int h =
        outputs(x->height, w->kernel_h, w->stride_h, w->dilation_h, w->top, w->bottom, w->ceil);
    const int wide =
        outputs(x->width, w->kernel_w, w->stride_w, w->dilation_w, w->left, w->right, w->ceil);
    tensor out = new_tensor(x->channels, h, wide, type);
    for (int c = 0; c < out.channels; c++)
        for (int y = 0; y < h; y++)
            for (int i = 0; i < wide; i++) {
                const sum s = sum_window(x, w, c, y, i);
                if (!s.samples) {
                    *at(&out, c, y, i) = 0;
                } else if (largest) {
                    *at(&out, c, y, i) = s.largest;
                } else {
                    const float factor = scale / (float)s.counted;
                    *at(&out, c, y, i) = stored(type, half((double)((float)s.columns * factor)));
                }
            }
    return out;
}

/* ---- running --------------------------------------------------------------------------------- */

static uint8_t *make_model(const tensor *x, const window *w, bool whole, bool largest,
                           mona_type type, float scale, size_t *size)
{
    model_builder *b = builder_new();
    const uint32_t channels = (uint32_t)x->channels;
    const uint32_t in = builder_input(b, "in", x->type, channels, 1);
    const uint32_t out = builder_output(b, "out", type, channels, 1);
    const uint32_t loaded = builder_tensor(b, "loaded", x->type, channels, 1);
    const uint32_t pooled = builder_tensor(b, "pooled", type, channels, 1);
    mona_file_op *op = builder_op(b, MONA_OP_LOAD, loaded, 1, &in);
    op->load.block[0] = 1, op->load.scale[0] = 0x3c00;
    op = builder_op(b, largest ? MONA_OP_MAX_POOL : MONA_OP_AVERAGE_POOL, pooled, 1, &loaded);
    op->pool = (mona_file_pool){
        .kernel_h = (uint16_t)(whole ? 0 : w->kernel_h),
        .kernel_w = (uint16_t)(whole ? 0 : w->kernel_w),
        .stride_h = (uint16_t)w->stride_h,
        .stride_w = (uint16_t)w->stride_w,
        .dilation_h = (uint16_t)w->dilation_h,
        .dilation_w = (uint16_t)w->dilation_w,
        .pad_top = (uint16_t)w->top,
        .pad_left = (uint16_t)w->left,
        .pad_bottom = (uint16_t)w->bottom,
        .pad_right = (uint16_t)w->right,
        .ceil_mode = (uint8_t)w->ceil,
        .count_include_pad = (uint8_t)w->include_pad,
        .scale = scale,
    };
    op = builder_op(b, MONA_OP_STORE, out, 1, &pooled);
    op->store =
        (mona_file_store){.block = 1, .scale = 0x3c00, .maximum = type == MONA_U8 ? 255 : 0};
    return builder_finish(b, size);
}

static uint8_t *to_plane(const tensor *t)
{
    const size_t count = (size_t)t->channels * (size_t)t->height * (size_t)t->width;
    uint8_t *bytes = malloc(count * element_bytes(t->type));
    for (size_t i = 0; i < count; i++)
        put(bytes + i * element_bytes(t->type), t->type, t->v[i]);
    return bytes;
}

static mona_buffer plane_buffer(const tensor *t, uint8_t *bytes)
{
    const ptrdiff_t row = (ptrdiff_t)t->width * (ptrdiff_t)element_bytes(t->type);
    return (mona_buffer){bytes, row, row * t->height};
}

/* Status of planning; where that succeeds, the outputs are compared. */
static mona_status compare(const mona_model *model, const tensor *x, const tensor *want,
                           mona_config config, const char *what)
{
    void *memory = aligned_alloc(64, mona_plan_bytes(model));
    mona_plan *plan;
    config.sizes[0] = (mona_size){(uint32_t)x->width, (uint32_t)x->height};
    const mona_status status = mona_plan_make(&plan, memory, model, &config);
    if (!status) {
        const mona_tensor_info info = mona_plan_output(plan, 0);
        assert_int_equal(info.height, want->height);
        assert_int_equal(info.width, want->width);
        uint8_t *in = to_plane(x), *found = to_plane(want), *expected = to_plane(want);
        const size_t bytes = (size_t)want->channels * (size_t)want->height * (size_t)want->width *
                             element_bytes(want->type);
        memset(found, 0x5a, bytes);
        const mona_buffer from = plane_buffer(x, in), to = plane_buffer(want, found);
        void *arena = NULL;
        assert_int_equal(posix_memalign(&arena, 64, mona_plan_arena_bytes(plan)), 0);
        mona_session *session;
        assert_int_equal(mona_session_open(&session, plan, arena, mona_plan_arena_bytes(plan)),
                         MONA_OK);
        assert_int_equal(mona_session_run(session, &from, &to), MONA_OK);
        assert_nothing_found(session);
        mona_session_close(session);
        if (memcmp(found, expected, bytes))
            fail_msg("%s: %d channels of %dx%d, %s, %u threads, strip %u, tile %u", what,
                     x->channels, x->width, x->height, config.cpu ? config.cpu : "best",
                     config.threads, config.strip_rows, config.tile_columns);
        free(arena), free(in), free(found), free(expected);
    }
    free(memory);
    return status;
}

/* One pool in several configurations. */
static void check(const tensor *x, const window *w, bool whole, bool largest, mona_type type,
                  const char *what)
{
    const mona_device *modelled = &mona_device_model310;
    const mona_config configs[] = {
        {.device = modelled},
        {.device = modelled, .threads = 1, .strip_rows = 3, .tile_columns = 7},
        {.threads = 1},
        {.threads = 1, .cpu = "c", .strip_rows = 3},
        {.threads = 3, .strip_rows = 1, .tile_columns = 5},
        {.threads = 2, .cpu = "avx2", .strip_rows = MONA_MAX_SIDE, .tile_columns = 1},
    };
    const float scale = largest ? 1 : between(0, 1) ? 1 : 0.73f;
    tensor want = expect(x, w, largest, type, scale);
    size_t size;
    uint8_t *bytes = make_model(x, w, whole, largest, type, scale, &size);
    mona_model model;
    assert_int_equal(mona_model_open(&model, bytes, size), MONA_OK);
    for (size_t i = 0; i < sizeof configs / sizeof *configs; i++) {
        const mona_status status = compare(&model, x, &want, configs[i], what);
        assert_true(status == MONA_OK || (configs[i].cpu && status == MONA_ERR_DEVICE));
    }
    free(bytes), free(want.v);
}

/* ---- tests ----------------------------------------------------------------------------------- */

static const mona_type types[] = {MONA_U8, MONA_S8, MONA_F16};
static const char *const names[] = {"u8", "s8", "f16"};

static const window windows[] = {
    {2, 2, 2, 2, 1, 1, 0, 0, 0, 0, 0, 0}, {3, 3, 2, 2, 1, 1, 1, 1, 1, 1, 0, 0},
    {3, 3, 2, 2, 1, 1, 0, 0, 0, 0, 1, 0}, {3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1},
    {3, 2, 2, 3, 1, 1, 1, 0, 2, 1, 1, 1}, {2, 3, 1, 2, 2, 3, 1, 2, 0, 4, 0, 0},
    {3, 3, 3, 3, 2, 2, 3, 2, 3, 2, 1, 1}, {1, 1, 2, 2, 1, 1, 0, 0, 0, 0, 0, 0},
    {5, 1, 1, 1, 1, 1, 2, 0, 2, 0, 0, 0}, {1, 4, 4, 1, 1, 1, 0, 3, 0, 3, 1, 1},
    {4, 4, 2, 2, 1, 1, 6, 7, 5, 9, 0, 0}, /* windows in the padding altogether: 0 */
    {2, 2, 2, 2, 7, 9, 7, 9, 7, 9, 0, 0}, /* windows whose rows are there and columns are not */
};

static void every_window(void **unused)
{
    (void)unused;
    static const int channels[] = {1, 3, 5, 16, 19, 40};
    state = 7;
    for (int t = 0; t < 3; t++)
        for (size_t k = 0; k < sizeof windows / sizeof *windows; k++)
            for (size_t c = 0; c < sizeof channels / sizeof *channels; c++) {
                tensor x = random_tensor(channels[c], between(5, 12), between(6, 24), types[t]);
                check(&x, &windows[k], false, true, types[t], names[t]);
                check(&x, &windows[k], false, false, types[t], names[t]);
                free(x.v);
            }
}

static void whole_maps(void **unused)
{
    (void)unused;
    static const int sizes[][3] = {{1, 1, 1}, {64, 7, 7}, {5, 1, 40}, {33, 30, 21}, {3, 300, 260}};
    for (int t = 0; t < 3; t++)
        for (int k = 0; k < 5; k++) {
            tensor x = random_tensor(sizes[k][0], sizes[k][1], sizes[k][2], types[t]);
            const window w = {
                .kernel_h = x.height, .kernel_w = x.width, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0};
            check(&x, &w, true, true, types[t], names[t]);
            check(&x, &w, true, false, types[t], names[t]);
            free(x.v);
        }
}

static void means_change_the_type(void **unused)
{
    (void)unused;
    const window all = {6, 9, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0};
    for (int from = 0; from < 3; from++)
        for (int to = 0; to < 3; to++) {
            tensor x = random_tensor(21, 6, 9, types[from]);
            check(&x, &windows[1], false, false, types[to], names[from]);
            check(&x, &all, true, false, types[to], names[from]);
            free(x.v);
        }
}

static void zeros_have_the_sign_of_the_last(void **unused)
{
    (void)unused;
    tensor x = new_tensor(16, 4, 6, MONA_F16);
    for (int i = 0; i < 16 * 4 * 6; i++)
        x.v[i] = between(0, 2) ? between(0, 1) ? 0.0 : -0.0 : -half(0.5);
    check(&x, &windows[0], false, true, MONA_F16, "signs of zero");
    check(&x, &windows[3], false, true, MONA_F16, "signs of zero");
    free(x.v);
}

/* ---- programs -------------------------------------------------------------------------------- */

/* The program of a pool alone, played from the model's file. */
static void check_program(const tensor *x, const window *w, bool whole, bool largest,
                          mona_type type)
{
    const float scale = largest ? 1 : 0.73f;
    tensor want = expect(x, w, largest, type, scale);
    size_t size;
    uint8_t *bytes = make_model(x, w, whole, largest, type, scale, &size);
    mona_model model, with;
    assert_int_equal(mona_model_open(&model, bytes, size), MONA_OK);
    uint8_t *file =
        recorded_file(&model, (mona_size){(uint32_t)x->width, (uint32_t)x->height}, &size);
    assert_int_equal(mona_model_open(&with, file, size), MONA_OK);
    const mona_config config = {.device = &mona_device_model310};
    assert_int_equal(compare(&with, x, &want, config, "program"), MONA_OK);
    free(file), free(bytes), free(want.v);
}

static window random_window(const tensor *x)
{
    window w;
    do {
        w = (window){.kernel_h = between(2, 7),
                     .kernel_w = between(2, 7),
                     .stride_h = between(1, 3),
                     .stride_w = between(1, 3),
                     .dilation_h = between(0, 3) ? 1 : 2,
                     .dilation_w = between(0, 3) ? 1 : between(2, 40),
                     .ceil = between(0, 1),
                     .include_pad = between(0, 1)};
        w.top = between(0, w.kernel_h - 1), w.bottom = between(0, w.kernel_h - 1);
        w.left = between(0, w.kernel_w + 1), w.right = between(0, w.kernel_w - 1);
    } while (w.dilation_h * (w.kernel_h - 1) >= x->height ||
             w.dilation_w * (w.kernel_w - 1) >= x->width);
    return w;
}

static void every_pool_has_a_program(void **unused)
{
    (void)unused;
    state = 11;
    for (uint32_t i = 0; i < CASES(200); i++) {
        const int channels = between(0, 1) ? between(1, 9) : between(10, 64);
        const int width = between(0, 3) ? between(7, 60) : between(61, 400);
        const mona_type from = types[between(0, 2)];
        const bool largest = between(0, 1);
        tensor x = random_tensor(channels, between(7, 25), width, from);
        const window w = random_window(&x);
        check_program(&x, &w, false, largest, largest ? from : types[between(0, 2)]);
        free(x.v);
    }
}

/* Maps that are wider than the unified buffer, or larger than L1, and sums above 2^24, which fp32
 * alone would round. */
static void whole_maps_have_programs(void **unused)
{
    (void)unused;
    static const int sizes[][3] = {
        {1, 1, 1}, {40, 2, 3000}, {3, 300, 260}, {1, 1, 20000}, {40, 60, 300}};
    for (int t = 0; t < 3; t++)
        for (int k = 0; k < 5; k++) {
            tensor x = random_tensor(sizes[k][0], sizes[k][1], sizes[k][2], types[t]);
            const window w = {
                .kernel_h = x.height, .kernel_w = x.width, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0};
            check_program(&x, &w, true, true, types[t]);
            check_program(&x, &w, true, false, types[t]);
            for (int i = 0; i < x.channels * x.height * x.width && types[t] == MONA_U8; i++)
                x.v[i] = 255 - (i % 3);
            check_program(&x, &w, true, false, types[t]);
            free(x.v);
        }
}

/* ---- refusals -------------------------------------------------------------------------------- */

static mona_status open_changed(void (*change)(mona_file_op *, mona_file_tensor *), bool largest)
{
    tensor x = new_tensor(3, 1, 1, MONA_U8);
    size_t size;
    uint8_t *bytes = make_model(&x, &windows[1], false, largest, MONA_U8, 1, &size);
    mona_file_header *h = (mona_file_header *)(void *)bytes;
    change((mona_file_op *)(void *)(bytes + h->ops_offset) + 1,
           (mona_file_tensor *)(void *)(bytes + h->tensors_offset));
    builder_seal(bytes);
    mona_model model;
    const mona_status status = mona_model_open(&model, bytes, size);
    free(bytes), free(x.v);
    return status;
}

#define CHANGE(name, ...)                                                                          \
    static void name(mona_file_op *op, mona_file_tensor *tensors)                                  \
    {                                                                                              \
        (void)op, (void)tensors;                                                                   \
        __VA_ARGS__;                                                                               \
    }
CHANGE(nothing, )
CHANGE(no_rows, op->pool.kernel_h = 0)
CHANGE(no_columns, op->pool.kernel_w = 0)
CHANGE(wide, op->pool.kernel_w = 256)
CHANGE(no_stride, op->pool.stride_h = 0)
CHANGE(far_stride, op->pool.stride_w = 64)
CHANGE(no_dilation, op->pool.dilation_w = 0)
CHANGE(far_dilation, op->pool.dilation_h = 256)
CHANGE(far_pad, op->pool.pad_left = 256)
CHANGE(rounding, op->pool.ceil_mode = 2)
CHANGE(counting, op->pool.count_include_pad = 2)
CHANGE(padded_whole, op->pool.kernel_h = op->pool.kernel_w = 0, op->pool.stride_h = 1,
       op->pool.stride_w = 1)
CHANGE(strided_whole,
       op->pool = (mona_file_pool){
           .stride_h = 2, .stride_w = 1, .dilation_h = 1, .dilation_w = 1, .scale = 1})
CHANGE(channels, tensors[3].channels = 4)
CHANGE(no_scale, op->pool.scale = 0)
CHANGE(endless_scale, op->pool.scale = INFINITY)
CHANGE(scale_is_nan, op->pool.scale = NAN)
CHANGE(other_type, tensors[3].type = MONA_S8; tensors[1].type = MONA_S8)

static void damaged_records_are_refused(void **unused)
{
    (void)unused;
    static void (*const changes[])(mona_file_op *, mona_file_tensor *) = {
        no_rows, no_columns, wide,     no_stride,    far_stride,    no_dilation, far_dilation,
        far_pad, rounding,   counting, padded_whole, strided_whole, channels,
    };
    for (int largest = 0; largest < 2; largest++) {
        assert_int_equal(open_changed(nothing, largest), MONA_OK);
        for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
            assert_int_equal(open_changed(changes[i], largest), MONA_ERR_MODEL);
    }
    assert_int_equal(open_changed(no_scale, false), MONA_ERR_MODEL);
    assert_int_equal(open_changed(endless_scale, false), MONA_ERR_MODEL);
    assert_int_equal(open_changed(scale_is_nan, false), MONA_ERR_MODEL);
    assert_int_equal(open_changed(other_type, true), MONA_ERR_MODEL);
}

static void sizes_that_do_not_fit_are_refused(void **unused)
{
    (void)unused;
    const window large = {9, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0};
    tensor x = new_tensor(1, 6, 6, MONA_U8), want = new_tensor(1, 1, 1, MONA_U8);
    size_t size;
    mona_model model;
    uint8_t *bytes = make_model(&x, &large, false, true, MONA_U8, 1, &size);
    assert_int_equal(mona_model_open(&model, bytes, size), MONA_OK);
    assert_int_equal(compare(&model, &x, &want, (mona_config){.threads = 1}, ""), MONA_ERR_SHAPE);
    free(bytes);
    /* A sum of more than 2^23 samples may leave s32. */
    const window one = {1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0};
    bytes = make_model(&x, &one, true, false, MONA_U8, 1, &size);
    assert_int_equal(mona_model_open(&model, bytes, size), MONA_OK);
    x.height = 4097, x.width = 2048;
    assert_int_equal(compare(&model, &x, &want, (mona_config){.threads = 1}, ""), MONA_ERR_LIMIT);
    free(bytes), free(x.v), free(want.v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_window),
        cmocka_unit_test(whole_maps),
        cmocka_unit_test(means_change_the_type),
        cmocka_unit_test(zeros_have_the_sign_of_the_last),
        cmocka_unit_test(every_pool_has_a_program),
        cmocka_unit_test(whole_maps_have_programs),
        cmocka_unit_test(damaged_records_are_refused),
        cmocka_unit_test(sizes_that_do_not_fit_are_refused),
    };
    return cmocka_run_group_tests_name("pools", tests, NULL, NULL);
}
