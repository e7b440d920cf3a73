// SPDX-License-Identifier: Apache-2.0
/* The layers that have a precision: convolutions of the fused graph, in execution order. */
#ifndef MONA_COMPILER_LAYERS_H
#define MONA_COMPILER_LAYERS_H

#include "formats/compiler/compiler.h"
#include "formats/compiler/quantize/cost.h"
#include "formats/compiler/quantize/observation.h"
#include "formats/compiler/quantize/quantize.h"

typedef struct layer {
    compiler_layer about;
    uint32_t node;   /* index */
    uint32_t source; /* root of the value it reads, whose format decides its precision */
    /* Over all samples measured: output in fp32 x output by 8 bits, squares of both, of their
     * difference; samples of the source, and those out of reach. */
    double product, squares, squares8, error, seen, beyond;
} layer;

typedef struct layers {
    layer *items; /* of the graph's memory */
    unsigned count;
} layers;

/* The layers of a fused graph. */
bool layers_find(layers *l, graph *g, format_error *error);

/* The layer is to be of this precision, and with it all that read the same value. False: there is
 * no such layer, and error lists names like it; or another pin says otherwise. */
bool layers_pin(layers *l, graph *g, const char *name, bool int8, format_error *error);

/* All layers that are not pinned, and the values that no layer reads. */
void layers_set(layers *l, graph *g, bool int8);

/* Notes which layers compiler_emit makes INT8 with these options. */
bool layers_note_made(layers *l, const graph *g, const compiler_options *options,
                      format_error *error);

/* Those that read the value of layer i. */
void layers_set_source(layers *l, graph *g, unsigned i, bool int8);

/* Formats of all values if every layer is INT8. */
bool layers_formats(graph *g, const compiler_options *options, value_format *formats,
                    format_error *error);

/* Fills cosine, SQNR and saturation of every layer by one more sample, and the costs. */
bool layers_measure(layers *l, graph *g, const compiler_options *options,
                    const reference_array *inputs, format_error *error);
void layers_cost(layers *l, const graph *g, const cost_target *target);

#endif
