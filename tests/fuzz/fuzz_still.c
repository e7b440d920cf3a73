// SPDX-License-Identifier: Apache-2.0
/* Reads pictures, whole and damaged, and writes them again. Memory that was not written is filled
 * with other bytes the second time, which no result may show. */
#include <malloc.h>

#include <libavutil/mem.h>

#include "pipeline/base/av_library.h"
#include "pipeline/image/stills.h"
#include "tests/fuzz/files.h"

enum { MAX_PIXELS = 1 << 20, MAX_ALLOCATION = 16 << 20 /* of libav */ };

static const pipeline_notes quiet;

static bool read_once(still *image, const char *path, const pipeline_notes *notes, int fill)
{
    pipeline_error error = {0};
#ifdef M_PERTURB
    mallopt(M_PERTURB, fill);
#endif
    (void)fill;
    return still_read(image, path, &(still_wish){.notes = notes}, &error);
}

static bool is_same(const still *a, const still *b)
{
    return a->width == b->width && a->height == b->height && a->channels == b->channels &&
           a->depth == b->depth &&
           !memcmp(a->pixels, b->pixels, still_pixel_bytes(a) * a->width * a->height);
}

static void write_all(still *image)
{
    static const char *const names[] = {"out.png", "out.jpg", "out.webp"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[FUZZ_PATH];
        pipeline_error error = {0};
        fuzz_path(path, names[i]);
        const still_output to = {.path = path, .threads = 1};
        if (still_check(path, image, &error) && still_write(image, NULL, &to, &error)) {
            still again = {0};
            if (!still_read(&again, path, &(still_wish){.notes = &quiet}, &error))
                abort(); /* mona reads what it writes, if with a note of damaged EXIF in it */
            still_free(&again);
        }
        remove(path);
    }
}

static void read_and_write(const char *path, const pipeline_notes *notes)
{
    still one = {0}, two = {0};
    pipeline_error error = {0};
    const bool good = read_once(&one, path, notes, 1);
    if (good != read_once(&two, path, notes, 85) || (good && !is_same(&one, &two)))
        abort();
    if (good && (size_t)one.width * one.height <= 1 << 14 && still_turn_upright(&one, &error))
        write_all(&one);
    still_free(&one);
    still_free(&two);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[FUZZ_PATH];
    still head = {0};
    av_library_quiet();
    av_max_alloc(MAX_ALLOCATION);
    fuzz_save(path, "picture", data, size);
    still_unread(path);
    still_is_animated(path);
    still_is_lossy(path);
    const bool large =
        still_read_head(&head, path) && (uint64_t)head.width * head.height > MAX_PIXELS;
    still_free(&head);
    if (large || !still_is_image(path))
        return 0;
    read_and_write(path, NULL);
    read_and_write(path, &quiet);
    return 0;
}
