// SPDX-License-Identifier: Apache-2.0
/* Where the limits come from: every fifth picture of BSD100 halved, stored and doubled; the
 * networks for JPEG against those for clean pictures, dB, fast / balanced:
 *   JPEG 40  +0.68 / +0.85      WebP 60  +0.27 / +0.44
 *        75  +0.61 / +0.72           75  +0.12 / +0.31
 *        90  +0.04 / +0.27           80  -0.08 / +0.15
 *        92  -0.14 / +0.13           85  -0.31 / -0.06 */
#include "pipeline/image/picture_kind.h"

#include <string.h>

#define JPEG_ERROR 0.90f      /* what jpeg_error expects at qualities 90 and 91 */
enum { WEBP_QUANTISER = 32 }; /* libwebp's quality 75 gives 34 to 36, 80 gives 26 or 27 */

/* The header of a VP8 frame: bits that are as often 1 as 0, arithmetically coded (RFC 6386,
 * sections 7 and 9.3 to 9.6). Bytes after the end are 0. */
typedef struct bit_reader {
    const uint8_t *at, *end;
    uint32_t value, range;
    unsigned used;
} bit_reader;

static uint32_t next_byte(bit_reader *r)
{
    return r->at < r->end ? *r->at++ : 0;
}

static unsigned read_bits(bit_reader *r, unsigned count)
{
    unsigned bits = 0;
    for (; count; count--) {
        const uint32_t split = 1 + (r->range - 1) / 2;
        const bool one = r->value >= split << 8;
        r->value -= one ? split << 8 : 0;
        r->range = one ? r->range - split : split;
        bits = bits << 1 | one;
        for (; r->range < 128; r->range <<= 1) {
            r->value <<= 1;
            if (++r->used % 8 == 0)
                r->value |= next_byte(r);
        }
    }
    return bits;
}

/* Values of so many bits that may be there. */
static void skip_optional(bit_reader *r, unsigned count, unsigned bits)
{
    for (; count; count--)
        if (read_bits(r, 1))
            read_bits(r, bits);
}

static void skip_segments(bit_reader *r)
{
    const unsigned map = read_bits(r, 1);
    if (read_bits(r, 1)) {
        read_bits(r, 1);
        skip_optional(r, 4, 8); /* quantisers and signs */
        skip_optional(r, 4, 7); /* filter levels and signs */
    }
    skip_optional(r, map ? 3 : 0, 8);
}

/* The quantiser of a VP8 key frame, 0 to 127; 0 for anything else. */
static unsigned vp8_quantiser(const uint8_t *frame, size_t size)
{
    enum { HEAD = 10, KEY_FRAMES_BIT = 1 };
    if (size < HEAD || frame[0] & KEY_FRAMES_BIT)
        return 0;
    bit_reader r = {.at = frame + HEAD, .end = frame + size, .range = 255};
    r.value = next_byte(&r) << 8;
    r.value |= next_byte(&r);
    read_bits(&r, 2); /* colour space, clamping */
    if (read_bits(&r, 1))
        skip_segments(&r);
    read_bits(&r, 1 + 6 + 3); /* the filter's kind, level and sharpness */
    if (read_bits(&r, 1) && read_bits(&r, 1))
        skip_optional(&r, 8, 7);
    read_bits(&r, 2); /* partitions */
    return read_bits(&r, 7);
}

/* The lossy image among a WebP's chunks, each of a name, a length and as many bytes, padded to an
 * even number; lossless ones have another name. */
static unsigned webp_quantiser(const uint8_t *file, size_t size)
{
    enum { CHUNKS = 12, CHUNK_HEAD = 8 };
    for (size_t at = CHUNKS; at < size && size - at >= CHUNK_HEAD;) {
        const uint8_t *chunk = file + at;
        const size_t length = (size_t)chunk[4] | (size_t)chunk[5] << 8 | (size_t)chunk[6] << 16 |
                              (size_t)chunk[7] << 24;
        const size_t left = size - at - CHUNK_HEAD;
        if (!memcmp(chunk, "VP8 ", 4))
            return vp8_quantiser(chunk + CHUNK_HEAD, length < left ? length : left);
        if (length >= left)
            return 0;
        at += CHUNK_HEAD + length + length % 2;
    }
    return 0;
}

bool picture_is_lossy(const uint8_t *file, size_t size)
{
    return picture_kind_of(file, size) == PICTURE_WEBP
               ? webp_quantiser(file, size) >= WEBP_QUANTISER
               : jpeg_error(file, size) >= JPEG_ERROR;
}
