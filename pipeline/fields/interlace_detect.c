// SPDX-License-Identifier: Apache-2.0
#include "pipeline/fields/fields.h"

#include <stdlib.h>
#include <string.h>

#include <libavutil/pixdesc.h>

#include "pipeline/base/av_compat.h"
#include "pipeline/stages/sample.h"

/* Two samples differ if their difference is at least STEP steps of 8 bits. Every ROW_STEP-th row is
 * examined, so even and odd rows take turns. */
enum { LARGEST_WIDTH = 2048, LARGEST_HEIGHT = 1088, STEP = 10, ROW_STEP = 5 };
/* Of 17 frames, at least FEWEST, and one in SHARE of those that idet is sure of, must have fields
 * in one order, and one in TEETH of the moving samples must be combed. Films that were converted to
 * fields have two such frames in five. Progressive frames have fewer than one combed sample in 70,
 * interlaced ones from one in 50 to one in 2. Once some interlaced frames were found, fewer combed
 * samples suffice where little moves. */
enum { FEWEST = 3, SHARE = 4, TEETH = 64, TEETH_LATER = 256 };
/* A film counts as progressive after CALM frames without teeth in a row, not counting still ones:
 * frames in which at least one in MOVED samples moves and fewer than one in TEETH of those is
 * combed. From then on idet rests and only every REST-th frame is examined, until one has teeth. In
 * a film that was converted to fields, where two frames in five have them, that happens within four
 * examined frames. */
enum { CALM = 50, MOVED = 256, REST = 4 };

static int depth_of(const AVFrame *frame)
{
    return av_pix_fmt_desc_get(frame->format)->comp[0].depth;
}

static enum AVPixelFormat luma_format(const AVFrame *frame)
{
    return depth_of(frame) > 8 ? AV_PIX_FMT_GRAY16 : AV_PIX_FMT_GRAY8;
}

bool interlace_detect_open(interlace_detect *c, const AVFrame *like, bool possible,
                           interlace_known known, pipeline_error *error)
{
    *c = (interlace_detect){.seen = av_frame_alloc(),
                            .luma = av_frame_alloc(),
                            .before = av_frame_alloc(),
                            .calm = known == INTERLACE_NONE ? CALM : 0,
                            .found = known == INTERLACE_FOUND};
    bool complete = c->seen && c->luma && c->before;
    for (unsigned i = 0; i < INTERLACE_DETECT_WAITING; i++)
        complete = (c->waiting[i] = av_frame_alloc()) && complete;
    if (!complete)
        return pipeline_fail(error, "out of memory");
    c->examines = possible && like->width <= LARGEST_WIDTH && like->height <= LARGEST_HEIGHT;
    return true;
}

/* ---- looking -------------------------------------------------------------------------------- */

/* Both fields are smooth in themselves and differ from each other. */
static inline bool is_tooth(int two_up, int up, int at, int down, int two_down, int step)
{
    const int above = at - up, below = at - down;
    const int min = abs(above) < abs(below) ? abs(above) : abs(below);
    return (min > step) & ((above > 0) == (below > 0)) & (2 * abs(at - two_up) < min) &
           (2 * abs(at - two_down) < min) & (2 * abs(up - down) < min);
}

static void look(interlace_detect_sight *sight, const AVFrame *frame, const AVFrame *before)
{
    const bool wide = depth_of(frame) > 8;
    const int step = STEP << (depth_of(frame) - 8);
    const ptrdiff_t stride = frame->linesize[0];
    for (int y = 2; y < frame->height - 2; y += ROW_STEP) {
        const uint8_t *row = frame->data[0] + y * stride;
        const uint8_t *old = before->data[0] + y * (ptrdiff_t)before->linesize[0];
        uint32_t moving = 0, combed = 0;
        for (int x = 0; x < frame->width; x++) {
            const int at = plane_sample(row, x, wide);
            const bool moves = abs(at - plane_sample(old, x, wide)) > step;
            moving += moves;
            combed += moves & is_tooth(plane_sample(row - 2 * stride, x, wide),
                                       plane_sample(row - stride, x, wide), at,
                                       plane_sample(row + stride, x, wide),
                                       plane_sample(row + 2 * stride, x, wide), step);
        }
        sight->moving += moving;
        sight->moving_top += y % 2 ? 0 : moving;
        sight->combed += combed;
    }
}

