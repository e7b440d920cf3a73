// SPDX-License-Identifier: Apache-2.0
/* A network on a chip with its own memory: while it computes one frame, the next is sent and the
 * previous one is fetched. It is a model's session on such a device, or a model from the vendor's
 * compiler (.om). */
#ifndef MONA_CHIP_H
#define MONA_CHIP_H

#include "engine/mona_ascend.h"
#include "pipeline/stages/frame.h"
#include "pipeline/stages/session_binding.h"
#include "pipeline/stages/stage_settings.h"

enum { CHIP_SLOTS = MONA_OM_SLOTS, CHIP_STREAMS = 3 };

typedef struct chip_slot {
    mona_buffer host_in, host_out; /* planes of the frame in this slot */
    mona_buffer in, out;           /* of a session: its planes on the chip */
    void *memory[2];
    mona_event uploaded, computed, downloaded;
    struct chip *chip;
} chip_slot;

typedef struct chip {
    const session_binding *bound; /* NULL: om runs */
    mona_om *om;
    uint16_t *values; /* of its output, before they are rounded to samples */
    mona_tensor_info info_in, info_out;
    void *stream_memory[CHIP_STREAMS];
    mona_stream *upload, *compute[2];
    chip_slot slot[CHIP_SLOTS];
    uint64_t frames; /* enqueued so far */
} chip;

/* Whether frames are copied to the session's device and back: not on a module, unless there are
 * gaps between their rows. */
bool chip_copies(const session_binding *bound);

/* For the session of a network of one plane on a device with its own memory. chip_close releases
 * everything in any case; *c must not move. */
bool chip_open(chip *c, const session_binding *bound, pipeline_error *error);
/* For a model (.om) of one plane of 8 bits; *scale: how many times it enlarges. */
bool chip_open_om(chip *c, const named_model *model, mona_size size, unsigned *scale,
                  pipeline_error *error);
bool chip_is_open(const chip *c);

/* Enqueues a plane: uploading begins once `ready` events have been waited for on c->upload, where
 * the caller enqueues these waits; the result is written by `stream`. */
mona_status chip_enqueue(chip *c, mona_stream *stream, const mona_buffer *from,
                         const mona_buffer *to);

/* Once `stream` is at rest. A zeroed chip is allowed. */
void chip_close(chip *c);

/* How many times a model (.om) enlarges; 0, with an error, if it is not one of one plane. */
unsigned chip_om_scale(const named_model *model, pipeline_error *error);

#endif
