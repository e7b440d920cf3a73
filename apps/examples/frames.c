// SPDX-License-Identifier: Apache-2.0
/* Enlarges frames that this program draws, and writes them as YUV4MPEG2 to standard output.
 *
 *     cc -o frames frames.c $(pkg-config --cflags --libs monavideo)
 *     ./frames 320x180 25 | mpv -
 *
 * With a third argument, "source", it writes the frames as they were drawn. */
#include <monavideo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A diagonal grid that moves a column a frame. Y, U and V lie one after another. */
static void draw(unsigned char *samples, const mona_video_format *f, unsigned number)
{
    unsigned char *luma = samples, *chroma = samples + (size_t)f->width * f->height;
    for (unsigned y = 0; y < f->height; y++)
        for (unsigned x = 0; x < f->width; x++)
            *luma++ = (unsigned char)(16 + (x + number + y) * 8 % 220);
    memset(chroma, 110, (size_t)(f->width / 2) * (f->height / 2) * 2);
}

static int fail(mona_video *video, const char *what)
{
    char text[256];
    mona_video_error(video, text, sizeof text);
    fprintf(stderr, "%s: %s\n", what, text);
    mona_video_close(video);
    return EXIT_FAILURE;
}

static void write_frame(const mona_video_format *f, const mona_video_frame *frame)
{
    puts("FRAME");
    for (unsigned p = 0; p < 3; p++) {
        const unsigned shift = p ? 1 : 0;
        for (unsigned y = 0; y < f->height >> shift; y++)
            fwrite((char *)frame->data[p] + frame->stride[p] * (ptrdiff_t)y, 1, f->width >> shift,
                   stdout);
    }
}

static void write_header(const mona_video_format *f)
{
    printf("YUV4MPEG2 W%u H%u F25:1 Ip A1:1 C420mpeg2 XYSCSS=420MPEG2\n", f->width, f->height);
}

int main(int argc, char **argv)
{
    mona_video_format in = {.planes = 3, .shift_x = 1, .shift_y = 1, .bits = 8}, out;
    mona_video_frame made;
    if (argc < 3 || sscanf(argv[1], "%ux%u", &in.width, &in.height) != 2 || in.width % 2 ||
        in.height % 2) {
        fprintf(stderr, "usage: %s WIDTHxHEIGHT FRAMES [source], with even sides\n", argv[0]);
        return 2;
    }
    const unsigned frames = (unsigned)atoi(argv[2]);
    const size_t luma = (size_t)in.width * in.height;
    unsigned char *samples = malloc(luma * 3 / 2);
    mona_video *video = mona_video_open();
    if (!samples || !video || mona_video_set(video, "stages", "denoise,sr") ||
        mona_video_start(video, &in, &out))
        return fail(video, "start");

    write_header(argc > 3 ? &in : &out);
    for (unsigned n = 0; n < frames; n++) {
        const mona_video_frame drawn = {
            .data = {samples, samples + luma, samples + luma + luma / 4},
            .stride = {in.width, in.width / 2, in.width / 2},
            .time = n};
        mona_video_status status;
        draw(samples, &in, n);
        if (argc > 3) {
            write_frame(&in, &drawn);
            continue;
        }
        while ((status = mona_video_push(video, &drawn)) == MONA_VIDEO_AGAIN)
            if (mona_video_pull(video, &made) == MONA_VIDEO_OK)
                write_frame(&out, &made);
        if (status)
            return fail(video, "push");
    }
    while (mona_video_pull(video, &made) == MONA_VIDEO_OK)
        write_frame(&out, &made);
    mona_video_close(video);
    free(samples);
    return EXIT_SUCCESS;
}
