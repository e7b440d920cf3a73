#include "held.h"

#include <stdlib.h>

bool held_take(void *context, AVPacket *packet, pipeline_error *error)
{
    held_packets *held = context;
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

bool held_release(held_packets *held,
                  bool (*copy)(void *context, AVPacket *packet, pipeline_error *error),
                  void *context, pipeline_error *error)
{
    bool good = true;
    for (size_t i = 0; i < held->count && good; i++)
        good = copy(context, held->items[i], error);
    held_free(held);
    return good;
}

void held_free(held_packets *held)
{
    for (size_t i = 0; i < held->count; i++)
        av_packet_free(&held->items[i]);
    free(held->items);
    *held = (held_packets){0};
}
