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
 * N. uint8 numbers are treated as samples of images; all others are the network's own numbers. */
#ifndef MONA_CALIBRATION_H
#define MONA_CALIBRATION_H

#include "apps/compile/calibration_feed.h"
#include "formats/compiler/compiler.h"
#include "apps/cli/options.h"
#include "pipeline/image/stills.h"

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

#endif
