// SPDX-License-Identifier: Apache-2.0
#include "pipeline/fields/fields.h"

#include <stdio.h>
#include <string.h>

#include <libavutil/pixdesc.h>

#include "pipeline/base/av_compat.h"
#include "pipeline/image/captions.h"

#define BWDIF(mode) "bwdif=mode=" mode ":parity=auto:deint=interlaced"

/* Where no fields fit each other (video among film), a frame stays combed and fieldmatch marks
 * it. */
const fields_kind fields_kinds[FIELDS_MODES] = {
    [FIELDS_SINGLE] = {BWDIF("send_frame"), {1, 1}, NULL},
    [FIELDS_DOUBLE] = {BWDIF("send_field"), {2, 1}, "Each field became a frame."},
    [FIELDS_FILM] = {"fieldmatch=order=%s," BWDIF("send_frame") ",decimate",
                     {4, 5},
                     "The film's own frames were restored from fields."},
};

bool deinterlace_open(deinterlacer *d, const char *path, const AVFrame *like, AVRational time_base,
                      fields_mode mode, bool top_first, pipeline_error *error)
{
    char filters[256];
    const char *order = top_first ? "tff" : "bff";
    *d = (deinterlacer){.mode = mode, .time_base = time_base, .last_pts = INT64_MIN};
    if (mode == FIELDS_DOUBLE && avframe_duration(like) < 2)
        return pipeline_fail(
            error,
            "%s: --fields double: expected times finer than frames, found steps of "
            "%d/%d s; ffmpeg -i IN -c copy OUT.mkv makes finer ones",
            path, time_base.num, time_base.den);
    snprintf(filters, sizeof filters, fields_kinds[mode].filters, order);
    /* The rate is for decimate, which needs one. */
    const int code = filter_graph_open(
        &d->filters, false,
        "buffer=video_size=%dx%d:pix_fmt=%d:time_base=%d/%d:pixel_aspect=%d/%d:"
        "frame_rate=30000/1001,%s,buffersink",
        like->width, like->height, like->format, time_base.num, time_base.den,
        like->sample_aspect_ratio.num, FFMAX(like->sample_aspect_ratio.den, 1), filters);
    return code >= 0 ||
           pipeline_fail_av(error, code,
                            mode == FIELDS_FILM
                                ? "%s: libavfilter cannot restore film from %s (--fields single "
                                  "deinterlaces it)"
                                : "%s: libavfilter cannot deinterlace %s (--deinterlace off leaves "
                                  "it as it is)",
                            path, av_get_pix_fmt_name(like->format));
}

/* ---- film: times and captions --------------------------------------------------------------- */

static deinterlace_frame *on_way(deinterlacer *d, uint64_t n)
{
    return &d->on_way[n % DEINTERLACE_ON_WAY];
}

/* Takes what belongs to the frame's place in the film, as decimate drops it with frames. */
static void remember(deinterlacer *d, AVFrame *frame)
{
    deinterlace_frame *f = on_way(d, d->put++);
    av_buffer_unref(&f->captions);
    *f = (deinterlace_frame){frame->pts, avframe_duration(frame), captions_of(frame)};
    av_frame_remove_side_data(frame, AV_FRAME_DATA_A53_CC);
}

/* Adds the captions of frames up to and including n to those that are due, without padding. */
static void collect(deinterlacer *d, uint64_t n)
{
    enum { VALID = 4 };
    for (; d->told <= n && d->told < d->put; d->told++) {
        const AVBufferRef *from = on_way(d, d->told)->captions;
        for (size_t i = 0; from && i + 3 <= from->size; i += 3)
            if (from->data[i] & VALID && d->captions_size + 3 <= sizeof d->captions) {
                memcpy(d->captions + d->captions_size, from->data + i, 3);
                d->captions_size += 3;
            }
    }
}

static int give_captions(deinterlacer *d, AVFrame *frame)
{
    const size_t size = FFMIN(d->captions_size, 3 * 31);
    const AVFrameSideData *side =
        size ? av_frame_new_side_data(frame, AV_FRAME_DATA_A53_CC, size) : NULL;
    if (size && !side)
        return AVERROR(ENOMEM);
    if (size)
        memcpy(side->data, d->captions, size);
    d->captions_size -= size;
    memmove(d->captions, d->captions + size, d->captions_size);
    return 0;
}

/* Whichever frame of a cycle is left out, the others are spread evenly over its time: the nth
 * begins 5/4 n frames after the first. The last has the captions of two. */
static int place(deinterlacer *d, AVFrame *frame)
{
    enum { CYCLE = DEINTERLACE_CYCLE, KEPT = CYCLE - 1 };
    const uint64_t slot = d->got % KEPT, first = d->got / KEPT * CYCLE;
    const deinterlace_frame *f = on_way(d, first + slot);
    frame->pts = f->pts + av_rescale(f->duration, (int64_t)slot, KEPT);
    avframe_set_duration(frame, av_rescale(f->duration, CYCLE, KEPT));
    collect(d, first + (d->ended || slot == KEPT - 1 ? (uint64_t)KEPT : slot));
    d->got++;
    return give_captions(d, frame);
}

bool deinterlace_put(deinterlacer *d, AVFrame *frame, pipeline_error *error)
{
    if (d->mode == FIELDS_FILM && frame)
        remember(d, frame);
    d->ended = !frame;
    int code = av_buffersrc_add_frame(d->filters.source, frame);
    return code >= 0 || pipeline_fail_av(error, code, "deinterlacing failed");
}

int deinterlace_get(deinterlacer *d, AVFrame *frame)
{
    int code = av_buffersink_get_frame(d->filters.sink, frame);
    if (code < 0)
        return code;
    if (d->mode == FIELDS_FILM)
        code = place(d, frame);
    else if (frame->pts != AV_NOPTS_VALUE) /* the filter counts in half ticks */
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
    for (unsigned i = 0; i < DEINTERLACE_ON_WAY; i++)
        av_buffer_unref(&d->on_way[i].captions);
    filter_graph_close(&d->filters);
}
