// SPDX-License-Identifier: Apache-2.0
/* The filter down to sizes that are no whole multiple, against the same in double precision. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pipeline/stages/resize.h"
#include "pipeline/stages/sample.h"
#include "tests/cases.h"
#include "tests/unit/held_frame.h"

/* Samples that nothing writes stay 0xa5. */
static held spoilt_frame(const frame_format *format)
{
    const held h = open_frame(format);
    memset(h.memory, 0xa5, frame_bytes(format));
    return h;
}

static int sample_at(const frame *f, unsigned plane, uint32_t x, uint32_t y)
{
    return plane_sample(frame_row(f, plane, y), x, f->format.bits > 8);
}

static uint32_t roll(uint32_t *seed, uint32_t below)
{
    *seed = *seed * 1664525 + 1013904223;
    return (uint32_t)((uint64_t)(*seed >> 8) * below >> 24);
}

static chroma_location any_location(uint32_t *seed)
{
    const chroma_position x = (chroma_position)((int)roll(seed, 3) - 1);
    return (chroma_location){x, (chroma_position)((int)roll(seed, 3) - 1)};
}

static void run(const frame *in, const frame *out, chroma_location location)
{
    resizer r;
    pipeline_error error = {0};
    const resize_kernels kernels = {RESIZE_LANCZOS, RESIZE_LANCZOS};
    assert_true(resizer_open(&r, &in->format, &out->format, location, &kernels, &error));
    resizer_run(&r, in, out);
    resizer_close(&r);
}

/* Frames that become up to ten times smaller along each side. */
static void any_formats(frame_format *in, frame_format *out, uint32_t *seed)
{
    static const unsigned depths[] = {8, 10, 11, 12, 16};
    const unsigned shift_x = roll(seed, 2), shift_y = shift_x ? roll(seed, 2) : 0;
    *in = (frame_format){.width = 1 + roll(seed, 70),
                         .height = 1 + roll(seed, 70),
                         .planes = 1 + roll(seed, 3),
                         .shift_x = shift_x,
                         .shift_y = shift_y,
                         .bits = depths[roll(seed, 5)],
                         .multiple = 4};
    in->planes += in->planes > 1;
    *out = *in;
    out->multiple = 2;
    out->width -= roll(seed, in->width - in->width / 10);
    out->height -= roll(seed, in->height - in->height / 10);
    out->width += in->width == 1; /* sizes are even where chroma is subsampled */
}

static void a_constant_stays(void **unused)
{
    (void)unused;
    uint32_t seed = 1;
    for (uint32_t n = 0; n < CASES(200); n++) {
        frame_format a, b;
        any_formats(&a, &b, &seed);
        held in = spoilt_frame(&a), out = spoilt_frame(&b);
        const unsigned max = (1u << a.bits) - 1, value = n % 3 == 0 ? max : roll(&seed, max + 1);
        for (unsigned p = 0; p < a.planes; p++)
            for (uint32_t y = 0; y < frame_shown_size(&a, p).height; y++)
                frame_set_samples(frame_row(&in.frame, p, y), &a, value,
                                  frame_shown_size(&a, p).width);
        run(&in.frame, &out.frame, any_location(&seed));
        for (unsigned p = 0; p < b.planes; p++)
            for (uint32_t y = 0; y < frame_plane_size(&b, p).height; y++)
                for (uint32_t x = 0; x < frame_plane_size(&b, p).width; x++)
                    assert_int_equal(sample_at(&out.frame, p, x, y), value);
        free(in.memory), free(out.memory);
    }
}

/* ---- the reference -------------------------------------------------------------------------- */

static double lanczos(double x)
{
    const double pi = acos(-1);
    return x == 0 ? 1 : fabs(x) >= 3 ? 0 : 3 * sin(pi * x) * sin(pi * x / 3) / (pi * pi * x * x);
}

/* Where output sample i of chroma lies among the input's: luma shows X at (X + 1/2) r - 1/2. */
static double position_of(uint32_t i, double ratio, unsigned shift, chroma_position site)
{
    const double n = 1 << shift, place = site == CHROMA_FIRST  ? 0
                                         : site == CHROMA_LAST ? n - 1
                                                               : (n - 1) / 2;
    return ((n * i + place + 0.5) * ratio - 0.5 - place) / n;
}

