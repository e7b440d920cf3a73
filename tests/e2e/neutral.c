/* Writes a denoising network in ONNX that looks at its input and corrects nothing: what the
 * pipeline does to a frame besides. Its features are real, its last weights are zeros.
 *
 *   neutral OUT.onnx */
#include <assert.h>
#include <stdio.h>

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

static onnx_builder *neutral(void)
{
    float head[8 * 7 * 9];
    static const float tail[6 * 8 * 9];
    for (int i = 0; i < 8 * 7 * 9; i++)
        head[i] = (float)(i * 7 % 23 - 9) / 40;
    onnx_builder *b = ob_new(13);
    ob_input(b, "y", 1, 0, 0);
    ob_input(b, "u", 1, 0, 0);
    ob_input(b, "v", 1, 0, 0);
    ob_input(b, "noise", 1, 0, 0);
    ob_constant(b, "head.weight", "8 7 3 3", head);
    ob_constant(b, "tail.weight", "6 8 3 3", tail);
    ob_int(b, ob_node(b, "SpaceToDepth", "y", "quarters"), "blocksize", 2);
    ob_int(b, ob_node(b, "Concat", "quarters u v noise", "packed"), "axis", 1);
    slice(b, "packed", "planes", "0", "6");
    conv(b, "packed head.weight", "head");
    ob_node(b, "Relu", "head", "features");
    conv(b, "features tail.weight", "correction");
    ob_node(b, "Add", "correction planes", "corrected");
    slice(b, "corrected", "y_corrected", "0", "4");
    Onnx__NodeProto *n = ob_node(b, "DepthToSpace", "y_corrected", "y_out");
    ob_int(b, n, "blocksize", 2);
    ob_string(b, n, "mode", "CRD");
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
    onnx_builder *b = neutral();
    uint8_t *bytes = ob_pack(b, &size);
    FILE *file = argc == 2 ? fopen(argv[1], "wb") : NULL;
    const int bad = !file || fwrite(bytes, 1, size, file) != size || fclose(file);
    free(bytes);
    ob_free(b);
    return bad;
}
