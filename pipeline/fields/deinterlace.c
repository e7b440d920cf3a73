// SPDX-License-Identifier: Apache-2.0
#include "pipeline/fields/deinterlace.h"

#include <stdio.h>

#include <libavfilter/buffersink.h>
#include <libavfilter/buffersrc.h>
#include <libavutil/pixdesc.h>

#include "pipeline/io/av_compat.h"

bool deinterlace_open(deinterlacer *d, const char *path, const AVFrame *like, AVRational time_base,
                      pipeline_error *error)
{
    char shape[192];
    AVFilterContext *bwdif = NULL;
    *d = (deinterlacer){.graph = avfilter_graph_alloc(), .time_base = time_base};
    if (!d->graph)
        return pipeline_fail(error, "out of memory");
    /* Frames must come out in the format in which they went in. */
    avfilter_graph_set_auto_convert(d->graph, AVFILTER_AUTO_CONVERT_NONE);
    snprintf(shape, sizeof shape, "video_size=%dx%d:pix_fmt=%d:time_base=%d/%d:pixel_aspect=%d/%d",
             like->width, like->height, like->format, time_base.num, time_base.den,
             like->sample_aspect_ratio.num, FFMAX(like->sample_aspect_ratio.den, 1));
    int code = avfilter_graph_create_filter(&d->source, avfilter_get_by_name("buffer"), "in", shape,
                                            NULL, d->graph);
    if (code >= 0)
        code = avfilter_graph_create_filter(&bwdif, avfilter_get_by_name("bwdif"), "bwdif",
                                            "mode=send_frame:parity=auto:deint=interlaced", NULL,
                                            d->graph);
    if (code >= 0)
        code = avfilter_graph_create_filter(&d->sink, avfilter_get_by_name("buffersink"), "out",
                                            NULL, NULL, d->graph);
    if (code >= 0)
        code = avfilter_link(d->source, 0, bwdif, 0);
    if (code >= 0)
        code = avfilter_link(bwdif, 0, d->sink, 0);
    if (code >= 0)
        code = avfilter_graph_config(d->graph, NULL);
    return code >= 0 ||
           pipeline_fail_av(
               error, code,
               "%s: libavfilter cannot deinterlace %s (--deinterlace off leaves it as it is)", path,
               av_get_pix_fmt_name(like->format));
}

bool deinterlace_put(deinterlacer *d, AVFrame *frame, pipeline_error *error)
{
    int code = av_buffersrc_add_frame(d->source, frame);
    return code >= 0 || pipeline_fail_av(error, code, "deinterlacing failed");
}

int deinterlace_get(deinterlacer *d, AVFrame *frame)
{
    int code = av_buffersink_get_frame(d->sink, frame);
    if (code < 0)
        return code;
    /* The filter counts in half ticks. */
    frame->pts = av_rescale_q(frame->pts, av_buffersink_get_time_base(d->sink), d->time_base);
    avframe_set_interlaced(frame, false, false);
    return code;
}

void deinterlace_close(deinterlacer *d)
{
    avfilter_graph_free(&d->graph);
}
