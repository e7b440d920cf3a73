// SPDX-License-Identifier: Apache-2.0
/* File to file: the command's run with callbacks. */
#include "pipeline/library/handle.h"

#include <stdatomic.h>

#include "pipeline/base/av_library.h"
#include "pipeline/enhance.h"
#include "pipeline/io/sources/source.h"

typedef struct file_run {
    mona_video *video;
    const mona_video_callbacks *callbacks;
    job_run work;
    atomic_bool ends;
    pipeline_error *error;
} file_run;

static void tell_progress(void *context, const enhance_report *r)
{
    file_run *run = context;
    const mona_video_callbacks *c = run->callbacks;
    const mona_video_progress progress = {.in_width = r->in_width,
                                          .in_height = r->in_height,
                                          .out_width = r->out_width,
                                          .out_height = r->out_height,
                                          .frames = r->frames,
                                          .expected = r->expected};
    if (c->progress && !c->progress(c->context, &progress))
        atomic_store(&run->ends, true);
}

static bool enhance_file(file_run *run, const char *input, const char *output)
{
    enhance_report report = {0};
    job *j = &run->work.job;
    j->input.path = input;
    j->output = output;
    const unsigned modes = job_takes_picture(input, output, false) ? JOB_MODE_PICTURE : 0;
    return source_check(input, run->error) && job_complete(j, run->error) &&
           job_open(&run->work, modes, run->error) && enhance_run(j, &report, run->error);
}

mona_video_status mona_video_run(mona_video *video, const char *input, const char *output,
                                 const mona_video_callbacks *callbacks)
{
    static const mona_video_callbacks none;
    pipeline_error error = {0};
    file_run run = {.video = video, .callbacks = callbacks ? callbacks : &none, .error = &error};
    if (!video || !input || !output)
        return handle_misused(video, MONA_VIDEO_ERR_ARGUMENT,
                              "run: expected the names of an input and an output, found none");
    if (!handle_begin(video))
        return handle_misused(video, MONA_VIDEO_ERR_STATE,
                              "run: expected without start, and one at a time");
    av_log_errors_silence();
    job *j = &run.work.job;
    *j = video->job;
    j->notes = (pipeline_notes){run.callbacks->note, run.callbacks->context};
    j->progress = tell_progress;
    j->progress_context = &run;
    j->ends = &run.ends;
    const locale_t before = handle_locale();
    const bool good = enhance_file(&run, input, output);
    uselocale(before);
    job_close(&run.work);
    pthread_mutex_lock(&video->lock);
    video->state = HANDLE_NEW;
    pthread_mutex_unlock(&video->lock);
    if (good)
        return MONA_VIDEO_OK;
    pipeline_fail(&error, "%s: cannot be enhanced", input);
    return handle_fail(video, MONA_VIDEO_ERR_FAILED, &error);
}
