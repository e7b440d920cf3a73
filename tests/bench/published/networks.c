// SPDX-License-Identifier: Apache-2.0
/* The layers of the networks, from their papers and reference implementations, and their published
 * speeds: images per second on one chip, from the READMEs of the vendor's public model zoo
 * (ACL_PyTorch). A card has four chips.
 *
 * What forms one task follows the vendor's published fusion rules: a convolution includes batch
 * normalisation, an activation with one input, and an addition if an activation follows
 * (TbeConvDoubleInFusionPass: Conv2D + Elemwise + Elemwise). Any other addition is a task of its
 * own, and so are concatenations. */
#include <string.h>

#include "tests/bench/published/published.h"

static uint32_t round_up16(uint32_t n)
{
    return (n + 15) / 16 * 16;
}

static double here(const network *n)
{
    return 2.0 * n->batch * n->height * n->width * round_up16(n->channels);
}

/* Counts a layer that exists already. */
static void add_layer(network *n, layer l)
{
    for (uint32_t i = 0; i < n->layer_count; i++) {
        l.count = n->layers[i].count;
        if (memcmp(&l, &n->layers[i], sizeof l) == 0) {
            n->layers[i].count++;
            return;
        }
    }
    l.count = 1;
    if (n->layer_count < LAYERS)
        n->layers[n->layer_count++] = l;
}

static void pass(network *n, double read, double write, double repeats)
{
    layer l;
    memset(&l, 0, sizeof l); /* its padding is compared */
    l.pass = true;
    l.read = read;
    l.write = write;
    l.repeats = repeats;
    add_layer(n, l);
}

/* ops: vector operations of its activation beyond those of the drain; residual: add and
 * activation. */
static void conv_fused(network *n, uint32_t channels, uint32_t kernel, uint32_t stride,
                       uint32_t ops, bool residual)
{
    layer l;
    memset(&l, 0, sizeof l);
    l.batch = n->batch;
    l.in_height = n->height;
    l.in_width = n->width;
    l.in_channels = n->channels;
    l.height = n->height = (n->height + stride - 1) / stride;
    l.width = n->width = (n->width + stride - 1) / stride;
    l.channels = n->channels = channels;
    l.kernel = kernel;
    l.stride = stride;
    l.groups = 1;
    l.vector_ops = ops + residual;
    l.residual = residual;
    add_layer(n, l);
}

static void conv(network *n, uint32_t channels, uint32_t kernel, uint32_t stride)
{
    conv_fused(n, channels, kernel, stride, 0, false);
}

/* LeakyReLU on the 310: vmuls and vmax. */
static void conv_leaky(network *n, uint32_t channels, uint32_t kernel, uint32_t stride)
{
    conv_fused(n, channels, kernel, stride, 2, false);
}

/* A convolution of another map with this many channels; the current map has them during the
 * call. */
static void conv_from(network *n, uint32_t in_channels, uint32_t channels, uint32_t kernel)
{
    n->channels = in_channels;
    conv(n, channels, kernel, 1);
}

static void depthwise(network *n, uint32_t stride)
{
    uint32_t channels = n->channels;
    conv(n, channels, 3, stride);
    layer l = n->layers[n->layer_count - 1]; /* never the same as a whole one before it */
    n->layer_count--;
    l.groups = channels;
    add_layer(n, l);
}

static void dense(network *n, uint32_t channels)
{
    n->height = n->width = 1;
    conv(n, channels, 1, 1);
}

static void add(network *n)
{
    pass(n, 2 * here(n), here(n), here(n) / AC_REPEAT);
}

/* A pass with one input and this many vector operations. */
static void each(network *n, uint32_t ops)
{
    pass(n, here(n), here(n), ops * here(n) / AC_REPEAT);
}

/* The map gets this many channels, copied together. */
static void concat(network *n, uint32_t channels)
{
    n->channels = channels;
    pass(n, here(n), here(n), 0);
}

static void pool(network *n, uint32_t kernel, uint32_t stride)
{
    double in = here(n);
    n->height = (n->height + stride - 1) / stride;
    n->width = (n->width + stride - 1) / stride;
    pass(n, in, here(n), kernel * kernel * here(n) / AC_REPEAT);
}

