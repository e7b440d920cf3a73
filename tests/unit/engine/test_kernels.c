// SPDX-License-Identifier: Apache-2.0
/* Every kernel, on every instruction set this CPU has, against a plain loop over whole tensors that
 * shares nothing with the engine: values are doubles, fp16 rounding is done on doubles, and layouts
 * are C x H x W. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/cpu/c/f16.h"
#include "engine/run/isas.h"
#include "engine/op/op.h"
#include "tests/unit/reference.h"

/* ---- instruction sets ----------------------------------------------------------------------- */

static const mona_isa *isa_at(size_t index)
{
    for (size_t i = 0; i < MONA_ISAS; i++)
        if (!(mona_isas[i].needs & ~mona_port_cpu_features()) && index-- == 0)
            return mona_isas[i].isa;
    return NULL;
}

/* ---- fp16 ----------------------------------------------------------------------------------- */

static void test_half_conversions(void **unused)
{
    (void)unused;
    for (uint32_t h = 0; h < 0x10000; h++) {
        if ((h & 0x7c00) == 0x7c00)
            continue;
        const float f = mona_f32_from_f16((uint16_t)h);
        assert_true((double)f == value_of_half((uint16_t)h));
        assert_int_equal(mona_f16_from_f32(f), h);
        /* the midpoint to the next value, and its neighbours */
        const float next = (h & 0x7fff) < 0x7bff ? mona_f32_from_f16((uint16_t)(h + 1)) : f;
        const float middle = (float)(((double)f + (double)next) / 2);
        const float around[] = {nextafterf(middle, f), middle, nextafterf(middle, next)};
        for (int i = 0; i < 3; i++)
            assert_true(value_of_half(mona_f16_from_f32(around[i])) == half((double)around[i]));
    }
    assert_int_equal(mona_f16_from_f32(INFINITY), 0x7bff);
    assert_int_equal(mona_f16_from_f32(-INFINITY), 0xfbff);
    assert_int_equal(mona_f16_from_f32(65520), 0x7bff);
    assert_int_equal(mona_f16_from_f32(NAN), 0);
}

/* ---- convolution ---------------------------------------------------------------------------- */

typedef struct conv {
    mona_file_op op;
    tensor input, residual, output; /* residual: no channels if there is none */
    double *weights, *bias, *scales, *slopes;
    double low, high, residual_scale, output_scale;
    _Alignas(64) uint8_t data[1 << 16];
    uint32_t used;
} conv;

/* Appends values to the data section; they are also kept as doubles. */
static uint32_t add_values(conv *k, double **kept, int count, mona_type type, double scale)
{
    const uint32_t offset = k->used;
    *kept = calloc((size_t)count, sizeof **kept);
    for (int i = 0; i < count; i++) {
        (*kept)[i] = type == MONA_S8 ? between(-127, 127) : half(between(0, 2000) * scale - 0.1);
        put(k->data + offset + (size_t)i * element_bytes(type), type, (*kept)[i]);
    }
    k->used = (offset + (uint32_t)count * (uint32_t)element_bytes(type) + 63) / 64 * 64;
    assert_true(k->used <= sizeof k->data);
    return offset;
}

static uint32_t add_bias(conv *k, int count, bool is_half)
{
    const uint32_t offset = k->used;
    k->bias = calloc((size_t)count, sizeof *k->bias);
    for (int i = 0; i < count; i++) {
        const int32_t b = between(-20000, 20000);
        const float f = (float)b / 16384;
        k->bias[i] = is_half ? (double)f : b;
        memcpy(k->data + offset + 4 * i, is_half ? (const void *)&f : (const void *)&b, 4);
    }
    k->used = (offset + 4 * (uint32_t)count + 63) / 64 * 64;
    return offset;
}

