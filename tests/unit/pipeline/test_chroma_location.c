// SPDX-License-Identifier: Apache-2.0
/* Enlarged chroma stays in its position: a ramp across the picture is the same ramp afterwards. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "models/embedded.h"
#include "pipeline/stages/session_binding.h"
#include "engine/model_format.h"
#include "pipeline/stages/chroma_location.h"

enum { SIDE = 14, SLOPE = 16, MOST = 4 };

static mona_model bicubic(void)
{
    const embedded_model *e = embedded_model_find("bicubic_x2");
    mona_model model;
    assert_non_null(e);
    assert_int_equal(mona_model_open(&model, e->begin, (size_t)(e->end - e->begin)), MONA_OK);
    return model;
}

/* The luma position of chroma sample i. */
static double luma_position(int i, chroma_position site, int n)
{
    const double within = site == CHROMA_FIRST ? 0 : site == CHROMA_LAST ? n - 1 : (n - 1) / 2.0;
    return n * i + within;
}

/* A ramp that rises by SLOPE every n luma samples, and slightly more because it is an integer. */
static double ramp(double luma, int n)
{
    return SLOPE * luma / n + 4;
}

static void check(bool across, chroma_position site, unsigned shift, int scale)
{
    pipeline_error error = {0};
    mona_model sited, original = bicubic();
    void *memory;
    session_binding bound;
    const int n = 1 << shift;
    const chroma_location location = {across ? site : CHROMA_MIDDLE, across ? CHROMA_MIDDLE : site};
    assert_true(chroma_location_model(&sited, &memory, &original, MONA_RESIZE_CUBIC,
                                      (unsigned)scale, location, across ? shift : 0,
                                      across ? 0 : shift, &error));
    const mona_config config = {.threads = 1, .sizes = {{SIDE, SIDE}}};
    assert_true(session_binding_open(&bound, &sited, "sited", &config, &error));

    uint8_t in[SIDE * SIDE], out[MOST * MOST * SIDE * SIDE];
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++)
            in[y * SIDE + x] = (uint8_t)ramp(luma_position(across ? x : y, site, n), n);
    const mona_buffer from = {in, SIDE, 0}, to = {out, scale * SIDE, 0};
    assert_int_equal(mona_session_run(bound.session, &from, &to), MONA_OK);
    for (int y = 3 * scale; y < scale * (SIDE - 3); y++)
        for (int x = 3 * scale; x < scale * (SIDE - 3); x++) {
            /* The luma position of the old frame that the enlarged one shows at X. */
            const double shown = (luma_position(across ? x : y, site, n) + 0.5) / scale - 0.5;
            const double off = out[y * scale * SIDE + x] - ramp(shown, n);
            if (off > 0.5 || off < -0.5)
                fail_msg("%s, site %d, 1 of %d, x%d: row %d column %d is off by %g",
                         across ? "across" : "down", (int)site, n, scale, y, x, off);
        }
    session_binding_close(&bound);
    free(memory);
}

static void chroma_stays_where_it_sat(void **state)
{
    (void)state;
    for (int scale = 2; scale <= MOST; scale++)
        for (unsigned shift = 0; shift <= 2; shift++)
            for (int site = CHROMA_FIRST; site <= CHROMA_LAST; site++) {
                check(true, (chroma_position)site, shift, scale);
                check(false, (chroma_position)site, shift, scale);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(chroma_stays_where_it_sat)};
    return cmocka_run_group_tests_name("chroma_location", tests, NULL, NULL);
}
