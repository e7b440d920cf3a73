// SPDX-License-Identifier: Apache-2.0
/* Codecs of still pictures. */
#ifndef MONA_STILL_CODEC_H
#define MONA_STILL_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <libavutil/frame.h>

#include "pipeline/base/error.h"
#include "pipeline/image/metadata.h"
#include "pipeline/image/picture_kind.h"
#include "pipeline/image/stills.h"

/* With libav: kinds that stb_image and libjpeg do not read, and truncated or damaged files. */

/* Decodes a file in memory into the image's pixels, width, height and channels. Alpha that is
 * opaque everywhere is dropped. Rows that a damaged file lacks are grey, or in a PNG transparent or
 * black, and a note reports their number; without notes, such a file is refused. */
bool picture_decode(still *image, const char *path, const uint8_t *file, size_t size,
                    picture_kind kind, const still_wish *wish, pipeline_error *error);

/* Copies grey, RGB or either of them with alpha, of 8 bits or big-endian 16. still_free releases
 * it. */
bool still_of_frame(still *image, const AVFrame *picture, pipeline_error *error);

/* Decodes JPEG by libjpeg: of 8 bits, in grey, YCbCr, RGB, CMYK or YCCK. */

/* Sets width, height and channels. False: libjpeg does not decode the file. */
bool jpeg_read_head(still *image, const uint8_t *file, size_t size);

/* Sets the pixels too, as grey or RGB; as RGB if channels is 3. False: libjpeg does not decode the
 * file, finds that it is damaged or cut off, or there is no memory. */
bool jpeg_decode(still *image, const uint8_t *file, size_t size, unsigned channels);

/* Encoders of still pictures. The bytes do not depend on the number of threads. */

typedef struct still_encoding {
    const still *image;         /* the picture's shape */
    const still_source *source; /* NULL: the image's pixels */
    metadata_bytes metadata;    /* as the file has it, between its head and its pixels */
    unsigned jpeg_quality, threads;
    bool (*write)(void *to, const void *bytes, size_t size);
    void *to;
} still_encoding;

/* The bytes of count rows from first on, without gaps. */
void still_encode_rows(const still_encoding *e, uint32_t first, uint32_t count, uint8_t *to);

/* False: out of memory, or a write returned false. */
bool png_encode(const still_encoding *e);
bool jpeg_encode(const still_encoding *e);

/* Encodes a picture strip by strip on several threads, and writes the strips in their order. */

typedef struct strips {
    uint32_t count;
    unsigned threads; /* 0: one for each core */
    /* Encodes strip i, on any of the threads. Whether it succeeds or not, the bytes are
     * released. */
    bool (*make)(const void *context, uint32_t i, metadata_bytes *bytes);
    /* Gets the strips in their order, one at a time. */
    bool (*put)(void *context, uint32_t i, metadata_bytes *bytes);
    void *context;
} strips;

/* False: a call returned false; no strip was written after it. */
bool strips_encode(const strips *s);

#endif
