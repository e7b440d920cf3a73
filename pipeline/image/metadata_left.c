// SPDX-License-Identifier: Apache-2.0
#include "pipeline/image/metadata.h"

#include <stdio.h>
#include <string.h>

#include <libavutil/intreadwrite.h>

/* Appends a name to a list. */
static void add(char list[METADATA_LEFT], const char *name, size_t size)
{
    const size_t at = strlen(list);
    snprintf(list + at, METADATA_LEFT - at, "%s%.*s", at ? ", " : "", (int)size, name);
}

/* Each of a JPEG's segments is a marker of two bytes, two with the length of the rest, and data. */
static void name_segments(char list[METADATA_LEFT], const metadata_bytes *rest)
{
    static const struct {
        uint8_t code;
        const char *name;
    } known[] = {{MARKER_COM, "comment"},
                 {MARKER_APP0 + 13, "IPTC and what else Photoshop stores"},
                 {MARKER_APP0 + 1, "further XMP"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        for (size_t at = 0; at < rest->size;) {
            const uint8_t *s = rest->data + at;
            at = s[1] == known[i].code ? rest->size : at + 2 + AV_RB16(s + 2);
            if (s[1] == known[i].code)
                add(list, known[i].name, strlen(known[i].name));
        }
}

/* Each of a PNG's chunks is four bytes with the length of the data, a type of four, the data, and
 * four more. A text begins with its keyword. */
static void name_chunks(char list[METADATA_LEFT], const metadata_bytes *rest)
{
    for (size_t at = 0; at < rest->size;) {
        const uint8_t *c = rest->data + at;
        const size_t size = AV_RB32(c);
        const uint8_t *end = memchr(c + 8, 0, size);
        if (!memcmp(c + 5, "EXt", 3) || !memcmp(c + 5, "TXt", 3))
            add(list, (const char *)c + 8, end ? (size_t)(end - c) - 8 : 0);
        at += size + 12;
    }
}

void metadata_left(char list[METADATA_LEFT], const picture_metadata *m)
{
    list[0] = 0;
    if (m->kind == PICTURE_JPEG)
        name_segments(list, &m->rest);
    else if (m->kind == PICTURE_PNG)
        name_chunks(list, &m->rest);
}
