// SPDX-License-Identifier: Apache-2.0
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
#ifndef MONA_ACCURACY_LOSS_H
#define MONA_ACCURACY_LOSS_H

#include "apps/compile/calibration.h"
#include "formats/compiler/compiler.h"

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

#endif
