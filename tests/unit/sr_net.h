// SPDX-License-Identifier: Apache-2.0
/* A small super-resolution network with random weights, and a reference that computes it one whole
 * map at a time, with loops that share nothing with the engine. Depth-first, tiled and threaded
 * runs must equal it.
 *
 *   head 1 -> C, ReLU (features); `body` x (C -> C, ReLU), the last one adding the features;
 *   tail C -> scale^2, adding the input luma to each; depth-to-space */
#ifndef MONA_TESTS_SR_NET_H
#define MONA_TESTS_SR_NET_H

#include <math.h>

#include "tests/unit/model_builder.h"

enum { SR_MAX_LAYERS = 44, SR_MAX_CHANNELS = 48 };

typedef struct sr_layer {
    int in, out;
    int8_t weights[SR_MAX_CHANNELS * SR_MAX_CHANNELS * 9];
    int32_t bias[SR_MAX_CHANNELS];
    uint16_t scale[SR_MAX_CHANNELS];
} sr_layer;

typedef struct sr_net {
    int channels, layers, scale; /* layers: body + 2 */
    sr_layer layer[SR_MAX_LAYERS];
} sr_net;

/* value rounded to fp16 (half to even), as a double. */
static inline double round_f16(double value)
{
    int exponent;
    frexp(value, &exponent);
    const int lowest = exponent - 11 > -24 ? exponent - 11 : -24;
    const double step = ldexp(1, lowest), rounded = rint(value / step) * step;
    return fmin(fmax(rounded, -65504), 65504);
}

static inline double value_of_f16(uint16_t h)
{
    const int exponent = h >> 10 & 31;
    const double value = exponent ? ldexp(1024 + (h & 1023), exponent - 25) : ldexp(h & 1023, -24);
    return h & 0x8000 ? -value : value;
}

static inline uint32_t test_random(uint32_t *state)
{
    *state ^= *state << 13, *state ^= *state >> 17, *state ^= *state << 5;
    return *state;
}

static inline sr_net *sr_net_new(int channels, int body, int scale, uint32_t seed)
{
    sr_net *n = calloc(1, sizeof *n);
    n->channels = channels;
    n->layers = body + 2;
    n->scale = scale;
    for (int l = 0; l < n->layers; l++) {
        sr_layer *p = &n->layer[l];
        p->in = l ? channels : 1;
        p->out = l + 1 < n->layers ? channels : scale * scale;
        for (int i = 0; i < p->in * p->out * 9; i++)
            p->weights[i] = (int8_t)((int)(test_random(&seed) % 255) - 127);
        for (int o = 0; o < p->out; o++) {
            p->bias[o] = (int)(test_random(&seed) % 8001) - 2000;
            /* About 1 / (100 sqrt(9 in)): keeps values spread over 0..255. */
            p->scale[o] = (uint16_t)((p->in == 1 ? 0x1c00 : 0x1400) + test_random(&seed) % 1024);
        }
    }
    return n;
}

static inline uint8_t *sr_net_model(const sr_net *n, size_t *size)
{
    model_builder *b = builder_new();
    const uint32_t in = builder_input(b, "luma", MONA_U8, 1, 1 / 255.f);
    const uint32_t out = builder_output(b, "luma_x2", MONA_U8, 1, 1 / 255.f);
    const uint32_t luma = builder_tensor(b, "packed", MONA_U8, 1, 1 / 255.f);
    mona_file_op *load = builder_op(b, MONA_OP_LOAD, luma, 1, &in);
    load->load.block[0] = 1, load->load.scale[0] = 0x3c00;
    uint32_t source = luma, features = 0;
    for (int l = 0; l < n->layers; l++) {
        const sr_layer *p = &n->layer[l];
        const int last = l + 1 == n->layers, adds = last || l + 2 == n->layers;
        const uint32_t made =
            builder_tensor(b, last ? "tail" : "map", MONA_U8, (uint32_t)p->out, 1 / 255.f);
        const uint32_t inputs[2] = {source, last ? luma : features};
        mona_file_op *op = builder_op(b, MONA_OP_CONV, made, adds ? 2 : 1, inputs);
        op->epilogue.activation = last ? MONA_ACT_NONE : MONA_ACT_RELU;
        op->conv = builder_conv_3x3();
        op->conv.weights = builder_data(b, p->weights, (size_t)(p->in * p->out * 9));
        op->conv.bias = builder_data(b, p->bias, (size_t)p->out * 4);
        op->conv.scales = builder_data(b, p->scale, (size_t)p->out * 2);
        source = made;
        features = l ? features : made;
    }
    mona_file_op *store = builder_op(b, MONA_OP_STORE, out, 1, &source);
    store->store = (mona_file_store){.block = (uint32_t)n->scale, .scale = 0x3c00, .maximum = 255};
    return builder_finish(b, size);
}

/* out[scale * h][scale * w] of in[h][w]. */
static inline void sr_net_reference(const sr_net *n, const uint8_t *in, int h, int w, uint8_t *out)
{
    const size_t plane = (size_t)h * (size_t)w;
    const int s = n->scale;
    uint8_t *maps[2], *features = NULL;
    for (int i = 0; i < 2; i++)
        maps[i] = malloc(plane * SR_MAX_CHANNELS);
    memcpy(maps[0], in, plane);
    for (int l = 0; l < n->layers; l++) {
        const sr_layer *p = &n->layer[l];
        const uint8_t *from = maps[l & 1];
        uint8_t *to = maps[~l & 1];
        const int last = l + 1 == n->layers;
        for (int o = 0; o < p->out; o++)
            for (int y = 0; y < h; y++)
                for (int x = 0; x < w; x++) {
                    int64_t sum = p->bias[o];
                    for (int i = 0; i < p->in; i++)
                        for (int k = 0; k < 9; k++) {
                            const int yy = y + k / 3 - 1, xx = x + k % 3 - 1;
                            if (yy >= 0 && yy < h && xx >= 0 && xx < w)
                                sum += from[(size_t)i * plane + (size_t)(yy * w + xx)] *
                                       p->weights[(o * p->in + i) * 9 + k];
                        }
                    double t = round_f16((double)((float)sum * (float)value_of_f16(p->scale[o])));
                    if (!last)
                        t = fmax(t, 0);
                    if (last)
                        t = round_f16(t + in[y * w + x]);
                    else if (l + 2 == n->layers)
                        t = round_f16(t + features[(size_t)o * plane + (size_t)(y * w + x)]);
                    const uint8_t q = (uint8_t)fmin(fmax(rint(t), 0), 255);
                    if (last)
                        out[(s * y + o / s) * s * w + s * x + o % s] = q;
                    else
                        to[(size_t)o * plane + (size_t)(y * w + x)] = q;
                }
        if (!l) {
            features = malloc(plane * (size_t)p->out);
            memcpy(features, to, plane * (size_t)p->out);
        }
    }
    free(maps[0]), free(maps[1]), free(features);
}

#endif
