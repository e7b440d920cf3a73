// SPDX-License-Identifier: Apache-2.0
#include "apps/compile/accuracy.h"

#include <math.h>
#include <stdio.h>

#include "apps/cli/options.h"

/* Squared error and largest magnitude of an output over all samples. */
typedef struct accuracy {
    double squares, peak;
    size_t count;
} accuracy;

static void compare(const planes *found, const reference_array *expected, accuracy *a)
{
    for (size_t i = 0; i < found->count; i++) {
        const double e = (double)expected->data[i];
        const double d = planes_get(found, i) - e;
        a->squares += d * d;
        a->peak = fmax(a->peak, fabs(e));
    }
    a->count += found->count;
}

/* Runs a sample through the engine and the fp32 judge. */
static bool measure_sample(const compiler *model, sample_run *run, const reference_array *inputs,
                           accuracy *results)
{
    reference_array expected[MONA_MAX_IO] = {0};
    pipeline_error error = {0};
    format_error reference_error = {0};
    const bool ok = compiler_reference(model, inputs, expected, &reference_error) &&
                    sample_run_next(run, inputs, &error);
    for (unsigned i = 0; ok && i < compiler_output_count(model); i++)
        compare(&run->planes.out[i], &expected[i], &results[i]);
    reference_arrays_free(expected, MONA_MAX_IO);
    if (!ok)
        cli_fail(EXIT_FAILED, "%s: the accuracy could not be measured: %s%s", run->name, error.text,
                 reference_error.text);
    return ok;
}

static bool measure_samples(const compiler *model, sample_run *run, const calibration *samples,
                            accuracy *results)
{
    bool ok = true;
    for (size_t s = 0; ok && s < samples->count; s++) {
        reference_array inputs[MONA_MAX_IO];
        if (!calibration_sample(samples, s, model, inputs))
            return false;
        ok = measure_sample(model, run, inputs, results);
        reference_arrays_free(inputs, compiler_input_count(model));
    }
    return ok;
}

void accuracy_print(const compiler *model, const uint8_t *bytes, size_t size, const char *name,
                    const calibration *samples)
{
    accuracy results[MONA_MAX_IO] = {0};
    pipeline_error error = {0};
    sample_run run;
    const bool ok =
        (sample_run_open(&run, bytes, size, name, &error) || cli_fail(0, "%s", error.text)) &&
        measure_samples(model, &run, samples, results);
    for (unsigned i = 0; ok && i < compiler_output_count(model) && samples->count; i++) {
        const accuracy *a = &results[i];
        const double mean = a->squares / (double)a->count;
        printf("  %s: %.1f dB against fp32 on the calibration images\n",
               compiler_output(model, i).name,
               mean > 0 ? 10 * log10(a->peak * a->peak / mean) : INFINITY);
    }
    sample_run_close(&run);
}
