// SPDX-License-Identifier: Apache-2.0
/* Cross-layer equalisation (Nagel et al. 2019, with the ranges of Xiao et al. 2022). */
#ifndef MONA_COMPILER_EQUALISE_H
#define MONA_COMPILER_EQUALISE_H

#include "formats/compiler/graph.h"

/* Where a CONV's result goes through ReLU, PReLU or nothing to one other CONV alone, channel i of
 * it may be divided by any s > 0 if the weights that read it are multiplied by s. All channels of a
 * value share one scale, and so do all weights of an output: s = sqrt(r / w), with r the largest
 * number calibration saw in the channel and w the largest weight that reads it, brings both to
 * sqrt(r w). What calibration saw of such values does not hold afterwards. Returns how many there
 * are; negative: no memory. */
int equalise_graph(graph *g);

#endif
