// SPDX-License-Identifier: Apache-2.0
/* The accuracy that rounding costs a compiled model, and whether its output is still meaningful. */
#ifndef MONA_ACCURACY_H
#define MONA_ACCURACY_H

#include <stdbool.h>
#include <stddef.h>

#include "apps/compile/calibration.h"
#include "formats/compiler/compiler.h"
#include "formats/compiler/graph/reference.h"
#include "pipeline/stages/session_binding.h"
#include "apps/compile/arrays.h"

/* Prints a line for each output: how much the model in `bytes`, which was compiled from `model`,
 * differs from it in fp32 over all samples. If that cannot be measured, a line on stderr says why.
 * name: for messages. */
void accuracy_print(const compiler *model, const uint8_t *bytes, size_t size, const char *name,
                    const calibration *samples);

/* Runs the model on one calibration image or, if there are none, on noise. Refuses it if an output
 * is not a number, or is flat (two numbers at most) and far from the network's output in fp32,
 * which means that numbers left the range of fp16 on the way. Models of arrays are not checked.
 * False: one line was printed. */
bool sanity_check(const compiler *model, const uint8_t *bytes, size_t size, const char *name,
                  const calibration *images);

/* How many decisions of a network, the class with the highest score, rounding will change. */

/* The share of decisions that are expected to change on unseen inputs: an upper bound with
 * one-sided confidence 95 %, and at least the share of these inputs for which they do change. Both
 * arrays are [count][classes]: scores without rounding, and the errors that rounding adds to them;
 * count is 1 or more. False: out of memory. */
bool top1_margin_changes(const float *scores, const float *errors, size_t count, size_t classes,
                         double *share);

/* The accuracy that compiled models lose against their network in fp32, on samples made from
 * calibration images.
 *
 * In dB: the drop of PSNR. If the network enlarges or denoises, samples are made from pictures that
 * are then the known truth, and PSNR is taken against these, both for the network in fp32 and for
 * the compiled model. Otherwise, or if the planes of an output cut off much of it, PSNR is that of
 * a hypothetical network ACCURACY_LOSS_NOMINAL dB from the truth, with independent errors: 10
 * log10(1 + error / nominal error), in squares. With several outputs the worst one counts.
 *
 * In per cent: the share of decisions that change: the largest channel of a pixel, or the largest
 * element of an array's last axis. If an output makes one decision, this is the share to expect on
 * other samples (top1_margin.c). */

#define ACCURACY_LOSS_NOMINAL 40.0 /* dB */

typedef enum accuracy_loss_unit { ACCURACY_LOSS_DECIBEL, ACCURACY_LOSS_TOP1 } accuracy_loss_unit;

typedef struct accuracy_loss_sample {
    reference_array inputs[MONA_MAX_IO];
    reference_array expected[MONA_MAX_IO]; /* of the network in fp32 */
    reference_array truth[MONA_MAX_IO];    /* data NULL: unknown */
} accuracy_loss_sample;

typedef struct accuracy_loss {
    const char *name; /* of the network, for messages */
    const compiler *model;
    accuracy_loss_unit unit;
    accuracy_loss_sample *samples;
    size_t count;
    unsigned inputs, outputs;
    double changed;      /* the smallest share of these samples' decisions that a model changed */
    const char *clipped; /* an output that lost most by what its planes cut off; NULL: none did */
    const char *clipped_input; /* one whose planes cut off what calibration saw; NULL: none does */
} accuracy_loss;

/* Makes samples of at most 8 images, or 1,000 if the unit is per cent, and runs the network on
 * them. unit NULL: the one that suits. False: one line was printed. accuracy_loss_close releases
 * what there is, whether it succeeds or not. */
bool accuracy_loss_open(accuracy_loss *j, const calibration *images, const compiler *model,
                        const char *name, const accuracy_loss_unit *unit);
void accuracy_loss_close(accuracy_loss *j);

/* Implements compiler_judge.judge; context is the judge. */
bool accuracy_loss_measure(void *context, const uint8_t *bytes, size_t size, bool quick,
                           compiler_loss *loss, format_error *error);

/* Runs a compiled model on samples of real values. */

typedef struct sample_run {
    mona_model model;
    const char *name; /* for messages */
    mona_config config;
    session_binding bound; /* for the sizes in config */
    plan_planes planes;
} sample_run;

/* bytes must start at a multiple of MONA_ALIGNMENT and outlive the run. sample_run_close releases
 * what there is, whether it succeeds or not. */
bool sample_run_open(sample_run *r, const uint8_t *bytes, size_t size, const char *name,
                     pipeline_error *error);
void sample_run_close(sample_run *r);

/* Leaves the outputs in r->planes.out. The model is bound again when sizes change. */
bool sample_run_next(sample_run *r, const reference_array *inputs, pipeline_error *error);

/* Whether the planes hold integers times a scale. */
bool sample_run_is_int(const planes *p);

/* The value closest to `value` that the planes can hold. Only what other causes of an error are may
 * be judged by it: how good a model is, is judged by what comes out. */
double sample_run_held(const planes *p, double value);

#endif
