// SPDX-License-Identifier: Apache-2.0
/* One timeline from clocks that jump: whatever jumps, each stream goes on, and streams stay
 * together. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pipeline/io/sources/source.h"
#include "tests/cases.h"

enum { STREAMS = 3, PACKETS = 400, PER_SECOND = 25 };

static uint32_t state;

static uint32_t next(uint32_t below)
{
    state = state * 1664525 + 1013904223;
    return (state >> 8) % below;
}

/* A video, sound with a clock of its own, and subtitles, which keep no time. */
static AVFormatContext *format_of(const char *name)
{
    static const enum AVMediaType types[STREAMS] = {AVMEDIA_TYPE_VIDEO, AVMEDIA_TYPE_AUDIO,
                                                    AVMEDIA_TYPE_SUBTITLE};
    static const AVRational clocks[STREAMS] = {{1, 90000}, {1, 48000}, {1, 1000}};
    AVFormatContext *format = avformat_alloc_context();
    format->iformat = av_find_input_format(name);
    assert_non_null(format->iformat);
    for (int i = 0; i < STREAMS; i++) {
        AVStream *stream = avformat_new_stream(format, NULL);
        stream->codecpar->codec_type = types[i];
        stream->time_base = clocks[i];
    }
    return format;
}

static AVPacket *packet_at(const AVFormatContext *format, int stream, double seconds)
{
    AVPacket *packet = av_packet_alloc();
    const double clock = av_q2d(format->streams[stream]->time_base);
    packet->stream_index = stream;
    packet->dts = packet->pts = (int64_t)(seconds / clock + 0.5);
    packet->duration = (int64_t)(1.0 / PER_SECOND / clock + 0.5);
    return packet;
}

/* Where each packet lies afterwards, in seconds, of streams in turns whose clock jumps to jump[k]
 * before packet k where that is not 0. */
static uint64_t place_all(const AVFormatContext *format, const double jump[PACKETS],
                          double placed[PACKETS])
{
    timestamp_joins t;
    double clock = 0;
    assert_true(timestamp_joins_open(&t, format));
    for (int k = 0; k < PACKETS; k++) {
        const int stream = k % STREAMS;
        clock = k % STREAMS ? clock : jump[k] > 0 ? jump[k] : clock + 1.0 / PER_SECOND;
        AVPacket *packet = packet_at(format, stream, clock);
        timestamp_joins_place(&t, format, packet);
        assert_int_equal(packet->pts, packet->dts);
        placed[k] = (double)packet->dts * av_q2d(format->streams[stream]->time_base);
        av_packet_free(&packet);
    }
    const uint64_t jumps = t.jumps;
    timestamp_joins_close(&t);
    return jumps;
}

static void every_stream_goes_on(void **unused)
{
    (void)unused;
    AVFormatContext *format = format_of("mpegts");
    for (unsigned c = 0; c < CASES(50); c++) {
        double jump[PACKETS] = {0}, placed[PACKETS];
        uint64_t planted = 0;
        state = c + 1;
        for (int k = STREAMS; k < PACKETS; k += STREAMS)
            if (!next(20)) {
                jump[k] = 100 + 50 * ++planted + next(20); /* more than 10 s from all before */
                if (next(2))
                    jump[k] = 20000 - jump[k];
            }
        assert_int_equal(place_all(format, jump, placed), planted);
        for (int k = STREAMS; k < PACKETS; k++) {
            const double step = placed[k] - placed[k - STREAMS];
            assert_true(step > 0.5 / PER_SECOND && step < 1.5 / PER_SECOND);
            assert_true(k % STREAMS == 0 || placed[k] - placed[k - k % STREAMS] < 1e-3);
        }
    }
    avformat_free_context(format);
}

/* Gaps of up to 10 s and steps back of up to 0.1 s are the film's own. */
static void small_steps_stay(void **unused)
{
    (void)unused;
    AVFormatContext *format = format_of("mpegts");
    double jump[PACKETS] = {0}, placed[PACKETS];
    jump[30] = 8;    /* from 0.4 s */
    jump[60] = 8.35; /* the clock would show 8.4 s */
    assert_int_equal(place_all(format, jump, placed), 0);
    assert_true(placed[30] > 7.99 && placed[30] < 8.01 && placed[60] > 8.34 && placed[60] < 8.36);
    avformat_free_context(format);
}

/* A file's own times are never touched. */
static void other_containers_keep_their_times(void **unused)
{
    (void)unused;
    AVFormatContext *format = format_of("matroska");
    double jump[PACKETS] = {0}, placed[PACKETS];
    jump[30] = 500;
    assert_int_equal(place_all(format, jump, placed), 0);
    assert_true(placed[30] > 499.9 && placed[30] < 500.1);
    avformat_free_context(format);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_stream_goes_on),
        cmocka_unit_test(small_steps_stay),
        cmocka_unit_test(other_containers_keep_their_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
