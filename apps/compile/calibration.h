// SPDX-License-Identifier: Apache-2.0
/* Calibration: still images, frames of clips, and arrays, as inputs of a model.
 *
 * Every image becomes planes by the names of the inputs (pipeline/stages/plane_roles.h): luma of
 * BT.601 in studio range for luma, y, plane and any other input of one channel; for models with u
 * and v, chroma averaged over 2x2; for `noise`, a level that changes from image to image, with
 * Gaussian noise of that level added to the image planes. Inputs of three channels get RGB or BGR;
 * if they have one fixed size, they get the whole picture, resized. Everything is repeatable.
 *
 * A .npy file holds the only input of a model, or several of them one after another (N first in its
 * shape). For a model of several inputs, NAME=FILE.npy gives each of them a file, all of the same
 * N. uint8 numbers are treated as samples of images, int8 and uint16 ones as what planes of S8 and
 * U16 hold, as mona run takes them; all others are the network's own numbers. */
#ifndef MONA_CALIBRATION_H
#define MONA_CALIBRATION_H

#include <stdbool.h>

#include "apps/cli/options.h"
#include "formats/compiler/compiler.h"
#include "pipeline/image/stills.h"

/* Converts pictures' samples to a network's inputs. */

/* Samples are of 8 bits, 0 to 255. */
typedef struct calibration_feed {
    float range;     /* the value of sample 255; or, */
    bool normalised, /* for each channel of the network: (sample - mean) / deviation */
        inside,      /* which is part of the network, so that its inputs are samples */
        bgr;         /* inputs of three channels have blue first */
    float mean[3], deviation[3];
    mona_type planes; /* type of the network's planes */
    double top;       /* largest sample of U16 planes */
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
/* What planes of S8 or U16 hold as `stored`. */
float calibration_fed_stored(const calibration_feed *f, uint32_t channel, double stored);

/* The real value of the largest number of s8 planes that hold every normalised sample. */
float calibration_feed_range(const calibration_feed *f);

enum {
    CALIBRATION_FRAMES = 32, /* most frames of a clip */
    CALIBRATION_SIDE = 640,  /* larger images are cut: ranges need many pixels, not all of them */
};

typedef enum calibration_kind {
    CALIBRATION_STILL, /* the file is a still image, read when it is needed */
    CALIBRATION_FRAME, /* a frame of a clip, in memory */
    CALIBRATION_ARRAY, /* an input in a .npy file, read when it is needed */
} calibration_kind;

typedef struct calibration_image {
    calibration_kind kind;
    char *name;     /* its file; for a frame, with its number */
    still frame;    /* CALIBRATION_FRAME */
    uint64_t place; /* CALIBRATION_ARRAY: index in the file */
} calibration_image;

typedef struct calibration {
    calibration_image *images; /* sorted by name */
    size_t count, room;
    calibration_feed feed;
    const char *named[MONA_MAX_IO]; /* files of the inputs; NULL: the image's own */
} calibration;

/* Collects the PNG, JPEG and .npy files of the paths, those in folders and in all folders below,
 * and at most CALIBRATION_FRAMES frames of each clip; keeps `max` of them, evenly spread. The
 * paths must live as long as *c. False: there is none, or an array does not suit the model; one
 * line was printed. */
bool calibration_open(calibration *c, const option_list *paths, size_t max,
                      const calibration_feed *feed, const compiler *model);
void calibration_close(calibration *c);

/* For those that collect: adds an image, taking over its frame and copying its name; releases one;
 * adds frames of a clip. False: one line was printed. */
bool calibration_add(calibration *c, calibration_image image);
void calibration_drop(calibration_image *image);
bool calibration_add_clip(calibration *c, const char *path);

/* Inputs for image `index`, as the network takes them. Each inputs[i].data is released with free().
 * False: the image cannot be read; one line was printed. */
bool calibration_sample(const calibration *c, size_t index, const compiler *model,
                        reference_array *inputs);

/* The same with the picture that the network should make of it, if that is known; otherwise
 * truth[i].data is NULL. scale above 1: a network of one input and one output that enlarges by this
 * factor; its input is the picture reduced as for published tables (pipeline/quality/measure.h). A
 * network with a `noise` input should restore the planes as they were before noise was added. */
bool calibration_pair(const calibration *c, size_t index, const compiler *model, uint32_t scale,
                      reference_array *inputs, reference_array *truth);

/* The index of the k-th image in another order, in which the first images, however many, are spread
 * over all. */
size_t calibration_spread(const calibration *c, size_t k);

/* For messages. */
const char *calibration_name(const calibration *c, size_t index);

/* .npy files as inputs of a model, for calibration. Each function that fails has printed one line,
 * except calibration_is_array. */

/* Whether the file begins like a .npy file. */
bool calibration_is_array(const char *path);

/* How often this input of the model is in the file. Reads only its header. */
bool calibration_array_count(const char *path, const compiler *model, unsigned input,
                             uint64_t *count);

/* Image `index`, which is of kind CALIBRATION_ARRAY; each inputs[i].data is released with
 * free(). */
bool calibration_array(const calibration *c, size_t index, const compiler *model,
                       reference_array *inputs);

#endif
