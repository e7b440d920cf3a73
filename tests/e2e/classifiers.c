/* Writes a classifier of a published shape in ONNX, with random weights.
 *
 *   classifiers resnet18|resnet50|mobilenet_v2 SIDE OUT.onnx */
#include <stdio.h>

#include "tests/unit/classifiers.h"

int main(int argc, char **argv)
{
    size_t size;
    onnx_builder *b = argc == 4 ? classifier(argv[1], atoi(argv[2]), 1000) : NULL;
    if (!b)
        return 2;
    uint8_t *bytes = ob_pack(b, &size);
    FILE *file = fopen(argv[3], "wb");
    const int bad = !file || fwrite(bytes, 1, size, file) != size || fclose(file);
    free(bytes);
    ob_free(b);
    return bad;
}
