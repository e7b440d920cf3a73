// SPDX-License-Identifier: Apache-2.0
/* Decodes pictures in memory, as they are and with notes of damage, and GIFs as films. In a build
 * whose sanitiser sees memory that was never written, of the libraries too (libraries.sh), no
 * sample is of such. */
#include <libavutil/imgutils.h>
#include <libavutil/mem.h>

#include "pipeline/base/av_library.h"
#include "pipeline/image/picture_kind.h"
#include "pipeline/image/stills.h"
#include "pipeline/io/sources/input.h"
#include "tests/fuzz/files.h"

#if defined(__has_feature)
#if __has_feature(memory_sanitizer)
#include <fcntl.h>
#include <sanitizer/msan_interface.h>
#include <sys/stat.h>
#define MUST_BE_WRITTEN(data, size) __msan_check_mem_is_initialized(data, size)

/* That of clang 14 does not see what these write. */
#define STATUS(bits)                                                                               \
    int fstat##bits(int file, struct stat##bits *status)                                           \
    {                                                                                              \
        memset(status, 0, sizeof *status);                                                         \
        return fstatat##bits(file, "", status, AT_EMPTY_PATH);                                     \
    }                                                                                              \
    int stat##bits(const char *restrict path, struct stat##bits *restrict status)                  \
    {                                                                                              \
        memset(status, 0, sizeof *status);                                                         \
        return fstatat##bits(AT_FDCWD, path, status, 0);                                           \
    }
#pragma GCC visibility push(default)
STATUS()
STATUS(64)
#pragma GCC visibility pop
#endif
#endif
#ifndef MUST_BE_WRITTEN
#define MUST_BE_WRITTEN(data, size) ((void)(data), (void)(size))
#endif

static const pipeline_notes quiet;

/* Larger pictures take time and show no more: libav gets no memory for them. */
enum {
    MAX_PIXELS = 1 << 12,
    MAX_FRAMES = 4,
    MAX_ALLOCATION = 3 << 16 /* the decoder of TIFF is larger than 1 << 17 */
};

static bool decode(const uint8_t *data, size_t size, unsigned channels, const pipeline_notes *notes)
{
    still image;
    const still_wish wish = {.channels = channels, .max_pixels = MAX_PIXELS, .notes = notes};
    pipeline_error error = {0};
    const bool good = still_read_bytes(&image, "a picture", data, size, &wish, &error);
    if (good)
        MUST_BE_WRITTEN(image.pixels,
                        still_pixel_bytes(&image) * image.width * (size_t)image.height);
    still_free(&image);
    return good;
}

static void check_frame(const AVFrame *f)
{
    for (int p = 0; p < AV_NUM_DATA_POINTERS && f->data[p]; p++) {
        const AVPixFmtDescriptor *format = av_pix_fmt_desc_get(f->format);
        const int shift = p == 1 || p == 2 ? format->log2_chroma_h : 0;
        const int bytes = av_image_get_linesize(f->format, f->width, p);
        for (int y = 0; y < AV_CEIL_RSHIFT(f->height, shift); y++)
            MUST_BE_WRITTEN(f->data[p] + y * (ptrdiff_t)f->linesize[p], (size_t)bytes);
    }
}

static void decode_film(const uint8_t *data, size_t size)
{
    char path[FUZZ_PATH];
    input in;
    pipeline_error error = {0};
    fuzz_save(path, "film.gif", data, size);
    const input_settings settings = {.path = path, .threads = 1, .max_pixels = MAX_PIXELS};
    if (input_open(&in, &settings, &error))
        for (int n = 0; n < MAX_FRAMES && input_next(&in, &error) == INPUT_FRAME; n++)
            check_frame(in.frame);
    input_close(&in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const picture_kind kind = picture_kind_of(data, size);
    av_library_quiet();
    av_max_alloc(MAX_ALLOCATION);
    if (size >= 4 && !memcmp(data, "GIF8", 4))
        decode_film(data, size);
    if (kind == PICTURE_NONE)
        return 0;
    picture_is_lossy(data, size);
    if (!decode(data, size, 0, NULL))
        decode(data, size, 3, &quiet);
    return 0;
}
