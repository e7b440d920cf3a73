// SPDX-License-Identifier: Apache-2.0
/* PNG by zlib. Each strip is deflated as if nothing came before it, up to the end of a byte, so
 * that strips follow each other as one stream, with the checksum of all their bytes at its end. */
#include <stdlib.h>
#include <string.h>

#include <libavutil/intreadwrite.h>

#include "pipeline/image/libraries.h"
#include "pipeline/image/still_codec.h"

enum { STRIP_BYTES = 1 << 20, FILTERS = 5 };

/* In a photograph hardly anything repeats but the byte before, and a search for more takes 8
 * times as long for 5 % of its size. A drawing becomes half as large by it, often without
 * filters, which make equal colours differ. */
typedef struct method {
    int level, trial; /* of zlib; for a part of a strip, to choose */
    int strategy;
    bool filtered;
    unsigned price; /* of a byte, as searches must be worth it */
} method;

static const method methods[] = {{1, 1, Z_RLE, true, 7},
                                 {1, 1, Z_RLE, false, 7},
                                 {8, 3, Z_DEFAULT_STRATEGY, true, 8},
                                 {8, 3, Z_DEFAULT_STRATEGY, false, 8}};

typedef struct png {
    const still_encoding *encoding;
    size_t row, pixel; /* bytes */
    uint32_t rows, count;
    uLong sum; /* of the strips so far */
} png;

/* A strip's own chunk: its data are followed by their checksum and length, for put. */
typedef struct strip_end {
    uLong sum;
    z_off_t raw;
} strip_end;

static uint32_t rows_of(const png *p, uint32_t i)
{
    const uint32_t left = p->encoding->image->height - i * p->rows;
    return left < p->rows ? left : p->rows;
}

/* ---- filters -------------------------------------------------------------------------------- */

static int nearest(int left, int up, int corner)
{
    const int far_left = abs(up - corner), far_up = abs(left - corner);
    const int far_corner = abs(left + up - 2 * corner);
    const int best = far_up < far_left ? up : left;
    return far_corner < (far_up < far_left ? far_up : far_left) ? corner : best;
}

/* Filters a row by what is left of it and above; both have a pixel of zeros before them. */
static void filter(uint8_t *to, const uint8_t *row, const uint8_t *up, size_t count, size_t pixel,
                   unsigned kind)
{
    const uint8_t *left = row - pixel, *corner = up - pixel;
    *to++ = (uint8_t)kind;
    switch (kind) {
    case 0:
        memcpy(to, row, count);
        return;
    case 1:
        for (size_t i = 0; i < count; i++)
            to[i] = (uint8_t)(row[i] - left[i]);
        return;
    case 2:
        for (size_t i = 0; i < count; i++)
            to[i] = (uint8_t)(row[i] - up[i]);
        return;
    case 3:
        for (size_t i = 0; i < count; i++)
            to[i] = (uint8_t)(row[i] - (left[i] + up[i]) / 2);
        return;
    default:
        for (size_t i = 0; i < count; i++)
            to[i] = (uint8_t)(row[i] - nearest(left[i], up[i], corner[i]));
    }
}

/* The sum of the sizes of signed bytes, by which PNG's authors advise to choose filters. */
static uint32_t cost(const uint8_t *bytes, size_t count)
{
    uint32_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += (uint32_t)abs((int8_t)bytes[i]);
    return sum;
}

/* Puts the cheapest of the filtered rows first in `to`, which has room for two. */
static void filter_best(uint8_t *to, const uint8_t *row, const uint8_t *up, const png *p)
{
    uint8_t *other = to + p->row + 1;
    uint32_t best = UINT32_MAX;
    for (unsigned kind = 0; kind < FILTERS; kind++) {
        filter(other, row, up, p->row, p->pixel, kind);
        const uint32_t found = cost(other + 1, p->row);
        if (found < best) {
            memcpy(to, other, p->row + 1);
            best = found;
        }
    }
}

/* ---- strips --------------------------------------------------------------------------------- */

static void swap_samples(uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i += 2)
        AV_WB16(bytes + i, AV_RN16(bytes + i));
}

/* Rows `first` - 1 to `first` + count - 1, each after a pixel of zeros; above the first are
 * zeros. */
static void fetch(uint8_t *to, const png *p, uint32_t first, uint32_t count)
{
    const size_t step = p->pixel + p->row;
    const uint32_t above = first ? 1 : 0;
    memset(to, 0, step);
    for (uint32_t y = 1 - above; y <= count; y++) {
        uint8_t *row = to + y * step;
        memset(row, 0, p->pixel);
        still_encode_rows(p->encoding, first + y - 1, 1, row + p->pixel);
        if (p->encoding->image->depth == 16)
            swap_samples(row + p->pixel, p->row);
    }
}

static bool compress_bytes(metadata_bytes *to, uint8_t *raw, size_t size, int level, int strategy,
                           bool last)
{
    enum { WINDOW_BITS = 15, MEMORY = 9, FLUSH_BYTES = 16 };
    z_stream z = {.next_in = raw, .avail_in = (uInt)size};
    if (zlib.deflateInit2_(&z, level, Z_DEFLATED, -WINDOW_BITS, MEMORY, strategy, ZLIB_VERSION,
                           (int)sizeof z) != Z_OK)
        return false;
    const size_t most = zlib.deflateBound(&z, (uLong)size) + FLUSH_BYTES, begin = to->size;
    bool good = metadata_append(to, NULL, most);
    if (good) {
        z.next_out = to->data + begin;
        z.avail_out = (uInt)most;
        good = zlib.deflate(&z, last ? Z_FINISH : Z_FULL_FLUSH) == (last ? Z_STREAM_END : Z_OK);
        to->size = begin + z.total_out;
    }
    zlib.deflateEnd(&z);
    return good;
}

