// SPDX-License-Identifier: Apache-2.0
/* Networks on 4:2:0 planes: space-to-depth and concatenation on the way in, several outputs, INT8
 * and FP16, samples of 8 bits and more, planes that end at a page nobody may touch. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/fixture.h"

enum { CHANNELS = 7, RESULTS = 6 };

/* packed = (y00 y01 y10 y11 u v noise); out = conv3x3(packed) + packed[0..5]; back to y, u, v. */
typedef struct yuv_net {
    bool fp16;
    int8_t weights8[RESULTS * CHANNELS * 9];
    uint16_t weights16[RESULTS * CHANNELS * 9];
    int32_t bias8[RESULTS];
    float bias16[RESULTS];
    uint16_t scales[RESULTS];
} yuv_net;

static uint16_t random_f16(uint32_t *seed)
{
    return (uint16_t)((test_random(seed) & 0x8000) | (0x2400 + test_random(seed) % 0x1400));
}

static void fill(yuv_net *n, bool fp16)
{
    uint32_t seed = 99;
    n->fp16 = fp16;
    for (int i = 0; i < RESULTS * CHANNELS * 9; i++) {
        n->weights8[i] = (int8_t)((int)(test_random(&seed) % 255) - 127);
        n->weights16[i] = random_f16(&seed);
    }
    for (int o = 0; o < RESULTS; o++) {
        n->bias8[o] = (int)(test_random(&seed) % 4001) - 2000;
        n->bias16[o] = (float)((int)(test_random(&seed) % 200) - 100) / 256;
        n->scales[o] = (uint16_t)(0x1400 + test_random(&seed) % 512);
    }
}

static uint8_t *model_of(const yuv_net *n, size_t *size)
{
    model_builder *b = builder_new();
    static const char *const in_names[] = {"y", "u", "v", "noise"};
    static const char *const out_names[] = {"y_out", "u_out", "v_out"};
    uint32_t in[4], out[3];
    for (int i = 0; i < 4; i++)
        in[i] = builder_input(b, in_names[i], MONA_U8, 1, 1 / 255.f);
    for (int i = 0; i < 3; i++)
        out[i] = builder_output(b, out_names[i], MONA_U8, 1, 1 / 255.f);
    const mona_type type = n->fp16 ? MONA_F16 : MONA_U8;
    const float scale = n->fp16 ? 1 : 1 / 255.f;
    const uint32_t maps[2] = {builder_tensor(b, "packed", type, CHANNELS, scale),
                              builder_tensor(b, "restored", type, RESULTS, scale)};
    const uint32_t packed[2] = {maps[0], maps[0]};
    mona_file_op *load = builder_op(b, MONA_OP_LOAD, maps[0], 4, in);
    for (int i = 0; i < 4; i++) {
        load->load.block[i] = i ? 1 : 2;
        load->load.scale[i] = n->fp16 ? 0x1c04 : 0x3c00; /* 1/255 as fp16 */
    }
    mona_file_op *conv = builder_op(b, MONA_OP_CONV, maps[1], 2, packed);
    conv->conv = builder_conv_3x3();
    conv->conv.weights = n->fp16 ? builder_data(b, n->weights16, sizeof n->weights16)
                                 : builder_data(b, n->weights8, sizeof n->weights8);
    conv->conv.bias = n->fp16 ? builder_data(b, n->bias16, sizeof n->bias16)
                              : builder_data(b, n->bias8, sizeof n->bias8);
    conv->conv.scales = n->fp16 ? MONA_NONE : builder_data(b, n->scales, sizeof n->scales);
    for (int i = 0; i < 3; i++) {
        mona_file_op *store = builder_op(b, MONA_OP_STORE, out[i], 1, &maps[1]);
        store->store = (mona_file_store){.first_channel = i ? 3u + (uint32_t)i : 0,
                                         .block = i ? 1 : 2,
                                         .scale = n->fp16 ? 0x5bf8 : 0x3c00, /* 255 */
                                         .maximum = 255};
    }
    return builder_finish(b, size);
}

typedef struct yuv_frame {
    int h, w; /* of chroma; luma is twice that */
    unsigned bits;
    const uint8_t *planes[4]; /* y, u, v, noise */
} yuv_frame;

