// SPDX-License-Identifier: Apache-2.0
/* What compiled models lose against their network in fp32, on samples made of calibration images.
 *
 * In dB: what PSNR drops by. Where the network enlarges or denoises, samples are made from pictures
 * that are then known, and PSNR is taken against those, both for the network in fp32 and for the
 * compiled model. Otherwise it is taken for a network that were ACCURACY_LOSS_NOMINAL dB from the
 * truth, with errors that know nothing of each other: 10 log10(1 + error / nominal error), in squares.
 * Of several outputs the worst counts.
 * In per cent: the share of decisions, which channel is the largest, that change: where an output
 * has one of them, as it is to be expected of other samples (top1_margin.h), else the share of
 * pixels that do. */
#ifndef MONA_ACCURACY_LOSS_H
#define MONA_ACCURACY_LOSS_H

#include "apps/compile/calibration.h"
#include "formats/compiler/compiler.h"

#define ACCURACY_LOSS_NOMINAL 40.0 /* dB */

typedef enum accuracy_loss_unit { ACCURACY_LOSS_DECIBEL, ACCURACY_LOSS_TOP1 } accuracy_loss_unit;

typedef struct accuracy_loss_sample {
    reference_array inputs[MONA_MAX_IO];
    reference_array expected[MONA_MAX_IO]; /* of the network in fp32 */
    reference_array truth[MONA_MAX_IO];    /* data NULL: not known */
} accuracy_loss_sample;

typedef struct accuracy_loss {
    const char *name; /* of the network, for messages */
    accuracy_loss_unit unit;
    accuracy_loss_sample *samples;
    size_t count;
    unsigned inputs, outputs;
} accuracy_loss;

/* The unit that suits a network: per cent if all it makes are numbers of a 1x1 map. */
accuracy_loss_unit accuracy_loss_unit_for(const compiler *model, const reference_array *outputs);

/* Makes at most `max` samples and runs the network on them. unit: NULL: what suits. False: one
 * line was printed. Whether it succeeds or not, accuracy_loss_close releases what there is. */
bool accuracy_loss_open(accuracy_loss *j, const calibration *images, const compiler *model,
                        const char *name, const accuracy_loss_unit *unit, size_t max);
void accuracy_loss_close(accuracy_loss *j);

/* compiler_judge.judge; context is the judge. */
bool accuracy_loss_measure(void *context, const uint8_t *bytes, size_t size, bool quick,
                           compiler_loss *loss, format_error *error);

#endif