/* The rows of a strip, after the one above it. */
typedef struct strip {
    const png *p;
    uint8_t *pixels, *raw; /* raw: as they are compressed, and room for one more row */
    uint32_t rows;
    bool last;
} strip;

static bool compress_rows(metadata_bytes *to, const strip *s, uint32_t first, uint32_t count,
                          const method *how, int level)
{
    const png *p = s->p;
    const size_t step = p->pixel + p->row;
    for (uint32_t y = 0; y < count; y++) {
        const uint8_t *up = s->pixels + (first + y) * step + p->pixel;
        uint8_t *raw = s->raw + y * (p->row + 1);
        if (how->filtered)
            filter_best(raw, up + step, up, p);
        else
            filter(raw, up + step, up, p->row, p->pixel, 0);
    }
    return compress_bytes(to, s->raw, count * (p->row + 1), level, how->strategy, s->last);
}

/* The method that makes least of some rows in the middle. NULL: out of memory. */
static const method *choose(const strip *s)
{
    enum { SAMPLE = STRIP_BYTES / 16 };
    const size_t fit = SAMPLE / (s->p->row + 1);
    const uint32_t rows = s->rows < fit ? s->rows : fit ? (uint32_t)fit : 1;
    const method *best = NULL;
    size_t least = SIZE_MAX;
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        metadata_bytes tried = {0};
        const bool good =
            compress_rows(&tried, s, (s->rows - rows) / 2, rows, &methods[i], methods[i].trial);
        const size_t price = tried.size * methods[i].price;
        metadata_drop(&tried);
        if (!good)
            return NULL;
        if (price < least) {
            least = price;
            best = &methods[i];
        }
    }
    return best;
}

static bool make(const void *context, uint32_t i, metadata_bytes *bytes)
{
    static const uint8_t zlib_head[] = {0x78, 0x01};
    const png *p = context;
    const uint32_t rows = rows_of(p, i);
    const size_t size = rows * (p->row + 1);
    const strip s = {.p = p,
                     .pixels = malloc((rows + 1) * (p->pixel + p->row)),
                     .raw = malloc(size + p->row + 1),
                     .rows = rows,
                     .last = i + 1 == p->count};
    bool good = s.pixels && s.raw;
    if (good)
        fetch(s.pixels, p, i * p->rows, rows);
    const method *how = good ? choose(&s) : NULL;
    good = how && (i || metadata_append(bytes, zlib_head, sizeof zlib_head)) &&
           compress_rows(bytes, &s, 0, rows, how, how->level) &&
           metadata_append(bytes, &(strip_end){zlib.adler32_z(1, s.raw, size), (z_off_t)size},
                           sizeof(strip_end));
    free(s.pixels);
    free(s.raw);
    return good;
}

static bool put_chunk(const still_encoding *e, const char *type, const uint8_t *data, size_t size)
{
    uint8_t head[8], tail[4];
    AV_WB32(head, (uint32_t)size);
    memcpy(head + 4, type, 4);
    AV_WB32(tail, (uint32_t)zlib.crc32_z(zlib.crc32_z(0, head + 4, 4), data, size));
    return e->write(e->to, head, sizeof head) && e->write(e->to, data, size) &&
           e->write(e->to, tail, sizeof tail);
}

static bool put(void *context, uint32_t i, metadata_bytes *bytes)
{
    png *p = context;
    strip_end end;
    bytes->size -= sizeof end;
    memcpy(&end, bytes->data + bytes->size, sizeof end);
    p->sum = zlib.adler32_combine(p->sum, end.sum, end.raw);
    if (i + 1 == p->count) {
        AV_WB32(bytes->data + bytes->size, (uint32_t)p->sum); /* in the room of the end */
        bytes->size += 4;
    }
    return put_chunk(p->encoding, "IDAT", bytes->data, bytes->size);
}

static bool put_head(const still_encoding *e)
{
    static const uint8_t signature[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
    static const uint8_t colours[] = {0, 0, 4, 2, 6}; /* for so many channels */
    uint8_t head[13] = {0};
    AV_WB32(head, e->image->width);
    AV_WB32(head + 4, e->image->height);
    head[8] = e->image->depth == 16 ? 16 : 8;
    head[9] = colours[e->image->channels];
    return e->write(e->to, signature, sizeof signature) &&
           put_chunk(e, "IHDR", head, sizeof head) &&
           e->write(e->to, e->metadata.data, e->metadata.size);
}

bool png_encode(const still_encoding *e)
{
    const size_t pixel = still_pixel_bytes(e->image), row = e->image->width * pixel;
    const uint32_t rows = row < STRIP_BYTES ? (uint32_t)(STRIP_BYTES / row) : 1;
    png p = {e, row, pixel, rows, (e->image->height + rows - 1) / rows, 1};
    const strips s = {p.count, e->threads, make, put, &p};
    return put_head(e) && strips_encode(&s) && put_chunk(e, "IEND", (const uint8_t *)"", 0);
}
