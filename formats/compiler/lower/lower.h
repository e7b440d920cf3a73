// SPDX-License-Identifier: Apache-2.0
/* A fused graph -> a .mona model; what loads and stores took in is added to its log. */
#ifndef MONA_COMPILER_LOWER_H
#define MONA_COMPILER_LOWER_H

#include "formats/compiler/compiler.h"

bool lower_graph(graph *g, const compiler_options *options, uint8_t **bytes, size_t *size,
                 format_error *error);

/* Which values become tensors: what STOREs read, and what the nodes that make those read. needed:
 * false for every value. */
void lower_mark_needed(const graph *g, bool *needed);

#endif