static void global_pool(network *n)
{
    double in = here(n);
    n->height = n->width = 1;
    pass(n, in, here(n), in / AC_REPEAT);
}

static void upsample(network *n)
{
    double in = here(n);
    n->height *= 2;
    n->width *= 2;
    pass(n, in, here(n), here(n) / AC_REPEAT);
}

/* NC1HWC0 -> NCHW, TransposeD, NCHW -> NC1HWC0. A vnchwconv of 512 bytes counts as two repeats. */
static void depth_to_space(network *n, uint32_t block)
{
    double in = here(n);
    n->height *= block;
    n->width *= block;
    n->channels /= block * block;
    double plain = 2.0 * n->batch * n->height * n->width * n->channels;
    pass(n, in, plain, in / AC_REPEAT);
    pass(n, plain, plain, plain / AC_REPEAT);
    pass(n, plain, here(n), here(n) / AC_REPEAT);
}

static void input(network *n, uint32_t height, uint32_t width, uint32_t channels)
{
    n->height = height;
    n->width = width;
    n->channels = channels;
    double elements = (double)n->batch * height * width * channels;
    pass(n, 4 * elements, 2 * elements, elements / 64);  /* Cast */
    pass(n, 2 * elements, here(n), here(n) / AC_REPEAT); /* TransData */
    n->host_bytes = 4 * elements;
}

static void output(network *n)
{
    double elements = (double)n->batch * n->height * n->width * n->channels;
    pass(n, here(n), 2 * elements, here(n) / AC_REPEAT);
    pass(n, 2 * elements, 4 * elements, elements / 64);
    n->host_bytes += 4 * elements;
}

/* ---- classifiers and detectors -------------------------------------------------------------- */

static void basic_block(network *n, uint32_t width, uint32_t stride)
{
    if (n->channels != width) {
        network side = *n;
        conv(&side, width, 1, stride);
        memcpy(n->layers, side.layers, sizeof n->layers);
        n->layer_count = side.layer_count;
    }
    conv(n, width, 3, stride);
    conv_fused(n, width, 3, 1, 0, true);
}

static void bottleneck(network *n, uint32_t width, uint32_t stride)
{
    if (n->channels != 4 * width) {
        network side = *n;
        conv(&side, 4 * width, 1, stride);
        memcpy(n->layers, side.layers, sizeof n->layers);
        n->layer_count = side.layer_count;
    }
    conv(n, width, 1, 1);
    conv(n, width, 3, stride);
    conv_fused(n, 4 * width, 1, 1, 0, true);
}

static void resnet(network *n, const uint32_t blocks[4],
                   void (*block)(network *, uint32_t, uint32_t))
{
    input(n, 224, 224, 3);
    conv(n, 64, 7, 2);
    pool(n, 3, 2);
    for (uint32_t stage = 0; stage < 4; stage++)
        for (uint32_t i = 0; i < blocks[stage]; i++)
            block(n, 64u << stage, stage && !i ? 2 : 1);
    global_pool(n);
    dense(n, 1000);
    output(n);
}

static void resnet18(network *n)
{
    resnet(n, (const uint32_t[]){2, 2, 2, 2}, basic_block);
}

static void resnet34(network *n)
{
    resnet(n, (const uint32_t[]){3, 4, 6, 3}, basic_block);
}

static void resnet50(network *n)
{
    resnet(n, (const uint32_t[]){3, 4, 6, 3}, bottleneck);
}

static void resnet101(network *n)
{
    resnet(n, (const uint32_t[]){3, 4, 23, 3}, bottleneck);
}

static void resnet152(network *n)
{
    resnet(n, (const uint32_t[]){3, 8, 36, 3}, bottleneck);
}