static void set_epilogue(conv *k, int channels)
{
    mona_file_epilogue *e = &k->op.epilogue;
    k->low = half(between(-200, 0) / 7.0);
    k->high = half(between(0, 900) / 7.0);
    k->residual_scale = half(between(-100, 100) / 50.0);
    k->output_scale = between(0, 1) ? 1 : half(between(1, 100) / 50.0);
    *e = (mona_file_epilogue){
        .activation = (uint8_t)between(0, 3),
        .activation_after_add = (uint8_t)(between(0, 2) ? MONA_ACT_RELU : MONA_ACT_CLIP),
        .clip_min = bits_of_half(k->low),
        .clip_max = bits_of_half(k->high),
        .residual_scale = bits_of_half(k->residual_scale),
        .output_scale = bits_of_half(k->output_scale),
        .slopes = MONA_NONE,
    };
    if (e->activation == MONA_ACT_PRELU)
        e->slopes = add_values(k, &k->slopes, channels, MONA_F16, 0.001);
}

static int out_size(int in, int pad, int kernel, int dilation, int stride)
{
    return (in + pad - dilation * (kernel - 1) - 1) / stride + 1;
}

static conv *random_conv(void)
{
    conv *k = calloc(1, sizeof *k);
    mona_file_conv *c = &k->op.conv;
    c->groups = between(0, 2) ? 1 : (uint32_t)between(2, 4);
    const int groups = (int)c->groups;
    const int in = groups * between(1, groups > 1 ? 6 : 20),
              out = groups * between(1, groups > 1 ? 6 : 20);
    c->kernel_h = (uint16_t)between(1, 3);
    c->kernel_w = (uint16_t)between(1, 3);
    c->stride_h = (uint16_t)between(1, 2);
    c->stride_w = (uint16_t)between(1, 2);
    c->dilation_h = (uint16_t)between(1, 2);
    c->dilation_w = (uint16_t)between(1, 2);
    c->pad_top = (uint16_t)between(0, 2);
    c->pad_left = (uint16_t)between(0, 2);
    c->pad_bottom = (uint16_t)between(0, 2);
    c->pad_right = (uint16_t)between(0, 2);
    k->input = random_tensor(in, between(5, 7), between(5, 60), (mona_type)between(0, 2));
    const bool is_half = k->input.type == MONA_F16;
    k->output = new_tensor(out,
                           out_size(k->input.height, c->pad_top + c->pad_bottom, c->kernel_h,
                                    c->dilation_h, c->stride_h),
                           out_size(k->input.width, c->pad_left + c->pad_right, c->kernel_w,
                                    c->dilation_w, c->stride_w),
                           (mona_type)between(0, 2));
    c->weights = add_values(k, &k->weights, out * (in / groups) * c->kernel_h * c->kernel_w,
                            is_half ? MONA_F16 : MONA_S8, 0.0005);
    c->bias = between(0, 3) ? add_bias(k, out, is_half) : MONA_NONE;
    c->scales = MONA_NONE;
    if (!is_half) {
        c->scales = add_values(k, &k->scales, out, MONA_F16, 0.0001);
        for (int i = 0; i < out; i++) { /* never negative */
            k->scales[i] = fabs(k->scales[i]) / 16;
            k->scales[i] = half(k->scales[i]);
            put(k->data + c->scales + 2 * i, MONA_F16, k->scales[i]);
        }
    }
    k->op.kind = MONA_OP_CONV;
    k->op.input_count = (uint32_t)between(1, 2);
    if (k->op.input_count == 2)
        k->residual = random_tensor(between(0, 2) ? out : 1, k->output.height, k->output.width,
                                    (mona_type)between(0, 2));
    set_epilogue(k, out);
    return k;
}

static void free_conv(conv *k)
{
    free(k->input.v);
    free(k->residual.v);
    free(k->output.v);
    free(k->weights);
    free(k->bias);
    free(k->scales);
    free(k->slopes);
    free(k);
}

/* fp32 accumulation by fused multiply-add in the contract's order: blocks of 16 channels, kernel
 * rows, kernel columns, channels of the block. For integers the doubles below are exact in any
 * order. */
