// SPDX-License-Identifier: Apache-2.0
/* Frames that pass line by line: the bytes of whole frames, from two buffers that are overwritten
 * after each line, with the latency that the plan tells. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/arith.h"
#include "models/embedded.h"
#include "tests/cases.h"
#include "tests/unit/fixture.h"
#include "tests/unit/mix_model.h"

/* A session, and whole frames of it. */
typedef struct rig {
    mona_model model;
    mona_plan *plan;
    mona_session *session;
    void *memory, *arena;
    unsigned inputs, outputs;
    mona_tensor_info infos[2 * MONA_MAX_IO]; /* inputs, then outputs */
    mona_buffer frames[2 * MONA_MAX_IO];
    size_t bytes[2 * MONA_MAX_IO];
} rig;

static mona_model embedded(const char *name)
{
    const embedded_model *m = embedded_model_find(name);
    mona_model model;
    assert_int_equal(mona_model_open(&model, m->begin, (size_t)(m->end - m->begin)), MONA_OK);
    return model;
}

static mona_status rig_plan(rig *r, mona_model model, const mona_config *config)
{
    r->model = model;
    r->memory = aligned_alloc(MONA_ALIGNMENT, mona_plan_bytes(&r->model));
    return mona_plan_make(&r->plan, r->memory, &r->model, config);
}

static void rig_open(rig *r, uint32_t *seed)
{
    const size_t bytes = mona_plan_arena_bytes(r->plan);
    r->arena = aligned_alloc(MONA_ALIGNMENT, bytes);
    assert_int_equal(mona_session_open(&r->session, r->plan, r->arena, bytes), MONA_OK);
    mona_session_io_count(r->session, &r->inputs, &r->outputs);
    for (unsigned t = 0; t < r->inputs + r->outputs; t++) {
        r->infos[t] =
            t < r->inputs ? mona_plan_input(r->plan, t) : mona_plan_output(r->plan, t - r->inputs);
        const size_t row = r->infos[t].width * mona_type_size(r->infos[t].type);
        r->bytes[t] = row * r->infos[t].height * r->infos[t].channels;
        uint8_t *data = malloc(r->bytes[t]);
        r->frames[t] = (mona_buffer){data, (ptrdiff_t)row, (ptrdiff_t)(row * r->infos[t].height)};
        for (size_t i = 0; i < r->bytes[t]; i++)
            data[i] = (uint8_t)(test_random(seed) & (r->infos[t].type == MONA_F16 ? 0x3b : 0xff));
    }
}

static void rig_close(rig *r)
{
    mona_session_close(r->session);
    for (unsigned t = 0; t < r->inputs + r->outputs; t++)
        free(r->frames[t].data);
    free(r->arena);
    free(r->memory);
}

/* Copies line `line` of tensor t between the frame and a buffer of one line. */
static void copy_line(const rig *r, unsigned t, uint32_t line, uint32_t count, uint8_t *lines,
                      mona_buffer *b, uint8_t *to_frame)
{
    const uint32_t rows = r->infos[t].height / count;
    const size_t row = (size_t)r->frames[t].row_stride;
    *b = (mona_buffer){lines, (ptrdiff_t)row, (ptrdiff_t)(rows * row)};
    for (uint32_t c = 0; c < r->infos[t].channels; c++) {
        const size_t at = c * (size_t)r->frames[t].channel_stride + (size_t)line * rows * row;
        if (to_frame)
            memcpy(to_frame + at, lines + c * rows * row, rows * row);
        else
            memcpy(lines + c * rows * row, (uint8_t *)r->frames[t].data + at, rows * row);
    }
}

/* Passes the frame line by line; returns the largest number of lines that were pushed beyond the
 * one that was pulled. */
