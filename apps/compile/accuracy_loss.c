// SPDX-License-Identifier: Apache-2.0
#include "apps/compile/accuracy.h"

#include <math.h>
#include <stdlib.h>

enum {
    MAX_PICTURES = 8, /* kept in memory */
    MAX_DECISIONS = 1000,
    QUICK_PICTURES = 2,
    QUICK_DECISIONS = 100,
};

/* ---- samples ------------------------------------------------------------------------------ */

/* The choices that an output makes among classes; class c of decision i is at element
 * i * decision + c * class. */
typedef struct choices {
    size_t count, classes, decision, class;
} choices;

static choices choices_of(const compiler *model, unsigned output, const reference_array *a)
{
    const compiler_tensor about = compiler_output(model, output);
    const size_t pixels = (size_t)a->height * a->width;
    if (about.last)
        return (choices){reference_count(a) / about.last, about.last, about.last, 1};
    return (choices){pixels, a->channels, 1, pixels};
}

/* Per cent if each output makes one decision. */
static accuracy_loss_unit unit_for(const compiler *model, const reference_array *outputs)
{
    for (unsigned i = 0; i < compiler_output_count(model); i++) {
        const choices c = choices_of(model, i, &outputs[i]);
        if (c.count != 1 || c.classes < 2)
            return ACCURACY_LOSS_DECIBEL;
    }
    return ACCURACY_LOSS_TOP1;
}

/* Per cent tell nothing of an output that has no choice. */
static bool check_unit(const accuracy_loss *j)
{
    for (unsigned i = 0; i < j->outputs && j->count && j->unit == ACCURACY_LOSS_TOP1; i++)
        if (choices_of(j->model, i, &j->samples[0].expected[i]).classes < 2)
            return cli_fail(
                0,
                "%s: --max-drop: output '%s' makes no decisions, as it has one channel; "
                "expected a loss in dB, such as 0.1dB",
                j->name, compiler_output(j->model, i).name);
    return true;
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
           cli_fail(0, "%s: with %s: %s", name, calibration_name(images, index), error.text);
}

/* Sample i of count, which are spread evenly over the images. */
static bool open_sample(accuracy_loss *j, const calibration *images, size_t i, size_t count,
                        uint32_t scale)
{
    j->count = i + 1;
    return make_sample(images, i * images->count / count, j->model, j->name, scale, &j->samples[i]);
}

bool accuracy_loss_open(accuracy_loss *j, const calibration *images, const compiler *model,
                        const char *name, const accuracy_loss_unit *unit)
{
    *j = (accuracy_loss){.name = name,
                         .model = model,
                         .unit = unit ? *unit : ACCURACY_LOSS_DECIBEL,
                         .inputs = compiler_input_count(model),
                         .outputs = compiler_output_count(model),
                         .changed = 1,
                         .samples = calloc(images->count + 1, sizeof *j->samples)};
    if (!j->samples)
        return cli_fail(0, "out of memory");
    if (!images->count)
        return true;
    if (!open_sample(j, images, 0, 1, 1))
        return false;
    const uint32_t scale = scale_of(j, &j->samples[0]);
    if (scale > 1) {
        free_sample(&j->samples[0]);
        if (!open_sample(j, images, 0, 1, scale))
            return false;
    }
    if (!unit)
        j->unit = unit_for(model, j->samples[0].expected);
    const size_t max = j->unit == ACCURACY_LOSS_TOP1 ? MAX_DECISIONS : MAX_PICTURES;
    const size_t count = images->count < max ? images->count : max;
    for (size_t i = 1; i < count; i++)
        if (!open_sample(j, images, i, count, scale))
            return false;
    return check_unit(j);
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
    double clipped;                  /* squared, of what the planes cut off the fp32 network */
    double lost, lost_fp32, samples; /* squared errors of model and fp32 against the truth */
    double decisions, changed;
    bool truth;
    float *scores, *errors; /* for samples with one decision, [sample][channel]; else NULL */
    size_t classes;
} sums;

/* The value that the fp32 network would write to these planes if they had no ends. */
static double written(const planes *p, double value)
{
    const double scale = (double)p->info.scale;
    return sample_run_is_int(p) ? nearbyint(value / scale) * scale : value;
}

static void add_errors(sums *s, const planes *found, const accuracy_loss_sample *sample,
                       unsigned output)
{
    const float *expected = sample->expected[output].data, *truth = sample->truth[output].data;
    for (size_t i = 0; i < found->count; i++) {
        const double e = written(found, (double)expected[i]), x = planes_get(found, i);
        const double held = sample_run_held(found, e);
        s->clipped += (e - held) * (e - held);
        s->error += (x - e) * (x - e);
        s->signal += e * e;
        s->peak = fmax(s->peak, fabs(e));
        if (!truth)
            continue;
        const double t = (double)truth[i];
        s->lost += (x - t) * (x - t);
        s->lost_fp32 += (held - t) * (held - t);
    }
    s->samples += (double)found->count;
    s->truth = truth;
}