static double accumulate(const conv *k, int o, int oy, int ox)
{
    const mona_file_conv *c = &k->op.conv;
    const int per = k->input.channels / (int)c->groups;
    const int group = o / (k->output.channels / (int)c->groups);
    float sum = k->bias ? (float)k->bias[o] : 0;
    double exact = k->bias ? k->bias[o] : 0;
    for (int c1 = 0; c1 < k->input.channels; c1 += 16)
        for (int ky = 0; ky < c->kernel_h; ky++)
            for (int kx = 0; kx < c->kernel_w; kx++)
                for (int i = c1; i < c1 + 16 && i < k->input.channels; i++) {
                    const int y = oy * c->stride_h - c->pad_top + ky * c->dilation_h;
                    const int x = ox * c->stride_w - c->pad_left + kx * c->dilation_w;
                    if (i / per != group || y < 0 || y >= k->input.height || x < 0 ||
                        x >= k->input.width)
                        continue;
                    const double w =
                        k->weights[((o * per + i % per) * c->kernel_h + ky) * c->kernel_w + kx];
                    const double a = *at(&k->input, i, y, x);
                    sum = fmaf((float)a, (float)w, sum);
                    exact += a * w;
                }
    return k->input.type == MONA_F16 ? (double)sum : exact;
}

static void expect_conv(conv *k)
{
    const mona_file_epilogue *e = &k->op.epilogue;
    for (int o = 0; o < k->output.channels; o++)
        for (int y = 0; y < k->output.height; y++)
            for (int x = 0; x < k->output.width; x++) {
                double t = accumulate(k, o, y, x);
                if (k->scales) {
                    const float acc = (float)t, scale = (float)k->scales[o];
                    t = (double)(acc * scale);
                }
                t = activated(e->activation, half(t), k->slopes ? k->slopes[o] : 0, k->low,
                              k->high);
                if (k->residual.channels) {
                    const double r = *at(&k->residual, k->residual.channels > 1 ? o : 0, y, x);
                    t = half(t + half(r * k->residual_scale));
                }
                t = activated(e->activation_after_add, t, 0, k->low, k->high);
                *at(&k->output, o, y, x) = stored(k->output.type, half(t * k->output_scale));
            }
}

static mona_shape shape_of(const tensor *t)
{
    return (mona_shape){
        (uint32_t)t->channels, (uint32_t)t->height, (uint32_t)t->width, t->type, 0, {0}};
}

/* Runs columns in two pieces, to see that x_begin is honoured. */
static void run_conv(conv *k, const mona_isa *isa)
{
    enum { MARGIN = 8 };
    rows_memory in = to_rows(&k->input, MARGIN), out = to_rows(&k->output, 0), residual = {0};
    memset(out.bytes, 0, (size_t)k->output.height * out.block_stride);
    if (k->residual.channels)
        residual = to_rows(&k->residual, 0);
    mona_bound_op b = {
        .op = &k->op,
        .data = k->data,
        .target = &ac_target_host,
        .isa = isa,
        .input = {shape_of(&k->input), shape_of(&k->residual)},
        .output = shape_of(&k->output),
        .input_c0 = {in.c0, residual.c0},
        .output_c0 = out.c0,
    };
    mona_shape inferred = b.output;
    mona_data data = {.bytes = k->data, .size = k->used, .left = INT64_MAX};
    assert_int_equal(mona_op_conv.check(&k->op, b.input, &b.output, &data), MONA_OK);
    assert_int_equal(mona_op_conv.infer(&k->op, b.input, &inferred), MONA_OK);
    assert_memory_equal(&inferred, &b.output, sizeof inferred);
    b.constants = aligned_alloc(64, (mona_op_conv.constants_bytes(&b) + 63) / 64 * 64);
    mona_op_conv.bind(&b);
    uint8_t *scratch =
        aligned_alloc(64, (mona_op_conv.scratch_bytes(&b, b.output.width) + 63) / 64 * 64);
    for (int64_t y = 0; y < k->output.height; y++) {
        const mona_span window = mona_run_conv.rows(&b, 0, (mona_span){y, y + 1});
        uint8_t *rows[16];
        for (int64_t i = window.begin; i < window.end; i++)
            rows[i - window.begin] = in.row[i + MARGIN];
        mona_row_call call = {
            .bound = &b,
            .scratch = scratch,
            .y = y,
            .input = {{rows, in.block_stride, -MARGIN},
                      {residual.row ? residual.row + y : NULL, residual.block_stride, 0}},
            .output = {out.row + y, out.block_stride, 0},
        };
        const int64_t ends[] = {b.output.width / 3, b.output.width};
        for (int i = 0; i < 2; i++) {
            call.x_end = ends[i];
            if (call.x_end > call.x_begin)
                mona_run_conv.row(&call);
            call.x_begin = call.x_end;
        }
    }
    assert_same(&k->output, &out, isa->name);
    free(scratch);
    free(b.constants);
    free_rows(&in);
    free_rows(&out);
    free_rows(&residual);
}

