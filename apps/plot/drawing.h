// SPDX-License-Identifier: Apache-2.0
/* Graphs of operators as SVG: layers from top to bottom, each operator below what it reads. */
#ifndef MONA_DRAWING_H
#define MONA_DRAWING_H

#include <stdbool.h>
#include <stdint.h>

typedef struct drawn_node {
    char title[32], detail[38]; /* longer texts are cut */
    bool end;                   /* an input or output of the graph */
} drawn_node;

typedef struct drawn_edge {
    uint32_t from, to; /* nodes, from < to */
} drawn_edge;

/* Zero-initialise. */
typedef struct drawing {
    drawn_node *nodes;
    drawn_edge *edges;
    uint32_t node_count, node_room, edge_count, edge_room;
    bool failed; /* out of memory */
} drawing;

/* The new node's index. */
uint32_t drawing_node(drawing *d, const char *title, const char *detail, bool end);
void drawing_edge(drawing *d, uint32_t from, uint32_t to);

/* Writes it to path. Prints one line and gives false when it cannot. */
bool drawing_save(const drawing *d, const char *path);
void drawing_free(drawing *d);

#endif
