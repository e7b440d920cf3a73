/* Whether a compiled model still says anything. */
#ifndef MONA_SOUNDNESS_H
#define MONA_SOUNDNESS_H

#include "calibration.h"
#include "formats/compiler/compiler.h"

/* Runs the model on one calibration image or, if there are none, on noise, and refuses it when an
 * output is not a number, or the same everywhere although the network in fp32 makes a picture: its
 * numbers left the range of fp16 on the way, or its steps are far too large. False: one line was
 * printed. */
bool soundness_check(const compiler *model, const uint8_t *bytes, size_t size, const char *name,
                     const calibration *images, float range);

#endif
