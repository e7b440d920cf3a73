// SPDX-License-Identifier: Apache-2.0
#include "pipeline/image/picture_kind.h"

#include <string.h>

#include "pipeline/image/tiff_tags.h"

/* A multi-picture file has an index in the form of a TIFF, with 16 bytes for each picture, the
 * first of which say its kind: other views, maps of depth or gain, or the same picture smaller. */
unsigned jpeg_pictures(const jpeg_segment *segment)
{
    enum { HEAD = 4, ENTRIES = 0xb002, EACH = 4, LONG = 4, SMALLER = 0x01, KIND = 16 };
    tiff t;
    tiff_entry e;
    unsigned pictures = 0;
    if (segment->code != MARKER_APP0 + 2 || segment->size < HEAD ||
        memcmp(segment->data, "MPF", HEAD) != 0 ||
        !tiff_open(&t, segment->data + HEAD, segment->size - HEAD) ||
        !tiff_find(&t, t.first, ENTRIES, &e))
        return 0;
    e.type = LONG;
    e.count = (uint32_t)e.size / LONG;
    for (uint32_t i = 0; i < e.count; i += EACH)
        pictures += (tiff_number(&t, &e, i) >> KIND & 0xff) != SMALLER;
    return pictures;
}

/* An MP4 begins with a box of this type, behind four bytes of length. */
bool jpeg_has_film(const uint8_t *file, size_t size)
{
    for (size_t i = jpeg_end(file, size); i && i + 8 <= size; i++)
        if (!memcmp(file + i + 4, "ftyp", 4))
            return true;
    return false;
}
