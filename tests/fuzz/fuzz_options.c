// SPDX-License-Identifier: Apache-2.0
/* Options of libmonavideo, a line each, "name value"; then frames of the sizes that the last line
 * says by its bytes. */
#include "pipeline/job/job.h"
#include "pipeline/monavideo.h"
#include "tests/fuzz/option_lines.h"

#include <stdlib.h>
#include <string.h>

enum { SIDE = 24, MAX_RESULT = 1 << 16, ROW = 2 * SIDE };

static void set(mona_video *video, char *line)
{
    char text[256];
    char *value = strchr(line, ' ');
    if (value)
        *value++ = 0;
    if (mona_video_set(video, line, value) != MONA_VIDEO_OK &&
        !mona_video_error(video, text, sizeof text))
        abort(); /* a refusal has its line */
}

static void push_and_pull(mona_video *video, const mona_video_format *format)
{
    static uint8_t samples[MONA_VIDEO_PLANES][SIDE * ROW];
    mona_video_frame frame = {0}, made;
    for (unsigned p = 0; p < format->planes; p++) {
        frame.data[p] = samples[p];
        frame.stride[p] = ROW;
    }
    for (unsigned n = 0; n < 2; n++)
        if (mona_video_push(video, &frame) != MONA_VIDEO_OK ||
            mona_video_pull(video, &made) != MONA_VIDEO_OK)
            return;
}

static void frames(mona_video *video, const uint8_t *b)
{
    mona_video_format result;
    const mona_video_format format = {.width = b[0] % (SIDE + 1),
                                      .height = b[1] % (SIDE + 1),
                                      .planes = b[2] % 6,
                                      .shift_x = b[3] % 3,
                                      .shift_y = b[4] % 3,
                                      .bits = b[5] % 18,
                                      .chroma = b[6] % 3,
                                      .full_range = b[7] & 1};
    if (mona_video_start(video, &format, &result) == MONA_VIDEO_OK &&
        (uint64_t)result.width * result.height <= MAX_RESULT)
        push_and_pull(video, &format);
}

/* What is told of options, states and models. */
static void ask(mona_video *video, const uint8_t *b)
{
    mona_video_option option;
    size_t bytes;
    mona_video_option_at(b[0], &option);
    if (!mona_video_status_text(b[1] % 16) || !mona_video_version())
        abort();
    mona_video_model(mona_video_option_at(b[2], &option) ? option.name : "sr_x2_fast", &bytes);
    mona_video_set(b[3] ? video : NULL, b[4] ? "scale" : NULL, "2");
}

enum { FORMAT = 8 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    mona_video *video = mona_video_open();
    char *text = size >= FORMAT ? malloc(size - FORMAT + 1) : NULL;
    if (video && text) {
        memcpy(text, data, size - FORMAT);
        text[size - FORMAT] = 0;
        for (char *rest = text, *line; (line = strsep(&rest, "\n"));)
            set(video, line);
        frames(video, data + size - FORMAT);
        ask(video, data + size - FORMAT);
    }
    free(text);
    mona_video_close(video);
    return 0;
}

/* Every second input is made from the table of options. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    if ((LLVMFuzzerMutate && seed % 2) || room <= FORMAT)
        return LLVMFuzzerMutate ? LLVMFuzzerMutate(data, size, room) : size;
    option_lines l = {(char *)data, room - FORMAT, 0, seed};
    for (uint32_t n = lines_draw(&l, 4); n; n--) {
        const option *o =
            &job_rows[JOB_LIBRARY_FIRST + lines_draw(&l, JOB_LIBRARY_END - JOB_LIBRARY_FIRST)];
        lines_put(&l, "%s ", o->name + strlen("--"));
        lines_put_value(&l, o);
        lines_put(&l, n > 1 ? "\n" : "");
    }
    const uint8_t format[FORMAT] = {
        lines_draw(&l, 25), lines_draw(&l, 25), 3,
        lines_draw(&l, 2),  lines_draw(&l, 3),  lines_draw(&l, 3) ? 8 : 10,
        lines_draw(&l, 4),  lines_draw(&l, 2)};
    memcpy(data + l.used, format, sizeof format);
    return l.used + sizeof format;
}
