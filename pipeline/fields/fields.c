// SPDX-License-Identifier: Apache-2.0
#include "pipeline/fields/fields.h"

#include "pipeline/base/av_compat.h"

bool fields_put(fields *f, AVFrame *frame, pipeline_error *error)
{
    if (!f->open && frame && !interlace_detect_open(&f->sight, frame, f->possible, f->known, error))
        return false;
    f->open = f->open || frame;
    return interlace_detect_put(&f->sight, frame, error);
}

static void note_found(fields *f, bool found)
{
    if (!f->told && f->mode == FIELDS_FILM)
        pipeline_note(f->notes, "%s: film with 3:2 pull-down; its 24 frames a second are restored",
                      f->path);
    else if (!f->told)
        pipeline_note(f->notes, "%s: %s; %s", f->path,
                      found ? "looks interlaced, although it is not marked as such" : "interlaced",
                      f->wanted ? "it is deinterlaced (--deinterlace off leaves it as it is)"
                                : "it is enhanced without deinterlacing");
    f->told = true;
    if (!f->wanted)
        interlace_detect_stop(&f->sight);
}

static bool open_whole(const fields *f, deinterlacer *whole, const AVFrame *frame, fields_mode mode,
                       pipeline_error *error)
{
    return deinterlace_open(whole, f->path, frame, f->time_base, mode, !f->bottom_first, error);
}

/* Whether this libavfilter takes film of the frame's format; before FFmpeg 6 it must have 8
 * bits. */
static bool can_restore(const fields *f, const AVFrame *frame)
{
    deinterlacer tried;
    pipeline_error unused = {0};
    const bool can = open_whole(f, &tried, frame, FIELDS_FILM, &unused);
    deinterlace_close(&tried);
    return can;
}

static void tell_film(fields *f, const AVFrame *frame)
{
    if (f->told_film || !f->may_be_film || !f->wanted || !pulldown_order(&f->sight.pulldown))
        return;
    f->told_film = true;
    if (can_restore(f, frame))
        pipeline_note(f->notes,
                      "%s: looks like film with 3:2 pull-down, from 24 frames a second; --fields "
                      "film restores these",
                      f->path);
}

/* Whether the frame must go through the deinterlacer. If so, it is opened. */
static bool is_wanted(fields *f, const AVFrame *frame, bool found, bool *wanted,
                      pipeline_error *error)
{
    const bool fit = avframe_is_interlaced(frame) || f->mode == FIELDS_FILM;
    const bool open = f->whole.filters.graph;
    *wanted = open || (fit && f->wanted);
    if (*wanted && !open && !open_whole(f, &f->whole, frame, f->mode, error))
        return false;
    if (fit)
        note_found(f, found);
    tell_film(f, frame);
    return true;
}

int fields_get(fields *f, AVFrame *frame, pipeline_error *error)
{
    av_frame_unref(frame);
    for (;;) {
        bool found, wanted = true;
        int code = f->whole.filters.graph ? deinterlace_get(&f->whole, frame) : AVERROR(EAGAIN);
        if (code < 0 && code != AVERROR(EAGAIN) && code != AVERROR_EOF)
            pipeline_fail_av(error, code, "%s: deinterlacing failed", f->path);
        if (code != AVERROR(EAGAIN))
            return code;
        code = interlace_detect_get(&f->sight, frame, &found);
        if (code == AVERROR(EAGAIN) || (code == AVERROR_EOF && !f->whole.filters.graph))
            return code;
        if (code >= 0 && !is_wanted(f, frame, found, &wanted, error))
            return AVERROR_EXTERNAL;
        if (!wanted)
            return code;
        if (f->mode == FIELDS_DOUBLE && code >= 0 && avframe_is_interlaced(frame))
            avframe_set_duration(frame, avframe_duration(frame) / 2);
        if (!deinterlace_put(&f->whole, code >= 0 ? frame : NULL, error))
            return AVERROR_EXTERNAL;
    }
}

void fields_close(fields *f)
{
    deinterlace_close(&f->whole);
    interlace_detect_close(&f->sight);
    f->open = false;
}
