// SPDX-License-Identifier: Apache-2.0
/* The scalar unit of AI Cores loads and stores nothing in global memory, whatever the width of a
 * frame: the chip refuses such accesses, and MTE3 may lose what they write beside its own
 * blocks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "models/embedded.h"
#include "tests/unit/fixture.h"
#include "tests/unit/recorded.h"

enum { MAX_WIDTH = 130, HEIGHT = 8 };

/* Whether the model takes frames of this size: one of three planes needs even sides. */
static bool takes(const mona_model *model, mona_size size)
{
    bound b;
    const mona_status status =
        bind(&b, model, &(mona_config){.device = &mona_device_host, .sizes = {size}});
    if (!status)
        unbind(&b);
    return !status;
}

static uint32_t scalar_accesses(const mona_model *model, mona_size size)
{
    size_t bytes;
    ac_program p;
    uint32_t count = 0;
    uint8_t *program = recorded_program(model, size, &bytes);
    assert_true(ac_program_open(&p, program, bytes));
    for (uint32_t i = 0; i < p.header.forms; i++)
        for (int k = 0; k < AC_OPERANDS; k++)
            if (p.forms[i].opcode == AC_OP_MOVE || p.forms[i].opcode == AC_OP_FILL)
                count += p.forms[i].space[k] != AC_NO_SPACE && p.forms[i].space[k] >= AC_GM;
    free(program);
    return count;
}

/* At this width, or at the next one that the model takes, or at its own. */
static void check(const mona_model *model, const char *name, uint32_t width)
{
    const mona_tensor_info input = mona_model_input(model, 0);
    const uint32_t last = width + 4;
    while (width < last && !input.width && !takes(model, (mona_size){width, HEIGHT}))
        width++;
    if (width == last)
        fail_msg("%s takes none of these widths", name);
    const mona_size size = {input.width ? input.width : width, input.width ? input.height : HEIGHT};
    const uint32_t count = scalar_accesses(model, size);
    if (count)
        fail_msg("%s at a width of %u: %u scalar accesses of global memory", name, width, count);
}

/* Every width with one built-in network, which are taken in turn. */
static void no_width_needs_them(void **state)
{
    (void)state;
    for (uint32_t width = 1; width <= MAX_WIDTH; width++) {
        const embedded_model *e = &embedded_models[width % embedded_model_count];
        mona_model model;
        assert_int_equal(mona_model_open(&model, e->begin, (size_t)(e->end - e->begin)), MONA_OK);
        check(&model, e->name, width);
    }
}

/* Widths beside multiples of 32 with all of them, and with planes of 10 bits. */
static void no_network_needs_them(void **state)
{
    static const uint32_t widths[] = {1, 15, 31, 32, 33, 63, 66, 97};
    (void)state;
    for (size_t i = 0; i < embedded_model_count; i++) {
        const embedded_model *e = &embedded_models[i];
        mona_model model, deep;
        assert_int_equal(mona_model_open(&model, e->begin, (size_t)(e->end - e->begin)), MONA_OK);
        const bool fixed = mona_model_input(&model, 0).width;
        for (size_t k = 0; k < sizeof widths / sizeof *widths; k++)
            check(&model, e->name, widths[k]);
        deep = model;
        void *memory = fixed ? NULL : deepened(&deep, 10);
        check(&deep, e->name, 65);
        free(memory);
    }
}

/* Random networks whose outputs go through every kind of store. */
static void no_store_needs_them(void **state)
{
    static const int scales[] = {1, 2, 3, 4};
    (void)state;
    for (uint32_t width = 1; width <= MAX_WIDTH; width++)
        for (size_t k = 0; k < sizeof scales / sizeof *scales; k++) {
            net_fixture f = net_open_scaled(width % 3 ? 8 : 20, 1, scales[k], width);
            check(&f.model, "a random network", width);
            net_close(&f);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_width_needs_them),
        cmocka_unit_test(no_network_needs_them),
        cmocka_unit_test(no_store_needs_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
