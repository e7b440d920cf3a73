// SPDX-License-Identifier: Apache-2.0
/* For fuzz targets that read films: opens a file and decodes its first frames. */
#ifndef MONA_TESTS_FUZZ_SOURCES_H
#define MONA_TESTS_FUZZ_SOURCES_H

#include "pipeline/base/av_library.h"
#include "pipeline/io/sources/input.h"
#include "tests/fuzz/files.h"

enum { FUZZ_FRAMES = 4, FUZZ_PIXELS = 1 << 16, FUZZ_STREAMS = 8, FUZZ_PACKETS = 1000 };

/* Packets without end, which need no frame, end too. */
static inline bool fuzz_take_packet(void *context, AVPacket *packet, pipeline_error *error)
{
    (void)packet;
    return ++*(unsigned *)context < FUZZ_PACKETS || pipeline_fail(error, "many packets");
}

static inline void fuzz_decode(const input_settings *settings)
{
    input in = {0};
    pipeline_error error = {0};
    unsigned packets = 0;
    if (input_open(&in, settings, &error)) {
        in.copy = fuzz_take_packet;
        in.copy_context = &packets;
        for (unsigned n = 0; n < FUZZ_FRAMES && input_next(&in, &error) == INPUT_FRAME; n++) {
            const frame_format f = input_format(&in);
            if (!in.frame->data[0] || (uint32_t)in.frame->width != f.width ||
                (uint32_t)in.frame->height != f.height)
                abort(); /* every frame is of the format that was announced */
        }
    }
    input_close(&in);
}

/* As the command reads a film, as it compares one, and a part of it. */
static inline void fuzz_read_film(const char *path, const char *raw, const char *list)
{
    const input_settings whole = {.path = path,
                                  .raw = raw,
                                  .list = list,
                                  .threads = 1,
                                  .deinterlace = true,
                                  .max_pixels = FUZZ_PIXELS,
                                  .max_streams = FUZZ_STREAMS};
    input_settings compared = whole, part = whole;
    compared.as_decoded = true;
    part.start = 0.1;
    part.end = 0.3;
    av_library_quiet();
    fuzz_decode(&whole);
    fuzz_decode(&compared);
    fuzz_decode(&part);
}

#endif
