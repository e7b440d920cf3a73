// SPDX-License-Identifier: Apache-2.0
/* Converts pictures' samples to a network's inputs. */
#ifndef MONA_CALIBRATION_FEED_H
#define MONA_CALIBRATION_FEED_H

#include <stdbool.h>

#include "formats/compiler/compiler.h"

/* Samples are of 8 bits, 0 to 255. */
typedef struct calibration_feed {
    float range;     /* the value of sample 255; or, */
    bool normalised, /* for each channel of the network: (sample - mean) / deviation */
        inside,      /* which is part of the network, so that its inputs are samples */
        bgr;         /* inputs of three channels have blue first */
    float mean[3], deviation[3];
} calibration_feed;

/* Reads the options --mean, --deviation (either NULL: not given) and --channel-order. False: one
 * line was printed. */
bool calibration_feed_read(calibration_feed *f, const char *mean, const char *deviation, bool bgr);

/* Whether the numbers of all channels are the same. */
bool calibration_feed_alike(const calibration_feed *f);

/* Whether there are as many numbers as the model has channels. False: one line was printed. name is
 * the model's. */
bool calibration_feed_suits(const calibration_feed *f, const compiler *model, const char *name);

/* A sample as the inputs take it; and a number of the network's own. */
float calibration_fed(const calibration_feed *f, uint32_t channel, double sample);
float calibration_fed_number(const calibration_feed *f, uint32_t channel, double number);

/* The real value of the largest number of s8 planes that hold every normalised sample. */
float calibration_feed_range(const calibration_feed *f);

#endif
