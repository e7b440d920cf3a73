// SPDX-License-Identifier: Apache-2.0
/* The cost of a convolution on a target, to choose its precision. The model covers arithmetic only,
 * since whole networks run depth-first and hardly wait for memory.
 *
 * A step multiplies a number of pixels by 16 outputs over a number of inputs. K, the inputs of an
 * output, is kernel area x channels, with channels padded to the target's blocks. The epilogue
 * passes over its numbers once, whatever its operations.
 *
 * ascend310, cycles of a core: a step takes 16 pixels and 16 inputs of F16 or 32 of 8 bits; an
 * epilogue takes 128 numbers per cycle. Fitted on model310, where operands arrive no faster than
 * one step per 1.4 cycles and the cube and the vector unit hardly overlap: the ratio of FP16 to
 * INT8 is within a third of model310's (tests/unit/formats/test_precision.c). host, vector
 * instructions: a step takes 1 pixel and 1 input of F16 (as fp32) or 4 of 8 bits; converting sums,
 * rounding, conversion and store take about 12 more. */
#ifndef MONA_COMPILER_COST_H
#define MONA_COMPILER_COST_H

#include "formats/compiler/graph/graph.h"

typedef struct cost_target cost_target;

/* "host" or "ascend310"; NULL: there is no such target. */
const cost_target *cost_find(const char *name);

/* Whether the results of functions such as SiLU may be F16. Otherwise they have 8 bits: tables take
 * less time there. */
bool cost_takes_half_functions(const cost_target *target);

/* The cost of a CONV that computes this many pixels, with inputs of 8 bits or F16. */
double cost_conv(const cost_target *target, const graph *g, const graph_node *node, uint64_t pixels,
                 bool int8);

#endif
