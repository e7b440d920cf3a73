// SPDX-License-Identifier: Apache-2.0
/* How close the layers of a quantised model are to the model's own definition. */
#ifndef MONA_COMPILER_EXACTNESS_H
#define MONA_COMPILER_EXACTNESS_H

#include "formats/compiler/quantize/quantize.h"

#define EXACTNESS_EXACT "bit-exact"

/* By how many steps the result may be off that a node of a lowered graph stores with the model's
 * scales, for inputs with the model's scales; and as text: EXACTNESS_EXACT or "within N steps:
 * why". The bound applies to rounded results: an error of less than a step leads to the same or the
 * next rounded value. */
unsigned exactness_text(const graph *g, const graph_node *node, const value_format *formats,
                        char *text, size_t size);

#endif
