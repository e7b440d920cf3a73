// SPDX-License-Identifier: Apache-2.0
/* Writes a classifier of a published shape, or a small network, as ONNX with random weights.
 *
 *   classifiers resnet18|resnet50|mobilenet_v2|symmetric|asymmetric|qlinear|squeeze|batch|exp|
 *     shift|wide|line SIDE OUT.onnx
 *
 * squeeze: squeeze-and-excitation between two convolutions; its input x has 2 channels. SIDE 0:
 * any size. batch: the same for four images. exp: the same with a gate on arrays. shift: the
 * same with a sum in place of the product. wide: y = 1.1 x with one channel, which slightly
 * exceeds the range of planes. line: y = Relu(x) of the shape [1, 3, SIDE]. */
#include <stdio.h>
#include <string.h>

#include "tests/unit/classifiers.h"
#include "tests/unit/quantised_nets.h"

static void add_conv(onnx_builder *b, const char *inputs, const char *output, const char *dims,
                     int count, float weight)
{
    float weights[64];
    char weights_name[32], both[64];
    for (int i = 0; i < count; i++)
        weights[i] = i % 3 ? -weight / 2 : weight;
    snprintf(weights_name, sizeof weights_name, "w_%s", output);
    snprintf(both, sizeof both, "%s %s", inputs, weights_name);
    ob_constant(b, weights_name, dims, weights);
    ob_node(b, "Conv", both, output);
}

/* gate: Relu, or Exp, which works on arrays; join: Mul or Add */
static onnx_builder *squeeze(int side, const char *gate, const char *join)
{
    onnx_builder *b = ob_new(13);
    ob_input(b, "x", 2, side, side);
    add_conv(b, "x", "stem", "4 2 1 1", 8, 1);
    ob_node(b, "GlobalAveragePool", "stem", "mean");
    add_conv(b, "mean", "gate", "4 4 1 1", 16, 0.5f);
    ob_node(b, gate, "gate", "open");
    ob_node(b, join, "stem open", "scaled");
    add_conv(b, "scaled", "last", "3 4 1 1", 12, 1);
    ob_output(b, "last");
    return b;
}

static onnx_builder *batch(int side)
{
    onnx_builder *b = squeeze(side, "Relu", "Mul");
    b->inputs[0]->type->tensor_type->shape->dim[0]->dim_value = 4;
    b->outputs[0]->type->tensor_type->shape->dim[0]->dim_value = 4;
    return b;
}

static onnx_builder *wide(int side)
{
    onnx_builder *b = ob_new(13);
    ob_input(b, "x", 1, side, side);
    add_conv(b, "x", "y", "1 1 1 1", 1, 1.1f);
    ob_output(b, "y");
    return b;
}

static onnx_builder *line(int side)
{
    const int64_t dims[] = {1, 3, side};
    onnx_builder *b = ob_new(13);
    b->inputs[b->graph.n_input++] = ob_value(b, "x", dims, 3);
    ob_node(b, "Relu", "x", "y");
    ob_output(b, "y");
    return b;
}

static onnx_builder *small_net(const char *name, int side)
{
    return !strcmp(name, "squeeze") ? squeeze(side, "Relu", "Mul")
           : !strcmp(name, "batch") ? batch(side)
           : !strcmp(name, "exp")   ? squeeze(side, "Exp", "Mul")
           : !strcmp(name, "shift") ? squeeze(side, "Relu", "Add")
           : !strcmp(name, "wide")  ? wide(side)
           : !strcmp(name, "line")  ? line(side)
                                    : quantised_net(name, side);
}

int main(int argc, char **argv)
{
    size_t size;
    const int side = argc == 4 ? atoi(argv[2]) : 0;
    onnx_builder *b = argc == 4 ? small_net(argv[1], side) : NULL;
    if (argc == 4 && !b)
        b = classifier(argv[1], side, 1000);
    if (!b)
        return 2;
    uint8_t *bytes = ob_pack(b, &size);
    FILE *file = fopen(argv[3], "wb");
    const int bad = !file || fwrite(bytes, 1, size, file) != size || fclose(file);
    free(bytes);
    ob_free(b);
    return bad;
}
