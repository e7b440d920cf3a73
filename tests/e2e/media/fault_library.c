// SPDX-License-Identifier: Apache-2.0
/* A program that uses libmonavideo in both ways, for fault_points.sh: IN OUT [CODEC]. One line and
 * status 1 if anything fails; what is lost of the file is printed, too. */
#include <monavideo.h>
#include <stdio.h>
#include <string.h>

static int fail(mona_video *video)
{
    char text[512];
    mona_video_error(video, text, sizeof text);
    mona_video_close(video);
    fprintf(stderr, "mona: %s\n", *text ? text : "said nothing");
    return 1;
}

static void print(void *context, const char *line)
{
    (void)context;
    fprintf(stderr, "%s\n", line);
}

static int run(const char *in, const char *out, const char *codec)
{
    const mona_video_callbacks callbacks = {.note = print};
    mona_video *video = mona_video_open();
    if (!video)
        return fprintf(stderr, "mona: out of memory\n") > 0;
    if (mona_video_set(video, "preset", "ultrafast") || mona_video_set(video, "threads", "1") ||
        mona_video_set(video, "stages", "denoise,sr") ||
        (codec && mona_video_set(video, "codec", codec)) ||
        mona_video_run(video, in, out, &callbacks))
        return fail(video);
    mona_video_close(video);
    return 0;
}

static int frames(void)
{
    static unsigned char samples[48 * 32];
    const mona_video_format in = {.width = 48, .height = 32, .planes = 1, .bits = 8};
    mona_video_format out;
    mona_video_frame made, frame = {.data = {samples}, .stride = {48}};
    mona_video *video = mona_video_open();
    if (!video)
        return fprintf(stderr, "mona: out of memory\n") > 0;
    memset(samples, 99, sizeof samples);
    if (mona_video_set(video, "threads", "1") || mona_video_start(video, &in, &out))
        return fail(video);
    for (int i = 0; i < 3; i++)
        if (mona_video_push(video, &frame) || mona_video_pull(video, &made))
            return fail(video);
    mona_video_close(video);
    return 0;
}

int main(int argc, char **argv)
{
    return argc < 3 || frames() || run(argv[1], argv[2], argv[3]);
}
