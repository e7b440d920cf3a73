// SPDX-License-Identifier: Apache-2.0
/* Calibration's statistics of a value, in memory that does not grow with the number of samples. */
#ifndef MONA_COMPILER_OBSERVATION_H
#define MONA_COMPILER_OBSERVATION_H

#include <stddef.h>
#include <stdint.h>

#include "formats/compiler/graph/graph.h"
#include "formats/compiler/graph/options.h"
#include "formats/compiler/graph/reference.h"

/* Histograms of a value's magnitudes, and the largest magnitude that 8 bits should represent.
 *
 * Bins are a power of two wide. When larger magnitudes occur, the width doubles and neighbouring
 * bins are merged. The counts of floor(|x| / width) therefore do not depend on the order of
 * samples, and memory stays constant. Zeros are counted separately, since every scale represents
 * them exactly. */

enum { HISTOGRAM_BINS = 2048 };

typedef struct histogram {
    int exponent; /* bins are 2^exponent wide */
    uint64_t zeros, total;
    uint64_t counts[HISTOGRAM_BINS];
} histogram;

/* A zeroed histogram is empty. Values are finite. */
void histogram_add(histogram *h, const float *values, size_t count);
void histogram_merge(histogram *h, const histogram *from);

/* The magnitude that the last of `levels` steps should stand for; 0: only zeros were seen. max: the
 * largest magnitude seen, which is the result of RANGE_MIN_MAX and an upper bound of the others. */
double histogram_threshold(const histogram *h, range_rule rule, unsigned levels, double max);

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

/* Learns the rounding of weights from samples.
 *
 * Rounding changes the weights of an output by d, and its sums over x, the filter's input at one
 * place, by d x. The mean of (d x)^2 is d' M d, with M the second moments of x, about the mean if
 * the bias compensates for it. If neighbours in x are alike, roundings that cancel each other cost
 * little, however far they are from the weights. So single weights and pairs are moved by one step
 * as long as this lowers d' M d, and several scales are tried.
 *
 * The weights could fit chance features of the samples. So some samples are held out, and an output
 * keeps its learnt rounding only if it is better on these too. */

/* Adds what a CONV reads in a sample. Weights that the model has quantised, and filters of more
 * than 512 samples of a channel, learn nothing. False: out of memory. */
bool learn_from(graph *g, graph_node *node, const reference_array *x, bool held_out,
                format_error *error);

/* Sets conv.learnt, unless samples of either kind are missing, and forgets the samples. centred:
 * the biases make up for a change of the mean. False: out of memory. */
bool learn_rounding(graph *g, graph_node *node, bool centred, format_error *error);

#endif
