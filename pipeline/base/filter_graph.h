// SPDX-License-Identifier: Apache-2.0
/* A graph of libavfilter with one source and one sink. */
#ifndef MONA_FILTER_GRAPH_H
#define MONA_FILTER_GRAPH_H

#include <stdbool.h>

#include <libavfilter/avfilter.h>
#include <libavfilter/buffersink.h>
#include <libavfilter/buffersrc.h>

typedef struct filter_graph {
    AVFilterGraph *graph; /* NULL: not open */
    AVFilterContext *source, *sink;
} filter_graph;

/* Makes a graph from libav's description of it, whose first filter is the source and whose last is
 * the sink. converts: samples are converted where a filter does not take their format; else that is
 * an error. Returns an error of libav, or 0; filter_graph_close releases what there is. */
int filter_graph_open(filter_graph *g, bool converts, const char *description, ...)
    __attribute__((format(printf, 3, 4)));

/* A zeroed one is allowed. */
void filter_graph_close(filter_graph *g);

#endif
