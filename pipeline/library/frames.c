// SPDX-License-Identifier: Apache-2.0
/* Frames in, frames out: the stages without decoder and encoder. */
#include <unistd.h>

#include "pipeline/library/handle.h"

/* ---- start ---------------------------------------------------------------------------------- */

static bool check_format(const mona_video_format *f, pipeline_error *error)
{
    const bool planes = f->planes == 1 || f->planes == 3 || f->planes == 4;
    if (f->chroma > MONA_VIDEO_CHROMA_TOP_LEFT)
        return pipeline_fail(error, "expected one of mona_video_chroma, 0 to %d, found %d",
                             MONA_VIDEO_CHROMA_TOP_LEFT, (int)f->chroma);
    if (!planes || f->shift_x > 2 || f->shift_y > 2 || f->bits < 8 || f->bits > MONA_MAX_DEPTH)
        return pipeline_fail(error,
                             "expected 1, 3 or 4 planes of 8 to %d bits with shifts up to 2, found "
                             "%u planes of %u bits with shifts %u and %u",
                             MONA_MAX_DEPTH, f->planes, f->bits, f->shift_x, f->shift_y);
    if (!f->width || !f->height || f->width > MONA_MAX_SIDE || f->height > MONA_MAX_SIDE)
        return pipeline_fail(error, "expected 1 to %d columns and rows, found %ux%u", MONA_MAX_SIDE,
                             f->width, f->height);
    return true;
}

static chroma_location location_of(mona_video_chroma chroma)
{
    static const chroma_location of[] = {
        [MONA_VIDEO_CHROMA_LEFT] = {CHROMA_FIRST, CHROMA_MIDDLE},
        [MONA_VIDEO_CHROMA_CENTRE] = {CHROMA_MIDDLE, CHROMA_MIDDLE},
        [MONA_VIDEO_CHROMA_TOP_LEFT] = {CHROMA_FIRST, CHROMA_FIRST},
    };
    return of[chroma];
}

/* Opens the chain as video.c does. */
static mona_video_status open_stages(mona_video *video, const mona_video_format *in,
                                     mona_video_format *out, pipeline_error *error)
{
    video->run = (job_run){.job = video->job, .shown = {in->width, in->height}};
    job *j = &video->run.job;
    j->input.path = j->output = "-";
    const frame_format format = {.width = in->width,
                                 .height = in->height,
                                 .planes = in->planes,
                                 .shift_x = in->planes > 1 ? in->shift_x : 0,
                                 .shift_y = in->planes > 1 ? in->shift_y : 0,
                                 .bits = in->bits};
    if (!job_complete(j, error) || !job_open(&video->run, JOB_MODE_FRAMES, error))
        return MONA_VIDEO_ERR_OPTION;
    j->stage.chroma_location = location_of(in->chroma);
    j->stage.full_range = in->full_range;
    if (!chain_open(&video->stages, j->kinds, j->count, &j->stage, format, true, error))
        return MONA_VIDEO_ERR_FORMAT;
    *out = *in;
    out->width = chain_format(&video->stages).width;
    out->height = chain_format(&video->stages).height;
    return MONA_VIDEO_OK;
}

mona_video_status mona_video_start(mona_video *video, const mona_video_format *in,
                                   mona_video_format *out)
{
    pipeline_error error = {0};
    if (!video || !in || !out)
        return handle_misused(
            video, MONA_VIDEO_ERR_ARGUMENT,
            "start: expected a format for frames and one for results, found none");
    if (!check_format(in, &error))
        return handle_fail(video, MONA_VIDEO_ERR_FORMAT, &error);
    pthread_mutex_lock(&video->pushing);
    const bool open = handle_begin(video);
    mona_video_status status = MONA_VIDEO_ERR_STATE;
    if (open) {
        const locale_t before = handle_locale();
        video->process = getpid();
        status = open_stages(video, in, out, &error);
        uselocale(before);
        if (status) {
            chain_close(&video->stages);
            job_close(&video->run);
            video->run = (job_run){0};
        }
        pthread_mutex_lock(&video->lock);
        video->state = status ? HANDLE_NEW : HANDLE_FRAMES;
        pthread_mutex_unlock(&video->lock);
    }
    pthread_mutex_unlock(&video->pushing);
    if (!open)
        return handle_misused(video, MONA_VIDEO_ERR_STATE,
                              "start: expected once, and not after or during run");
    return status ? handle_fail(video, status, &error) : MONA_VIDEO_OK;
}

/* ---- push ----------------------------------------------------------------------------------- */

/* Whether the planes can be read: a row must not reach into the next. */
static bool check_planes(const frame_format *format, const mona_video_frame *frame)
{
    for (unsigned p = 0; p < format->planes; p++) {
        const ptrdiff_t stride = frame->stride[p] < 0 ? -frame->stride[p] : frame->stride[p];
        const size_t row = frame_shown_size(format, p).width * frame_sample_bytes(format);
        if (!frame->data[p] || (size_t)stride < row)
            return false;
    }
    return true;
}

