// SPDX-License-Identifier: Apache-2.0
/* Packets kept back until their container is open, or it is known that they belong to the result.
 */
#ifndef MONA_HELD_H
#define MONA_HELD_H

#include <stdbool.h>
#include <stddef.h>

#include <libavcodec/avcodec.h>

#include "pipeline/error.h"

typedef struct held_packets {
    AVPacket **items;
    size_t bytes;      /* of them all */
    size_t count;      /* held; items from here on are kept to be used again */
    size_t made, room; /* items there are, and room for */
} held_packets;

/* Takes a copy. */
bool held_take(held_packets *held, const AVPacket *packet, pipeline_error *error);

typedef struct held_sink {
    bool (*due)(void *context, const AVPacket *packet); /* whether it is to be passed on now */
    bool (*copy)(void *context, AVPacket *packet, pipeline_error *error);
    void *due_context, *copy_context;
} held_sink;

/* Hands those that are due to copy, in order, until it fails; keeps the others. */
bool held_release(held_packets *held, const held_sink *sink, pipeline_error *error);

/* A zeroed one is allowed. */
void held_free(held_packets *held);

#endif