static uint32_t pass(const rig *r, mona_lines lines, uint8_t *const *outputs)
{
    uint8_t *buffer[2 * MONA_MAX_IO];
    mona_buffer b[2 * MONA_MAX_IO];
    uint32_t pulled = 0, latency = 0;
    for (unsigned t = 0; t < r->inputs + r->outputs; t++)
        buffer[t] = malloc(r->bytes[t] / lines.count);
    for (uint32_t pushed = 0; pushed < lines.count;) {
        for (unsigned t = 0; t < r->inputs; t++)
            copy_line(r, t, pushed, lines.count, buffer[t], &b[t], NULL);
        assert_int_equal(mona_session_push_line(r->session, b), MONA_OK);
        pushed++;
        for (unsigned t = 0; t < r->inputs; t++)
            memset(buffer[t], 0xa5, r->bytes[t] / lines.count);
        for (bool ready = true; ready;) {
            for (unsigned t = r->inputs; t < r->inputs + r->outputs; t++)
                copy_line(r, t, 0, lines.count, buffer[t], &b[t], NULL);
            assert_int_equal(mona_session_pull_line(r->session, b + r->inputs, &ready), MONA_OK);
            for (unsigned t = r->inputs; ready && t < r->inputs + r->outputs; t++)
                copy_line(r, t, pulled, lines.count, buffer[t], &b[t], outputs[t - r->inputs]);
            pulled += ready;
            if (ready && pushed > pulled + latency)
                latency = pushed - pulled;
        }
    }
    assert_int_equal(pulled, lines.count);
    for (unsigned t = 0; t < r->inputs + r->outputs; t++)
        free(buffer[t]);
    return latency;
}

/* Returns the number of lines, 0 if the plan does not run line by line. */
static uint32_t compare(const char *name, mona_model model, mona_size size, uint32_t strip_rows,
                        uint32_t *seed)
{
    const mona_config config = {
        .threads = 1, .strip_rows = strip_rows, .sizes = {size}, .cache_bytes = 1 << 24};
    rig r = {0};
    mona_lines lines;
    uint8_t *outputs[MONA_MAX_IO];
    print_message("# %s at %ux%u, strips of %u\n", name, size.width, size.height, strip_rows);
    assert_int_equal(rig_plan(&r, model, &config), MONA_OK);
    if (mona_plan_lines(r.plan, &lines)) {
        free(r.memory);
        return 0;
    }
    rig_open(&r, seed);
    assert_true(lines.latency < lines.count);
    for (unsigned i = 0; i < r.outputs; i++)
        outputs[i] = malloc(r.bytes[r.inputs + i]);
    assert_int_equal(mona_session_run(r.session, r.frames, r.frames + r.inputs), MONA_OK);
    for (int frame = 0; frame < 2; frame++) {
        for (unsigned i = 0; i < r.outputs; i++)
            memset(outputs[i], 0x5a, r.bytes[r.inputs + i]);
        assert_int_equal(pass(&r, lines, outputs), lines.latency);
        for (unsigned i = 0; i < r.outputs; i++)
            assert_memory_equal(outputs[i], r.frames[r.inputs + i].data, r.bytes[r.inputs + i]);
        /* A frame that is given up leaves nothing behind. */
        assert_int_equal(mona_session_push_line(r.session, r.frames), MONA_OK);
        mona_session_drop_lines(r.session);
    }
    for (unsigned i = 0; i < r.outputs; i++)
        free(outputs[i]);
    rig_close(&r);
    return lines.count;
}

static void compare_embedded(const char *name, mona_size size, uint32_t strip_rows, uint32_t *seed)
{
    assert_true(compare(name, embedded(name), size, strip_rows, seed) > 1);
}

static void lines_give_the_bytes_of_frames(void **state)
{
    (void)state;
    static const mona_size sizes[] = {{96, 64}, {40, 18}, {130, 34}};
    uint32_t seed = 5;
    for (size_t i = 0; i < embedded_model_count; i++)
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
            if (!strstr(embedded_models[i].name, "colour")) /* it sees the picture as a whole */
                compare_embedded(embedded_models[i].name, sizes[k], k == 2 ? 3 : 2, &seed);
    compare_embedded("denoise_fast", sizes[0], 2, &seed);
    compare_embedded("sr_x2_fast", sizes[1], 1, &seed);
}

/* A LOAD in blocks. Stored: its sum with a plain LOAD; or one of its channels and, in blocks again,
 * all of them at 3/2 of the height. Tensors then have fewer rows than the planes. */
