/* What a convolution costs on a target, to choose its precision by: a model of the arithmetic
 * alone, since whole networks run depth-first and hardly wait for memory (DESIGN 1).
 *
 * ascend310, cycles of a core. The cube multiplies 16 pixels by 16 outputs in a cycle, over 16
 * inputs of F16 or 32 of 8 bits; K is kernel area x channels, channels padded to the target's
 * blocks. The vector unit passes 128 numbers of fp16 a cycle, once for every step of the epilogue.
 * Both work at once, so the slower one counts.
 * host, vector instructions. One multiplies 16 outputs of a pixel by 1 input of F16 (as fp32) or 4
 * of 8 bits. The epilogue runs on the same unit, so that both add up. */
#ifndef MONA_COMPILER_COST_H
#define MONA_COMPILER_COST_H

#include "graph.h"

typedef struct cost_target cost_target;

/* "host" or "ascend310"; NULL: no such target. */
const cost_target *cost_find(const char *name);

/* Of a CONV that makes so many pixels, by inputs of 8 bits or F16. */
double cost_conv(const cost_target *target, const graph *g, const graph_node *node, uint64_t pixels,
                 bool int8);

#endif
