#include "jpeg_segments.h"

#include <stdbool.h>
#include <stdlib.h>

enum { SOI = 0xd8, SOS = 0xda, APP1 = 0xe1, APP2 = 0xe2 };

/* Appends a segment of length bytes after its marker; the length itself has been read. */
static bool append(uint8_t **all, size_t *bytes, int marker, unsigned length, FILE *file)
{
    uint8_t *grown = realloc(*all, *bytes + 2 + length);
    if (!grown)
        return false;
    *all = grown;
    uint8_t *segment = grown + *bytes;
    segment[0] = 0xff;
    segment[1] = (uint8_t)marker;
    segment[2] = (uint8_t)(length >> 8);
    segment[3] = (uint8_t)length;
    if (fread(segment + 4, 1, length - 2, file) != length - 2)
        return false;
    *bytes += 2 + length;
    return true;
}

uint8_t *jpeg_segments_read(FILE *file, size_t *bytes)
{
    uint8_t *all = NULL;
    *bytes = 0;
    rewind(file);
    if (fgetc(file) != 0xff || fgetc(file) != SOI)
        return NULL;
    for (;;) {
        /* A marker is 0xff, more of them as padding, and a code; then a length that counts itself.
         */
        int code = fgetc(file) == 0xff ? 0xff : EOF;
        while (code == 0xff)
            code = fgetc(file);
        int high = fgetc(file), low = fgetc(file);
        if (code == EOF || code == SOS || low == EOF || high * 256 + low < 2)
            return all;
        unsigned length = (unsigned)(high * 256 + low);
        if (code != APP1 && code != APP2) {
            if (fseek(file, (long)length - 2, SEEK_CUR))
                return all;
        } else if (!append(&all, bytes, code, length, file)) {
            return all;
        }
    }
}
