// SPDX-License-Identifier: Apache-2.0
/* A channel of the chip's video decoder (VDEC), shared by the caller's thread (vdec.c,
 * vdec_pictures.c) and the channel's two threads (vdec_channel.c). One of the two calls the
 * library, which may block until the chip is done; the other receives the chip's reports. */
#ifndef MONA_VDEC_CHANNEL_H
#define MONA_VDEC_CHANNEL_H

#include <stdatomic.h>

#include "engine/ascend/acl.h"
#include "engine/port/port.h"
#include "pipeline/io/codecs/vdec.h"

/* Frames that the chip holds at most: 16 that others refer to, the one in work, and a few that wait
 * for it. */
enum { VDEC_SLOTS = 20 };

typedef enum vdec_state { VDEC_FREE, VDEC_SENT, VDEC_REPORTED } vdec_state;

typedef struct vdec_slot {
    vdec *channel;
    vdec_state state;
    bool lost;
    uint64_t number;
    void *coded, *picture; /* on the chip; kept from frame to frame */
    size_t room, bytes;    /* of coded */
    struct acldvppStreamDesc *in;
    struct acldvppPicDesc *out;
    mona_size size; /* as the chip reports them; 0: it does not */
    uint32_t stride;
} vdec_slot;

typedef struct vdec_queue {
    vdec_slot *slots[VDEC_SLOTS];
    unsigned first, count;
} vdec_queue;

struct vdec {
    atomic_bool taken, reports_end;
    uint32_t chip, id; /* of the channel */
    vdec_stream stream;
    mona_size size;
    mona_port_thread sender, reporter;
    struct aclvdecChannelDesc *desc; /* the sender's */
    mona_port_mutex lock;            /* of all that follows */
    mona_port_condition changed;
    uint64_t reporter_id; /* 0: it has not begun */
    vdec_slot slots[VDEC_SLOTS];
    vdec_queue to_send, reported;
    vdec_slot *shown; /* what the caller may fetch; NULL: nothing */
    unsigned in_flight;
    bool open, ending, ended;
    bool remains;       /* ended, but the chip still has it */
    mona_status status; /* of opening */
    uint64_t moved;     /* when the chip last did something, in milliseconds */
};

static inline void vdec_put(vdec_queue *q, vdec_slot *s)
{
    q->slots[(q->first + q->count++) % VDEC_SLOTS] = s;
}

/* NULL: it is empty. */
static inline vdec_slot *vdec_take(vdec_queue *q)
{
    if (!q->count)
        return NULL;
    q->count--;
    return q->slots[q->first++ % VDEC_SLOTS];
}

/* Bytes from row to row of a picture, and of all its rows: those of luma, then half as many of
 * pairs of chroma. */
static inline uint32_t vdec_stride(mona_size size)
{
    return (size.width + 15) / 16 * 16;
}

static inline size_t vdec_picture_bytes(mona_size size)
{
    return (size_t)vdec_stride(size) * size.height * 3 / 2;
}

/* Starts the threads, which open the channel. False: the system refuses one. */
bool vdec_channel_start(vdec *channel);
/* After `ended`. */
void vdec_channel_stop(vdec *channel);

void vdec_forget_descriptions(vdec_slot *slot);

/* Under the lock. False: the chip has done nothing for so long that it is given up. */
bool vdec_has_time(const vdec *channel);
/* Leaves the lock for a moment. */
void vdec_pause(vdec *channel);
/* MONA_ERR_UNSUPPORTED */
mona_status vdec_refuse(const char *why);

#endif
