// SPDX-License-Identifier: Apache-2.0
#include "pipeline/io/outputs/picture_writer.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <libavutil/common.h>
#include <libavutil/intreadwrite.h>

enum { SHOWN_ONCE = -1 };

static bool skip(FILE *file, long bytes)
{
    return !fseek(file, bytes, SEEK_CUR);
}

/* A GIF is its head and perhaps a palette, then blocks. Extensions, 0x21 and a label, hold pieces
 * that each begin with their length; an empty one ends them. Netscape's is 1 and the repeats. */
static int loops_of_gif(FILE *file)
{
    enum { EXTENSION = 0x21, APPLICATION = 0xff, HEAD = 7 };
    uint8_t head[HEAD], piece[256];
    if (fread(head, 1, HEAD, file) < HEAD ||
        (head[4] & 0x80 && !skip(file, 3L << ((head[4] & 7) + 1))))
        return SHOWN_ONCE;
    while (fgetc(file) == EXTENSION) {
        const int label = fgetc(file);
        bool ours = false;
        for (int length, i = 0; (length = fgetc(file)) > 0; i++) {
            if (fread(piece, 1, (size_t)length, file) < (size_t)length)
                return SHOWN_ONCE;
            if (i == 0)
                ours = label == APPLICATION && length == 11 && !memcmp(piece, "NETSCAPE2.0", 11);
            else if (ours && length == 3 && piece[0] == 1)
                return AV_RL16(piece + 1);
        }
    }
    return SHOWN_ONCE;
}

/* An acTL chunk, before the data of the first picture, is the number of pictures and how often they
 * are shown; 0: without end. */
static int loops_of_png(FILE *file, int otherwise)
{
    uint8_t head[8], data[8];
    if (!skip(file, 2)) /* the signature has 8 bytes */
        return otherwise;
    while (fread(head, 1, sizeof head, file) == sizeof head && memcmp(head + 4, "IDAT", 4)) {
        const uint32_t length = AV_RB32(head);
        if (!memcmp(head + 4, "acTL", 4) && fread(data, 1, sizeof data, file) == sizeof data) {
            const uint32_t shown = AV_RB32(data + 4);
            return !shown ? 0 : shown == 1 ? SHOWN_ONCE : (int)FFMIN(shown - 1, UINT16_MAX);
        }
        if (length > INT32_MAX - 4 || !skip(file, (long)length + 4))
            break;
    }
    return otherwise;
}

int picture_loops(const char *path, int otherwise)
{
    struct stat status;
    uint8_t signature[6];
    const bool regular = !stat(path, &status) && S_ISREG(status.st_mode);
    FILE *file = regular ? fopen(path, "rb") : NULL;
    if (!file)
        return otherwise;
    const bool read = fread(signature, 1, sizeof signature, file) == sizeof signature;
    const int loops = !read                                  ? otherwise
                      : !memcmp(signature, "GIF8", 4)        ? loops_of_gif(file)
                      : !memcmp(signature, "\x89PNG\r\n", 6) ? loops_of_png(file, otherwise)
                                                             : otherwise;
    fclose(file);
    return loops;
}
