// SPDX-License-Identifier: Apache-2.0
/* What a convolution costs on a target, to choose its precision by: a model of the arithmetic
 * alone, since whole networks run depth-first and hardly wait for memory.
 *
 * A step multiplies so many pixels by 16 outputs over so many inputs; K, the inputs of an output,
 * is kernel area x channels, channels padded to the target's blocks. The epilogue passes over its
 * numbers once for everything it does with them.
 *
 * ascend310, cycles of a core: 16 pixels and 16 inputs of F16 or 32 of 8 bits a step, 128 numbers a
 * cycle in an epilogue. Fitted on model310, where operands come no faster than 1 step in 1.4 cycles
 * and cube and vector unit hardly overlap: the ratio of FP16 to INT8 is within a third of
 * model310's (tests/unit/formats/test_precision.c).
 * host, vector instructions: 1 pixel and 1 input of F16 (as fp32) or 4 of 8 bits a step; conversion
 * of sums, rounding, conversion and store are some 12 more. */
#ifndef MONA_COMPILER_COST_H
#define MONA_COMPILER_COST_H

#include "formats/compiler/graph.h"

typedef struct cost_target cost_target;

/* "host" or "ascend310"; NULL: no such target. */
const cost_target *cost_find(const char *name);

/* Of a CONV that makes so many pixels, by inputs of 8 bits or F16. */
double cost_conv(const cost_target *target, const graph *g, const graph_node *node, uint64_t pixels,
                 bool int8);

#endif
