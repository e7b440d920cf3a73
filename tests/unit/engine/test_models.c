// SPDX-License-Identifier: Apache-2.0
/* Every model inside the binary gives the same bytes on every instruction set this CPU has, and on
 * model310, whose checks find nothing: on a part of the rendered scene. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/run/isas.h"
#include "models/embedded.h"
#include "tests/unit/fixture.h"
#include "tests/unit/modelled_check.h"

enum {
    FILM_W = 1280,
    FILM_H = 720,
    WIDTH = 48,
    HEIGHT = 32,
    LEFT = 560, /* where the part lies: wheel, ground and text */
    TOP = 280,
    NOISE = 25,
    MAX_OUTPUTS = 3,
};

static uint8_t film[FILM_H * FILM_W * 3 / 2];
static uint8_t noise_row[WIDTH];

static int render(void **state)
{
    (void)state;
    const char *build = getenv("BUILD");
    char command[4096], line[256];
    snprintf(command, sizeof command, "%s/scene 1", build ? build : "build");
    FILE *scene = popen(command, "r");
    const bool done = scene && fgets(line, sizeof line, scene) && fgets(line, sizeof line, scene) &&
                      fread(film, sizeof film, 1, scene) == 1;
    memset(noise_row, NOISE, sizeof noise_row);
    return (scene && pclose(scene)) || !done;
}

/* The part of the plane that an input of this name reads, of any size. */
static mona_buffer content(const char *name)
{
    const uint8_t *u = film + FILM_H * FILM_W, *v = u + FILM_H * FILM_W / 4;
    const size_t half = TOP / 2 * (FILM_W / 2) + LEFT / 2;
    if (!strcmp(name, "noise"))
        return (mona_buffer){.data = noise_row};
    if (!strcmp(name, "u") || !strcmp(name, "v"))
        return (mona_buffer){.data = (void *)(uintptr_t)((*name == 'u' ? u : v) + half),
                             .row_stride = FILM_W / 2};
    return (mona_buffer){.data = film + (size_t)TOP * FILM_W + LEFT, .row_stride = FILM_W};
}

typedef struct result {
    size_t bytes[MAX_OUTPUTS];
    uint8_t *data[MAX_OUTPUTS];
} result;

static result run(const mona_model *model, const mona_device *device, const char *cpu)
{
    mona_config config = {.device = device, .cpu = cpu};
    mona_buffer in[MONA_MAX_IO], out[MAX_OUTPUTS];
    result r = {0};
    bound b;
    for (unsigned i = 0; i < mona_model_input_count(model); i++) {
        in[i] = content(mona_model_input(model, i).name);
        const int times = in[i].row_stride == FILM_W ? 2 : 1;
        if (!mona_model_input(model, i).width)
            config.sizes[i] = (mona_size){times * WIDTH / 2, times * HEIGHT / 2};
    }
    assert_int_equal(bind(&b, model, &config), MONA_OK);
    assert_in_range(mona_model_output_count(model), 1, MAX_OUTPUTS);
    for (unsigned i = 0; i < mona_model_output_count(model); i++) {
        const mona_tensor_info t = mona_plan_output(b.plan, i);
        const size_t size = mona_type_size(t.type);
        r.bytes[i] = (size_t)t.channels * t.height * t.width * size;
        r.data[i] = calloc(r.bytes[i], 1);
        out[i] = (mona_buffer){r.data[i], (ptrdiff_t)(t.width * size),
                               (ptrdiff_t)(t.width * t.height * size)};
    }
    assert_int_equal(mona_session_run(b.session, in, out), MONA_OK);
    assert_nothing_found(b.session);
    unbind(&b);
    return r;
}

static void release(result *r)
{
    for (int i = 0; i < MAX_OUTPUTS; i++)
        free(r->data[i]);
}

static void expect_same(const mona_model *model, const result *wanted, const mona_device *device,
                        const char *cpu)
{
    result found = run(model, device, cpu);
    for (unsigned i = 0; i < mona_model_output_count(model); i++) {
        assert_int_equal(found.bytes[i], wanted->bytes[i]);
        if (memcmp(found.data[i], wanted->data[i], found.bytes[i]))
            fail_msg("%s differs on %s", mona_model_output(model, i).name, cpu ? cpu : "model310");
    }
    release(&found);
}

static void same_everywhere(void **state)
{
    const embedded_model *e = *state;
    const uint32_t features = mona_port_cpu_features();
    mona_model model;
    assert_int_equal(mona_model_open(&model, e->begin, (size_t)(e->end - e->begin)), MONA_OK);
    result wanted = run(&model, &mona_device_host, mona_isa_c.name);
    /* What stayed zero says nothing. */
    for (unsigned i = 0; i < mona_model_output_count(&model); i++)
        assert_true(memcmp(wanted.data[i], wanted.data[i] + 2, wanted.bytes[i] - 2));
    for (size_t i = 0; i < MONA_ISAS; i++)
        if (mona_isas[i].isa != &mona_isa_c && !(mona_isas[i].needs & ~features))
            expect_same(&model, &wanted, &mona_device_host, mona_isas[i].isa->name);
    expect_same(&model, &wanted, &mona_device_model310, NULL);
    release(&wanted);
}

int main(void)
{
    struct CMUnitTest *models = calloc(embedded_model_count, sizeof *models);
    for (size_t i = 0; i < embedded_model_count; i++) {
        models[i] = (struct CMUnitTest)cmocka_unit_test_prestate(
            same_everywhere, (void *)(uintptr_t)&embedded_models[i]);
        models[i].name = embedded_models[i].name;
    }
    const int failed =
        _cmocka_run_group_tests("models", models, embedded_model_count, render, NULL);
    free(models);
    return failed;
}