static uint8_t *blocks_model(uint32_t block, bool resized, size_t *size)
{
    model_builder *b = builder_new();
    const float scale = 1 / 255.f;
    const uint32_t in = builder_input(b, "in", MONA_U8, 1, scale);
    const uint32_t outputs[2] = {builder_output(b, "out", MONA_U8, 1, scale),
                                 resized ? builder_output(b, "larger", MONA_U8, 1, scale) : 0};
    const uint32_t plain = builder_tensor(b, "plain", MONA_U8, 1, scale);
    const uint32_t deep = builder_tensor(b, "deep", MONA_U8, block * block, scale);
    const uint32_t pair[2] = {plain, builder_tensor(b, "wide", MONA_U8, 1, scale)};
    const uint32_t made = builder_tensor(b, "made", MONA_U8, resized ? block * block : 1, scale);
    for (uint32_t i = 0; i < 2; i++) {
        mona_file_op *load = builder_op(b, MONA_OP_LOAD, i ? deep : plain, 1, &in);
        load->load.block[0] = (uint8_t)(i ? block : 1);
        load->load.scale[0] = 0x3c00;
    }
    builder_op(b, MONA_OP_DEPTH_TO_SPACE, pair[1], 1, &deep)->block = block;
    if (resized)
        builder_op(b, MONA_OP_RESIZE, made, 1, &deep)->resize =
            (mona_file_resize){.scale_h = {3, 2}, .scale_w = {1, 1}};
    else
        builder_op(b, MONA_OP_ADD, made, 2, pair)->elementwise.scale[0] = 0x3c00;
    for (uint32_t i = 0; i < 1u + resized; i++)
        builder_op(b, MONA_OP_STORE, outputs[i], 1, resized && !i ? &deep : &made)->store =
            (mona_file_store){.block = i ? block : 1, .scale = 0x3c00, .maximum = 255};
    return builder_finish(b, size);
}

static void lines_of_blocks_give_the_bytes_of_frames(void **state)
{
    (void)state;
    uint32_t seed = 7;
    for (uint32_t block = 2; block <= 4; block++)
        for (int resized = 0; resized < 2; resized++)
            for (uint32_t strip = 1; strip <= 8; strip++) {
                size_t size;
                mona_model model;
                uint8_t *bytes = blocks_model(block, resized, &size);
                assert_int_equal(mona_model_open(&model, bytes, size), MONA_OK);
                const uint32_t lines = compare("blocks", model, (mona_size){48, 48}, strip, &seed);
                /* A line has whole rows of everything, and a strip at least one line. */
                const uint32_t rows = resized ? 2 : block;
                assert_int_equal(lines, strip < rows ? 0 : 48 / block / (resized ? 2 : 1));
                free(bytes);
            }
}

enum { MAX_CHANNELS = 4, MAX_KERNEL = 7 };

/* A window of the test below. pixels: 2 if DEPTH_TO_SPACE makes 2 x 2 pixels of the result. */
typedef struct window {
    uint16_t kernel, stride, top, bottom;
    uint32_t pixels;
    mona_file_pad pad; /* before it, unless all pads are 0 */
} window;

static uint32_t add_window(model_builder *b, const window *w, uint32_t from, uint32_t *seed)
{
    static const uint16_t scales[MAX_CHANNELS] = {0x3400, 0x3400, 0x3400, 0x3400};
    const uint32_t channels = w->pixels * w->pixels;
    int8_t weights[MAX_CHANNELS * MAX_KERNEL * MAX_KERNEL];
    for (size_t i = 0; i < sizeof weights; i++)
        weights[i] = (int8_t)(test_random(seed) % 5);
    if (w->pad.top || w->pad.bottom) {
        const uint32_t inner = from;
        from = builder_tensor(b, "padded", MONA_U8, 1, 1 / 255.f);
        builder_op(b, MONA_OP_PAD, from, 1, &inner)->pad = w->pad;
    }
    uint32_t made = builder_tensor(b, "map", MONA_U8, channels, 1 / 255.f);
    builder_op(b, MONA_OP_CONV, made, 1, &from)->conv = (mona_file_conv){
        .kernel_h = w->kernel,
        .kernel_w = w->kernel,
        .stride_h = w->stride,
        .stride_w = 1,
        .dilation_h = 1,
        .dilation_w = 1,
        .pad_top = w->top,
        .pad_bottom = w->bottom,
        .pad_left = w->kernel,
        .groups = 1,
        .weights = builder_data(b, weights, (size_t)channels * w->kernel * w->kernel),
        .bias = MONA_NONE,
        .scales = builder_data(b, scales, channels * 2)};
    if (w->pixels > 1) {
        const uint32_t deep = made;
        made = builder_tensor(b, "pixels", MONA_U8, 1, 1 / 255.f);
        builder_op(b, MONA_OP_DEPTH_TO_SPACE, made, 1, &deep)->block = w->pixels;
    }
    return made;
}

