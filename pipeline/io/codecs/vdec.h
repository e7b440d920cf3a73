// SPDX-License-Identifier: Apache-2.0
/* The chip's video decoder (VDEC). */
#ifndef VDEC_H
#define VDEC_H

#include <stdatomic.h>

#include "engine/ascend/acl.h"
#include "engine/mona_ascend.h"
#include "engine/port/port.h"

typedef enum vdec_stream {
    VDEC_H265,
    VDEC_H264_BASELINE,
    VDEC_H264_MAIN,
    VDEC_H264_HIGH
} vdec_stream;

/* A channel of the decoder for one stream, 4:2:0 with 8 bits a sample and of one size. Only one
 * thread may use it at a time. */
typedef struct vdec vdec;

typedef struct vdec_picture {
    uint64_t number; /* of the frame that was sent */
    bool lost;       /* the decoder could not decode it: there are no samples */
} vdec_picture;

typedef enum vdec_result { VDEC_PICTURE, VDEC_MORE, VDEC_END } vdec_result;

/* MONA_ERR_UNSUPPORTED: the libraries or this size do not allow it, or all channels are in use. */
mona_status vdec_open(vdec **decoder, const mona_device *chip, vdec_stream stream, mona_size size);
/* Sends one frame, in Annex B format of H.264 or H.265, in decoding order. Call it after
 * vdec_receive() has returned VDEC_MORE; MONA_ERR_LIMIT: it has not. */
mona_status vdec_send(vdec *decoder, const void *coded, size_t bytes, uint64_t number);
void vdec_end(vdec *decoder); /* no more frames will be sent */
/* The next picture in display order, one for each frame; with VDEC_MORE and VDEC_END
 * there is none. MONA_ERR_DEVICE: the chip gave none in time, or was lost. */
mona_status vdec_receive(vdec *decoder, vdec_picture *picture, vdec_result *result);
/* Copies the picture received last to planes y, u and v. */
mona_status vdec_fetch(const vdec *decoder, uint8_t *const planes[3], const ptrdiff_t strides[3]);
void vdec_close(vdec *decoder); /* NULL is allowed */

/* A channel of the chip's video decoder (VDEC), shared by the caller's thread (vdec.c,
 * vdec_pictures.c) and the channel's two threads (vdec_channel.c). One of the two calls the
 * library, which may block until the chip is done; the other receives the chip's reports. */

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
