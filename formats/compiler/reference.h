// SPDX-License-Identifier: Apache-2.0
/* The judge: runs a graph in fp32, operators on maps with plain loops that share nothing with the
 * engine, those on arrays in the engine (reference_array.c). It serves calibration and accuracy
 * evidence and works at any stage of the compiler, before and after fusion.
 *
 * It is another than formats/reference, which runs ONNX's graphs, one operator after another in
 * doubles, and judges by its suite: calibration and evidence look at values of the compiler's own
 * graph, and run it hundreds of times. */
#ifndef MONA_COMPILER_REFERENCE_H
#define MONA_COMPILER_REFERENCE_H

#include "formats/compiler/graph.h"

/* channels x height x width numbers. */
typedef struct reference_array {
    uint32_t channels, height, width;
    float *data;
} reference_array;

/* Frees the data of each, which may be NULL, and makes it NULL. */
void reference_arrays_free(reference_array *arrays, unsigned count);

/* Sees every map once it is there; node and in: what made it of what, NULL for inputs of the
 * graph. False stops the run and sets error. */
typedef struct reference_observer {
    bool (*see)(void *context, uint32_t value, const reference_array *a, const graph_node *node,
                const reference_array *const *in, format_error *error);
    void *context;
} reference_observer;

/* Runs g on inputs, in the order of g->inputs. outputs[i].data is released with free(). observer
 * may be NULL. */
bool reference_run(const graph *g, const reference_array *inputs, reference_array *outputs,
                   const reference_observer *observer, format_error *error);

#endif
