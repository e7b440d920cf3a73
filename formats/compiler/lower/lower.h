// SPDX-License-Identifier: Apache-2.0
/* Lowers a fused graph to a .mona model. Work that loads and stores took over is added to the
 * graph's log. */
#ifndef MONA_COMPILER_LOWER_H
#define MONA_COMPILER_LOWER_H

#include "formats/compiler/graph/options.h"
#include "formats/compiler/graph/graph.h"

bool lower_graph(graph *g, const compiler_options *options, uint8_t **bytes, size_t *size,
                 format_error *error);

/* Finds the values that become tensors: those that STOREs read and, recursively, those that the
 * nodes computing them read. needed must be false for every value at first. */
void lower_mark_needed(graph *g, bool *needed);

#endif
