// SPDX-License-Identifier: Apache-2.0
#include "pipeline/fields/deinterlace.h"

#include <libavutil/pixdesc.h>

#include "pipeline/io/av_compat.h"

bool deinterlace_open(deinterlacer *d, const char *path, const AVFrame *like, AVRational time_base,
                      bool each, pipeline_error *error)
{
    *d = (deinterlacer){.time_base = time_base, .last_pts = INT64_MIN};
    if (each && avframe_duration(like) < 2)
        return pipeline_fail(
            error,
            "%s: --fields double: expected times finer than frames, found steps of "
            "%d/%d s; ffmpeg -i IN -c copy OUT.mkv makes finer ones",
            path, time_base.num, time_base.den);
    const int code =
        filter_graph_open(&d->filters, false,
                          "buffer=video_size=%dx%d:pix_fmt=%d:time_base=%d/%d:pixel_aspect=%d/%d,"
                          "bwdif=mode=%s:parity=auto:deint=interlaced,buffersink",
                          like->width, like->height, like->format, time_base.num, time_base.den,
                          like->sample_aspect_ratio.num, FFMAX(like->sample_aspect_ratio.den, 1),
                          each ? "send_field" : "send_frame");
    return code >= 0 ||
           pipeline_fail_av(
               error, code,
               "%s: libavfilter cannot deinterlace %s (--deinterlace off leaves it as it is)", path,
               av_get_pix_fmt_name(like->format));
}

bool deinterlace_put(deinterlacer *d, AVFrame *frame, pipeline_error *error)
{
    int code = av_buffersrc_add_frame(d->filters.source, frame);
    return code >= 0 || pipeline_fail_av(error, code, "deinterlacing failed");
}

int deinterlace_get(deinterlacer *d, AVFrame *frame)
{
    int code = av_buffersink_get_frame(d->filters.sink, frame);
    if (code < 0)
        return code;
    /* The filter counts in half ticks. */
    if (frame->pts != AV_NOPTS_VALUE)
        frame->pts =
            av_rescale_q(frame->pts, av_buffersink_get_time_base(d->filters.sink), d->time_base);
    /* The second field of a film with one frame has the first one's time, or none. */
    if (frame->pts <= d->last_pts)
        frame->pts = d->last_pts + FFMAX(avframe_duration(frame), 1);
    d->last_pts = frame->pts;
    avframe_set_interlaced(frame, false, false);
    return code;
}

void deinterlace_close(deinterlacer *d)
{
    filter_graph_close(&d->filters);
}
