// SPDX-License-Identifier: Apache-2.0
/* Calibration's statistics of a value, in memory that does not grow with the number of samples. */
#ifndef MONA_COMPILER_OBSERVATION_H
#define MONA_COMPILER_OBSERVATION_H

#include "formats/compiler/quantize/histogram.h"
#include "formats/compiler/graph/reference.h"

struct observation {
    histogram magnitudes;
    double *sums;           /* of each channel */
    float *largest;         /* magnitude of each channel */
    uint64_t count;         /* samples of one channel */
    uint32_t rows, columns; /* of the last sample */
    double threshold;       /* at the last observation_movement */
};

/* Adds a sample of a value. False: not finite, or out of memory. */
bool observation_add(graph *g, uint32_t value, const reference_array *a, format_error *error);

/* Largest relative change of a value's range under this rule since the last call. */
double observation_movement(graph *g, range_rule rule);

/* Discards everything. */
void observation_clear(graph *g);

#endif