static void mobilenet_v1(network *n)
{
    static const uint32_t widths[] = {64,  128, 128, 256, 256,  512, 512,
                                      512, 512, 512, 512, 1024, 1024};
    input(n, 224, 224, 3);
    conv(n, 32, 3, 2);
    for (uint32_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        depthwise(n, i == 1 || i == 3 || i == 5 || i == 11 ? 2 : 1);
        conv(n, widths[i], 1, 1);
    }
    global_pool(n);
    dense(n, 1000);
    output(n);
}

static void fire(network *n, uint32_t squeeze, uint32_t expand)
{
    conv(n, squeeze, 1, 1);
    conv(n, expand, 1, 1);
    conv_from(n, squeeze, expand, 3);
    concat(n, 2 * expand);
}

static void squeezenet(network *n)
{
    input(n, 224, 224, 3);
    conv(n, 64, 3, 2);
    pool(n, 3, 2);
    fire(n, 16, 64);
    fire(n, 16, 64);
    pool(n, 3, 2);
    fire(n, 32, 128);
    fire(n, 32, 128);
    pool(n, 3, 2);
    fire(n, 48, 192);
    fire(n, 48, 192);
    fire(n, 64, 256);
    fire(n, 64, 256);
    conv(n, 1000, 1, 1);
    global_pool(n);
    output(n);
}

static void inception(network *n, const uint32_t width[6])
{
    uint32_t in = n->channels;
    conv(n, width[0], 1, 1);
    conv_from(n, in, width[1], 1);
    conv(n, width[2], 3, 1);
    conv_from(n, in, width[3], 1);
    conv(n, width[4], 3, 1); /* 3x3 as in torchvision, whose weights were used; the paper has 5x5 */
    n->channels = in;
    pool(n, 3, 1);
    conv(n, width[5], 1, 1);
    concat(n, width[0] + width[2] + width[4] + width[5]);
}

static void googlenet(network *n)
{
    static const uint32_t widths[9][6] = {
        {64, 96, 128, 16, 32, 32},     {128, 128, 192, 32, 96, 64},
        {192, 96, 208, 16, 48, 64},    {160, 112, 224, 24, 64, 64},
        {128, 128, 256, 24, 64, 64},   {112, 144, 288, 32, 64, 64},
        {256, 160, 320, 32, 128, 128}, {256, 160, 320, 32, 128, 128},
        {384, 192, 384, 48, 128, 128}};
    input(n, 224, 224, 3);
    conv(n, 64, 7, 2);
    pool(n, 3, 2);
    conv(n, 64, 1, 1);
    conv(n, 192, 3, 1);
    for (uint32_t i = 0; i < 9; i++) {
        if (i == 0 || i == 2 || i == 7)
            pool(n, 3, 2);
        inception(n, widths[i]);
    }
    global_pool(n);
    dense(n, 1000);
    output(n);
}

static void yolo_head(network *n, uint32_t width)
{
    for (uint32_t i = 0; i < 3; i++) {
        conv_leaky(n, width, 1, 1);
        conv_leaky(n, 2 * width, 3, 1);
    }
    conv(n, 255, 1, 1);
}

static void yolo_v3(network *n)
{
    static const uint32_t blocks[] = {1, 2, 8, 8, 4};
    input(n, 416, 416, 3);
    conv_leaky(n, 32, 3, 1);
    for (uint32_t stage = 0; stage < 5; stage++) {
        conv_leaky(n, 64u << stage, 3, 2);
        for (uint32_t i = 0; i < blocks[stage]; i++) {
            conv_leaky(n, 32u << stage, 1, 1);
            conv_leaky(n, 64u << stage, 3, 1);
            add(n);
        }
    }
    yolo_head(n, 512);
    for (uint32_t scale = 0; scale < 2; scale++) {
        uint32_t width = 256u >> scale;
        n->channels = 2 * width;
        conv_leaky(n, width, 1, 1);
        upsample(n);
        concat(n, 3 * width);
        yolo_head(n, width);
    }
    output(n);
}

/* ---- images to images ----------------------------------------------------------------------- */

static void srcnn(network *n)
{
    input(n, 256, 256, 1);
    conv(n, 64, 9, 1);
    conv(n, 32, 5, 1);
    conv(n, 1, 5, 1);
    output(n);
}

