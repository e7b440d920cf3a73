// SPDX-License-Identifier: Apache-2.0
/* Calibration: still images, frames of clips and arrays, as inputs of a model.
 *
 * Every image becomes planes by the names of the inputs (pipeline/stages/plane_roles.h): luma of BT.601 in
 * studio range for luma, y, plane and any other input of one channel; for models with u and v,
 * chroma averaged over 2x2; for `noise`, a level that changes from image to image, with Gaussian
 * noise of that level added to the image planes. Inputs of three channels get RGB or BGR, and all
 * of the picture, resized, if they have one size. Everything is repeatable.
 *
 * A .npy file has the only input of a model, or several of them one after another (N first in its
 * shape). Numbers of uint8 are samples as those of images are; all others are taken as they are. */
#ifndef MONA_CALIBRATION_H
#define MONA_CALIBRATION_H

#include "apps/compile/calibration_feed.h"
#include "formats/compiler/compiler.h"
#include "apps/cli/options.h"
#include "pipeline/image/stills.h"

enum {
    CALIBRATION_FRAMES = 32, /* of a clip */
    CALIBRATION_SIDE = 640,  /* larger images are cut: ranges need many pixels, not all */
};

typedef enum calibration_kind {
    CALIBRATION_STILL, /* the file is a still image, read when it is wanted */
    CALIBRATION_FRAME, /* of a clip, in memory */
    CALIBRATION_ARRAY, /* of a .npy file, read when it is wanted */
} calibration_kind;

typedef struct calibration_image {
    calibration_kind kind;
    char *name;     /* its file; of a frame with its number */
    still frame;    /* CALIBRATION_FRAME */
    uint64_t place; /* CALIBRATION_ARRAY: among those of the file */
} calibration_image;

typedef struct calibration {
    calibration_image *images; /* by name */
    size_t count, room;
    calibration_feed feed;
    bool floats; /* there are arrays of other numbers than samples */
} calibration;

/* Collects the PNG, JPEG and .npy files of the paths, folders with all below them, and of clips at
 * most CALIBRATION_FRAMES frames; keeps `max` of them, evenly spread. Prints one line and gives
 * false when there is none, or an array does not suit the model. */
bool calibration_open(calibration *c, const option_list *paths, size_t max,
                      const calibration_feed *feed, const compiler *model);
void calibration_close(calibration *c);

/* Inputs for image `index`, as the network takes them. Each inputs[i].data is released with free().
 * Prints one line and gives false when the image cannot be read. */
bool calibration_sample(const calibration *c, size_t index, const compiler *model,
                        reference_array *inputs);

/* The same with the picture that the network should make of it, where that is known; truth[i].data
 * is NULL otherwise. scale above 1: a network of one input and one output enlarges by as much; its
 * input is the picture reduced as published tables do it (pipeline/quality/measure.h). A network with a
 * `noise` input should make the planes as they were before. */
bool calibration_pair(const calibration *c, size_t index, const compiler *model, uint32_t scale,
                      reference_array *inputs, reference_array *truth);

/* The images in another order: the k-th of them is this index. Every beginning of it is spread over
 * all of them. */
size_t calibration_spread(const calibration *c, size_t k);

/* For messages. */
const char *calibration_name(const calibration *c, size_t index);

#endif