/* The weights of samples 0 to count - 1, those beyond an end being the one at the end. */
static void weights_at(double *to, uint32_t count, double position, double ratio)
{
    const double stretch = fmax(ratio, 1);
    double sum = 0;
    for (uint32_t i = 0; i < count; i++)
        to[i] = 0;
    for (int i = (int)floor(position - 3 * stretch); i <= position + 3 * stretch; i++) {
        const double weight = lanczos((i - position) / stretch);
        to[i < 0 ? 0 : (uint32_t)i >= count ? count - 1 : (uint32_t)i] += weight;
        sum += weight;
    }
    for (uint32_t i = 0; i < count; i++)
        to[i] /= sum;
}

static void check_sample(const held *in, const held *out, unsigned plane, uint32_t x, uint32_t y,
                         chroma_location location)
{
    const frame_format *a = &in->frame.format, *b = &out->frame.format;
    const bool chroma = plane == 1 || plane == 2;
    const mona_size size = frame_shown_size(a, plane);
    const double across = (double)a->width / b->width, down = (double)a->height / b->height;
    double columns[80], rows[80], sum = 0;
    weights_at(columns, size.width, position_of(x, across, chroma ? a->shift_x : 0, location.x),
               across);
    weights_at(rows, size.height, position_of(y, down, chroma ? a->shift_y : 0, location.y), down);
    for (uint32_t j = 0; j < size.height; j++)
        for (uint32_t i = 0; i < size.width; i++)
            sum += rows[j] * columns[i] * sample_at(&in->frame, plane, i, j);
    const double wanted = fmin(fmax(sum, 0), (1 << a->bits) - 1);
    /* The weights' 14 bits show in 16. */
    const double allowed = a->bits > 11 ? (1 << a->bits) / 2048.0 : 1;
    assert_true(fabs(sample_at(&out->frame, plane, x, y) - wanted) <= allowed);
}

static void it_is_the_filter_in_doubles(void **unused)
{
    (void)unused;
    uint32_t seed = 7;
    for (uint32_t n = 0; n < CASES(60); n++) {
        frame_format a, b;
        any_formats(&a, &b, &seed);
        const chroma_location location = any_location(&seed);
        held in = spoilt_frame(&a), out = spoilt_frame(&b);
        for (unsigned p = 0; p < a.planes; p++)
            for (uint32_t y = 0; y < frame_shown_size(&a, p).height; y++)
                for (uint32_t x = 0; x < frame_shown_size(&a, p).width; x++)
                    put_plane_sample(frame_row(&in.frame, p, y), x, (int)roll(&seed, 1u << a.bits),
                                     a.bits > 8);
        run(&in.frame, &out.frame, location);
        for (unsigned p = 0; p < b.planes; p++)
            for (uint32_t y = 0; y < frame_shown_size(&b, p).height; y++)
                for (uint32_t x = 0; x < frame_shown_size(&b, p).width; x++)
                    check_sample(&in, &out, p, x, y, location);
        free(in.memory), free(out.memory);
    }
}

/* ---- sizes ---------------------------------------------------------------------------------- */

static void sizes_are_the_nearest(void **unused)
{
    (void)unused;
    const frame_format grey = {.width = 854, .height = 480}, film = {854, 480, 3, 1, 1, 8, 2};
    const resize_scale to_1080 = {1080 / 480.0, 1080 / 480.0};
    assert_int_equal(resize_target(&film, to_1080).width, 1922);
    assert_int_equal(resize_target(&film, to_1080).height, 1080);
    assert_int_equal(resize_target(&film, (resize_scale){1.51, 1.51}).width, 1290);
    assert_int_equal(resize_target(&film, (resize_scale){1.51, 1.51}).height, 724);
    assert_int_equal(resize_target(&grey, (resize_scale){1.51, 1.51}).height, 725);
    assert_true(resize_keeps_shape((mona_size){854, 480}, (mona_size){1922, 1080}));
    assert_false(resize_keeps_shape((mona_size){720, 576}, (mona_size){1024, 576}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_constant_stays),
        cmocka_unit_test(it_is_the_filter_in_doubles),
        cmocka_unit_test(sizes_are_the_nearest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
