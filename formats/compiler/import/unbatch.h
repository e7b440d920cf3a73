// SPDX-License-Identifier: Apache-2.0
/* Makes a network for a batch of images one for a single image, where no operator mixes images. */
#ifndef MONA_COMPILER_UNBATCH_H
#define MONA_COMPILER_UNBATCH_H

#include "formats/onnx/onnx_graph.h"

/* A folded network, from its inputs on. A value that is computed from the inputs has one part
 * for each image, one after the other along axis 0. */
typedef struct image_walk {
    onnx_graph *g;
    int64_t images;
    bool *batched; /* of each value: computed from the inputs */
    const onnx_node *node;
    uint32_t sizes; /* input of the node that is a constant list of sizes, of which the first is the
                       number of images; ONNX_NONE: none */
} image_walk;

/* Whether an operator computes each image from the same image of its inputs, and as it would from a
 * batch of one. All its results have a first dimension of as many images. */
typedef bool images_rule(image_walk *w);

/* The rules of all operators. There is no images_none. */
#define ROW(name, since, min, max, types, function, whole, map, maps, array, arrays, attributes,   \
            images, integers, code)                                                                \
    images_rule images_##images;
#include "formats/operators.inc"
#undef ROW

/* g: a folded network. *images: how many it was for, and now is for one; 1: it is as it was. */
bool onnx_graph_unbatch(onnx_graph *g, int64_t *images, format_error *error);

#endif
