// SPDX-License-Identifier: Apache-2.0
#include "formats/compiler/quantize/quantize.h"

#include <string.h>

#include "engine/target.h"

enum { OUTPUTS = 16 }; /* computed together, on either target */

struct cost_target {
    const char *name;
    const ac_target *descriptor;
    uint32_t pixels;    /* per step */
    uint32_t inputs[2]; /* per step: F16, 8 bits */
    double step;        /* cost */
    double pass;        /* of one pass of the epilogue over a step's outputs */
    double passes;      /* number of passes of the shortest epilogue */
    double half_bias;   /* cost of a bias of F16, which is written to each step's sums */
    bool half_functions;
};

static const cost_target targets[] = {
    {"host", &ac_target_host, 1, {1, 4}, 1, 1, 12, 0, true},
    {"ascend310", &ac_target_ascend310, 16, {16, 32}, 1.4, 16.0 * OUTPUTS / 128, 2.5, 2, false},
};

const cost_target *cost_find(const char *name)
{
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        if (!strcmp(targets[i].name, name))
            return &targets[i];
    return NULL;
}

bool cost_takes_half_functions(const cost_target *t)
{
    return t->half_functions;
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
    const double tiles = (double)((pixels + t->pixels - 1) / t->pixels) *
                         ((g->values[node->output].channels + OUTPUTS - 1) / OUTPUTS);
    return tiles *
           ((double)steps * t->step + passes_of(t, node) * t->pass + (int8 ? 0 : t->half_bias));
}
