// SPDX-License-Identifier: Apache-2.0
#include "pipeline/image/jpeg_segments.h"

enum { DHT = 0xc4, RST0 = 0xd0, RST7 = 0xd7, SOI = 0xd8 };

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
    size_t i = *at ? *at : 2;
    if (size < 2 || file[0] != 0xff || file[1] != SOI || i >= size || file[i] != 0xff)
        return false;
    while (i < size && file[i] == 0xff)
        i++;
    if (size - i < 3)
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

/* Tables of a segment: a byte of class and number, how many codes there are of 1 to 16 bits, and a
 * byte for each. */
static bool tables_fit(const jpeg_segment *segment)
{
    enum { LENGTHS = 16, SYMBOLS = 256 };
    for (size_t at = 0; at + 1 + LENGTHS <= segment->size;) {
        unsigned codes = 0;
        for (size_t i = 1; i <= LENGTHS; i++)
            codes += segment->data[at + i];
        if (codes > SYMBOLS)
            return false;
        at += 1 + LENGTHS + codes;
    }
    return true;
}

bool jpeg_tables_fit(const uint8_t *file, size_t size)
{
    jpeg_segment segment;
    for (size_t at = 0; jpeg_segment_next(&segment, file, size, &at);)
        if (segment.code == DHT && !tables_fit(&segment))
            return false;
    return true;
}