static bool check_samples(const frame_format *format, const mona_video_frame *frame)
{
    for (unsigned p = 0; p < format->planes; p++)
        if (!frame_samples_fit(format, p, frame->data[p], frame->stride[p]))
            return false;
    return true;
}

static mona_video_status fail_computing(mona_video *video, mona_status status)
{
    pipeline_error error = {0};
    pipeline_fail(&error, "computing failed: %s", pipeline_reason(status));
    pthread_mutex_lock(&video->lock);
    video->state = HANDLE_FAILED;
    pthread_mutex_unlock(&video->lock);
    return handle_fail(video, MONA_VIDEO_ERR_FAILED, &error);
}

/* MONA_VIDEO_OK: push or pull has what it needs, and its locks and threads are of this process. */
static mona_video_status check_call(mona_video *video, const mona_video_frame *frame,
                                    const char *expected)
{
    if (!video || !frame)
        return handle_misused(video, MONA_VIDEO_ERR_ARGUMENT, expected);
    if (!handle_forked(video))
        return MONA_VIDEO_OK;
    return handle_misused(
        video, MONA_VIDEO_ERR_STATE,
        "push and pull: expected the process that called start, found one that it "
        "forked, which has none of its threads");
}

/* MONA_VIDEO_OK: there are stages, and room for a frame or a frame to wait for. */
static mona_video_status look(mona_video *video, bool push)
{
    pthread_mutex_lock(&video->lock);
    const handle_state state = video->state;
    const uint64_t pushed = video->pushed;
    const bool ready = push ? pushed - video->returned < MONA_VIDEO_FRAMES : pushed > video->pulled;
    pthread_mutex_unlock(&video->lock);
    return state == HANDLE_FAILED ? MONA_VIDEO_ERR_FAILED
           : state != HANDLE_FRAMES
               ? handle_misused(video, MONA_VIDEO_ERR_STATE, "push and pull: expected after start")
           : ready ? MONA_VIDEO_OK
                   : MONA_VIDEO_AGAIN;
}

static mona_status put(mona_video *video, const mona_video_frame *frame)
{
    struct frame *slot;
    frame_note note = {.time = frame->time, .user = frame->user};
    mona_status status = chain_input(&video->stages, &slot);
    if (status)
        return status;
    for (unsigned p = 0; p < slot->format.planes; p++)
        frame_fill_plane(slot, p, frame->data[p], frame->stride[p]);
    status = chain_enqueue(&video->stages, 0, false, 0, &note.done);
    if (status)
        return status;
    pthread_mutex_lock(&video->lock);
    video->notes[video->pushed++ % CHAIN_OUTPUTS] = note;
    pthread_mutex_unlock(&video->lock);
    return MONA_OK;
}

mona_video_status mona_video_push(mona_video *video, const mona_video_frame *frame)
{
    mona_video_status status = check_call(video, frame, "push: expected a frame, found none");
    if (status)
        return status;
    pthread_mutex_lock(&video->pushing);
    const frame_format *format = &video->stages.stages[0].in;
    status = look(video, true);
    if (!status && !check_planes(format, frame))
        status =
            handle_misused(video, MONA_VIDEO_ERR_ARGUMENT,
                           "push: expected samples in each plane, and a stride of a row or more");
    if (!status && !check_samples(format, frame))
        status = handle_misused(video, MONA_VIDEO_ERR_ARGUMENT,
                                "push: expected samples of the format's bits, in the low bits of "
                                "16, found larger ones");
    const mona_status computed = status ? MONA_OK : put(video, frame);
    pthread_mutex_unlock(&video->pushing);
    return computed ? fail_computing(video, computed) : status;
}

/* ---- pull ----------------------------------------------------------------------------------- */

static mona_status get(mona_video *video, mona_video_frame *to)
{
    pthread_mutex_lock(&video->lock);
    const uint64_t n = video->pulled;
    const frame_note note = video->notes[n % CHAIN_OUTPUTS];
    pthread_mutex_unlock(&video->lock);
    const mona_status status = mona_event_synchronize(note.done);
    const struct frame *made =
        &video->stages.edges[video->stages.count][n % video->stages.slots[video->stages.count]];
    *to = (mona_video_frame){.time = note.time, .user = note.user};
    for (unsigned p = 0; p < made->format.planes; p++) {
        to->data[p] = made->data[p];
        to->stride[p] = made->stride[p];
    }
    pthread_mutex_lock(&video->lock);
    video->pulled++;
    pthread_mutex_unlock(&video->lock);
    return status;
}

/* The frame pulled before is the library's again. */
static void give_back(mona_video *video)
{
    pthread_mutex_lock(&video->lock);
    video->returned = video->pulled;
    pthread_mutex_unlock(&video->lock);
}

mona_video_status mona_video_pull(mona_video *video, mona_video_frame *frame)
{
    mona_video_status status = check_call(video, frame, "pull: expected a frame, found none");
    if (status)
        return status;
    pthread_mutex_lock(&video->pulling);
    give_back(video);
    status = look(video, false);
    const mona_status computed = status ? MONA_OK : get(video, frame);
    pthread_mutex_unlock(&video->pulling);
    return computed ? fail_computing(video, computed) : status;
}
