/* Calibration: still images as inputs of a model.
 *
 * Every image becomes planes by the names of the inputs (pipeline/roles.h): luma of BT.601 in
 * studio range for luma, y, plane and any other input of one channel; for models with u and v,
 * chroma averaged over 2x2; for `noise`, a level that changes from image to image, with Gaussian
 * noise of that level added to the image planes. Inputs of three channels get RGB. Everything is
 * repeatable. */
#ifndef MONA_CALIBRATION_H
#define MONA_CALIBRATION_H

#include "formats/compiler/compiler.h"
#include "options.h"

typedef struct calibration {
    char **files;
    size_t count, room;
} calibration;

/* Collects the PNG and JPEG files of the paths, folders with all below them, and keeps `most` of
 * them, evenly spread. Prints one line and gives false when there is none. */
bool calibration_open(calibration *c, const option_list *paths, size_t most);
void calibration_close(calibration *c);

/* Inputs for image `index`; real values, `range` for the largest sample. Each inputs[i].data is
 * released with free(). Prints one line and gives false when the image cannot be read. */
bool calibration_sample(const calibration *c, size_t index, const compiler *model, float range,
                        reference_array *inputs);

#endif
