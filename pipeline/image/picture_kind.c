// SPDX-License-Identifier: Apache-2.0
#include "pipeline/image/picture_kind.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

/* Extended WebP has a byte of flags after the head of its first chunk. */
static bool is_moving_webp(const uint8_t *file, size_t size)
{
    enum { FLAGS = 20, ANIMATION = 0x02 };
    return size > FLAGS && !memcmp(file + 12, "VP8X", 4) && file[FLAGS] & ANIMATION;
}

/* After P and a digit come numbers, or comments from # to the end of the line, with space before
 * each; libav reads no other. 2 and 3: the samples are text, too. */
static picture_kind netpbm_kind(const uint8_t *file, size_t size)
{
    size_t at = 2;
    if (size < 4 || file[0] != 'P' || !memchr("2356", file[1], 4) || !isspace(file[2]))
        return PICTURE_NONE;
    while (at < size && isspace(file[at]))
        at++;
    if (at == size || (file[at] != '#' && !isdigit(file[at])))
        return PICTURE_NONE;
    return file[1] == '2' || file[1] == '5' ? PICTURE_PGM : PICTURE_PPM;
}

picture_kind picture_kind_of(const uint8_t *file, size_t size)
{
    static const struct {
        picture_kind kind;
        size_t length;
        const char *begin;
    } kinds[] = {{PICTURE_PNG, 8, "\x89PNG\r\n\x1a\n"},
                 {PICTURE_JPEG, 3, "\xff\xd8\xff"},
                 {PICTURE_TIFF, 4, "II*\0"},
                 {PICTURE_TIFF, 4, "MM\0*"}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (size >= kinds[i].length && !memcmp(file, kinds[i].begin, kinds[i].length))
            return kinds[i].kind;
    if (size >= 16 && !memcmp(file, "RIFF", 4) && !memcmp(file + 8, "WEBP", 4))
        return is_moving_webp(file, size) ? PICTURE_NONE : PICTURE_WEBP;
    /* Two letters, the file's size, and four zeros. */
    if (size >= 10 && !memcmp(file, "BM", 2) && !memcmp(file + 6, "\0\0\0\0", 4))
        return PICTURE_BMP;
    return netpbm_kind(file, size);
}

const char *picture_kind_unread(const char *path, const uint8_t *file, size_t size)
{
    static const struct {
        const char *name;
        size_t at, length;
        const char *bytes;
    } kinds[] = {{"a BigTIFF", 0, 4, "II+\0"},
                 {"a BigTIFF", 0, 4, "MM\0+"},
                 {"a Photoshop document", 0, 4, "8BPS"},
                 {"JPEG XL", 0, 2, "\xff\x0a"},
                 {"JPEG XL", 4, 4, "JXL "},
                 {"JPEG 2000", 4, 4, "jP  "},
                 {"OpenEXR", 0, 4, "\x76\x2f\x31\x01"},
                 {"Radiance HDR", 0, 10, "#?RADIANCE"},
                 {"AVIF", 4, 8, "ftypavif"},
                 {"an animated AVIF", 4, 8, "ftypavis"},
                 {"HEIC", 4, 8, "ftypheic"},
                 {"HEIC", 4, 8, "ftypheix"},
                 {"an animated HEIC", 4, 8, "ftyphevc"},
                 {"HEIC", 4, 8, "ftypmif1"},
                 {"an icon", 0, 4, "\0\0\1\0"},
                 {"a bitmap as text", 0, 2, "P1"},
                 {"a bitmap (PBM)", 0, 2, "P4"},
                 {"a PAM", 0, 2, "P7"},
                 {"an animated WebP", 8, 4, "WEBP"},
                 {"a GIF", 0, 4, "GIF8"}};
    const char *dot = strrchr(path, '.');
    if (!size)
        return "an empty file";
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (size >= kinds[i].at + kinds[i].length &&
            !memcmp(file + kinds[i].at, kinds[i].bytes, kinds[i].length))
            return kinds[i].name;
    return dot && !strcasecmp(dot, ".tga") ? "TGA" : NULL;
}
