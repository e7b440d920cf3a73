// SPDX-License-Identifier: Apache-2.0
/* Sources: the same four pictures as a container, raw frames, numbered pictures, a live stream
 * and a still picture; what cannot be read; and the times that an input makes of those in the
 * file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <libavcodec/avcodec.h>

#include "pipeline/base/av_compat.h"
#include "pipeline/io/sources/input.h"

enum { WIDTH = 32, HEIGHT = 16, FRAMES = 4, RATE = 25 };

static char folder[] = "/tmp/mona_sources_XXXXXX";

static const char *in_folder(const char *name)
{
    static char paths[8][128];
    static unsigned next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static void save(const char *path, const void *data, size_t bytes)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, bytes, file), bytes);
    fclose(file);
}

/* ---- films ----------------------------------------------------------------------------------- */

static AVFrame *make_frame(int n, enum AVPixelFormat format)
{
    AVFrame *f = av_frame_alloc();
    f->width = WIDTH;
    f->height = HEIGHT;
    f->format = format;
    f->pts = n;
    assert_true(av_frame_get_buffer(f, 0) >= 0);
    for (int y = 0; y < HEIGHT; y++)
        memset(f->data[0] + y * f->linesize[0], 40 + 50 * n, WIDTH);
    return f;
}

static AVCodecContext *open_encoder(const char *name)
{
    AVCodecContext *c = avcodec_alloc_context3(avcodec_find_encoder_by_name(name));
    c->width = WIDTH;
    c->height = HEIGHT;
    c->pix_fmt = AV_PIX_FMT_GRAY8;
    c->time_base = (AVRational){1, RATE};
    c->thread_count = 1;
    assert_true(avcodec_open2(c, NULL, NULL) >= 0);
    return c;
}

/* FFV1 in Matroska; the first frame is shown after so many seconds. */
static void write_container(const char *path, double late)
{
    AVFormatContext *to = NULL;
    AVCodecContext *c = open_encoder("ffv1");
    avformat_alloc_output_context2(&to, NULL, "matroska", path);
    AVStream *stream = avformat_new_stream(to, NULL);
    avcodec_parameters_from_context(stream->codecpar, c);
    stream->time_base = c->time_base;
    stream->avg_frame_rate = (AVRational){RATE, 1};
    assert_true(avio_open(&to->pb, path, AVIO_FLAG_WRITE) >= 0);
    assert_true(avformat_write_header(to, NULL) >= 0);
    AVPacket *packet = av_packet_alloc();
    for (int n = 0; n <= FRAMES; n++) {
        AVFrame *f = n < FRAMES ? make_frame(n, AV_PIX_FMT_GRAY8) : NULL;
        avcodec_send_frame(c, f);
        av_frame_free(&f);
        while (avcodec_receive_packet(c, packet) >= 0) {
            packet->pts += (int64_t)(late * RATE);
            packet->dts = packet->pts;
            packet->duration = 1;
            av_packet_rescale_ts(packet, c->time_base, stream->time_base);
            assert_true(av_interleaved_write_frame(to, packet) >= 0);
        }
    }
    av_write_trailer(to);
    av_packet_free(&packet);
    avio_closep(&to->pb);
    avformat_free_context(to);
    avcodec_free_context(&c);
}

static void write_picture(const char *path, int n)
{
    AVCodecContext *c = open_encoder("png");
    AVFrame *f = make_frame(n, AV_PIX_FMT_GRAY8);
    AVPacket *packet = av_packet_alloc();
    assert_true(avcodec_send_frame(c, f) >= 0 && avcodec_receive_packet(c, packet) >= 0);
    save(path, packet->data, (size_t)packet->size);
    av_packet_free(&packet);
    av_frame_free(&f);
    avcodec_free_context(&c);
}

static void write_raw(const char *path)
{
    static uint8_t samples[FRAMES][WIDTH * HEIGHT];
    for (int n = 0; n < FRAMES; n++)
        memset(samples[n], 40 + 50 * n, sizeof samples[n]);
    save(path, samples, sizeof samples);
}

static int prepare(void **state)
{
    (void)state;
    char name[16];
    av_log_set_level(AV_LOG_QUIET);
    assert_non_null(mkdtemp(folder));
    write_container(in_folder("film.mkv"), 0);
    write_container(in_folder("late.mkv"), 3);
    write_raw(in_folder("film.yuv"));
    for (int n = 0; n < FRAMES; n++) {
        snprintf(name, sizeof name, "%02d.png", n + 7);
        write_picture(in_folder(name), n);
    }
    save(in_folder("empty.mkv"), "", 0);
    save(in_folder("text.mkv"), "no film\n", 8);
    return 0;
}