static void test_conv(void **unused)
{
    (void)unused;
    state = 11;
    for (int i = 0; i < 150; i++) {
        conv *k = random_conv();
        expect_conv(k);
        for (size_t n = 0; isa_at(n); n++)
            run_conv(k, isa_at(n));
        free_conv(k);
    }
}

/* Whatever would make a later access or sum go wrong is refused. */
static void test_conv_refuses(void **unused)
{
    (void)unused;
    _Alignas(64) uint8_t data[1024] = {0};
    const mona_shape input = {4, 0, 0, MONA_U8, 0, {0}}, output = {2, 0, 0, MONA_U8, 0, {0}};
    const mona_file_op good = {
        .kind = MONA_OP_CONV,
        .input_count = 1,
        .epilogue = {.output_scale = 0x3c00, .slopes = MONA_NONE},
        .conv = {.kernel_h = 1,
                 .kernel_w = 1,
                 .stride_h = 1,
                 .stride_w = 1,
                 .dilation_h = 1,
                 .dilation_w = 1,
                 .groups = 1,
                 .weights = 0,
                 .bias = MONA_NONE,
                 .scales = 64},
    };
    mona_data section = {.bytes = data, .size = sizeof data, .left = INT64_MAX};
    mona_file_op op;
#define REFUSED(change)                                                                            \
    do {                                                                                           \
        op = good;                                                                                 \
        change;                                                                                    \
        assert_int_equal(mona_op_conv.check(&op, &input, &output, &section), MONA_ERR_MODEL);      \
    } while (0)
    assert_int_equal(mona_op_conv.check(&good, &input, &output, &section), MONA_OK);
    REFUSED(op.conv.kernel_h = 0);
    REFUSED(op.conv.kernel_w = 256);
    REFUSED(op.conv.stride_w = 64);
    REFUSED(op.conv.stride_h = 0);
    REFUSED(op.conv.dilation_w = 256);
    REFUSED(op.conv.pad_left = 256);
    REFUSED(op.conv.groups = 0);
    REFUSED(op.conv.groups = 3);
    REFUSED(op.conv.weights = 1024);
    REFUSED(op.conv.weights = 32);
    REFUSED(op.conv.weights = MONA_NONE);
    REFUSED(op.conv.kernel_h = op.conv.kernel_w = 255);
    REFUSED(op.conv.bias = 2048);
    REFUSED(op.conv.scales = MONA_NONE);
    REFUSED(op.epilogue.activation = MONA_ACT_COUNT);
    REFUSED(op.epilogue.activation = MONA_ACT_PRELU);
    REFUSED(op.epilogue.output_scale = 0x7c00);
    data[3] = 0x80; /* -128 */
    REFUSED((void)0);
    data[3] = 0;
    data[65] = 0x80; /* a negative scale */
    REFUSED((void)0);
    data[65] = 0;
    const int32_t bias = INT32_MAX;
    memcpy(data + 128, &bias, sizeof bias);
    data[0] = 1; /* 255 + INT32_MAX overflows */
    REFUSED(op.conv.bias = 128);
    data[0] = 0;
    op = good;
    op.conv.bias = 128;
    assert_int_equal(mona_op_conv.check(&op, &input, &output, &section), MONA_OK);
#undef REFUSED
}