static void edsr(network *n, uint32_t side)
{
    input(n, side, side, 3);
    conv(n, 64, 3, 1);
    for (uint32_t i = 0; i < 16; i++) {
        conv(n, 64, 3, 1);
        conv(n, 64, 3, 1);
        add(n);
    }
    conv(n, 64, 3, 1);
    add(n);
    conv(n, 256, 3, 1);
    depth_to_space(n, 2);
    conv(n, 3, 3, 1);
    output(n);
}

static void edsr_256(network *n)
{
    edsr(n, 256);
}

static void edsr_1020(network *n)
{
    edsr(n, 1020);
}

static void rdn(network *n)
{
    input(n, 114, 114, 3);
    conv(n, 64, 3, 1);
    conv(n, 64, 3, 1);
    for (uint32_t block = 0; block < 16; block++) {
        n->channels = 64;
        for (uint32_t i = 1; i <= 8; i++) {
            conv(n, 64, 3, 1);
            concat(n, 64 * (i + 1));
        }
        conv(n, 64, 1, 1);
        add(n);
    }
    concat(n, 1024);
    conv(n, 64, 1, 1);
    conv(n, 64, 3, 1);
    add(n);
    conv(n, 256, 3, 1);
    depth_to_space(n, 2);
    conv(n, 3, 3, 1);
    output(n);
}

static void channel_attention(network *n)
{
    uint32_t height = n->height, width = n->width;
    global_pool(n);
    conv(n, 4, 1, 1);
    conv(n, 64, 1, 1);
    each(n, 8); /* sigmoid */
    n->height = height;
    n->width = width;
    each(n, 1);
}

static void rcan(network *n)
{
    input(n, 256, 256, 3);
    conv(n, 64, 3, 1);
    for (uint32_t group = 0; group < 10; group++) {
        for (uint32_t block = 0; block < 20; block++) {
            conv(n, 64, 3, 1);
            conv(n, 64, 3, 1);
            channel_attention(n);
            add(n);
        }
        conv(n, 64, 3, 1);
        add(n);
    }
    conv(n, 64, 3, 1);
    add(n);
    conv(n, 256, 3, 1);
    depth_to_space(n, 2);
    conv(n, 3, 3, 1);
    output(n);
}

static void dncnn(network *n)
{
    input(n, 481, 481, 1);
    for (uint32_t i = 0; i < 16; i++)
        conv(n, 64, 3, 1);
    conv(n, 1, 3, 1);
    add(n);
    output(n);
}

/* WDSR-A: 16 blocks of 32 and 128 channels; 1.19 million weights. */
static void wdsr(network *n)
{
    input(n, 1020, 1020, 3);
    conv(n, 12, 5, 1);
    n->channels = 3;
    conv(n, 32, 3, 1);
    for (uint32_t i = 0; i < 16; i++) {
        conv(n, 128, 3, 1);
        conv(n, 32, 3, 1);
        add(n);
    }
    conv(n, 12, 3, 1);
    add(n);
    depth_to_space(n, 2);
    output(n);
}

static void dense_block(network *n)
{
    for (uint32_t i = 1; i <= 4; i++) {
        conv_leaky(n, 32, 3, 1);
        concat(n, 64 + 32 * i);
    }
    conv_fused(n, 64, 3, 1, 1, false); /* and the scale of 0.2 */
    add(n);
}

static void real_esrgan(network *n)
{
    input(n, 64, 64, 3);
    conv(n, 64, 3, 1);
    for (uint32_t i = 0; i < 23; i++) {
        for (uint32_t j = 0; j < 3; j++)
            dense_block(n);
        each(n, 1);
        add(n);
    }
    conv(n, 64, 3, 1);
    add(n);
    for (uint32_t i = 0; i < 2; i++) {
        upsample(n);
        conv_leaky(n, 64, 3, 1);
    }
    conv_leaky(n, 64, 3, 1);
    conv(n, 3, 3, 1);
    output(n);
}

/* ---- the tables ----------------------------------------------------------------------------- */