static int sample_at(const uint8_t *plane, unsigned bits, int index)
{
    uint16_t wide;
    if (bits == 8)
        return plane[index];
    memcpy(&wide, plane + 2 * index, sizeof wide);
    return wide;
}

static int channel_sample(const yuv_frame *f, int c, int y, int x)
{
    return c < 4 ? sample_at(f->planes[0], f->bits, (2 * y + c / 2) * 2 * f->w + 2 * x + c % 2)
                 : sample_at(f->planes[c - 3], f->bits, y * f->w + x);
}

/* What is corrected: steps of 8 bits for INT8, rounded fp16 for FP16. */
static double channel_value(const yuv_net *n, const yuv_frame *f, int c, int y, int x)
{
    const double q = channel_sample(f, c, y, x) / (double)(1 << (f->bits - 8));
    return n->fp16 ? round_f16(q * value_of_f16(0x1c04)) : q;
}

/* What an INT8 network looks at: samples of 8 bits. */
static int channel_seen(const yuv_frame *f, int c, int y, int x)
{
    const double q = rint(channel_sample(f, c, y, x) / (double)(1 << (f->bits - 8)));
    return q < 255 ? (int)q : 255;
}

static int expected_sample(const yuv_net *n, const yuv_frame *f, int o, int y, int x)
{
    int64_t sum8 = n->bias8[o];
    float sum16 = n->bias16[o];
    for (int k = 0; k < 9; k++)
        for (int c = 0; c < CHANNELS; c++) {
            const int yy = y + k / 3 - 1, xx = x + k % 3 - 1, w = (o * CHANNELS + c) * 9 + k;
            if (yy < 0 || yy >= f->h || xx < 0 || xx >= f->w)
                continue;
            sum8 += (int64_t)channel_seen(f, c, yy, xx) * n->weights8[w];
            sum16 = fmaf((float)channel_value(n, f, c, yy, xx),
                         (float)value_of_f16(n->weights16[w]), sum16);
        }
    double t =
        n->fp16 ? round_f16(sum16) : round_f16((float)sum8 * (float)value_of_f16(n->scales[o]));
    t = round_f16(t + channel_value(n, f, o, y, x));
    const int most = (1 << f->bits) - 1;
    if (n->fp16 || f->bits > 8)
        t = round_f16(t * (n->fp16 ? 255 : 1) * (1 << (f->bits - 8)));
    return (int)fmin(fmax(rint(t), 0), most);
}

/* A block of bytes that ends exactly at a page without access. */
typedef struct guarded {
    uint8_t *map, *bytes;
    size_t span;
} guarded;

static guarded guarded_new(size_t bytes, int fill_with)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE),
                 span = (bytes + page - 1) / page * page + page;
    uint8_t *map = mmap(NULL, span, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(map, MAP_FAILED);
    assert_int_equal(mprotect(map + span - page, page, PROT_NONE), 0);
    guarded g = {map, map + span - page - bytes, span};
    memset(g.bytes, fill_with, bytes);
    return g;
}

