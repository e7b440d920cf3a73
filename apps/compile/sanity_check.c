// SPDX-License-Identifier: Apache-2.0
#include "apps/compile/accuracy.h"

#include <math.h>
#include <stdlib.h>

#include "pipeline/stages/plane_roles.h"
#include "apps/compile/onnx_source.h"

enum { MIN_SIDE = 32, MAX_SIDE = 1024 }; /* size of the noise for inputs of any size */

/* Makes noise of the range. Maps of half the size and noise levels get as many samples as they
 * need. */
static bool make_noise(const compiler *model, uint32_t open_side, float range,
                       reference_array *inputs)
{
    uint32_t random = 1;
    for (unsigned i = 0; i < compiler_input_count(model); i++) {
        const compiler_tensor t = compiler_input(model, i);
        const int role = plane_role_of(t.name);
        const uint32_t side =
            role == PLANE_ROLE_U || role == PLANE_ROLE_V || role == PLANE_ROLE_NOISE ? open_side / 2
                                                                                     : open_side;
        reference_array *a = &inputs[i];
        *a = (reference_array){t.channels, t.height ? t.height : side, t.width ? t.width : side,
                               NULL};
        const size_t count = (size_t)a->channels * a->height * a->width;
        a->data = malloc(count * sizeof *a->data);
        if (!a->data)
            return cli_fail(0, "out of memory");
        for (size_t k = 0; k < count; k++) {
            random = random * 1664525 + 1013904223;
            a->data[k] = (float)(random >> 24) / 255 * (t.integers ? INT8_MAX : range);
        }
    }
    return true;
}

/* Whether a plane has at most two different numbers, or a NaN: a reason to compare. */
static bool is_flat(const planes *p)
{
    double first = planes_get(p, 0), second = first;
    for (size_t i = 0; i < p->count; i++) {
        const double x = planes_get(p, i);
        if (isnan(x))
            return true;
        if (x == first || x == second)
            continue;
        if (second != first)
            return false;
        second = x;
    }
    return p->count > 2;
}

/* Whether the error against the fp32 network has at least half the energy of that network's
 * output, which differs by more than a step of the result's type: sums of equal numbers round. */
static bool says_nothing(const planes *p, const reference_array *a)
{
    double mean = 0, errors = 0, said = 0;
    for (size_t i = 0; i < p->count; i++)
        mean += sample_run_held(p, (double)a->data[i]) / (double)p->count;
    for (size_t i = 0; i < p->count; i++) {
        const double e = sample_run_held(p, (double)a->data[i]), x = planes_get(p, i);
        errors += (x - e) * (x - e);
        said += (e - mean) * (e - mean);
    }
    const double step = sample_run_is_int(p) ? (double)p->info.scale : fabs(mean) * 0x1p-11;
    return said > step * step * (double)p->count && !(errors < said / 2);
}

static bool check_outputs(const compiler *model, const sample_run *run,
                          const reference_array *inputs)
{
    reference_array expected[MONA_MAX_IO] = {0};
    format_error error = {0};
    bool flat = false;
    for (unsigned i = 0; i < compiler_output_count(model); i++)
        flat = flat || is_flat(&run->planes.out[i]);
    if (!flat)
        return true;
    bool ok = compiler_reference(model, inputs, expected, &error) ||
              cli_fail(0, "%s: %s", run->name, error.text);
    for (unsigned i = 0; ok && i < compiler_output_count(model); i++)
        if (is_flat(&run->planes.out[i]) && says_nothing(&run->planes.out[i], &expected[i]))
            ok = cli_fail(0,
                          "%s: output '%s' of the compiled model is flat (%g), unlike in fp32: "
                          "values on the way overflow fp16 (65504) or vanish in it; --precision "
                          "auto can make those layers INT8",
                          run->name, compiler_output(model, i).name,
                          planes_get(&run->planes.out[i], 0));
    reference_arrays_free(expected, MONA_MAX_IO);
    return ok;
}

/* Makes inputs and runs the model once. A network that does not even take maps of MAX_SIDE is not
 * checked: *done is false. */
static bool run_once(const compiler *model, sample_run *run, const calibration *images,
                     reference_array *inputs, bool *done)
{
    pipeline_error error = {0};
    if (images->count) {
        *done = calibration_sample(images, 0, model, inputs);
        return *done && (sample_run_next(run, inputs, &error) || cli_fail(0, "%s", error.text));
    }
    *done = false;
    for (uint32_t side = MIN_SIDE; side <= MAX_SIDE && !*done; side *= 2) {
        reference_arrays_free(inputs, MONA_MAX_IO);
        if (!make_noise(model, side, images->feed.range, inputs))
            return false;
        *done = sample_run_next(run, inputs, &error);
    }
    return true;
}

bool sanity_check(const compiler *model, const uint8_t *bytes, size_t size, const char *name,
                  const calibration *images)
{
    reference_array inputs[MONA_MAX_IO] = {0};
    pipeline_error error = {0};
    sample_run run;
    bool done = false;
    if (compiler_has_arrays(model) || (kernels_all() && !kernels_run()))
        return true;
    bool ok = sample_run_open(&run, bytes, size, name, &error) || cli_fail(0, "%s", error.text);
    ok = ok && run_once(model, &run, images, inputs, &done) &&
         (!done || check_outputs(model, &run, inputs));
    sample_run_close(&run);
    reference_arrays_free(inputs, MONA_MAX_IO);
    return ok;
}
