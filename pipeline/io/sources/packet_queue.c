// SPDX-License-Identifier: Apache-2.0
#include "pipeline/io/sources/source.h"

#include <stdlib.h>

enum {
    PACKET_QUEUE_BYTES = 256 << 20,
    PACKET_COST = 256, /* approximate memory of a packet besides its data */
};

/* Makes room for one more packet, with an AVPacket to hold a reference. */
static bool make_room(packet_queue *held)
{
    if (held->count < held->made)
        return true;
    if (held->made == held->room) {
        const size_t room = held->room ? 2 * held->room : 64;
        AVPacket **items = realloc(held->items, room * sizeof *items);
        if (!items)
            return false;
        held->items = items;
        held->room = room;
    }
    AVPacket *packet = av_packet_alloc();
    if (packet)
        held->items[held->made++] = packet;
    return packet;
}

bool packet_queue_put(packet_queue *held, const AVPacket *packet, pipeline_error *error)
{
    held->bytes += (size_t)packet->size + PACKET_COST;
    if (held->bytes > PACKET_QUEUE_BYTES)
        return pipeline_fail(error,
                             "expected a frame of the video within %d MiB of other streams, found "
                             "none; the file is not interleaved, or the video is damaged",
                             PACKET_QUEUE_BYTES >> 20);
    if (!make_room(held) || av_packet_ref(held->items[held->count], packet) < 0)
        return pipeline_fail(error, "out of memory");
    held->count++;
    return true;
}

bool packet_queue_release(packet_queue *held, const packet_queue_sink *sink, pipeline_error *error)
{
    bool good = true;
    size_t kept = 0;
    for (size_t i = 0; i < held->count; i++) {
        AVPacket *packet = held->items[i];
        if (good && sink->due(sink->due_context, packet)) {
            held->bytes -= (size_t)packet->size + PACKET_COST;
            good = sink->copy(sink->copy_context, packet, error);
            av_packet_unref(packet);
        } else {
            held->items[i] = held->items[kept]; /* itself, or one that was released */
            held->items[kept++] = packet;
        }
    }
    held->count = kept;
    return good;
}

void packet_queue_free(packet_queue *held)
{
    for (size_t i = 0; i < held->made; i++)
        av_packet_free(&held->items[i]);
    free(held->items);
    *held = (packet_queue){0};
}
