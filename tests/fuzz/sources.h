// SPDX-License-Identifier: Apache-2.0
/* For fuzz targets that read films: opens a file in the ways of mona's commands, and decodes its
 * first frames. */
#ifndef MONA_TESTS_FUZZ_SOURCES_H
#define MONA_TESTS_FUZZ_SOURCES_H

#include <sys/stat.h>

#include "pipeline/base/av_library.h"
#include "pipeline/io/containers/media_file.h"
#include "pipeline/io/sources/cuts.h"
#include "pipeline/io/sources/picture_list.h"
#include "pipeline/io/sources/input.h"
#include "tests/fuzz/files.h"

enum {
    FUZZ_FRAMES = 4,
    FUZZ_PIXELS = 1 << 16,
    FUZZ_STREAMS = 8,
    FUZZ_PACKETS = 1000,
    FUZZ_BEHIND = 1000
};

/* Packets without end, which need no frame, end too. */
static inline bool fuzz_take_packet(void *context, AVPacket *packet, pipeline_error *error)
{
    (void)packet;
    return ++*(unsigned *)context < FUZZ_PACKETS || pipeline_fail(error, "many packets");
}

static inline bool fuzz_pace(void *context, int64_t time, pipeline_error *error)
{
    (void)time;
    return fuzz_take_packet(context, NULL, error);
}

/* What is asked of an input before its first frame, and with each. */
static inline void fuzz_ask(const input *in)
{
    volatile double sum = (double)input_bytes(in) + (double)input_frame_estimate(in) +
                          (double)input_bit_rate(in) + av_q2d(input_frame_rate(in)) +
                          orientation_swaps(input_orientation(in)) + input_lead(in) +
                          input_is_searchable(in);
    if (in->frame->data[0])
        sum += input_time(in) + input_compression(in) + input_patience(in, 1e9) +
               (double)input_arrival(in) + (double)input_reconnects(in) + input_missing(in);
    (void)sum;
}

static inline void fuzz_frames(input *in, pipeline_error *error)
{
    const unsigned count = in->settings.ends_early ? 1 : FUZZ_FRAMES;
    for (unsigned n = 0; n < count && input_next(in, error) == INPUT_FRAME; n++) {
        const frame_format f = input_format(in);
        const bool same =
            (uint32_t)in->frame->width == f.width && (uint32_t)in->frame->height == f.height;
        if (!in->frame->data[0] || (!same && !in->settings.as_decoded))
            abort(); /* every frame is of the format that was announced */
        fuzz_ask(in);
    }
}

/* Other streams go on behind the frames, or to the end of the file, without decoding. */
static inline void fuzz_decode(const input_settings *settings)
{
    input in = {0};
    pipeline_error error = {0};
    unsigned packets = 0;
    if (input_open(&in, settings, &error)) {
        in.copy = fuzz_take_packet;
        in.copy_context = &packets;
        fuzz_ask(&in);
        if (!settings->ends_early || input_first(&in, &error) == INPUT_FRAME)
            fuzz_frames(&in, &error);
        if (settings->ends_early && in.frame->data[0])
            input_copy_until(&in, in.frame->pts + FUZZ_BEHIND, &error);
        else if (!settings->as_decoded && in.packet)
            input_copy_rest(&in, INT64_MAX, fuzz_pace, &packets, &error);
    }
    input_close(&in);
}

/* Cuts a film into segments, which text can hold, and enters the last. */
static inline void fuzz_cut(const input_settings *settings)
{
    const cuts_wish wish = {.frames = 30, .lead = 1};
    cuts found = {0}, again = {0};
    input in = {0};
    pipeline_error error = {0};
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    if (cuts_find(&found, settings, &wish, &error) && file) {
        cuts_print(&found, file);
        fclose(file);
        file = NULL;
        if (!cuts_parse(&again, text) || again.count != found.count)
            abort();
        const cut *last = &found.at[found.count - 1];
        if (cuts_of(&found, last->begin, 0) >= found.count)
            abort();
        if (found.searchable && found.count > 1 && input_open(&in, settings, &error) &&
            input_enter(&in, last->entry, found.fields))
            fuzz_frames(&in, &error);
    }
    av_log_errors_pause(false);
    input_close(&in);
    cuts_free(&again);
    cuts_free(&found);
    if (file)
        fclose(file);
    free(text);
}

/* In all ways, one after another; libFuzzer's inputs in one each, by their length. */
static inline void fuzz_read_film(const char *path, const char *raw, const char *list)
{
    static const live_settings live = {.stall = 1};
    static const input_settings ways[] = {
        {.deinterlace = true},
        {.as_decoded = true},
        {.start = 0.05, .end = 0.3, .deinterlace = true},
        {.deinterlace = true,
         .ends_early = true,
         .fields = FIELDS_DOUBLE,
         .no_grain = true,
         .chroma = PICTURE_420},
        {.deinterlace = true, .fields = FIELDS_FILM, .no_audio = true},
        {.rotate = ROTATION_90, .chroma = PICTURE_422_10, .quantisers = true, .end = 0.1},
        {.keeps_matrix = true, .low_latency = true, .on_error = ON_ERROR_STOP, .ends_early = true},
        {.live = &live, .low_latency = true},
        {.start = 0.04, .keep_start = true, .deinterlace = true}};
    enum { WAYS = sizeof ways / sizeof *ways };
    struct stat status;
    char identity[FILE_IDENTITY_TEXT];
    pipeline_error error = {0};
    av_library_quiet();
    file_identity(identity, path, &error);
    cut_off_found(path, &error);
    const size_t only =
        LLVMFuzzerMutate && !stat(path, &status) ? (size_t)status.st_size % WAYS : (size_t)WAYS;
    for (size_t i = 0; i < WAYS; i++) {
        input_settings settings = ways[i];
        if (only < WAYS && only != i)
            continue;
        settings.path = path;
        settings.raw = raw;
        settings.list = list;
        settings.threads = 1;
        settings.max_pixels = FUZZ_PIXELS;
        settings.max_streams = FUZZ_STREAMS;
        fuzz_decode(&settings);
        if (settings.keep_start)
            fuzz_cut(&settings);
    }
}

#endif
