// SPDX-License-Identifier: Apache-2.0
#include "pipeline/image/metadata.h"

#include <string.h>

enum { SHORT = 3, ENTRY = 12 };

static bool find_orientation(const metadata_bytes *exif, tiff *t, tiff_entry *e)
{
    return exif->data && tiff_open(t, exif->data, exif->size) &&
           tiff_find(t, t->first, TIFF_ORIENTATION, e) && e->type == SHORT;
}

unsigned exif_orientation(const metadata_bytes *exif)
{
    tiff t;
    tiff_entry e;
    const unsigned found = find_orientation(exif, &t, &e) ? tiff_number(&t, &e, 0) : 1;
    return found >= 1 && found <= 8 ? found : 1;
}

void exif_set_upright(metadata_bytes *exif)
{
    tiff t;
    tiff_entry e;
    if (find_orientation(exif, &t, &e))
        tiff_put_number(exif->data, &t, &e, 1);
}

static void correct(const metadata_bytes *exif, const tiff *t, uint32_t directory, unsigned tag,
                    uint32_t value)
{
    tiff_entry e;
    if (tiff_find(t, directory, tag, &e))
        tiff_put_number(exif->data, t, &e, value);
}

void exif_set_size(metadata_bytes *exif, mona_size size)
{
    tiff t;
    if (!exif->data || !tiff_open(&t, exif->data, exif->size))
        return;
    const uint32_t more = tiff_value(&t, t.first, TIFF_EXIF, 0);
    correct(exif, &t, t.first, TIFF_WIDTH, size.width);
    correct(exif, &t, t.first, TIFF_HEIGHT, size.height);
    correct(exif, &t, more, EXIF_WIDTH, size.width);
    correct(exif, &t, more, EXIF_HEIGHT, size.height);
}

/* ---- from a TIFF's own directories ---------------------------------------------------------- */

/* Files can make entries share values, so that copies would grow without end. */
enum { MAX_VALUE = 1 << 16, MAX_EXIF = 1 << 20 };

/* In the first directory, beside what describes how pixels are stored: description, maker, model,
 * orientation, resolution, its unit, software, time, artist, copyright. */
static bool is_told(unsigned tag)
{
    static const uint16_t tags[] = {270, 271, 272,   TIFF_ORIENTATION, 282,     283, 296, 305,
                                    306, 315, 33432, TIFF_EXIF,        TIFF_GPS};
    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++)
        if (tags[i] == tag)
            return true;
    return false;
}

static bool is_directory(unsigned tag)
{
    return tag == TIFF_EXIF || tag == TIFF_GPS;
}

static bool is_kept(const tiff *t, uint32_t directory, uint32_t i, bool whole, tiff_entry *e)
{
    return tiff_entry_at(t, directory, i, e) && e->size <= MAX_VALUE &&
           (whole ? !is_directory(e->tag) : is_told(e->tag));
}

/* Appends a directory with its values, at an even offset. whole: one below the first. */
static bool copy_directory(metadata_bytes *to, const tiff *t, uint32_t directory, bool whole)
{
    const uint32_t count = tiff_entries(t, directory);
    const size_t begin = to->size;
    uint32_t kept = 0;
    tiff_entry e;
    for (uint32_t i = 0; i < count; i++)
        kept += is_kept(t, directory, i, whole, &e);
    if (!metadata_append(to, NULL, 2 + kept * (size_t)ENTRY + 4))
        return false;
    tiff_put16(to->data + begin, t->big, kept);
    size_t at = begin + 2;
    for (uint32_t i = 0; i < count; i++) {
        if (!is_kept(t, directory, i, whole, &e))
            continue;
        const bool deeper = is_directory(e.tag), fits = to->size + e.size <= MAX_EXIF;
        memcpy(to->data + at, t->data + directory + 2 + i * (size_t)ENTRY, ENTRY);
        if (deeper || e.size > 4)
            tiff_put32(to->data + at + 8, t->big, fits ? (uint32_t)to->size : 0);
        if (fits && (deeper ? !copy_directory(to, t, tiff_number(t, &e, 0), true)
                            : e.size > 4 && (!metadata_append(to, t->data + e.at, e.size) ||
                                             !metadata_append(to, NULL, e.size % 2))))
            return false;
        at += ENTRY;
    }
    return true;
}

bool exif_of_tiff(metadata_bytes *exif, const tiff *file)
{
    uint8_t head[8] = {'I', 'I', '*', 0};
    if (file->big)
        memcpy(head, "MM\0*", 4);
    tiff_put32(head + 4, file->big, sizeof head);
    return metadata_append(exif, head, sizeof head) &&
           copy_directory(exif, file, file->first, false);
}
