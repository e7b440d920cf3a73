// SPDX-License-Identifier: Apache-2.0
/* Writes a classifier of a published shape, or a small quantised network, in ONNX, with random
 * weights.
 *
 *   classifiers resnet18|resnet50|mobilenet_v2|symmetric|asymmetric|qlinear SIDE OUT.onnx */
#include <stdio.h>

#include "tests/unit/classifiers.h"
#include "tests/unit/quantised_nets.h"

int main(int argc, char **argv)
{
    size_t size;
    const int side = argc == 4 ? atoi(argv[2]) : 0;
    onnx_builder *b = argc == 4 ? quantised_net(argv[1], side) : NULL;
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