typedef struct row {
    const char *name;
    void (*build)(network *);
    double per_second;         /* on one chip, one image at a time */
    uint32_t batch;            /* also published; 0: none */
    double batched_per_second; /* with such batches */
} row;

static const row published[NETWORKS] = {
    {"dncnn-s 481", dncnn, 23.79, 16, 22.29},
    {"edsr x2 1020", edsr_1020, 4.911 / 4, 4, 4.645 / 4},
    {"edsr x2 256", edsr_256, 22.37, 0, 0},
    {"googlenet", googlenet, 1865 / 4.0, 16, 4819 / 4.0},
    {"mobilenet v1", mobilenet_v1, 953.5, 16, 1680},
    {"rcan x2 256", rcan, 2.320, 0, 0},
    {"rdn x2 114", rdn, 7.394, 0, 0},
    {"real-esrgan x4 64", real_esrgan, 140.25 / 4, 16, 117.78 / 4},
    {"resnet-101", resnet101, 247.9, 16, 401.0},
    {"resnet-152", resnet152, 180.1, 16, 291.0},
    {"resnet-18", resnet18, 787.7, 16, 1509.6},
    {"resnet-34", resnet34, 503.5, 16, 939},
    {"resnet-50", resnet50, 1617 / 4.0, 16, 2441 / 4.0},
    {"squeezenet 1.1", squeezenet, 1147, 16, 2506},
    {"srcnn x2 256", srcnn, 348.0, 0, 0},
    {"wdsr x2 1020", wdsr, 5.936 / 4, 8, 6.124 / 4},
    {"yolov3 416", yolo_v3, 384.8 / 4, 16, 440.9 / 4},
};

static void build(network *n, const row *r, uint32_t batch, double per_second)
{
    *n = (network){.name = r->name, .batch = batch, .published_ms = 1000 * batch / per_second};
    r->build(n);
}

void build_networks(network networks[NETWORKS])
{
    for (uint32_t i = 0; i < NETWORKS; i++)
        build(&networks[i], &published[i], 1, published[i].per_second);
}

void build_batched(network networks[BATCHED])
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < NETWORKS; i++)
        if (published[i].batch)
            build(&networks[count++], &published[i], published[i].batch,
                  published[i].batched_per_second);
}

/* ---- for comparison ------------------------------------------------------------------------- */

/* The shipped network as the vendor would run it: its head, three layers, and the tail that makes 2
 * x 2 samples. */
static void sr_x2_fast(network *n)
{
    input(n, 1080, 1920, 1);
    conv(n, 16, 3, 1);
    conv(n, 16, 3, 1);
    conv(n, 16, 3, 1);
    conv_fused(n, 16, 3, 1, 0, true);
    conv_fused(n, 4, 3, 1, 0, true);
    depth_to_space(n, 2);
    output(n);
}

/* The 3 x 3 convolution of ResNet-50's first blocks, with its normalisation and activation. */
static void block_fused(network *n)
{
    n->height = n->width = 56;
    n->channels = 64;
    conv(n, 64, 3, 1);
}

static void block_separate(network *n)
{
    block_fused(n);
    each(n, 1); /* scale */
    each(n, 1); /* shift */
    each(n, 1); /* ReLU */
}

void build_compared(network networks[COMPARED])
{
    static const row compared[COMPARED] = {
        {"sr_x2_fast 1080p", sr_x2_fast, 1, 0, 0},
        {"block, fused", block_fused, 1, 0, 0},
        {"block, separate", block_separate, 1, 0, 0},
    };
    for (uint32_t i = 0; i < COMPARED; i++)
        build(&networks[i], &compared[i], 1, compared[i].per_second);
}

double map_traffic(const network *n)
{
    double bytes = 0;
    for (uint32_t i = 0; i < n->layer_count; i++) {
        const layer *l = &n->layers[i];
        const double in = 2.0 * l->in_height * l->in_width * round_up16(l->in_channels);
        const double out = 2.0 * l->height * l->width * round_up16(l->channels);
        bytes += l->count * (l->pass ? l->read + l->write : in + out * (1 + l->residual));
    }
    return bytes;
}