/* smaller: at a quarter of the height, which leaves the first row of the input unread. */
static uint8_t *windows_model(const window windows[2], bool smaller, uint32_t *seed, size_t *size)
{
    model_builder *b = builder_new();
    const uint32_t in = builder_input(b, "in", MONA_U8, 1, 1 / 255.f);
    const uint32_t out = builder_output(b, "out", MONA_U8, 1, 1 / 255.f);
    uint32_t last = builder_tensor(b, "loaded", MONA_U8, 1, 1 / 255.f);
    mona_file_op *load = builder_op(b, MONA_OP_LOAD, last, 1, &in);
    load->load.block[0] = 1;
    load->load.scale[0] = 0x3c00;
    if (smaller) {
        const uint32_t loaded = last;
        last = builder_tensor(b, "smaller", MONA_U8, 1, 1 / 255.f);
        builder_op(b, MONA_OP_RESIZE, last, 1, &loaded)->resize =
            (mona_file_resize){.mode = MONA_RESIZE_LINEAR, .scale_h = {1, 4}, .scale_w = {1, 1}};
    }
    for (uint32_t i = 0; i < 2; i++)
        last = add_window(b, &windows[i], last, seed);
    builder_op(b, MONA_OP_STORE, out, 1, &last)->store =
        (mona_file_store){.block = 1, .scale = 0x3c00, .maximum = 255};
    return builder_finish(b, size);
}

/* Where pads are large, the first lines of the output need none of the input, and the last none
 * that the ones before did not need. Few strips of 64 rows need less deep rings than lines may. */
static void lines_of_padded_windows_give_the_bytes_of_frames(void **state)
{
    (void)state;
    uint32_t seed = 9, several = 0;
    for (uint32_t n = 0; n < 3000; n++) {
        const bool smaller = test_random(&seed) % 4 == 0;
        const uint32_t height = 12 + 2 * (test_random(&seed) % 3);
        const uint32_t strip = (uint32_t[]){64, 64, 7, 3}[test_random(&seed) % 4];
        window windows[2];
        size_t size;
        mona_model model;
        for (uint32_t i = 0; i < 2; i++)
            windows[i] = (window){.kernel = (uint16_t)(1 + test_random(&seed) % 3),
                                  .stride = (uint16_t)(1 + test_random(&seed) % 3),
                                  .top = (uint16_t)(test_random(&seed) % 8),
                                  .bottom = (uint16_t)(test_random(&seed) % 8),
                                  .pixels = 1 + test_random(&seed) % 2};
        if (test_random(&seed) % 8 == 0)
            windows[1].stride = 20; /* of few windows, perhaps all in padding */
        uint8_t *bytes = windows_model(windows, smaller, &seed, &size);
        assert_int_equal(mona_model_open(&model, bytes, size), MONA_OK);
        several += compare("windows", model, (mona_size){19, smaller ? 4 * height : height}, strip,
                           &seed) > 1;
        free(bytes);
    }
    assert_true(several > 300);
}

/* A kernel of an application's, with rows above and below, and cells of 2 x 2 samples. */
static void lines_of_kernels_give_the_bytes_of_frames(void **state)
{
    (void)state;
    uint32_t seed = 13;
    for (uint32_t strip = 1; strip <= 8; strip++) {
        size_t size;
        mona_model model;
        model_builder *b = mix_model(NULL);
        b->tensors[1].height = 48, b->tensors[1].width = 74;
        uint8_t *bytes = builder_finish(b, &size);
        assert_int_equal(mix_open(&model, bytes, size), MONA_OK);
        assert_int_equal(compare("kernel", model, (mona_size){37, 24}, strip, &seed), 24);
        free(bytes);
    }
}

/* Up to 3 rows of samples that repeat above and below windows as high as both, in images of hardly
 * more rows. */
static void lines_of_repeated_rows_give_the_bytes_of_frames(void **state)
{
    (void)state;
    uint32_t seed = 11, several = 0;
    for (uint32_t n = 0; n < CASES(300); n++) {
        window windows[2];
        size_t size;
        mona_model model;
        for (uint32_t i = 0; i < 2; i++) {
            const mona_file_pad pad = {.mode = test_random(&seed) % 2 ? MONA_PAD_REFLECT
                                                                      : MONA_PAD_EDGE,
                                       .top = (uint8_t)(test_random(&seed) % 4),
                                       .bottom = (uint8_t)(test_random(&seed) % 4),
                                       .left = (uint8_t)(test_random(&seed) % 4)};
            windows[i] = (window){.kernel = (uint16_t)(1 + pad.top + pad.bottom),
                                  .stride = (uint16_t)(1 + test_random(&seed) % 2),
                                  .pixels = 1 + test_random(&seed) % 2,
                                  .pad = pad};
        }
        uint8_t *bytes = windows_model(windows, false, &seed, &size);
        assert_int_equal(mona_model_open(&model, bytes, size), MONA_OK);
        several += compare("repeated rows", model, (mona_size){19, 8 + 4 * (n % 4)},
                           1 + test_random(&seed) % 4, &seed) > 1;
        free(bytes);
    }
    assert_true(several > CASES(300) / 3);
}

