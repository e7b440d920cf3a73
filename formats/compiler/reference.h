// SPDX-License-Identifier: Apache-2.0
/* The judge: runs a graph in fp32. Operators on maps use plain loops that share nothing with the
 * engine; those on arrays run in the engine (reference_array.c). It serves calibration and
 * measurements of accuracy, and works at any stage of the compiler, before and after fusion.
 *
 * formats/reference is a different one: it runs ONNX graphs operator by operator in doubles, and
 * passes ONNX's test suite. Calibration and measurements need values of the compiler's own graph,
 * and run it hundreds of times. */
#ifndef MONA_COMPILER_REFERENCE_H
#define MONA_COMPILER_REFERENCE_H

#include "formats/compiler/graph.h"

/* channels x height x width numbers. */
typedef struct reference_array {
    uint32_t channels, height, width;
    float *data;
} reference_array;

/* Frees the data of each array, which may be NULL, and sets it to NULL. */
void reference_arrays_free(reference_array *arrays, unsigned count);

/* Called with every map once it is computed. node and in: what computed it and its inputs; NULL for
 * inputs of the graph. Returning false stops the run; then error must be set. */
typedef struct reference_observer {
    bool (*see)(void *context, uint32_t value, const reference_array *a, const graph_node *node,
                const reference_array *const *in, format_error *error);
    void *context;
} reference_observer;

/* Runs g on inputs, in the order of g->inputs. Release outputs[i].data with free(). observer may be
 * NULL. */
bool reference_run(const graph *g, const reference_array *inputs, reference_array *outputs,
                   const reference_observer *observer, format_error *error);

#endif
