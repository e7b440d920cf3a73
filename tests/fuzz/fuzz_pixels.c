// SPDX-License-Identifier: Apache-2.0
/* Decodes pictures in memory, as they are and with notes of damage. In a build whose sanitiser sees
 * memory that was never written, of the libraries too (libraries.sh), no sample is of such. */
#include <libavutil/intreadwrite.h>
#include <libavutil/mem.h>

#include "pipeline/base/av_library.h"
#include "pipeline/image/picture_decode.h"
#include "tests/fuzz/fuzz.h"

#if defined(__has_feature)
#if __has_feature(memory_sanitizer)
#include <sanitizer/msan_interface.h>
#define MUST_BE_WRITTEN(data, size) __msan_check_mem_is_initialized(data, size)
#endif
#endif
#ifndef MUST_BE_WRITTEN
#define MUST_BE_WRITTEN(data, size) ((void)(data), (void)(size))
#endif

static const pipeline_notes quiet;

static bool decode(const uint8_t *data, size_t size, unsigned channels, const pipeline_notes *notes)
{
    still image;
    pipeline_error error = {0};
    const bool good = still_read_bytes(&image, "a picture", data, size, channels, notes, &error);
    if (good)
        MUST_BE_WRITTEN(image.pixels,
                        still_pixel_bytes(&image) * image.width * (size_t)image.height);
    still_free(&image);
    return good;
}

/* Larger pictures take time and show no more: libav gets no memory for them. */
enum {
    MAX_PIXELS = 1 << 12,
    MAX_ALLOCATION = 3 << 16 /* the decoder of TIFF is larger than 1 << 17 */
};

static bool is_large(const uint8_t *data, size_t size, picture_kind kind)
{
    enum { SIDES = 16 }; /* of a PNG */
    still head = {0};
    if (kind == PICTURE_JPEG)
        return jpeg_read_head(&head, data, size) && (uint64_t)head.width * head.height > MAX_PIXELS;
    return kind == PICTURE_PNG && size >= SIDES + 8 &&
           (uint64_t)AV_RB32(data + SIDES) * AV_RB32(data + SIDES + 4) > MAX_PIXELS;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const picture_kind kind = picture_kind_of(data, size);
    av_library_quiet();
    av_max_alloc(MAX_ALLOCATION);
    if (kind == PICTURE_NONE || is_large(data, size, kind))
        return 0;
    picture_is_lossy(data, size);
    if (!decode(data, size, 0, NULL))
        decode(data, size, 3, &quiet);
    return 0;
}
