// SPDX-License-Identifier: Apache-2.0
/* Packets held until their container is open, or until it is known that they belong to the
 * result. */
#ifndef MONA_PACKET_QUEUE_H
#define MONA_PACKET_QUEUE_H

#include <stdbool.h>
#include <stddef.h>

#include <libavcodec/avcodec.h>

#include "pipeline/base/error.h"

typedef struct packet_queue {
    AVPacket **items;
    size_t bytes;      /* of all packets */
    size_t count;      /* packets held; the items after them are kept for reuse */
    size_t made, room; /* items allocated, and room for pointers to them */
} packet_queue;

/* Takes a copy. */
bool packet_queue_put(packet_queue *held, const AVPacket *packet, pipeline_error *error);

typedef struct packet_queue_sink {
    bool (*due)(void *context, const AVPacket *packet); /* whether to pass it on now */
    bool (*copy)(void *context, AVPacket *packet, pipeline_error *error);
    void *due_context, *copy_context;
} packet_queue_sink;

/* Passes the packets that are due to copy, in order, until it fails; keeps the others. */
bool packet_queue_release(packet_queue *held, const packet_queue_sink *sink, pipeline_error *error);

/* A zeroed queue is allowed. */
void packet_queue_free(packet_queue *held);

#endif
