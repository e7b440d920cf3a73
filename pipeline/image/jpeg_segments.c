// SPDX-License-Identifier: Apache-2.0
#include "pipeline/image/jpeg_segments.h"

enum { DQT = 0xdb, DHT = 0xc4, RST0 = 0xd0, RST7 = 0xd7, SOI = 0xd8, EOI = 0xd9 };

static bool is_jpeg(const uint8_t *file, size_t size)
{
    return size >= 2 && file[0] == 0xff && file[1] == SOI;
}

/* The place of the next marker's second byte, from at on, or behind the first marker if at is 0;
 * size: there is none. Decoders skip what lies before a marker. */
static size_t find_code(const uint8_t *file, size_t size, size_t at)
{
    at = at ? at : 2;
    while (at < size && file[at] != 0xff)
        at++;
    while (at < size && file[at] == 0xff)
        at++;
    return at;
}

/* The place of the next marker's 0xff. In the coded picture 0xff comes before 0 and before restarts
 * only. */
static size_t skip_coded(const uint8_t *file, size_t size, size_t at)
{
    for (; at + 1 < size; at++)
        if (file[at] == 0xff && file[at + 1] && file[at + 1] != 0xff &&
            (file[at + 1] < RST0 || file[at + 1] > RST7))
            return at;
    return size;
}

bool jpeg_segment_next(jpeg_segment *segment, const uint8_t *file, size_t size, size_t *at)
{
    const size_t i = find_code(file, size, *at);
    if (!is_jpeg(file, size) || i + 2 >= size || file[i] == EOI)
        return false;
    const size_t length = (size_t)file[i + 1] << 8 | file[i + 2]; /* counts itself */
    if (length < 2 || length > size - i - 1)
        return false;
    *segment = (jpeg_segment){file[i], file + i + 3, length - 2};
    *at = i + 1 + length;
    if (segment->code == JPEG_SOS)
        *at = skip_coded(file, size, *at);
    return true;
}

bool jpeg_has_end(const uint8_t *file, size_t size)
{
    jpeg_segment segment;
    size_t at = 0;
    while (jpeg_segment_next(&segment, file, size, &at))
        ;
    const size_t i = find_code(file, size, at);
    return is_jpeg(file, size) && i < size && file[i] == EOI;
}

/* stb_image goes on behind the end of a file, where every byte is 0. */
static unsigned byte_at(const uint8_t *file, size_t size, size_t at)
{
    return at < size ? file[at] : 0;
}

/* A table of quantisers: a byte of width and number, and 64 of 1 or 2 bytes. One of codes: a byte
 * of class and number, how many there are of 1 to 16 bits, and a byte for each. 0: too many. */
static unsigned table_size(int code, const uint8_t *file, size_t size, size_t at)
{
    enum { LENGTHS = 16, SYMBOLS = 256 };
    unsigned codes = 0;
    if (code == DQT)
        return byte_at(file, size, at) >> 4 ? 1 + 2 * 64 : 1 + 64;
    for (size_t i = 1; i <= LENGTHS; i++)
        codes += byte_at(file, size, at + i);
    return codes <= SYMBOLS ? 1 + LENGTHS + codes : 0;
}

/* Of the segment whose code lies at at; its length counts itself. */
static bool tables_fit(const uint8_t *file, size_t size, size_t at)
{
    const size_t length = byte_at(file, size, at + 1) << 8 | byte_at(file, size, at + 2);
    size_t used = 2;
    while (used < length) {
        const unsigned table = table_size(file[at], file, size, at + 1 + used);
        if (!table)
            return false;
        used += table;
    }
    return used == length || at + 1 + length > size;
}

bool jpeg_tables_fit(const uint8_t *file, size_t size)
{
    jpeg_segment segment;
    size_t at = 0;
    if (!is_jpeg(file, size))
        return true;
    do {
        const size_t i = find_code(file, size, at);
        if (i < size && (file[i] == DQT || file[i] == DHT) && !tables_fit(file, size, i))
            return false;
    } while (jpeg_segment_next(&segment, file, size, &at));
    return true;
}
