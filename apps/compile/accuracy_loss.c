// SPDX-License-Identifier: Apache-2.0
#include "apps/compile/accuracy_loss.h"

#include <math.h>
#include <stdlib.h>

#include "apps/compile/top1_margin.h"
#include "apps/compile/sample_run.h"

enum { QUICK_PICTURES = 2, QUICK_DECISIONS = 32 };

/* ---- samples ------------------------------------------------------------------------------ */

accuracy_loss_unit accuracy_loss_unit_for(const compiler *model, const reference_array *outputs)
{
    for (unsigned i = 0; i < compiler_output_count(model); i++)
        if (outputs[i].height != 1 || outputs[i].width != 1 || outputs[i].channels < 2)
            return ACCURACY_LOSS_DECIBEL;
    return ACCURACY_LOSS_TOP1;
}

static void free_sample(accuracy_loss_sample *s)
{
    reference_arrays_free(s->inputs, MONA_MAX_IO);
    reference_arrays_free(s->expected, MONA_MAX_IO);
    reference_arrays_free(s->truth, MONA_MAX_IO);
}

/* How many times larger the only output is than the only input; 1 if there are several, or the
 * sizes do not fit. */
static uint32_t scale_of(const accuracy_loss *j, const accuracy_loss_sample *s)
{
    const reference_array *in = &s->inputs[0], *out = &s->expected[0];
    const uint32_t scale = out->width / in->width;
    const bool enlarges = j->inputs == 1 && j->outputs == 1 && in->channels == out->channels &&
                          scale > 1 && out->width == in->width * scale &&
                          out->height == in->height * scale;
    return enlarges ? scale : 1;
}

static bool make_sample(const calibration *images, size_t index, const compiler *model,
                        const char *name, uint32_t scale, accuracy_loss_sample *s)
{
    format_error error = {0};
    *s = (accuracy_loss_sample){0};
    if (!calibration_pair(images, index, model, scale, s->inputs, s->truth))
        return false;
    return compiler_reference(model, s->inputs, s->expected, &error) ||
           !cli_fail(EXIT_FAILED, "%s: with %s: %s", name, calibration_name(images, index),
                     error.text);
}

bool accuracy_loss_open(accuracy_loss *j, const calibration *images, const compiler *model,
                        const char *name, const accuracy_loss_unit *unit, size_t max)
{
    *j = (accuracy_loss){.name = name,
                         .inputs = compiler_input_count(model),
                         .outputs = compiler_output_count(model)};
    const size_t count = images->count < max ? images->count : max;
    j->samples = calloc(count ? count : 1, sizeof *j->samples);
    if (!j->samples)
        return !cli_fail(EXIT_FAILED, "out of memory");
    uint32_t scale = 1;
    for (size_t i = 0; i < count; i++) {
        /* Spreads samples evenly over the images. */
        const size_t index = i * images->count / count;
        j->count = i + 1;
        if (!make_sample(images, index, model, name, scale, &j->samples[i]))
            return false;
        if (!i && (scale = scale_of(j, &j->samples[0])) > 1) {
            free_sample(&j->samples[0]);
            if (!make_sample(images, index, model, name, scale, &j->samples[0]))
                return false;
        }
    }
    j->unit = unit || !count ? (unit ? *unit : ACCURACY_LOSS_DECIBEL)
                             : accuracy_loss_unit_for(model, j->samples[0].expected);
    return true;
}

void accuracy_loss_close(accuracy_loss *j)
{
    for (size_t i = 0; i < j->count; i++)
        free_sample(&j->samples[i]);
    free(j->samples);
    *j = (accuracy_loss){0};
}

/* ---- a model ------------------------------------------------------------------------------ */

/* Sums of an output over all samples. */
typedef struct sums {
    double error, signal, peak;      /* against the fp32 network */
    double lost, lost_fp32, samples; /* squared errors of model and fp32 against the truth */
    double decisions, changed;       /* per pixel */
    bool truth;
    float *scores, *errors; /* for samples with one decision, [sample][channel]; else NULL */
    size_t classes;
} sums;

/* The value that the fp32 network would write to these planes. */
static double written(const planes *p, double value)
{
    const double scale = (double)p->info.scale, held = sample_run_held(p, value);
    return sample_run_is_int(p) ? nearbyint(held / scale) * scale : held;
}

static void add_errors(sums *s, const planes *found, const accuracy_loss_sample *sample,
                       unsigned output)
{
    const float *expected = sample->expected[output].data, *truth = sample->truth[output].data;
    for (size_t i = 0; i < found->count; i++) {
        const double e = written(found, (double)expected[i]), x = planes_get(found, i);
        s->error += (x - e) * (x - e);
        s->signal += e * e;
        s->peak = fmax(s->peak, fabs(e));
        if (!truth)
            continue;
        const double t = (double)truth[i];
        s->lost += (x - t) * (x - t);
        s->lost_fp32 += (e - t) * (e - t);
    }
    s->samples += (double)found->count;
    s->truth = truth;
}

