// SPDX-License-Identifier: Apache-2.0
#include "pipeline/library/handle.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "models/embedded.h"

_Static_assert((int)MONA_VIDEO_FRAMES == (int)CHAIN_OUTPUTS, "what a chain holds");
_Static_assert((int)MONA_VIDEO_PLANES == (int)FRAME_MAX_PLANES, "what a frame has");

const char *mona_video_status_text(mona_video_status status)
{
    switch (status) {
    case MONA_VIDEO_OK:
        return "no error";
    case MONA_VIDEO_AGAIN:
        return "pull a frame first, or push one";
    case MONA_VIDEO_ERR_ARGUMENT:
        return "an argument makes no sense";
    case MONA_VIDEO_ERR_STATE:
        return "a call in the wrong order";
    case MONA_VIDEO_ERR_OPTION:
        return "no such option, or not with this value";
    case MONA_VIDEO_ERR_FORMAT:
        return "frames of this format cannot be enhanced";
    case MONA_VIDEO_ERR_FAILED:
        return "enhancing failed";
    }
    return "unknown status";
}

const char *mona_video_version(void)
{
    return MONA_VERSION;
}

const void *mona_video_model(const char *name, size_t *size)
{
    const embedded_model *found = name && size ? embedded_model_find(name) : NULL;
    if (!found)
        return NULL;
    *size = (size_t)(found->end - found->begin);
    return found->begin;
}

mona_video *mona_video_open(void)
{
    mona_video *video = calloc(1, sizeof *video);
    if (!video)
        return NULL;
    pthread_mutex_init(&video->pushing, NULL);
    pthread_mutex_init(&video->pulling, NULL);
    pthread_mutex_init(&video->lock, NULL);
    video->job = (job)JOB_NONE;
    const locale_t before = handle_locale();
    option_defaults(job_rows, JOB_ROWS, &video->job);
    uselocale(before);
    return video;
}

void mona_video_close(mona_video *video)
{
    if (!video)
        return;
    if (!handle_forked(video)) {
        chain_close(&video->stages);
        job_close(&video->run);
    }
    for (kept_text *next; video->texts; video->texts = next) {
        next = video->texts->next;
        free(video->texts);
    }
    pthread_mutex_destroy(&video->pushing);
    pthread_mutex_destroy(&video->pulling);
    pthread_mutex_destroy(&video->lock);
    free(video);
}

bool handle_forked(const mona_video *video)
{
    return video->process && video->process != getpid();
}

bool handle_begin(mona_video *video)
{
    pthread_mutex_lock(&video->lock);
    const bool open = video->state == HANDLE_NEW;
    if (open)
        video->state = HANDLE_RUNNING;
    pthread_mutex_unlock(&video->lock);
    return open;
}

mona_video_status handle_fail(mona_video *video, mona_video_status status,
                              const pipeline_error *error)
{
    pthread_mutex_lock(&video->lock);
    video->error = *error;
    pthread_mutex_unlock(&video->lock);
    return status;
}

mona_video_status handle_misused(mona_video *video, mona_video_status status, const char *expected)
{
    pipeline_error error = {0};
    pipeline_fail(&error, "%s", expected);
    return video ? handle_fail(video, status, &error) : status;
}

locale_t handle_locale(void)
{
    return uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0)); /* a constant, nothing to free */
}

size_t mona_video_error(mona_video *video, char *text, size_t bytes)
{
    pipeline_error error = {0};
    if (video) {
        pthread_mutex_lock(&video->lock);
        error = video->error;
        pthread_mutex_unlock(&video->lock);
    }
    const size_t length = strlen(error.text);
    if (text && bytes) {
        const size_t kept = length < bytes ? length : bytes - 1;
        memcpy(text, error.text, kept);
        text[kept] = 0;
    }
    return length;
}

/* A copy of a value that lives as long as the handle. NULL: out of memory. */
static const char *keep(mona_video *video, const char *value)
{
    const size_t bytes = strlen(value) + 1;
    kept_text *kept = malloc(sizeof *kept + bytes);
    if (!kept)
        return NULL;
    memcpy(kept->text, value, bytes);
    kept->next = video->texts;
    video->texts = kept;
    return kept->text;
}

static bool set_option(mona_video *video, const char *name, const char *value,
                       pipeline_error *error)
{
    job_field f = JOB_LIBRARY_FIRST;
    while (f < JOB_LIBRARY_END && strcmp(job_rows[f].name + strlen("--"), name) != 0)
        f++;
    if (f == JOB_LIBRARY_END)
        return pipeline_fail(error,
                             "expected an option of mona enhance for frames or encoders, "
                             "without its dashes, found '%s'",
                             name);
    if (value && !(value = keep(video, value)))
        return pipeline_fail(error, "out of memory");
    const bool good = option_read(&job_rows[f], &video->job, value, error);
    video->job.given.has[f] |= good;
    return good;
}

bool mona_video_option_at(size_t i, mona_video_option *to)
{
    static const mona_video_kind kinds[] = {
        [OPTION_FLAG] = MONA_VIDEO_FLAG,     [OPTION_STRING] = MONA_VIDEO_TEXT,
        [OPTION_FILE] = MONA_VIDEO_FILE,     [OPTION_CHOICE] = MONA_VIDEO_CHOICE,
        [OPTION_WHOLE] = MONA_VIDEO_WHOLE,   [OPTION_NUMBER] = MONA_VIDEO_NUMBER,
        [OPTION_SWITCH] = MONA_VIDEO_CHOICE, [OPTION_SHARE] = MONA_VIDEO_SHARE,
        [OPTION_SIZE] = MONA_VIDEO_SIZE,     [OPTION_TIME] = MONA_VIDEO_TIME,
        [OPTION_LIST] = MONA_VIDEO_LIST};
    if (!to || i >= JOB_LIBRARY_END - JOB_LIBRARY_FIRST)
        return false;
    const option *row = &job_rows[JOB_LIBRARY_FIRST + i];
    const option_rule *rule = option_rule_of(job_rules, JOB_RULES, row->name);
    *to = (mona_video_option){.name = row->name + strlen("--"),
                              .value = row->argument,
                              .initial = row->initial,
                              .help = row->help,
                              .kind = kinds[row->kind],
                              .minimum = row->minimum,
                              .maximum = row->maximum,
                              .frames = !rule || !(rule->never & JOB_MODE_FRAMES)};
    return true;
}

mona_video_status mona_video_set(mona_video *video, const char *option, const char *value)
{
    pipeline_error error = {0};
    if (!video || !option)
        return handle_misused(video, MONA_VIDEO_ERR_ARGUMENT,
                              "set: expected the name of an option, found none");
    pthread_mutex_lock(&video->lock);
    const bool open = video->state == HANDLE_NEW;
    const locale_t before = handle_locale();
    const bool good = open && set_option(video, option, value, &error);
    uselocale(before);
    pthread_mutex_unlock(&video->lock);
    if (!open)
        return handle_misused(video, MONA_VIDEO_ERR_STATE, "set: expected before start and run");
    return good ? MONA_VIDEO_OK : handle_fail(video, MONA_VIDEO_ERR_OPTION, &error);
}
