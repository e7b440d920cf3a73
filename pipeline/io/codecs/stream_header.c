// SPDX-License-Identifier: Apache-2.0
#include "pipeline/io/codecs/codec.h"

/* ---- bits ------------------------------------------------------------------------------------ */

typedef struct bits {
    const uint8_t *at, *end;
    unsigned bit;   /* of *at, from the highest */
    unsigned zeros; /* bytes of 0 before *at; after two of them, a 3 is no data */
} bits;

/* 0 beyond the end. */
static unsigned one(bits *b)
{
    if (!b->bit && b->zeros >= 2 && b->at < b->end && *b->at == 3) {
        b->at++;
        b->zeros = 0;
    }
    if (b->at >= b->end)
        return 0;
    const unsigned value = *b->at >> (7 - b->bit) & 1;
    if (++b->bit == 8) {
        b->zeros = *b->at ? 0 : b->zeros + 1;
        b->bit = 0;
        b->at++;
    }
    return value;
}

static unsigned several(bits *b, unsigned count)
{
    unsigned value = 0;
    while (count--)
        value = value << 1 | one(b);
    return value;
}

/* ue(v), of at most 16 bits */
static unsigned number(bits *b)
{
    unsigned length = 0;
    while (length < 16 && b->at < b->end && !one(b))
        length++;
    return (1u << length) - 1 + several(b, length);
}

/* se(v) */
static int signed_number(bits *b)
{
    const unsigned n = number(b);
    return n & 1 ? (int)(n / 2 + 1) : -(int)(n / 2);
}

/* ---- the header ------------------------------------------------------------------------------ */

static void skip_scaling_list(bits *b, unsigned count)
{
    int next = 8;
    for (unsigned i = 0; i < count && next; i++)
        next = (int)((unsigned)(next + signed_number(b)) % 256);
}

/* Of profile High alone. */
static void skip_formats(bits *b)
{
    enum { LISTS = 8 };
    number(b); /* chroma_format_idc: 4:2:0 or none */
    number(b); /* bits of luma, of chroma */
    number(b);
    one(b);
    if (!one(b))
        return;
    for (unsigned i = 0; i < LISTS; i++)
        if (one(b))
            skip_scaling_list(b, i < 6 ? 16 : 64);
}

static void skip_order(bits *b)
{
    const unsigned type = number(b);
    if (type == 0) {
        number(b);
    } else if (type == 1) {
        one(b);
        number(b);
        number(b);
        for (unsigned i = number(b); i && b->at < b->end; i--)
            number(b);
    }
}

bool stream_header_has_fields(stream_header h)
{
    enum { HIGH = 100 };
    bits b = {.at = h.data, .end = h.data + h.bytes};
    several(&b, 8); /* its type */
    const unsigned profile = several(&b, 8);
    several(&b, 16); /* constraints, level */
    number(&b);      /* its own number */
    if (profile == HIGH)
        skip_formats(&b);
    number(&b); /* bits of frame numbers */
    skip_order(&b);
    number(&b); /* reference frames */
    one(&b);
    number(&b); /* width and height */
    number(&b);
    return !one(&b);
}

/* ---- finding one ----------------------------------------------------------------------------- */

static bool is_start(const uint8_t *at)
{
    return !at[0] && !at[1] && at[2] <= 1;
}

stream_header stream_header_find(bool h265, const uint8_t *data, size_t bytes)
{
    enum { H264_SEQUENCE = 7, H265_SEQUENCE = 33 };
    for (size_t i = 0; i + 3 < bytes; i++) {
        const uint8_t type = data[i + 3];
        if (!is_start(data + i) || !data[i + 2] ||
            (h265 ? (type >> 1 & 63) != H265_SEQUENCE : (type & 31) != H264_SEQUENCE))
            continue;
        size_t end = i + 3;
        while (end < bytes && (end + 2 >= bytes || !is_start(data + end)))
            end++;
        return (stream_header){data + i + 3, end - (i + 3)};
    }
    return (stream_header){0};
}
