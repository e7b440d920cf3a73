// SPDX-License-Identifier: Apache-2.0
/* Cross-layer equalisation (Nagel et al. 2019, with the ranges of Xiao et al. 2022). */
#ifndef MONA_COMPILER_EQUALISE_H
#define MONA_COMPILER_EQUALISE_H

#include "formats/compiler/graph/graph.h"

/* If the result of a CONV goes through ReLU, PReLU or nothing to exactly one other CONV, its
 * channel i may be divided by any s > 0 if the weights that read it are multiplied by s. All
 * channels of a value share one scale, and so do all weights of an output. With r the largest
 * number that calibration saw in the channel and w the largest weight that reads it, s = sqrt(r /
 * w) brings both to sqrt(r w). Afterwards, what calibration saw of such values is no longer valid.
 * pairs: how many were equalised. False: out of memory. */
bool equalise_graph(graph *g, unsigned *pairs, format_error *error);

#endif
