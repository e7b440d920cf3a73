// SPDX-License-Identifier: Apache-2.0
#include "formats/compiler/quantize/quantize.h"

#include <string.h>

#include "engine/target.h"
#include "formats/compiler/quantize/observation.h"

enum { OUTPUTS = 16 }; /* computed together, on either target */

struct cost_target {
    const char *name;
    const ac_target *descriptor;
    uint32_t pixels;              /* per step */
    uint32_t inputs[2];           /* per step: F16, 8 bits */
    double step;                  /* cost */
    double pass;                  /* of one pass of the epilogue over a step's outputs */
    double passes;                /* number of passes of the shortest epilogue */
    double half_bias;             /* cost of a bias of F16, which is written to each step's sums */
    const double (*functions)[2]; /* cost of one for a step's outputs: F16, 8 bits; NULL: none */
};

/* Cycles more than with ReLU on model310, for 16 to 64 channels (test_precision.c). What a table
 * takes depends on its polynomials, one to three. */
static const double functions_310[MONA_ACT_COUNT][2] = {
    [MONA_ACT_SIGMOID] = {212, 78}, [MONA_ACT_SILU] = {225, 85}, [MONA_ACT_HARD_SWISH] = {34, 45},
    [MONA_ACT_TANH] = {220, 102},   [MONA_ACT_GELU] = {365, 92}, [MONA_ACT_GELU_TANH] = {247, 92},
    [MONA_ACT_MISH] = {243, 90},    [MONA_ACT_ELU] = {170, 95},  [MONA_ACT_SOFTPLUS] = {325, 70},
};

static const cost_target targets[] = {
    {"host", &ac_target_host, 1, {1, 4}, 1, 1, 12, 0, NULL},
    {"ascend310",
     &ac_target_ascend310,
     16,
     {16, 32},
     1.4,
     16.0 * OUTPUTS / 128,
     2.5,
     2,
     functions_310},
};

const cost_target *cost_find(const char *name)
{
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        if (!strcmp(targets[i].name, name))
            return &targets[i];
    return NULL;
}

/* Of whole channel blocks: 48 channels of 8 bits take as long as 64 on the chip. */
static double tiles_of(const cost_target *t, const graph *g, uint32_t value, uint64_t pixels,
                       bool int8)
{
    const uint32_t channels = g->values[value].channels;
    const uint32_t c0 = ac_target_c0(t->descriptor, int8 ? MONA_U8 : MONA_F16, channels);
    const uint32_t padded = (channels + c0 - 1) / c0 * c0;
    return (double)((pixels + t->pixels - 1) / t->pixels) * ((padded + OUTPUTS - 1) / OUTPUTS);
}

double cost_functions(const cost_target *t, const graph *g, uint32_t root, bool int8)
{
    double sum = 0;
    for (uint32_t v = root; v != UINT32_MAX && t->functions; v = g->values[v].alike) {
        const uint32_t p = graph_producer(g, v);
        const observation *seen = g->values[v].seen;
        const uint64_t pixels = seen ? (uint64_t)seen->rows * seen->columns : 1;
        if (p != UINT32_MAX)
            sum += tiles_of(t, g, v, pixels, int8) * t->functions[g->nodes[p].after_add.kind][int8];
    }
    return sum;
}

static double passes_of(const cost_target *t, const graph_node *node)
{
    return t->passes + (node->activation.kind ? 1 : 0) + (node->input_count == 2 ? 2 : 0) +
           (node->after_add.kind ? 1 : 0);
}

/* How many channels a block of outputs reads. */
static uint32_t channels_read(const graph *g, const graph_node *node)
{
    const uint32_t inputs = g->values[node->inputs[0]].channels, groups = node->conv.groups;
    const uint32_t per_group = g->values[node->output].channels / groups;
    const uint32_t used = (OUTPUTS + per_group - 1) / per_group * (inputs / groups);
    return used < inputs ? used : inputs;
}

double cost_conv(const cost_target *t, const graph *g, const graph_node *node, uint64_t pixels,
                 bool int8)
{
    const uint32_t channels = channels_read(g, node);
    const uint32_t c0 = ac_target_c0(t->descriptor, int8 ? MONA_U8 : MONA_F16, channels);
    const uint32_t padded = (channels + c0 - 1) / c0 * c0;
    const uint64_t k = (uint64_t)node->conv.window.kernel[0] * node->conv.window.kernel[1] * padded;
    const uint64_t steps = (k + t->inputs[int8] - 1) / t->inputs[int8];
    return tiles_of(t, g, node->output, pixels, int8) *
           ((double)steps * t->step + passes_of(t, node) * t->pass + (int8 ? 0 : t->half_bias));
}
