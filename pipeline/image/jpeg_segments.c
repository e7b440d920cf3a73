// SPDX-License-Identifier: Apache-2.0
#include "pipeline/image/jpeg_segments.h"

#include <stdbool.h>
#include <stdlib.h>

enum { DHT = 0xc4, RST0 = 0xd0, RST7 = 0xd7, SOI = 0xd8, SOS = 0xda, APP1 = 0xe1, APP2 = 0xe2 };

static bool begins(FILE *file)
{
    rewind(file);
    return fgetc(file) == 0xff && fgetc(file) == SOI;
}

/* Reads a marker, which is 0xff, more of them as padding, and a code; then a length that counts
 * itself. The file stays behind it. */
static bool next_segment(FILE *file, int *code, unsigned *length)
{
    *code = fgetc(file) == 0xff ? 0xff : EOF;
    while (*code == 0xff)
        *code = fgetc(file);
    const int high = fgetc(file), low = fgetc(file);
    if (*code == EOF || low == EOF)
        return false;
    *length = (unsigned)(high * 256 + low);
    return *length >= 2;
}

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
    int code;
    unsigned length;
    *bytes = 0;
    if (!begins(file))
        return NULL;
    while (next_segment(file, &code, &length) && code != SOS)
        if (code != APP1 && code != APP2) {
            if (fseek(file, (long)length - 2, SEEK_CUR))
                break;
        } else if (!append(&all, bytes, code, length, file)) {
            break;
        }
    return all;
}

/* Tables of a segment: a byte of class and number, how many codes there are of 1 to 16 bits, and a
 * byte for each. */
static bool tables_fit(FILE *file, long left)
{
    enum { LENGTHS = 16, SYMBOLS = 256 };
    while (left > 0) {
        uint8_t head[1 + LENGTHS];
        unsigned codes = 0;
        if (fread(head, 1, sizeof head, file) != sizeof head)
            return true;
        for (int i = 1; i <= LENGTHS; i++)
            codes += head[i];
        if (codes > SYMBOLS)
            return false;
        left -= (long)(sizeof head + codes);
        fseek(file, (long)codes, SEEK_CUR);
    }
    return true;
}

/* Goes to the next marker; in the coded picture 0xff comes before 0 and before restarts only. */
static void skip_coded(FILE *file)
{
    for (int last = 0, byte; (byte = fgetc(file)) != EOF; last = byte)
        if (last == 0xff && byte && byte != 0xff && (byte < RST0 || byte > RST7)) {
            fseek(file, -2, SEEK_CUR);
            return;
        }
}

bool jpeg_tables_fit(FILE *file)
{
    int code;
    unsigned length;
    bool fit = true;
    if (!begins(file))
        return true;
    while (fit && next_segment(file, &code, &length)) {
        if (code == DHT)
            fit = tables_fit(file, (long)length - 2);
        else if (fseek(file, (long)length - 2, SEEK_CUR))
            break;
        if (code == SOS)
            skip_coded(file);
    }
    return fit;
}