/* ---- planes --------------------------------------------------------------------------------- */

static void test_pack_and_unpack(void **unused)
{
    (void)unused;
    state = 21;
    for (int round = 0; round < 300; round++) {
        const int block = between(1, 4), planes = between(1, 3), pixels = between(1, 70);
        const int channels = planes * block * block, width = pixels * block;
        const bool halves = between(0, 1);
        const mona_type type = halves ? (mona_type)(between(0, 1) ? MONA_U16 : MONA_U8) : MONA_U8;
        const int most = type == MONA_U16 ? 1023 : 255;
        const float scale = halves ? 0.25f : 1, inverse = halves ? 4 : 1;
        /* sample (plane p, row dy) of width samples */
        const size_t size = element_bytes(type), stride = (size_t)width * size;
        uint8_t *in = malloc(stride * (size_t)(planes * block)),
                *out = malloc(stride * (size_t)(planes * block));
        for (int i = 0; i < width * planes * block; i++)
            put(in + (size_t)i * size, type, between(0, most));
        const uint8_t *source[48];
        uint8_t *rows[12];
        uint32_t step[48];
        float scales[48];
        for (int c = 0; c < channels; c++) {
            const int plane = c / (block * block), dy = c / block % block, dx = c % block;
            source[c] = in + (size_t)(plane * block + dy) * stride + (size_t)dx * size;
            step[c] = (uint32_t)((size_t)block * size);
            scales[c] = scale;
        }
        for (int r = 0; r < planes * block; r++)
            rows[r] = out + (size_t)r * stride;
        const tensor packed = new_tensor(channels, 1, pixels, halves ? MONA_F16 : MONA_U8);
        for (int c = 0; c < channels; c++)
            for (int x = 0; x < pixels; x++)
                *at(&packed, c, 0, x) =
                    half(get(source[c] + (size_t)x * step[c], type) * (double)scale);
        for (size_t n = 0; isa_at(n); n++) {
            rows_memory m = to_rows(&packed, 0);
            const mona_row row = {m.row[0], m.block_stride, m.c0, packed.type};
            memset(m.row[0], 0xaa, m.block_stride);
            isa_at(n)->pack_row(&(mona_pack_row){(uint32_t)channels, (uint32_t)pixels, source, step,
                                                 scales, type, row});
            assert_same(&packed, &m, isa_at(n)->name);
            memset(out, 0, stride * (size_t)(planes * block));
            isa_at(n)->unpack_row(
                &(mona_unpack_row){row,
                                   0,
                                   (uint32_t)channels,
                                   (uint32_t)pixels,
                                   {rows, (uint32_t)block, type, inverse, (uint32_t)most}});
            assert_memory_equal(in, out, stride * (size_t)(planes * block));
            free_rows(&m);
        }
        free(packed.v);
        free(in);
        free(out);
    }
}

static void test_unpack_saturates(void **unused)
{
    (void)unused;
    const double values[] = {-3, 0.5, 1.5, 2.5, 254.5, 255.5, 65504, 300, -0.25, 17};
    const double wanted[] = {0, 0, 2, 2, 254, 255, 255, 255, 0, 17};
    tensor t = new_tensor(1, 1, 10, MONA_F16);
    memcpy(t.v, values, sizeof values);
    for (size_t n = 0; isa_at(n); n++) {
        rows_memory m = to_rows(&t, 0);
        uint8_t out[10], *rows[] = {out};
        isa_at(n)->unpack_row(&(mona_unpack_row){
            {m.row[0], m.block_stride, m.c0, MONA_F16}, 0, 1, 10, {rows, 1, MONA_U8, 1, 255}});
        for (int i = 0; i < 10; i++)
            assert_int_equal(out[i], (int)wanted[i]);
        free_rows(&m);
    }
    free(t.v);
}

