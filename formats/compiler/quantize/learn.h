// SPDX-License-Identifier: Apache-2.0
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
#ifndef MONA_COMPILER_LEARN_H
#define MONA_COMPILER_LEARN_H

#include "formats/compiler/graph/graph.h"
#include "formats/compiler/graph/reference.h"

/* Adds what a CONV reads in a sample. Weights that the model has quantised, and filters of more
 * than 512 samples of a channel, learn nothing. False: out of memory. */
bool learn_from(graph *g, graph_node *node, const reference_array *x, bool held_out,
                format_error *error);

/* Sets conv.learnt, unless samples of either kind are missing, and forgets the samples. centred:
 * the biases make up for a change of the mean. False: out of memory. */
bool learn_rounding(graph *g, graph_node *node, bool centred, format_error *error);

#endif
