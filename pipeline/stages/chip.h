// SPDX-License-Identifier: Apache-2.0
/* A network on a device with memory of its own: a model's session on it, or a model from the
 * vendor's compiler (.om). Threads each take a frame through it in a lane of their own: one sends a
 * frame while another waits for the AI Cores and a third fetches its result. */
#ifndef MONA_CHIP_H
#define MONA_CHIP_H

#include <pthread.h>

#include "engine/mona_ascend.h"
#include "pipeline/stages/session_binding.h"
#include "pipeline/stages/stage_settings.h"

/* A session computes one frame at a time, a model of the vendor's two. */
enum { CHIP_LANES = 3, CHIP_OM_LANES = MONA_OM_SLOTS, CHIP_TURNS = 2 };

typedef struct chip_lane {
    void *memory; /* of a session: its planes on the device */
    void *host;   /* the same where the device has no memory of its own */
    mona_buffer in[MONA_MAX_IO], out[MONA_MAX_IO];
    uint16_t *values; /* of a model's output, before they are rounded to samples */
} chip_lane;

typedef struct chip {
    const mona_device *device;
    const session_binding *bound; /* NULL: om runs */
    session_binding own;          /* what is bound, unless that is the caller's */
    mona_om *om;
    unsigned inputs, outputs, lanes;
    struct chip_turns {
        uint64_t drawn, ended;
    } turns[CHIP_TURNS]; /* under the lock: lanes compute in the order in which they began */
    pthread_mutex_t lock;
    pthread_cond_t ended;
    chip_lane lane[CHIP_OM_LANES];
} chip;

/* Whether frames are copied to the session's device and back: not on a module, unless there are
 * gaps between their rows. */
bool chip_copies(const session_binding *bound);

/* first: a session, which stays the caller's. config NULL: its device is the chip; else the chip
 * gets a session of its own for the same model. chip_close releases everything in any case; *c must
 * not move. */
bool chip_open(chip *c, const session_binding *first, const mona_config *config, const char *name,
               pipeline_error *error);
/* For a model (.om) of one plane of 8 bits; *scale: how many times it enlarges. */
bool chip_open_om(chip *c, const mona_device *device, const named_model *model, mona_size size,
                  unsigned *scale, pipeline_error *error);

/* Takes a frame from inputs to outputs and returns when these are written; outputs without data are
 * not wanted. One thread at a time may use a lane. */
mona_status chip_run(chip *c, unsigned lane, const mona_buffer *inputs, const mona_buffer *outputs);

/* A zeroed chip is allowed. */
void chip_close(chip *c);

/* How many times a model (.om) enlarges; 0, with an error, if it is not one of one plane. */
unsigned chip_om_scale(const mona_device *device, const named_model *model, pipeline_error *error);

#endif