static bool open_sums(const accuracy_loss *j, unsigned output, size_t count, sums *s)
{
    if (j->unit != ACCURACY_LOSS_TOP1 || !count)
        return true;
    const choices a = choices_of(j->model, output, &j->samples[0].expected[output]);
    if (a.count != 1)
        return true;
    s->classes = a.classes;
    s->scores = malloc(count * s->classes * sizeof *s->scores);
    s->errors = malloc(count * s->classes * sizeof *s->errors);
    return s->scores && s->errors;
}

/* Errors of probabilities depend on how sure they are; those of their logarithms do not, apart from
 * probabilities that are as good as 0. */
static bool are_probabilities(const reference_array *a)
{
    double sum = 0;
    for (size_t i = 0; i < reference_count(a); i++)
        sum += a->data[i] >= 0 ? (double)a->data[i] : INFINITY;
    return fabs(sum - 1) < 1e-3;
}

static double score_of(double x, bool probability)
{
    return probability ? log(fmax(x, 0x1p-20)) : x;
}

static void add_decision(sums *s, size_t sample, const planes *found,
                         const reference_array *expected)
{
    const bool p = are_probabilities(expected);
    for (size_t c = 0; c < s->classes; c++) {
        const size_t at = sample * s->classes + c;
        const double wanted = score_of((double)expected->data[c], p);
        s->scores[at] = (float)wanted;
        s->errors[at] = (float)(score_of(planes_get(found, c), p) - wanted);
    }
}

static void add_decisions(sums *s, const accuracy_loss *j, unsigned output, const planes *found,
                          const reference_array *expected)
{
    const choices a = choices_of(j->model, output, expected);
    for (size_t d = 0; d < a.count; d++) {
        const size_t first = d * a.decision;
        size_t best = first, wanted = first;
        for (size_t c = 1; c < a.classes; c++) {
            const size_t i = first + c * a.class;
            best = planes_get(found, i) > planes_get(found, best) ? i : best;
            wanted = expected->data[i] > expected->data[wanted] ? i : wanted;
        }
        s->changed += best != wanted ? 1 : 0;
    }
    s->decisions += (double)a.count;
}

/* Whether the fp32 network makes pictures that these planes hold, so that its distance from the
 * truth is its own and not that of what they cut off. */
static bool is_picture(const sums *s)
{
    return s->truth && s->clipped <= s->lost_fp32 / 4;
}

static double decibels(const sums *s)
{
    const double nominal = s->samples * s->peak * s->peak * pow(10, -ACCURACY_LOSS_NOMINAL / 10);
    if (is_picture(s))
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

/* Where decisions are made, noise is that of the scores: a probability near 1 hardly moves. */
static double noise_of(const sums *s, size_t count)
{
    double error = s->scores ? 0 : s->error, signal = s->scores ? 0 : s->signal;
    for (size_t i = 0; i < count * s->classes && s->scores; i++) {
        error += (double)s->errors[i] * (double)s->errors[i];
        signal += (double)s->scores[i] * (double)s->scores[i];
    }
    return signal > 0 ? error / signal : error;
}

/* False: out of memory. */
static bool conclude(accuracy_loss *j, const sums *sums, size_t count, compiler_loss *loss)
{
    double changed = 0;
    *loss = (compiler_loss){-INFINITY, 0};
    for (unsigned i = 0; i < j->outputs; i++) {
        double drop;
        if (sums[i].decisions > 0)
            changed = fmax(changed, sums[i].changed / sums[i].decisions);
        if (!drop_of(j, &sums[i], count, &drop))
            return false;
        if (sums[i].clipped > sums[i].error / 2 && !is_picture(&sums[i]))
            j->clipped = compiler_output(j->model, i).name;
        loss->drop = fmax(loss->drop, drop);
        loss->noise = fmax(loss->noise, noise_of(&sums[i], count));
    }
    if (count == j->count)
        j->changed = fmin(j->changed, changed);
    return true;
}

static void find_clipped_input(accuracy_loss *j, const plan_planes *planes)
{
    for (unsigned i = 0; i < j->inputs; i++) {
        const compiler_tensor about = compiler_input(j->model, i);
        if (about.low <= about.high && (!planes_hold(&planes->in[i], (double)about.low) ||
                                        !planes_hold(&planes->in[i], (double)about.high)))
            j->clipped_input = about.name;
    }
}

bool accuracy_loss_measure(void *context, const uint8_t *bytes, size_t size, bool quick,
                           compiler_loss *loss, format_error *error)
{
    accuracy_loss *j = context;
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
            add_errors(&totals[i], &run.planes.out[i], &j->samples[s], i);
            if (totals[i].scores)
                add_decision(&totals[i], s, &run.planes.out[i], &j->samples[s].expected[i]);
            if (j->unit == ACCURACY_LOSS_TOP1)
                add_decisions(&totals[i], j, i, &run.planes.out[i], &j->samples[s].expected[i]);
        }
    }
    if (ok && count)
        find_clipped_input(j, &run.planes);
    sample_run_close(&run);
    ok = ok && (conclude(j, totals, count, loss) || pipeline_fail(&run_error, "out of memory"));
    for (unsigned i = 0; i < MONA_MAX_IO; i++) {
        free(totals[i].scores);
        free(totals[i].errors);
    }
    return ok || format_fail(error, "%s", run_error.text);
}
