// SPDX-License-Identifier: Apache-2.0
/* The contents of a mona_video. Locks are taken in the order declared here. */
#ifndef MONA_VIDEO_HANDLE_H
#define MONA_VIDEO_HANDLE_H

#include <locale.h>
#include <pthread.h>
#include <sys/types.h>

#include "pipeline/job/job.h"
#include "pipeline/monavideo.h"
#include "pipeline/stages/chain.h"

typedef enum handle_state { HANDLE_NEW, HANDLE_FRAMES, HANDLE_RUNNING, HANDLE_FAILED } handle_state;

/* A frame on its way. */
typedef struct frame_note {
    int64_t time;
    void *user;
    mona_event *done;
} frame_note;

/* A value of an option, which the job points to. */
typedef struct kept_text {
    struct kept_text *next;
    char text[];
} kept_text;

struct mona_video {
    pthread_mutex_t pushing, pulling; /* held during the whole of such a call */
    pthread_mutex_t lock;             /* of all below but `stages`; never held while waiting */
    handle_state state;
    pid_t process;        /* that has the threads of the stages; 0: they were not started */
    pipeline_error error; /* of the last call that failed */
    job job;
    kept_text *texts; /* its values */
    job_run run;      /* of the stages */
    chain stages;
    frame_note notes[CHAIN_OUTPUTS];
    uint64_t pushed, pulled, returned; /* frames; returned: their planes may be written again */
};

/* Whether the handle was new; now it runs. */
bool handle_begin(mona_video *video);

/* Whether this process was forked after the stages' threads were started: it has none of them. */
bool handle_forked(const mona_video *video);

/* Keeps the error for mona_video_error and returns status. */
mona_video_status handle_fail(mona_video *video, mona_video_status status,
                              const pipeline_error *error);

/* The same for a call in the wrong order or with a bad argument, of which video may be one. */
mona_video_status handle_misused(mona_video *video, mona_video_status status, const char *expected);

/* Has this thread read and write numbers as the command does, with points. Returns the locale that
 * it had, for uselocale. */
locale_t handle_locale(void);

#endif
