/* Packets kept back while their container is not open yet. */
#ifndef MONA_HELD_H
#define MONA_HELD_H

#include <stdbool.h>
#include <stddef.h>

#include <libavcodec/avcodec.h>

#include "error.h"

typedef struct held_packets {
    AVPacket **items;
    size_t count, room;
} held_packets;

/* An input_copy: context is a held_packets. Takes a copy. */
bool held_take(void *context, AVPacket *packet, pipeline_error *error);

/* Hands all of them to copy, in order, until it fails, and forgets them. */
bool held_release(held_packets *held,
                  bool (*copy)(void *context, AVPacket *packet, pipeline_error *error),
                  void *context, pipeline_error *error);

/* A zeroed one is allowed. */
void held_free(held_packets *held);

#endif
