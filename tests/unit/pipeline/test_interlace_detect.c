// SPDX-License-Identifier: Apache-2.0
/* Fields are found wherever they begin, even after the film counted as progressive and only some
 * frames are examined. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <libavutil/log.h>

#include "pipeline/fields/fields.h"
#include "pipeline/base/av_compat.h"

enum { WIDTH = 64, HEIGHT = 48, FRAMES = 400 };

/* Stripes that move three pixels per frame; with fields, the lower field is later. */
static AVFrame *stripes(int n, bool fields)
{
    AVFrame *frame = av_frame_alloc();
    assert_non_null(frame);
    frame->format = AV_PIX_FMT_GRAY8;
    frame->width = WIDTH;
    frame->height = HEIGHT;
    frame->pts = 1000 + 2 * n;
    assert_true(av_frame_get_buffer(frame, 0) >= 0);
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            const int moment = 2 * n + (fields && y % 2);
            frame->data[0][y * frame->linesize[0] + x] =
                (uint8_t)(40 + 12 * abs((2 * x + 3 * moment) % 32 - 16));
        }
    return frame;
}

/* Whether frame n is interlaced. */
typedef bool is_combed(int n);

typedef struct result {
    bool marked[FRAMES];
    int judged; /* by libavfilter */
} result;

static void look_at_known(result *r, is_combed *combed, interlace_known known)
{
    interlace_detect c;
    pipeline_error error = {0};
    AVFrame *like = stripes(0, false), *out = av_frame_alloc();
    bool found;
    int taken = 0;
    *r = (result){0};
    assert_true(interlace_detect_open(&c, like, true, known, &error));
    for (int n = 0; n <= FRAMES; n++) {
        AVFrame *frame = n < FRAMES ? stripes(n, combed(n)) : NULL;
        assert_true(interlace_detect_put(&c, frame, &error));
        while (interlace_detect_get(&c, out, &found) >= 0) {
            assert_int_equal(out->pts, 1000 + 2 * taken);
            r->judged += c.sights[taken % INTERLACE_DETECT_SIGHTS].order != 2;
            r->marked[taken++] = found;
            av_frame_unref(out);
        }
        av_frame_free(&frame);
    }
    assert_int_equal(taken, FRAMES);
    interlace_detect_close(&c);
    av_frame_free(&like);
    av_frame_free(&out);
}

static void look_at(result *r, is_combed *combed)
{
    look_at_known(r, combed, INTERLACE_UNKNOWN);
}

static bool never(int n)
{
    return n < 0;
}

static bool late(int n)
{
    return n >= 301;
}

/* Three progressive frames, then two combed ones. */
static bool film_late(int n)
{
    return n >= 303 && n % 5 >= 3;
}

static void a_film_without_fields_is_sampled(void **unused)
{
    (void)unused;
    static result r;
    look_at(&r, never);
    for (int n = 0; n < FRAMES; n++)
        assert_false(r.marked[n]);
    assert_in_range(r.judged, 40, 100);
}

/* As in the middle of a film, where a segment begins. */
static void a_film_known_to_have_none_is_sampled_at_once(void **unused)
{
    (void)unused;
    static result r;
    look_at_known(&r, never, INTERLACE_NONE);
    assert_int_equal(r.judged, 0);
    look_at_known(&r, late, INTERLACE_NONE);
    for (int n = 0; n < FRAMES; n++)
        assert_true(r.marked[n] == late(n) || (n > 290 && n < 301));
}

static void late_fields_are_found(void **unused)
{
    (void)unused;
    static result r;
    look_at(&r, late);
    for (int n = 0; n < FRAMES; n++)
        assert_true(r.marked[n] == late(n) || (n > 290 && n < 301));
}

static void late_films_made_into_fields_are_found(void **unused)
{
    (void)unused;
    static result r;
    int missed = 0;
    look_at(&r, film_late);
    for (int n = 0; n < FRAMES; n++) {
        assert_true(!r.marked[n] || n > 290);
        missed += film_late(n) && !r.marked[n];
    }
    assert_in_range(missed, 0, 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_film_without_fields_is_sampled),
        cmocka_unit_test(a_film_known_to_have_none_is_sampled_at_once),
        cmocka_unit_test(late_fields_are_found),
        cmocka_unit_test(late_films_made_into_fields_are_found),
    };
    av_log_set_level(AV_LOG_QUIET);
    return cmocka_run_group_tests_name("interlace_detect", tests, NULL, NULL);
}
