// SPDX-License-Identifier: Apache-2.0
/* Runs the model from which a graph was imported, operator by operator as ONNX defines them
 * (formats/reference), on the compiler's samples, to judge import, passes and quantisation. */
#ifndef MONA_COMPILER_REFERENCE_H
#define MONA_COMPILER_REFERENCE_H

#include "formats/onnx/onnx_graph.h"
#include "formats/compiler/graph/graph.h"

/* channels x height x width numbers. */
typedef struct reference_array {
    uint32_t channels, height, width;
    float *data;
} reference_array;

/* Elements of an array. */
size_t reference_count(const reference_array *a);
/* Frees the data of each array, which may be NULL, and sets it to NULL. */
void reference_arrays_free(reference_array *arrays, unsigned count);

/* Called with every map of a graph that has the numbers of a value of the model, once that is
 * computed. Returning false stops the run; then error must be set. */
typedef struct reference_observer {
    bool (*see)(void *context, uint32_t value, const reference_array *a, format_error *error);
    void *context;
} reference_observer;

/* Runs the model on inputs in the order of g->inputs. outputs: in the order of g->outputs; release
 * their data with free(); NULL: not wanted. observer: shown the maps of g; may be NULL. */
bool reference_run(const onnx_graph *model, const graph *g, const reference_array *inputs,
                   reference_array *outputs, const reference_observer *observer,
                   format_error *error);

#endif
