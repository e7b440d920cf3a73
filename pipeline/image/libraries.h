// SPDX-License-Identifier: Apache-2.0
/* zlib and libjpeg, which only pictures need: they are opened with the first picture. */
#ifndef MONA_PICTURE_LIBRARIES_H
#define MONA_PICTURE_LIBRARIES_H

#include <stdio.h> /* which jpeglib.h needs */

#include <jpeglib.h>
#include <zlib.h>

#include "pipeline/image/picture_kind.h"

/* clang-format off */
#define ZLIB_CALLS(CALL) \
    CALL(zlib, adler32_combine) CALL(zlib, adler32_z) CALL(zlib, compress2) CALL(zlib, compressBound) \
    CALL(zlib, crc32_z) CALL(zlib, deflate) CALL(zlib, deflateBound) CALL(zlib, deflateEnd) \
    CALL(zlib, deflateInit2_) CALL(zlib, inflate) CALL(zlib, inflateEnd) CALL(zlib, inflateInit_) \
    CALL(zlib, uncompress)
#define LIBJPEG_CALLS(CALL) \
    CALL(libjpeg, jpeg_CreateCompress) CALL(libjpeg, jpeg_CreateDecompress) \
    CALL(libjpeg, jpeg_destroy_compress) CALL(libjpeg, jpeg_destroy_decompress) \
    CALL(libjpeg, jpeg_finish_compress) CALL(libjpeg, jpeg_finish_decompress) \
    CALL(libjpeg, jpeg_mem_src) CALL(libjpeg, jpeg_read_header) CALL(libjpeg, jpeg_read_scanlines) \
    CALL(libjpeg, jpeg_set_defaults) CALL(libjpeg, jpeg_set_quality) \
    CALL(libjpeg, jpeg_start_compress) CALL(libjpeg, jpeg_start_decompress) \
    CALL(libjpeg, jpeg_std_error) CALL(libjpeg, jpeg_write_scanlines)
/* clang-format on */

#define PICTURE_CALL(library, name) __typeof__(name) *name;
typedef struct zlib_calls {
    ZLIB_CALLS(PICTURE_CALL)
} zlib_calls;
typedef struct libjpeg_calls {
    LIBJPEG_CALLS(PICTURE_CALL)
} libjpeg_calls;

/* Their functions, once picture_libraries has returned true. */
extern zlib_calls zlib;
extern libjpeg_calls libjpeg;

#endif