static int tidy(void **state)
{
    (void)state;
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

/* ---- kinds ----------------------------------------------------------------------------------- */

static const live_settings patient = {.stall = 5};

typedef struct example {
    const char *file, *raw, *still;
    bool live;
    const source_kind *kind;
} example;

static const example examples[] = {
    {"film.mkv", NULL, NULL, false, &source_container},
    {"film.yuv", "32x16:gray:25", NULL, false, &source_raw},
    {"%02d.png", NULL, NULL, false, &source_pictures},
    {"film.mkv", NULL, NULL, true, &source_live},
    {"film.yuv", "32x16:gray:25", NULL, true, &source_live},
    {"07.png", NULL, "/tmp/result.png", false, &source_still},
};

enum { EXAMPLES = sizeof examples / sizeof *examples };

static input_settings settings_of(const example *e)
{
    return (input_settings){.path = in_folder(e->file),
                            .raw = e->raw,
                            .still_result = e->still,
                            .live = e->live ? &patient : NULL};
}

static void a_kind_is_chosen_and_gives_its_packets(void **state)
{
    (void)state;
    for (int i = 0; i < EXAMPLES; i++) {
        source s;
        pipeline_error error = {0};
        const pipeline_notes silent = {0};
        const input_settings settings = settings_of(&examples[i]);
        const bool opened = source_open(&s, &settings, &silent, &error);
        assert_string_equal(error.text, "");
        assert_true(opened);
        assert_ptr_equal(s.kind, examples[i].kind);
        assert_int_equal(s.format->nb_streams, 1);
        AVPacket *packet = av_packet_alloc();
        int got = 0;
        for (; s.kind->next(&s, packet) >= 0; got++)
            av_packet_unref(packet);
        assert_int_equal(got, s.kind->frame ? 0 : FRAMES);
        assert_int_equal(s.kind->next(&s, packet), AVERROR_EOF);
        av_packet_free(&packet);
        source_close(&s);
        assert_null(s.format);
    }
}

/* A source knows the file of each packet, for messages. */
static void pictures_have_names_and_places(void **state)
{
    (void)state;
    source s;
    char name[128];
    pipeline_error error = {0};
    const pipeline_notes silent = {0};
    unlink(in_folder("08.png"));
    const input_settings settings = {.path = in_folder("%02d.png")};
    assert_true(source_open(&s, &settings, &silent, &error));
    assert_string_equal(source_file(&s, name, sizeof name), settings.path);
    AVPacket *packet = av_packet_alloc();
    const int64_t times[] = {0, 2, 3}, lengths[] = {2, 1, 1};
    const char *const names[] = {"07.png", "09.png", "10.png"};
    for (int n = 0; n < 3; n++) {
        assert_int_equal(s.kind->next(&s, packet), 0);
        assert_int_equal(packet->pts, times[n]);
        assert_int_equal(packet->duration, lengths[n]);
        assert_string_equal(source_file(&s, name, sizeof name), in_folder(names[n]));
        av_packet_unref(packet);
    }
    assert_int_equal(s.format->streams[0]->duration, FRAMES);
    assert_int_equal(source_bytes(&s), 0);
    av_packet_free(&packet);
    source_close(&s);
    write_picture(in_folder("08.png"), 1);
}

static void what_cannot_be_read_is_said(void **state)
{
    (void)state;
    static const struct {
        example e;
        const char *rate, *said;
    } bad[] = {
        {{.file = "none.mkv"}, NULL, "none.mkv: cannot be read: No such file or directory"},
        {{.file = "."}, NULL, "expected a video or an image, found a directory"},
        {{.file = "empty.mkv"}, NULL, "expected a video or an image, found an empty file"},
        {{.file = "text.mkv"}, NULL, "expected a video or an image, found"},
        {{.file = "none.mkv", .live = true}, NULL, "cannot be read: No such file"},
        {{.file = "film.yuv"}, NULL, "expected --raw WIDTHxHEIGHT:FORMAT:RATE"},
        {{.file = "film.yuv", .raw = "32x16"}, NULL, "--raw: expected WIDTHxHEIGHT"},
        {{.file = "film.yuv", .raw = "32x16:yuv420p:0"}, NULL, "--raw: expected WIDTHxHEIGHT"},
        {{.file = "film.yuv", .raw = "32x0:yuv420p:25"}, NULL, "--raw: expected WIDTHxHEIGHT"},
        {{.file = "film.yuv", .raw = "32x16:vaapi:25"}, NULL, "--raw: expected WIDTHxHEIGHT"},
        {{.file = "film.yuv", .raw = "99999x99999:gray:25"}, NULL, "--raw: expected WIDTHxHEIGHT"},
        {{.file = "film.mkv"}, "25", "--fps: expected numbered pictures"},
        {{.file = "%02d.png"}, "x", "--fps: expected a rate such as 25"},
        {{.file = "x%02d.png"}, NULL, "expected pictures with names like this, found none"},
        {{.file = "none.png", .still = "/tmp/x.png"}, NULL, "none.png"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        input in;
        pipeline_error error = {0};
        input_settings settings = settings_of(&bad[i].e);
        settings.rate = bad[i].rate;
        assert_false(input_open(&in, &settings, &error));
        if (!strstr(error.text, bad[i].said))
            fail_msg("expected '%s', found '%s'", bad[i].said, error.text);
        input_close(&in);
    }
}

/* ---- inputs ---------------------------------------------------------------------------------- */

static bool drop(void *context, AVPacket *packet, pipeline_error *error)
{
    (void)context, (void)packet, (void)error;
    return true;
}

/* Every kind gives the same pictures, at the same times. */
static void frames_do_not_depend_on_the_kind(void **state)
{
    (void)state;
    for (int i = 0; i < EXAMPLES; i++) {
        input in;
        pipeline_error error = {0};
        const input_settings settings = settings_of(&examples[i]);
        const bool opened = input_open(&in, &settings, &error);
        assert_string_equal(error.text, "");
        assert_true(opened);
        in.copy = drop;
        int got = 0;
        input_result result;
        while ((result = input_next(&in, &error)) == INPUT_FRAME) {
            assert_int_equal(input_format(&in).width, WIDTH);
            assert_int_equal(input_format(&in).height, HEIGHT);
            if (!in.from.kind->frame) {
                assert_int_equal(in.frame->data[0][WIDTH * 3 / 2 % WIDTH], 40 + 50 * got);
                assert_true(input_time(&in) * RATE - got < 0.03);
                assert_true(input_time(&in) * RATE - got > -0.03);
            }
            got++;
        }
        assert_int_equal(result, INPUT_END);
        assert_int_equal(got, in.from.kind->frame ? 1 : FRAMES);
        assert_int_equal(input_pictures(&in) != NULL, in.from.kind->separate);
        assert_int_equal(input_still(&in) != NULL, in.from.kind->frame != NULL);
        input_close(&in);
    }
}

typedef struct part {
    const char *file, *raw;
    double start, end;
    bool keeps;
    int frames;
    double first; /* the time of the first, in the result */
} part;

/* In frames of the file: which are given, and when the first one is shown. */
static void parts_begin_at_the_beginning(void **state)
{
    (void)state;
    static const part parts[] = {
        {"film.mkv", NULL, 0, 0, false, 4, 0},
        {"late.mkv", NULL, 0, 0, false, 4, 0},
        {"late.mkv", NULL, 0, 0, true, 4, 75},
        {"late.mkv", NULL, 0.04, 0, false, 3, 0},
        {"late.mkv", NULL, 0.04, 0.12, false, 2, 0},
        {"late.mkv", NULL, 0.05, 0, false, 2, 0.75},
        {"late.mkv", NULL, 0.04, 0, true, 3, 76},
        {"film.yuv", "32x16:gray:25", 0.08, 0, false, 2, 0},
        {"film.yuv", "32x16:gray:25", 0, 0.08, false, 2, 0},
        {"%02d.png", NULL, 0.04, 0.12, false, 2, 0},
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        input in;
        pipeline_error error = {0};
        const part *p = &parts[i];
        const input_settings settings = {.path = in_folder(p->file),
                                         .raw = p->raw,
                                         .start = p->start,
                                         .end = p->end,
                                         .keep_start = p->keeps};
        assert_true(input_open(&in, &settings, &error));
        in.copy = drop;
        int got = 0;
        while (input_next(&in, &error) == INPUT_FRAME) {
            const double at = (double)in.frame->pts * av_q2d(in.video->time_base) * RATE;
            if (!got++)
                assert_true(at - p->first < 0.03 && p->first - at < 0.03);
        }
        if (got != p->frames)
            fail_msg("part %zu: expected %d frames, found %d", i, p->frames, got);
        input_close(&in);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kind_is_chosen_and_gives_its_packets),
        cmocka_unit_test(pictures_have_names_and_places),
        cmocka_unit_test(what_cannot_be_read_is_said),
        cmocka_unit_test(frames_do_not_depend_on_the_kind),
        cmocka_unit_test(parts_begin_at_the_beginning),
    };
    return cmocka_run_group_tests_name("sources", tests, prepare, tidy);
}
