#include "held.h"

#include <stdlib.h>

bool held_take(held_packets *held, const AVPacket *packet, pipeline_error *error)
{
    if (held->count == held->room) {
        const size_t room = held->room ? 2 * held->room : 64;
        AVPacket **items = realloc(held->items, room * sizeof *items);
        if (!items)
            return pipeline_fail(error, "out of memory");
        held->items = items;
        held->room = room;
    }
    AVPacket *copy = av_packet_clone(packet);
    if (!copy)
        return pipeline_fail(error, "out of memory");
    held->items[held->count++] = copy;
    return true;
}

bool held_release(held_packets *held, const held_sink *sink, pipeline_error *error)
{
    bool good = true;
    size_t kept = 0;
    for (size_t i = 0; i < held->count; i++) {
        AVPacket *packet = held->items[i];
        if (good && sink->due(sink->due_context, packet)) {
            good = sink->copy(sink->copy_context, packet, error);
            av_packet_free(&packet);
        } else {
            held->items[kept++] = packet;
        }
    }
    held->count = kept;
    return good;
}

void held_free(held_packets *held)
{
    for (size_t i = 0; i < held->count; i++)
        av_packet_free(&held->items[i]);
    free(held->items);
    *held = (held_packets){0};
}