/* ---- resize --------------------------------------------------------------------------------- */

/* Cubic doubling and arbitrary linear, with fp32 sums in the contract's order. */
static void resize_once(mona_type type, int taps, int channels, int in, int out, double ratio)
{
    tensor source = random_tensor(channels, taps, in, type);
    tensor result = new_tensor(channels, 1, out, type);
    float wy[4] = {0}, *wx = calloc((size_t)(out * taps), sizeof *wx);
    int32_t *first = calloc((size_t)out, sizeof *first);
    for (int t = 0; t < taps; t++)
        wy[t] = (float)between(-100, 700) / 640;
    for (int x = 0; x < out; x++) {
        first[x] = (int32_t)floor((x + 0.5) / ratio - 0.5) - taps / 2 + 1;
        for (int t = 0; t < taps; t++)
            wx[x * taps + t] = (float)((x % 2 ? t : taps - 1 - t) * 3 - 2) / 11;
    }
    for (int c = 0; c < channels; c++)
        for (int x = 0; x < out; x++) {
            float sum = 0;
            for (int t = 0; t < taps; t++) {
                const int column = (int)fmax(0, fmin(in - 1, first[x] + t));
                float above = 0;
                for (int r = 0; r < taps; r++) {
                    const float product = (float)*at(&source, c, r, column) * wy[r];
                    above = r ? above + product : product;
                }
                const float product = above * wx[x * taps + t];
                sum = t ? sum + product : product;
            }
            *at(&result, c, 0, x) = stored(type, (double)sum);
        }
    for (size_t n = 0; isa_at(n); n++) {
        rows_memory s = to_rows(&source, 0), r = to_rows(&result, 0);
        mona_resize_row call = {
            .type = type,
            .taps_y = (uint32_t)taps,
            .taps_x = (uint32_t)taps,
            .weight_y = {wy[0], wy[1], wy[2], wy[3]},
            .in_columns = (uint32_t)in,
            .c0 = s.c0,
            .first = first,
            .weight_x = wx,
            .out_columns = (uint32_t)out,
            .scratch = aligned_alloc(64, ((size_t)in * s.c0 + 32 + 15) / 16 * 64),
        };
        memset(r.bytes, 0, r.block_stride);
        for (int block = 0; block * (int)s.c0 < channels; block++) {
            for (int t = 0; t < taps; t++)
                call.rows[t] = s.row[t] + (size_t)block * s.block_stride;
            call.out = r.row[0] + (size_t)block * r.block_stride;
            isa_at(n)->resize_row(&call);
        }
        assert_same(&result, &r, isa_at(n)->name);
        free(call.scratch);
        free_rows(&s);
        free_rows(&r);
    }
    free(source.v);
    free(result.v);
    free(wx);
    free(first);
}

static void test_resize(void **unused)
{
    (void)unused;
    state = 31;
    for (int round = 0; round < 40; round++) {
        const int in = between(1, 90), channels = between(0, 1) ? 1 : between(1, 20);
        const mona_type type = (mona_type)between(0, 2);
        resize_once(type, 4, channels, in, in * 2, 2);
        resize_once(type, 2, channels, in, in * 3 / 2 + 1, 1.5);
        resize_once(type, 1, channels, in, in, 1);
    }
}

/* ---- elementwise ---------------------------------------------------------------------------- */

