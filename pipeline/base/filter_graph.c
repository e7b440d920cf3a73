// SPDX-License-Identifier: Apache-2.0
#include "pipeline/base/filter_graph.h"

#include <stdarg.h>
#include <stdio.h>

int filter_graph_open(filter_graph *g, bool converts, const char *description, ...)
{
    char text[1024];
    AVFilterInOut *inputs = NULL, *outputs = NULL;
    va_list arguments;
    va_start(arguments, description);
    const int length = vsnprintf(text, sizeof text, description, arguments);
    va_end(arguments);
    if (length >= (int)sizeof text)
        return AVERROR(EINVAL);
    *g = (filter_graph){.graph = avfilter_graph_alloc()};
    if (!g->graph)
        return AVERROR(ENOMEM);
    avfilter_graph_set_auto_convert(g->graph, converts ? AVFILTER_AUTO_CONVERT_ALL
                                                       : AVFILTER_AUTO_CONVERT_NONE);
    const int code = avfilter_graph_parse2(g->graph, text, &inputs, &outputs);
    avfilter_inout_free(&inputs);
    avfilter_inout_free(&outputs);
    if (code < 0)
        return code;
    g->source = g->graph->filters[0];
    g->sink = g->graph->filters[g->graph->nb_filters - 1];
    return avfilter_graph_config(g->graph, NULL);
}

void filter_graph_close(filter_graph *g)
{
    avfilter_graph_free(&g->graph);
}