static int8_t order_of(const AVFrame *seen)
{
    const AVDictionaryEntry *found =
        av_dict_get(seen->metadata, "lavfi.idet.single.current_frame", NULL, 0);
    const char *text = found ? found->value : "";
    return !strcmp(text, "tff")           ? 1
           : !strcmp(text, "bff")         ? -1
           : !strcmp(text, "progressive") ? 0
                                          : 2;
}

/* Reads what idet has judged so far. */
static int hear(interlace_detect *c)
{
    int code = 0;
    while (c->idet.graph && (code = av_buffersink_get_frame(c->idet.sink, c->seen)) >= 0) {
        /* After a rest, the frame before the rest comes first; it is no longer needed. */
        if ((uint64_t)c->seen->pts >= c->judged) {
            c->sights[c->seen->pts % INTERLACE_DETECT_SIGHTS].order = order_of(c->seen);
            c->judged = (uint64_t)c->seen->pts + 1;
        }
        av_frame_unref(c->seen);
    }
    return code == AVERROR(EAGAIN) || code == AVERROR_EOF ? 0 : code;
}

/* Makes luma refer to frame n's luma as a picture of its own. False: out of memory. */
static bool refer_to_luma(AVFrame *luma, const AVFrame *frame, uint64_t n)
{
    luma->buf[0] = av_buffer_ref(av_frame_get_plane_buffer((AVFrame *)frame, 0));
    luma->format = luma_format(frame);
    luma->width = frame->width;
    luma->height = frame->height;
    luma->data[0] = frame->data[0];
    luma->linesize[0] = frame->linesize[0];
    luma->pts = (int64_t)n;
    return luma->buf[0];
}

static bool has_teeth(const interlace_detect_sight *sight)
{
    return sight->moving && TEETH * (uint64_t)sight->combed >= sight->moving;
}

/* Passes frame n to idet. Luma alone shows fields, and idet accepts it whatever the chroma format
 * is. libavfilter takes its time to open, so it is not opened for films that are known to have no
 * fields. */
static int ask(interlace_detect *c, const AVFrame *frame, uint64_t n)
{
    int code =
        c->idet.graph
            ? 0
            : filter_graph_open(&c->idet, false,
                                "buffer=video_size=%dx%d:pix_fmt=%d:time_base=1/25,idet,buffersink",
                                frame->width, frame->height, luma_format(frame));
    if (code >= 0)
        code = refer_to_luma(c->luma, frame, n) ? av_buffersrc_add_frame(c->idet.source, c->luma)
                                                : AVERROR(ENOMEM);
    av_frame_unref(c->luma);
    return code;
}

/* Examines the frame and passes it to idet. */
static int see(interlace_detect *c, const AVFrame *frame)
{
    interlace_detect_sight *sight = &c->sights[c->put % INTERLACE_DETECT_SIGHTS];
    const uint64_t turn = c->put % REST;
    *sight = (interlace_detect_sight){.order = 2};
    if (c->before->data[0] && (c->calm < CALM || turn == 0))
        look(sight, frame, c->before);
    if (c->calm >= CALM && has_teeth(sight))
        c->calm = 0;
    av_frame_unref(c->before);
    int code = c->calm < CALM || turn == REST - 1 ? av_frame_ref(c->before, frame) : 0;
    if (c->calm >= CALM) {
        c->judged = c->put + 1;
        return code;
    }
    return code < 0 ? code : ask(c, frame, c->put);
}