static void test_elementwise(void **unused)
{
    (void)unused;
    state = 41;
    for (int round = 0; round < 200; round++) {
        const int channels = between(1, 20), pixels = between(1, 50);
        const bool multiply = between(0, 1), broadcast = channels > 1 && between(0, 1);
        tensor a = random_tensor(channels, 1, pixels, (mona_type)between(0, 2));
        tensor b = random_tensor(broadcast ? 1 : channels, 1, pixels, (mona_type)between(0, 2));
        tensor r = new_tensor(channels, 1, pixels, (mona_type)between(0, 2));
        const double sa = half(between(-100, 100) / 99.0), sb = half(between(-100, 100) / 99.0);
        const double os = half(between(1, 100) / 33.0), low = half(-1.3), high = half(99.7);
        _Alignas(64) float slope[32] = {0};
        for (int c = 0; c < channels; c++)
            slope[c] = (float)half(between(-100, 100) / 97.0);
        const uint8_t activation = (uint8_t)between(0, 3);
        for (int c = 0; c < channels; c++)
            for (int x = 0; x < pixels; x++) {
                const double va = half(*at(&a, c, 0, x) * sa);
                const double vb = half(*at(&b, broadcast ? 0 : c, 0, x) * sb);
                double t = half(multiply ? va * vb : va + vb);
                t = activated(activation, t, (double)slope[c], low, high);
                *at(&r, c, 0, x) = stored(r.type, half(t * os));
            }
        for (size_t n = 0; isa_at(n); n++) {
            rows_memory ma = to_rows(&a, 0), mb = to_rows(&b, 0), mr = to_rows(&r, 0);
            memset(mr.bytes, 0, mr.block_stride);
            isa_at(n)->elementwise_row(&(mona_elementwise_row){
                .multiply = multiply,
                .broadcast_b = broadcast,
                .a = {ma.row[0], ma.block_stride, ma.c0, a.type},
                .b = {mb.row[0], mb.block_stride, mb.c0, b.type},
                .output = {mr.row[0], mr.block_stride, mr.c0, r.type},
                .channels = (uint32_t)channels,
                .pixels = (uint32_t)pixels,
                .scale_a = (float)sa,
                .scale_b = (float)sb,
                .epilogue = {.slope = activation == MONA_ACT_PRELU ? slope : NULL,
                             .activation = activation,
                             .clip_min = (float)low,
                             .clip_max = (float)high,
                             .output_scale = (float)os},
            });
            assert_same(&r, &mr, isa_at(n)->name);
            free_rows(&ma);
            free_rows(&mb);
            free_rows(&mr);
        }
        free(a.v);
        free(b.v);
        free(r.v);
    }
}

/* ---- targets -------------------------------------------------------------------------------- */

static void test_channel_blocks(void **unused)
{
    (void)unused;
    assert_int_equal(ac_target_c0(&ac_target_host, MONA_U8, 1), 1);
    assert_int_equal(ac_target_c0(&ac_target_host, MONA_S8, 3), 4);
    assert_int_equal(ac_target_c0(&ac_target_host, MONA_F16, 7), 8);
    assert_int_equal(ac_target_c0(&ac_target_host, MONA_U8, 9), 16);
    assert_int_equal(ac_target_c0(&ac_target_host, MONA_F16, 70), 16);
    assert_int_equal(ac_target_c0(&ac_target_ascend310, MONA_U8, 1), 1);
    assert_int_equal(ac_target_c0(&ac_target_ascend310, MONA_U8, 2), 8);
    assert_int_equal(ac_target_c0(&ac_target_ascend310, MONA_U8, 9), 16);
    assert_int_equal(ac_target_c0(&ac_target_ascend310, MONA_U8, 17), 32);
    assert_int_equal(ac_target_c0(&ac_target_ascend310, MONA_F16, 4), 4);
    assert_int_equal(ac_target_c0(&ac_target_ascend310, MONA_F16, 5), 16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_half_conversions), cmocka_unit_test(test_conv),
        cmocka_unit_test(test_conv_refuses),     cmocka_unit_test(test_pack_and_unpack),
        cmocka_unit_test(test_unpack_saturates), cmocka_unit_test(test_resize),
        cmocka_unit_test(test_elementwise),      cmocka_unit_test(test_channel_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
