// SPDX-License-Identifier: Apache-2.0
#ifndef ATC_H
#define ATC_H

#include <stdbool.h>

#include "apps/cli/options.h"
#include "apps/compile/calibration.h"
#include "formats/compiler/compiler.h"

/* What atc is asked for. soc: NULL: this machine's chip, else Ascend310. more: options for atc
 * itself. samples: what samples of 0 to 255 stand for. */
typedef struct atc_request {
    const char *soc;
    const option_list *more;
    calibration_feed samples;
} atc_request;

/* Lets the user's own ATC, the vendor's compiler, make an .om for the Ascend 310 of a network of
 * one input with 1 or 3 channels, for samples of 8 bits. sizes: where the model leaves the size
 * open; more than one: it takes each of them. False:
 * one line was printed. */
bool atc_compile(const char *input, const compiler *model, const char *output,
                 const option_list *sizes, const atc_request *request);

/* Runs a model of the vendor's compiler on .npy files, one for each of its inputs and outputs.
 * Values become the tensors' types without any scale. raw: outputs keep their types, else they are
 * float32. Batch and size, where the model leaves them open, are the first array's. False: one line
 * was printed. */
bool run_om(const char *path, const mona_device *device, const option_list *inputs,
            const option_list *outputs, bool raw);

#endif
