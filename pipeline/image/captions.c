// SPDX-License-Identifier: Apache-2.0
#include "pipeline/image/captions.h"

#include <string.h>

enum {
    TRIPLES_MAX = 31, /* of 3 bytes, in a frame */
    HEAD = 13,        /* bytes of a message before those, with the head of its unit */
    FIRST_OTHER = 32, /* types of units below this one hold samples */
    SEI_PREFIX = 39
};

AVBufferRef *captions_of(const AVFrame *frame)
{
    const AVFrameSideData *side = av_frame_get_side_data(frame, AV_FRAME_DATA_A53_CC);
    return side && side->size >= 3 ? av_buffer_ref(side->buf) : NULL;
}

/* Where the first unit with samples begins, which messages about the frame precede. */
static size_t find_samples(const uint8_t *data, size_t bytes)
{
    for (size_t i = 0; i + 3 < bytes; i++)
        if (!data[i] && !data[i + 1] && data[i + 2] == 1 && (data[i + 3] >> 1 & 63) < FIRST_OTHER)
            return i && !data[i - 1] ? i - 1 : i;
    return 0;
}

/* Writes the message as ATSC A/53 has it, without what an encoded stream needs. */
static size_t write_message(uint8_t *to, const AVBufferRef *captions)
{
    const size_t triples = FFMIN(captions->size / 3, TRIPLES_MAX);
    const uint8_t head[HEAD] = {SEI_PREFIX << 1,
                                1,
                                4,
                                (uint8_t)(11 + 3 * triples),
                                0xb5,
                                0,
                                49,
                                'G',
                                'A',
                                '9',
                                '4',
                                3,
                                (uint8_t)(0x40 | triples)};
    size_t n = HEAD;
    memcpy(to, head, HEAD);
    to[n++] = 0xff;
    memcpy(to + n, captions->data, 3 * triples);
    n += 3 * triples;
    to[n++] = 0xff; /* the end of the captions */
    to[n++] = 0x80; /* and of the message */
    return n;
}

/* Writes a unit so that nothing in it looks like a start code. */
static size_t write_unit(uint8_t *to, const uint8_t *message, size_t bytes)
{
    static const uint8_t start[4] = {0, 0, 0, 1};
    size_t n = sizeof start, zeros = 0;
    memcpy(to, start, sizeof start);
    for (size_t i = 0; i < bytes; i++) {
        if (zeros == 2 && message[i] <= 3) {
            to[n++] = 3;
            zeros = 0;
        }
        zeros = message[i] ? 0 : zeros + 1;
        to[n++] = message[i];
    }
    return n;
}

int captions_insert(AVPacket *packet, const AVBufferRef *captions)
{
    uint8_t message[HEAD + 3 * TRIPLES_MAX + 3], unit[4 + 2 * sizeof message];
    const size_t bytes = write_unit(unit, message, write_message(message, captions));
    const size_t old = (size_t)packet->size, at = find_samples(packet->data, old);
    const int code = av_grow_packet(packet, (int)bytes);
    if (code < 0)
        return code;
    memmove(packet->data + at + bytes, packet->data + at, old - at);
    memcpy(packet->data + at, unit, bytes);
    return 0;
}
