// SPDX-License-Identifier: Apache-2.0
/* What compiled models lose against their network in fp32, on samples made of calibration images.
 *
 * In dB: what PSNR drops by. Where the network enlarges or denoises, samples are made from pictures
 * that are then known, and PSNR is taken against those, both for the network in fp32 and for the
 * compiled model. Otherwise it is taken for a network that were JUDGE_NOMINAL dB from the truth,
 * with errors that know nothing of each other: 10 log10(1 + error / nominal error), in squares. Of
 * several outputs the worst counts.
 * In per cent: the share of decisions, which channel is the largest, that change: where an output
 * has one of them, as it is to be expected of other samples (decisions.h), else the share of pixels
 * that do. */
#ifndef MONA_JUDGE_H
#define MONA_JUDGE_H

#include "apps/compile/calibration.h"
#include "formats/compiler/compiler.h"

#define JUDGE_NOMINAL 40.0 /* dB */

typedef enum judge_unit { JUDGE_DECIBEL, JUDGE_TOP1 } judge_unit;

typedef struct judged_sample {
    reference_array inputs[MONA_MAX_IO];
    reference_array expected[MONA_MAX_IO]; /* of the network in fp32 */
    reference_array truth[MONA_MAX_IO];    /* data NULL: not known */
} judged_sample;

typedef struct judge {
    const char *name; /* of the network, for messages */
    judge_unit unit;
    judged_sample *samples;
    size_t count;
    unsigned inputs, outputs;
} judge;

/* The unit that suits a network: per cent if all it makes are numbers of a 1x1 map. */
judge_unit judge_unit_for(const compiler *model, const reference_array *outputs);

/* Makes at most `most` samples and runs the network on them. unit: NULL: what suits. False: one
 * line was printed. Whether it succeeds or not, judge_close releases what there is. */
bool judge_open(judge *j, const calibration *images, const compiler *model, const char *name,
                const judge_unit *unit, size_t most);
void judge_close(judge *j);

/* compiler_judge.judge; context is the judge. */
bool judge_model(void *context, const uint8_t *bytes, size_t size, bool quick, compiler_loss *loss,
                 format_error *error);

#endif