static void check(bool fp16, unsigned bits, const char *cpu, unsigned threads, unsigned tile, int w,
                  int h)
{
    yuv_net *net = calloc(1, sizeof *net);
    fill(net, fp16);
    size_t size;
    uint8_t *bytes = model_of(net, &size);
    mona_model model;
    assert_int_equal(mona_model_open(&model, bytes, size), MONA_OK);
    void *deep = bits > 8 ? deepened(&model, bits) : NULL;
    bound b;
    /* One size is enough: the others follow. */
    const mona_config config = {.cpu = cpu,
                                .threads = threads,
                                .tile_columns = tile,
                                .sizes = {{2 * (uint32_t)w, 2 * (uint32_t)h}}};
    const mona_status status = bind(&b, &model, &config);
    if (status == MONA_ERR_DEVICE && cpu) { /* not this CPU */
        free(bytes), free(net), free(deep);
        return;
    }
    assert_int_equal(status, MONA_OK);
    assert_int_equal(mona_plan_input(b.plan, 2).width, w);

    const size_t sample = bits > 8 ? 2 : 1;
    guarded planes[7];
    uint32_t seed = 21;
    for (int i = 0; i < 7; i++) {
        const size_t count = (size_t)(w * h) * (i == 0 || i == 4 ? 4 : 1);
        planes[i] = guarded_new(count * sample, 0xa5);
        for (size_t k = 0; i < 4 && k < count; k++) {
            const uint16_t value = (uint16_t)(test_random(&seed) & ((1u << bits) - 1));
            memcpy(planes[i].bytes + k * sample, &value, sample); /* little-endian */
        }
    }
    const yuv_frame f = {
        h, w, bits, {planes[0].bytes, planes[1].bytes, planes[2].bytes, planes[3].bytes}};
    const int row = w * (int)sample;
    mona_buffer in[4], out[3];
    for (int i = 0; i < 4; i++)
        in[i] = (mona_buffer){planes[i].bytes, i ? row : 2 * row, 0};
    for (int i = 0; i < 3; i++)
        out[i] = (mona_buffer){planes[4 + i].bytes, i ? row : 2 * row, 0};
    assert_int_equal(mona_session_run(b.session, in, out), MONA_OK);
    for (int o = 0; o < RESULTS; o++)
        for (int y = 0; y < h; y++)
            for (int x = 0; x < w; x++) {
                const int found = o < 4 ? sample_at(planes[4].bytes, bits,
                                                    (2 * y + o / 2) * 2 * w + 2 * x + o % 2)
                                        : sample_at(planes[1 + o].bytes, bits, y * w + x);
                const int want = expected_sample(net, &f, o, y, x);
                if (found != want)
                    fail_msg("%s %s %u bits channel %d row %d column %d of %dx%d: %d, not %d",
                             fp16 ? "fp16" : "int8", mona_plan_isa(b.plan), bits, o, y, x, w, h,
                             found, want);
            }
    unbind(&b);
    for (int i = 0; i < 7; i++)
        munmap(planes[i].map, planes[i].span);
    free(bytes), free(net), free(deep);
}

static void on_every_cpu(bool fp16, unsigned bits)
{
    static const char *const levels[] = {NULL,  "c",    "avx2",    "avxvnni", "avx512",
                                         "amx", "neon", "dotprod", "i8mm"};
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        check(fp16, bits, levels[i], 1, 0, 61, 23);
        check(fp16, bits, levels[i], 3, 16, 61, 23);
        check(fp16, bits, levels[i], 2, 0, 1, 3);
        check(fp16, bits, levels[i], 1, 0, 34, 1);
    }
}

static void int8_on_planes(void **state)
{
    (void)state;
    on_every_cpu(false, 8);
}

static void int8_on_deep_planes(void **state)
{
    (void)state;
    on_every_cpu(false, 9);
    on_every_cpu(false, 10);
}

static void fp16_on_planes(void **state)
{
    (void)state;
    on_every_cpu(true, 8);
}

static void fp16_on_deep_planes(void **state)
{
    (void)state;
    on_every_cpu(true, 10);
}

static void sizes_must_agree(void **state)
{
    (void)state;
    yuv_net *net = calloc(1, sizeof *net);
    fill(net, false);
    size_t size;
    uint8_t *bytes = model_of(net, &size);
    mona_model model;
    assert_int_equal(mona_model_open(&model, bytes, size), MONA_OK);
    void *memory = aligned_alloc(64, mona_plan_bytes(&model));
    mona_plan *plan;
    const mona_config odd = {.sizes = {{33, 16}}};
    assert_int_equal(mona_plan_make(&plan, memory, &model, &odd), MONA_ERR_SHAPE);
    const mona_config contradiction = {.sizes = {{32, 16}, {15, 8}}};
    assert_int_equal(mona_plan_make(&plan, memory, &model, &contradiction), MONA_ERR_SHAPE);
    const mona_config from_chroma = {.sizes = {{0, 0}, {16, 8}}};
    assert_int_equal(mona_plan_make(&plan, memory, &model, &from_chroma), MONA_OK);
    assert_int_equal(mona_plan_input(plan, 0).width, 32);
    assert_int_equal(mona_plan_output(plan, 0).height, 16);
    free(memory), free(bytes), free(net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(int8_on_planes),   cmocka_unit_test(int8_on_deep_planes),
        cmocka_unit_test(fp16_on_planes),   cmocka_unit_test(fp16_on_deep_planes),
        cmocka_unit_test(sizes_must_agree),
    };
    return cmocka_run_group_tests_name("planes", tests, NULL, NULL);
}