static void calls_out_of_order_are_told(void **state)
{
    (void)state;
    const mona_config config = {.threads = 1, .sizes = {{64, 32}}};
    uint32_t seed = 1;
    bool ready;
    rig r = {0};
    assert_int_equal(rig_plan(&r, embedded("sr_x2_fast"), &config), MONA_OK);
    rig_open(&r, &seed);
    mona_session *s = r.session;
    mona_lines lines;
    const mona_buffer none[MONA_MAX_IO] = {{0}}, *in = r.frames, *out = r.frames + r.inputs;
    assert_int_equal(mona_plan_lines(r.plan, &lines), MONA_OK);
    assert_int_equal(mona_session_push_line(NULL, in), MONA_ERR_ARGUMENT);
    assert_int_equal(mona_session_push_line(s, none), MONA_ERR_ARGUMENT);
    assert_int_equal(mona_session_pull_line(s, none, &ready), MONA_ERR_ARGUMENT);
    assert_int_equal(mona_session_pull_line(s, out, NULL), MONA_ERR_ARGUMENT);
    assert_int_equal(mona_session_pull_line(s, out, &ready), MONA_OK);
    assert_false(ready);
    for (uint32_t i = 0; i <= lines.latency; i++)
        assert_int_equal(mona_session_push_line(s, in), MONA_OK);
    assert_int_equal(mona_session_push_line(s, in), MONA_ERR_STATE);
    assert_int_equal(mona_session_pull_line(s, out, &ready), MONA_OK);
    assert_true(ready);
    /* A whole frame gives up the one that was begun. */
    assert_int_equal(mona_session_run(s, in, out), MONA_OK);
    assert_int_equal(mona_session_pull_line(s, out, &ready), MONA_OK);
    assert_false(ready);
    assert_int_equal(mona_session_push_line(s, in), MONA_OK);
    mona_session_drop_lines(NULL);
    rig_close(&r);
}

static void other_plans_are_refused(void **state)
{
    (void)state;
    const mona_config configs[] = {
        {.threads = 2, .sizes = {{256, 64}}},
        {.threads = 1, .tile_columns = 128, .sizes = {{256, 64}}},
    };
    uint32_t seed = 1;
    for (size_t i = 0; i < 2; i++) {
        rig r = {0};
        mona_lines lines;
        bool ready;
        assert_int_equal(rig_plan(&r, embedded("sr_x2_fast"), &configs[i]), MONA_OK);
        rig_open(&r, &seed);
        assert_int_equal(mona_plan_lines(r.plan, &lines), MONA_ERR_UNSUPPORTED);
        assert_int_equal(mona_session_push_line(r.session, r.frames), MONA_ERR_UNSUPPORTED);
        assert_int_equal(mona_session_pull_line(r.session, r.frames + 1, &ready),
                         MONA_ERR_UNSUPPORTED);
        rig_close(&r);
    }
}

static uint32_t tick(void *clock)
{
    return (*(uint32_t *)clock)++;
}

/* Runs a frame in slices; returns their number. */
static uint32_t run_slices(const rig *r, uint32_t budget, uint32_t limit)
{
    uint32_t clock = UINT32_MAX - 5, slices = 0;
    const mona_slice slice = {tick, &clock, budget};
    for (bool done = false; !done && slices < limit; slices++)
        assert_int_equal(
            mona_session_step(r->session, r->frames, r->frames + r->inputs, &slice, &done),
            MONA_OK);
    return slices;
}

