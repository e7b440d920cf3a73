// SPDX-License-Identifier: Apache-2.0
/* Functions after layers with results of 8 bits: a table from the sum, as U8, to the result. */
#ifndef MONA_COMPILER_TABLE_H
#define MONA_COMPILER_TABLE_H

#include "formats/compiler/graph/graph.h"

/* Sums before a function: real value = scale * (q - zero), q in 0..255. */
typedef struct table_source {
    float scale;
    int zero;
} table_source;

/* Whether the node ends in a function that a table must compute, as its result has 8 bits. */
bool table_needed(const graph_node *node, value_format result);

/* The sums for which the function's result is not yet constant, of those that calibration saw. */
table_source table_find_source(const graph *g, const graph_node *node, value_format result);

/* Fills the table. */
void table_fill(const graph_activation *function, table_source from, value_format result,
                uint8_t table[256]);

#endif
