// SPDX-License-Identifier: Apache-2.0
/* How near to a quantised model's own definition its layers are. */
#ifndef MONA_COMPILER_EXACTNESS_H
#define MONA_COMPILER_EXACTNESS_H

#include "formats/compiler/quantize/quantize.h"

#define EXACTNESS_EXACT "bit-exact"

/* By how many steps it may be off, and as text, EXACTNESS_EXACT or "within N steps: why": of what a
 * node of a lowered graph stores as the model says, for inputs of the model's scales. The bound is
 * of what is rounded to a step: what is off by less than a step is rounded to the same or the next
 * one. */
unsigned exactness_text(const graph *g, const graph_node *node, const value_format *formats,
                        char *text, size_t size);

#endif
