// SPDX-License-Identifier: Apache-2.0
#include "pipeline/io/palette.h"

#include <stdio.h>

#include <libavfilter/buffersink.h>
#include <libavfilter/buffersrc.h>

bool palette_open(palette *p, const AVCodecContext *encoder, enum AVPixelFormat pix_fmt,
                  pipeline_error *error)
{
    char text[512];
    AVFilterInOut *inputs = NULL, *outputs = NULL;
    *p = (palette){.graph = avfilter_graph_alloc()};
    if (!p->graph)
        return pipeline_fail(error, "out of memory");
    snprintf(text, sizeof text,
             "buffer@in=video_size=%dx%d:pix_fmt=%d:time_base=%d/%d,split[a][b];"
             "[a]palettegen=stats_mode=single:reserve_transparent=0[p];"
             "[b][p]paletteuse=new=1,buffersink@out",
             encoder->width, encoder->height, (int)pix_fmt, encoder->time_base.num,
             encoder->time_base.den);
    int code = avfilter_graph_parse2(p->graph, text, &inputs, &outputs);
    avfilter_inout_free(&inputs);
    avfilter_inout_free(&outputs);
    if (code >= 0)
        code = avfilter_graph_config(p->graph, NULL);
    p->source = avfilter_graph_get_filter(p->graph, "buffer@in");
    p->sink = avfilter_graph_get_filter(p->graph, "buffersink@out");
    return code >= 0 ? true : pipeline_fail_av(error, code, "no palette can be made");
}

int palette_put(palette *p, AVFrame *frame)
{
    return av_buffersrc_add_frame_flags(p->source, frame, AV_BUFFERSRC_FLAG_KEEP_REF);
}

int palette_get(palette *p, AVFrame *frame)
{
    return av_buffersink_get_frame(p->sink, frame);
}

void palette_close(palette *p)
{
    avfilter_graph_free(&p->graph);
    *p = (palette){0};
}