/* Of one output. */
static void compare_slices(const char *name, const mona_config *config)
{
    static const uint32_t budgets[] = {0, 2, 50, UINT32_MAX};
    uint32_t seed = 1, most = UINT32_MAX;
    rig r = {0};
    print_message("# %s\n", name);
    assert_int_equal(rig_plan(&r, embedded(name), config), MONA_OK);
    rig_open(&r, &seed);
    mona_buffer *out = &r.frames[r.inputs];
    uint8_t *wanted = malloc(r.bytes[r.inputs]);
    assert_int_equal(mona_session_run(r.session, r.frames, out), MONA_OK);
    memcpy(wanted, out->data, r.bytes[r.inputs]);
    for (size_t i = 0; i < sizeof budgets / sizeof *budgets; i++) {
        /* A frame that is given up for a whole one. */
        run_slices(&r, 0, 5 + 30 * (uint32_t)i);
        assert_int_equal(mona_session_run(r.session, r.frames, out), MONA_OK);
        memset(out->data, 0xa5, r.bytes[r.inputs]);
        const uint32_t slices = run_slices(&r, budgets[i], UINT32_MAX);
        assert_memory_equal(out->data, wanted, r.bytes[r.inputs]);
        assert_true(slices <= most && (budgets[i] || slices > 20));
        most = slices;
    }
    assert_int_equal(most, 1);
    free(wanted);
    rig_close(&r);
}

static void slices_give_the_bytes_of_frames(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        mona_config config;
    } cases[] = {
        {"sr_x2_fast", {.threads = 1, .sizes = {{64, 33}}}},
        {"sr_x2_fast", {.threads = 1, .tile_columns = 32, .strip_rows = 3, .sizes = {{100, 20}}}},
        {"denoise_fast", {.threads = 1, .sizes = {{32, 16}}}},
        {"sr_x2_best", {.threads = 1, .sizes = {{24, 16}}}},
        {"sr_x2_balanced", {.threads = 1, .cache_bytes = 1024, .sizes = {{24, 16}}}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        compare_slices(cases[i].name, &cases[i].config);
}

static void wrong_slices_are_refused(void **state)
{
    (void)state;
    uint32_t seed = 1, clock = 0;
    const mona_config config = {.threads = 2, .sizes = {{64, 64}}};
    const mona_slice slice = {tick, &clock, 1}, none = {NULL, NULL, 1};
    rig r = {0};
    bool done;
    assert_int_equal(rig_plan(&r, embedded("sr_x2_fast"), &config), MONA_OK);
    rig_open(&r, &seed);
    const mona_buffer *out = r.frames + r.inputs;
    assert_int_equal(mona_session_step(r.session, r.frames, out, &slice, &done),
                     MONA_ERR_UNSUPPORTED);
    assert_int_equal(mona_session_step(NULL, r.frames, out, &slice, &done), MONA_ERR_ARGUMENT);
    assert_int_equal(mona_session_step(r.session, NULL, out, &slice, &done), MONA_ERR_ARGUMENT);
    assert_int_equal(mona_session_step(r.session, r.frames, out, &none, &done), MONA_ERR_ARGUMENT);
    assert_int_equal(mona_session_step(r.session, r.frames, out, &slice, NULL), MONA_ERR_ARGUMENT);
    rig_close(&r);
}

static void positions_scale_in_32_bits(void **state)
{
    (void)state;
    uint32_t seed = 3;
    for (uint32_t i = 0; i < 200000; i++) {
        const bool extreme = test_random(&seed) % 4 == 0;
        const uint32_t to = extreme ? 32767 : 1 + test_random(&seed) % 32768;
        const uint32_t from = extreme ? 32768 : 1 + test_random(&seed) % 32768;
        const int64_t position = extreme ? -65536 : (int64_t)(test_random(&seed) % 131073) - 65536;
        assert_true(scale_position(position, to, from) == floor_div(position * to, from));
        assert_true(floor_div_small((int32_t)position, (int32_t)from) == floor_div(position, from));
        const uint32_t index = test_random(&seed) % 65;
        assert_true(share_begin(to, index, 64) == (uint64_t)to * index / 64);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_give_the_bytes_of_frames),
        cmocka_unit_test(lines_of_blocks_give_the_bytes_of_frames),
        cmocka_unit_test(lines_of_padded_windows_give_the_bytes_of_frames),
        cmocka_unit_test(lines_of_repeated_rows_give_the_bytes_of_frames),
        cmocka_unit_test(lines_of_kernels_give_the_bytes_of_frames),
        cmocka_unit_test(calls_out_of_order_are_told),
        cmocka_unit_test(other_plans_are_refused),
        cmocka_unit_test(slices_give_the_bytes_of_frames),
        cmocka_unit_test(wrong_slices_are_refused),
        cmocka_unit_test(positions_scale_in_32_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
