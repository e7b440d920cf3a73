// SPDX-License-Identifier: Apache-2.0
/* Turning pictures: what EXIF's eight orientations mean, and that each is undone by one of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <libavutil/imgutils.h>
#include <libavutil/pixdesc.h>

#include "pipeline/image/orientation.h"

enum { WIDTH = 14, HEIGHT = 10, EXIF = 8 };

static AVFrame *random_frame(enum AVPixelFormat format)
{
    AVFrame *frame = av_frame_alloc();
    uint32_t random = 1;
    frame->format = format;
    frame->width = WIDTH;
    frame->height = HEIGHT;
    frame->sample_aspect_ratio = (AVRational){4, 3};
    frame->chroma_location = AVCHROMA_LOC_CENTER;
    assert_return_code(av_frame_get_buffer(frame, 0), 0);
    for (int p = 0; p < AV_NUM_DATA_POINTERS && frame->buf[p]; p++)
        for (size_t i = 0; i < (size_t)frame->buf[p]->size; i++) {
            random = random * 1664525 + 1013904223;
            frame->buf[p]->data[i] = (uint8_t)(random >> 24);
        }
    return frame;
}

static void turn_by(AVFrame *frame, unsigned exif)
{
    pipeline_error error = {0};
    assert_true(orientation_turn(frame, orientation_of_exif(exif), &error));
}

static void expect_same(const AVFrame *a, const AVFrame *b)
{
    assert_int_equal(a->width, b->width);
    assert_int_equal(a->height, b->height);
    assert_int_equal(av_cmp_q(a->sample_aspect_ratio, b->sample_aspect_ratio), 0);
    for (int p = 0; p < av_pix_fmt_count_planes(a->format); p++) {
        const int bytes = av_image_get_linesize(a->format, a->width, p);
        const AVPixFmtDescriptor *format = av_pix_fmt_desc_get(a->format);
        const int rows = AV_CEIL_RSHIFT(a->height, p == 1 || p == 2 ? format->log2_chroma_h : 0);
        for (int y = 0; y < rows; y++)
            assert_memory_equal(a->data[p] + y * a->linesize[p], b->data[p] + y * b->linesize[p],
                                (size_t)bytes);
    }
}

/* The standard: on which sides the stored picture's first row and first column are seen. */
static void exif_means_what_its_standard_says(void **unused)
{
    (void)unused;
    enum { LEFT, TOP, RIGHT, BOTTOM };
    static const int row_side[EXIF] = {TOP, TOP, BOTTOM, BOTTOM, LEFT, RIGHT, RIGHT, LEFT};
    static const int column_side[EXIF] = {LEFT, RIGHT, RIGHT, LEFT, TOP, TOP, BOTTOM, BOTTOM};
    for (unsigned exif = 1; exif <= EXIF; exif++) {
        const orientation turn = orientation_of_exif(exif);
        uint8_t stored[HEIGHT][WIDTH] = {{0}}, seen[WIDTH * HEIGHT] = {0};
        const bool swaps = orientation_swaps(turn);
        const int width = swaps ? HEIGHT : WIDTH, height = swaps ? WIDTH : HEIGHT;
        for (int x = 0; x < WIDTH; x++)
            stored[0][x] |= 1;
        for (int y = 0; y < HEIGHT; y++)
            stored[y][0] |= 2;
        orientation_copy((orientation_pixels){seen, width}, (orientation_pixels){stored[0], WIDTH},
                         WIDTH, HEIGHT, 1, turn);
        for (int y = 0; y < height; y++)
            for (int x = 0; x < width; x++) {
                const bool at[] = {!x, !y, x == width - 1, y == height - 1};
                assert_int_equal(seen[y * width + x],
                                 at[row_side[exif - 1]] | at[column_side[exif - 1]] << 1);
            }
    }
}

static void each_orientation_is_undone_by_one(void **unused)
{
    (void)unused;
    static const enum AVPixelFormat formats[] = {AV_PIX_FMT_GRAY8,     AV_PIX_FMT_YUV420P,
                                                 AV_PIX_FMT_YUV444P10, AV_PIX_FMT_RGB24,
                                                 AV_PIX_FMT_RGBA64,    AV_PIX_FMT_YUVA420P};
    for (size_t f = 0; f < sizeof formats / sizeof *formats; f++)
        for (unsigned exif = 1; exif <= EXIF; exif++) {
            const unsigned back = exif == 6 ? 8 : exif == 8 ? 6 : exif;
            AVFrame *before = random_frame(formats[f]), *after = random_frame(formats[f]);
            turn_by(after, exif);
            turn_by(after, back);
            expect_same(before, after);
            assert_int_equal(after->chroma_location, before->chroma_location);
            av_frame_free(&before), av_frame_free(&after);
        }
}

/* Each of the three is two of the others. */
static void turns_add_up(void **unused)
{
    (void)unused;
    static const unsigned sums[][3] = {{6, 6, 3}, {6, 3, 8}, {2, 6, 7}, {2, 4, 3}, {5, 6, 2}};
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) {
        AVFrame *two = random_frame(AV_PIX_FMT_YUV420P), *one = random_frame(AV_PIX_FMT_YUV420P);
        turn_by(two, sums[i][0]);
        turn_by(two, sums[i][1]);
        turn_by(one, sums[i][2]);
        expect_same(one, two);
        av_frame_free(&one), av_frame_free(&two);
    }
}

static void what_cannot_be_turned_is_refused(void **unused)
{
    (void)unused;
    assert_false(orientation_takes(AV_PIX_FMT_YUV422P, orientation_of_exif(6)));
    assert_true(orientation_takes(AV_PIX_FMT_YUV422P, orientation_of_exif(3)));
    assert_false(orientation_takes(AV_PIX_FMT_PAL8, orientation_of_exif(3)));
    assert_false(orientation_takes(AV_PIX_FMT_YUYV422, orientation_of_exif(3)));
    assert_false(orientation_changes(orientation_of_exif(1)));
    for (unsigned exif = 2; exif <= EXIF; exif++)
        assert_true(orientation_changes(orientation_of_exif(exif)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exif_means_what_its_standard_says),
        cmocka_unit_test(each_orientation_is_undone_by_one),
        cmocka_unit_test(turns_add_up),
        cmocka_unit_test(what_cannot_be_turned_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
