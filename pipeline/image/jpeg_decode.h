// SPDX-License-Identifier: Apache-2.0
/* Decodes JPEG by libjpeg: of 8 bits, in grey, YCbCr, RGB, CMYK or YCCK. */
#ifndef MONA_JPEG_DECODE_H
#define MONA_JPEG_DECODE_H

#include "pipeline/image/stills.h"

/* Sets width, height and channels. False: libjpeg does not decode the file. */
bool jpeg_read_head(still *image, const uint8_t *file, size_t size);

/* Sets the pixels too, as grey or RGB; as RGB if channels is 3. False: libjpeg does not decode the
 * file, finds that it is damaged or cut off, or there is no memory. */
bool jpeg_decode(still *image, const uint8_t *file, size_t size, unsigned channels);

#endif