bool interlace_detect_put(interlace_detect *c, AVFrame *frame, pipeline_error *error)
{
    int code = 0;
    if (c->examines && !c->ended && frame)
        code = see(c, frame);
    else if (c->idet.graph && !c->ended)
        code = av_buffersrc_add_frame(c->idet.source, NULL);
    c->ended = c->ended || !frame;
    if (frame)
        av_frame_move_ref(c->waiting[c->put++ % INTERLACE_DETECT_WAITING], frame);
    if (code >= 0)
        code = hear(c);
    return code >= 0 ||
           pipeline_fail_av(error, code, "libavfilter cannot check these frames for interlacing");
}

/* ---- judging -------------------------------------------------------------------------------- */

/* The order of the fields around the next frame: 1 or -1; 0: no fields. */
static int fields_around(const interlace_detect *c)
{
    const uint64_t first =
        c->taken < INTERLACE_DETECT_REACH ? 0 : c->taken - INTERLACE_DETECT_REACH;
    uint64_t top = 0, bottom = 0, whole = 0, moving = 0, combed = 0;
    for (uint64_t n = first; n < c->judged && n <= c->taken + INTERLACE_DETECT_REACH; n++) {
        const interlace_detect_sight *s = &c->sights[n % INTERLACE_DETECT_SIGHTS];
        top += s->order == 1;
        bottom += s->order == -1;
        whole += s->order == 0;
        moving += s->moving;
        combed += s->combed;
    }
    const uint64_t max = FFMAX(top, bottom), sure = top + bottom + whole;
    if (max < FEWEST || SHARE * max < sure || SHARE * FFMIN(top, bottom) > max ||
        (c->found ? TEETH_LATER : TEETH) * combed < moving)
        return 0;
    return top > bottom ? 1 : -1;
}

static bool moves(const interlace_detect_sight *sight, const AVFrame *frame)
{
    const uint64_t samples = (uint64_t)frame->width * (uint64_t)frame->height / ROW_STEP;
    return MOVED * (uint64_t)sight->moving >= samples;
}

/* 1: the top field is that of the frame before, -1: the bottom one; 0: neither. */
static int repeated_field(const interlace_detect_sight *sight)
{
    enum { CLEARLY = 2 };
    const uint64_t top = sight->moving_top, bottom = sight->moving - sight->moving_top;
    return CLEARLY * top < bottom ? 1 : CLEARLY * bottom < top ? -1 : 0;
}

int interlace_detect_get(interlace_detect *c, AVFrame *frame, bool *found)
{
    *found = false;
    if (c->examines && !c->ended && c->judged < c->taken + INTERLACE_DETECT_REACH + 1)
        return AVERROR(EAGAIN);
    if (c->taken == c->put)
        return c->ended ? AVERROR_EOF : AVERROR(EAGAIN);
    const int order = c->examines ? fields_around(c) : 0;
    const interlace_detect_sight *sight = &c->sights[c->taken % INTERLACE_DETECT_SIGHTS];
    av_frame_move_ref(frame, c->waiting[c->taken++ % INTERLACE_DETECT_WAITING]);
    c->found = c->found || order;
    const int repeated = moves(sight, frame) ? repeated_field(sight) : 0;
    c->calm = c->found || repeated || has_teeth(sight) ? 0 : c->calm + moves(sight, frame);
    if (c->examines)
        pulldown_count(&c->pulldown, moves(sight, frame), repeated);
    if (order && sight->order != 0 && !avframe_is_interlaced(frame)) {
        *found = true;
        avframe_set_interlaced(frame, true, order > 0);
    }
    return 0;
}

void interlace_detect_stop(interlace_detect *c)
{
    c->examines = false;
    filter_graph_close(&c->idet);
}

void interlace_detect_close(interlace_detect *c)
{
    for (unsigned i = 0; i < INTERLACE_DETECT_WAITING; i++)
        av_frame_free(&c->waiting[i]);
    filter_graph_close(&c->idet);
    av_frame_free(&c->seen);
    av_frame_free(&c->luma);
    av_frame_free(&c->before);
    *c = (interlace_detect){0};
}
