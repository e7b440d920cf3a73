// SPDX-License-Identifier: Apache-2.0
/* The layers that have a precision: the convolutions of the fused graph in execution order. */
#ifndef MONA_COMPILER_LAYERS_H
#define MONA_COMPILER_LAYERS_H

#include "formats/compiler/graph/options.h"
#include "formats/compiler/graph/reference.h"
#include "formats/compiler/precision/precision.h"
#include "formats/compiler/quantize/observation.h"
#include "formats/compiler/quantize/quantize.h"

typedef struct layer {
    compiler_layer about;
    uint32_t node;   /* index */
    uint32_t source; /* root of the value it reads, whose format determines its precision */
    unsigned next;   /* the next layer with this source, after the last one the first */
    /* Sums over all samples measured: result in fp32 x result in INT8, squares of both and of their
     * difference; samples of the source, and those out of range. */
    double product, squares, squares8, error, seen, beyond;
} layer;

typedef struct layers {
    layer *items; /* of the graph's memory */
    unsigned count;
} layers;

/* Finds the layers of a fused graph. */
bool layers_find(layers *l, graph *g, format_error *error);

/* Pins the layer, and all that read the same value, to this precision. False: there is no such
 * layer, and error lists similar names; or another pin contradicts it. */
bool layers_pin(layers *l, graph *g, const char *name, bool int8, format_error *error);

/* Sets all layers that are not pinned, and the values that no layer reads. */
void layers_set(layers *l, graph *g, bool int8);

/* Records which layers compiler_emit makes INT8 with these options. */
bool layers_note_made(layers *l, const graph *g, const compiler_options *options,
                      format_error *error);

/* Sets the layers that read the same value as layer i. */
void layers_set_source(layers *l, graph *g, unsigned i, bool int8);

/* The formats of all values if every layer is INT8. */
bool layers_formats(graph *g, const compiler_options *options, value_format *formats,
                    format_error *error);

/* Updates cosine, SQNR and saturation of every layer with one more sample, and the costs. */
bool layers_measure(layers *l, const onnx_graph *model, graph *g, const compiler_options *options,
                    const reference_array *inputs, format_error *error);
void layers_cost(layers *l, const graph *g, const cost_target *target);

/* Chooses between FP16 and INT8 layer by layer: see compiler_choose. options->int8 must be set. */
bool layers_choose(layers *l, graph *g, const compiler_options *options, const cost_target *target,
                   double max_drop, const compiler_judge *judge, compiler_choice *choice,
                   format_error *error);

#endif