static bool has_one_decision(const reference_array *expected)
{
    return expected->height == 1 && expected->width == 1;
}

static bool open_sums(const accuracy_loss *j, unsigned output, size_t count, sums *s)
{
    const reference_array *expected = &j->samples[0].expected[output];
    if (j->unit != ACCURACY_LOSS_TOP1 || !count || !has_one_decision(expected))
        return true;
    s->classes = expected->channels;
    s->scores = malloc(count * s->classes * sizeof *s->scores);
    s->errors = malloc(count * s->classes * sizeof *s->errors);
    return s->scores && s->errors;
}

static void add_decision(sums *s, size_t sample, const planes *found,
                         const reference_array *expected)
{
    for (size_t c = 0; c < s->classes; c++) {
        const size_t at = sample * s->classes + c;
        s->scores[at] = expected->data[c];
        s->errors[at] = (float)(planes_get(found, c) - (double)expected->data[c]);
    }
}

static void add_pixels(sums *s, const planes *found, const reference_array *expected)
{
    const size_t pixels = (size_t)expected->height * expected->width;
    for (size_t p = 0; p < pixels; p++) {
        size_t best = 0, wanted = 0;
        for (size_t c = 1; c < expected->channels; c++) {
            const size_t i = c * pixels + p;
            best = planes_get(found, i) > planes_get(found, best * pixels + p) ? c : best;
            wanted = expected->data[i] > expected->data[wanted * pixels + p] ? c : wanted;
        }
        s->changed += best != wanted ? 1 : 0;
    }
    s->decisions += (double)pixels;
}

static double decibels(const sums *s)
{
    const double nominal = s->samples * s->peak * s->peak * pow(10, -ACCURACY_LOSS_NOMINAL / 10);
    if (s->truth)
        return s->lost > 0 && s->lost_fp32 > 0 ? 10 * log10(s->lost / s->lost_fp32) : 0;
    return nominal > 0 ? 10 * log10(1 + s->error / nominal) : 0;
}

static bool drop_of(const accuracy_loss *j, const sums *s, size_t count, double *drop)
{
    if (j->unit == ACCURACY_LOSS_TOP1 && s->scores)
        return top1_margin_changes(s->scores, s->errors, count, s->classes, drop);
    *drop = j->unit == ACCURACY_LOSS_TOP1 ? s->changed / s->decisions : decibels(s);
    return true;
}

/* False: out of memory. */
static bool conclude(const accuracy_loss *j, const sums *sums, size_t count, compiler_loss *loss)
{
    *loss = (compiler_loss){-INFINITY, 0};
    for (unsigned i = 0; i < j->outputs; i++) {
        const double noise = sums[i].signal > 0 ? sums[i].error / sums[i].signal : sums[i].error;
        double drop;
        if (!drop_of(j, &sums[i], count, &drop))
            return false;
        loss->drop = fmax(loss->drop, drop);
        loss->noise = fmax(loss->noise, noise);
    }
    return true;
}

bool accuracy_loss_measure(void *context, const uint8_t *bytes, size_t size, bool quick,
                           compiler_loss *loss, format_error *error)
{
    const accuracy_loss *j = context;
    const size_t few = j->unit == ACCURACY_LOSS_TOP1 ? QUICK_DECISIONS : QUICK_PICTURES;
    const size_t count = quick && few < j->count ? few : j->count;
    pipeline_error run_error = {0};
    sums totals[MONA_MAX_IO] = {0};
    sample_run run;
    bool ok = sample_run_open(&run, bytes, size, j->name, &run_error);
    for (unsigned i = 0; ok && i < j->outputs; i++)
        ok = open_sums(j, i, count, &totals[i]) || pipeline_fail(&run_error, "out of memory");
    for (size_t s = 0; ok && s < count; s++) {
        ok = sample_run_next(&run, j->samples[s].inputs, &run_error);
        for (unsigned i = 0; ok && i < j->outputs; i++) {
            add_errors(&totals[i], &run.out[i], &j->samples[s], i);
            if (totals[i].scores)
                add_decision(&totals[i], s, &run.out[i], &j->samples[s].expected[i]);
            else if (j->unit == ACCURACY_LOSS_TOP1)
                add_pixels(&totals[i], &run.out[i], &j->samples[s].expected[i]);
        }
    }
    sample_run_close(&run);
    ok = ok && (conclude(j, totals, count, loss) || pipeline_fail(&run_error, "out of memory"));
    for (unsigned i = 0; i < MONA_MAX_IO; i++) {
        free(totals[i].scores);
        free(totals[i].errors);
    }
    return ok || format_fail(error, "%s", run_error.text);
}
