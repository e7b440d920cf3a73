// SPDX-License-Identifier: Apache-2.0
/* A network on one or several chips, which take a stage's frames in their order. A chip that fails
 * is left out, and its frames are computed by the others. Results reach the stage's stream in the
 * order of the frames, so what stages keep from frame to frame is as with one device. */
#ifndef MONA_POOL_H
#define MONA_POOL_H

#include "pipeline/stages/chip.h"

typedef enum pool_state { POOL_WAITS, POOL_TAKEN, POOL_DONE } pool_state;

enum { POOL_SLOTS = 2 * STAGE_SLOTS }; /* a stage may run two planes of a frame through it */

/* Number n is at n % POOL_SLOTS until its result was waited for. */
typedef struct pool_frame {
    struct pool *pool;
    uint64_t number;
    pool_state state;
    const bool *wanted; /* NULL: it is */
    mona_buffer inputs[MONA_MAX_IO], outputs[MONA_MAX_IO];
    mona_event entered;
} pool_frame;

/* A lane of a chip, and its thread. */
typedef struct pool_lane {
    struct pool *pool;
    unsigned chip, lane;
    pthread_t thread;
} pool_lane;

typedef struct pool {
    const char *name; /* of the network */
    chip *chips;
    unsigned count; /* of them; 0: the pool is closed */
    pool_lane *lanes;
    unsigned lane_count, started;
    pthread_mutex_t lock; /* of what follows, and of the frames' states */
    pthread_cond_t changed;
    struct pool_chip {
        unsigned busy; /* lanes that have a frame */
        bool failed;
    } * states;
    unsigned working;   /* chips that have not failed */
    mona_status status; /* of the last failure */
    bool stop;
    uint64_t enqueued;        /* by the caller */
    uint64_t entered, passed; /* frames from `passed` to `entered` are in the pool */
    pool_frame frames[POOL_SLOTS];
} pool;

/* first: a session on the first device, opened with config, which stays the caller's. Whether it
 * succeeds or not, pool_close releases what there is; *p must not move. */
bool pool_open(pool *p, const device_set *devices, const session_binding *first,
               const mona_config *config, const char *name, pipeline_error *error);
/* For a model of the vendor's compiler on frames of this size; *scale: how many times it enlarges
 * them. */
bool pool_open_om(pool *p, const device_set *devices, const named_model *model, mona_size size,
                  unsigned *scale, pipeline_error *error);
bool pool_is_open(const pool *p);

/* Whether the session that was opened on the first device is for a pool: not where there is just
 * one device, which reads frames where they lie. */
bool pool_is_wanted(const device_set *devices, const session_binding *first);

/* How many frames should be in it, so that no lane waits. */
unsigned pool_frames(const pool *p);

/* Enqueues a frame: it is read once `entry` gets there, where *wanted is asked too (NULL: it is
 * true), and its result is there for what `stream` does next. */
mona_status pool_enqueue(pool *p, mona_stream *entry, mona_stream *stream, const bool *wanted,
                         const mona_buffer *inputs, const mona_buffer *outputs);

size_t pool_bytes(const pool *p); /* of the sessions but the first */

/* Once both streams are at rest. A zeroed pool is allowed. */
void pool_close(pool *p);

#endif
