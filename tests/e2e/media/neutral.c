// SPDX-License-Identifier: Apache-2.0
/* Writes an ONNX network that reads its input but corrects nothing, to show what the rest of the
 * pipeline does to a frame. Its features are computed, but its last weights are zeros. With a scale
 * it enlarges by repeating pixels, without one it is a denoiser.
 *
 *   neutral OUT.onnx [SCALE] */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/onnx_builder.h"

static void slice(onnx_builder *b, const char *from, const char *to, const char *begin,
                  const char *end)
{
    char names[3][32], inputs[128];
    const char *const values[] = {begin, end, "1"};
    for (int i = 0; i < 3; i++) {
        snprintf(names[i], sizeof names[i], "%s.%d", to, i);
        ob_numbers(b, names[i], values[i]);
    }
    snprintf(inputs, sizeof inputs, "%s %s %s %s", from, names[0], names[1], names[2]);
    ob_node(b, "Slice", inputs, to);
}

static void conv(onnx_builder *b, const char *inputs, const char *to)
{
    ob_ints(b, ob_node(b, "Conv", inputs, to), "pads", "1 1 1 1");
}

enum { FEATURES = 8, MOST_PLANES = 7, MOST_OUTPUTS = 16 };

/* Corrects this many planes by nothing. */
static void correct(onnx_builder *b, const char *planes, int inputs, int outputs)
{
    static const float tail[MOST_OUTPUTS * FEATURES * 9];
    float head[FEATURES * MOST_PLANES * 9];
    char shape[32], names[64];
    for (int i = 0; i < FEATURES * inputs * 9; i++)
        head[i] = (float)(i * 7 % 23 - 9) / 40;
    snprintf(shape, sizeof shape, "%d %d 3 3", FEATURES, inputs);
    ob_constant(b, "head.weight", shape, head);
    snprintf(shape, sizeof shape, "%d %d 3 3", outputs, FEATURES);
    ob_constant(b, "tail.weight", shape, tail);
    snprintf(names, sizeof names, "%s head.weight", planes);
    conv(b, names, "head");
    ob_node(b, "Relu", "head", "features");
    conv(b, "features tail.weight", "correction");
}

static void to_space(onnx_builder *b, const char *from, const char *to, int scale)
{
    Onnx__NodeProto *n = ob_node(b, "DepthToSpace", from, to);
    ob_int(b, n, "blocksize", scale);
    ob_string(b, n, "mode", "CRD");
}

static onnx_builder *enlarger(int scale)
{
    onnx_builder *b = ob_new(13);
    ob_input(b, "luma", 1, 0, 0);
    correct(b, "luma", 1, scale * scale);
    ob_node(b, "Add", "correction luma", "corrected");
    to_space(b, "corrected", "luma_out", scale);
    ob_output(b, "luma_out");
    return b;
}

static onnx_builder *denoiser(void)
{
    onnx_builder *b = ob_new(13);
    ob_input(b, "y", 1, 0, 0);
    ob_input(b, "u", 1, 0, 0);
    ob_input(b, "v", 1, 0, 0);
    ob_input(b, "noise", 1, 0, 0);
    ob_int(b, ob_node(b, "SpaceToDepth", "y", "quarters"), "blocksize", 2);
    ob_int(b, ob_node(b, "Concat", "quarters u v noise", "packed"), "axis", 1);
    slice(b, "packed", "planes", "0", "6");
    correct(b, "packed", 7, 6);
    ob_node(b, "Add", "correction planes", "corrected");
    slice(b, "corrected", "y_corrected", "0", "4");
    to_space(b, "y_corrected", "y_out", 2);
    slice(b, "corrected", "u_out", "4", "5");
    slice(b, "corrected", "v_out", "5", "6");
    ob_output(b, "y_out");
    ob_output(b, "u_out");
    ob_output(b, "v_out");
    return b;
}

int main(int argc, char **argv)
{
    size_t size;
    onnx_builder *b = argc == 3 ? enlarger(atoi(argv[2])) : denoiser();
    uint8_t *bytes = ob_pack(b, &size);
    FILE *file = argc == 2 || argc == 3 ? fopen(argv[1], "wb") : NULL;
    const int bad = !file || fwrite(bytes, 1, size, file) != size || fclose(file);
    free(bytes);
    ob_free(b);
    return bad;
}
