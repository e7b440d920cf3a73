/* The judge: runs a graph in fp32 with plain loops that share nothing with the engine. It serves
 * calibration and accuracy evidence and works at any stage of the compiler, before and after
 * fusion. */
#ifndef MONA_COMPILER_REFERENCE_H
#define MONA_COMPILER_REFERENCE_H

#include "graph.h"

/* channels x height x width numbers. */
typedef struct reference_array {
    uint32_t channels, height, width;
    float *data;
} reference_array;

/* Lowest and highest number of a value; low > high: none seen. */
typedef struct reference_range {
    float low, high;
} reference_range;

/* Runs g on inputs, in the order of g->inputs. outputs[i].data is released with free().
 * ranges: one for each value of g, widened to what is seen; may be NULL. */
bool reference_run(const graph *g, const reference_array *inputs, reference_array *outputs,
                   reference_range *ranges, format_error *error);

#endif
