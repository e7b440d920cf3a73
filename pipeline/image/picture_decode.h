// SPDX-License-Identifier: Apache-2.0
/* Decodes still pictures with libav: kinds that stb_image and libjpeg do not read, and truncated or
 * damaged files. */
#ifndef MONA_PICTURE_DECODE_H
#define MONA_PICTURE_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <libavutil/frame.h>

#include "pipeline/base/error.h"
#include "pipeline/image/picture_kind.h"
#include "pipeline/image/stills.h"

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

#endif
