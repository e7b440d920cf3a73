// SPDX-License-Identifier: Apache-2.0
#ifndef RUN_OM_H
#define RUN_OM_H

#include <stdbool.h>

#include "apps/cli/options.h"

/* Runs a model of the vendor's compiler on .npy files, one for each of its inputs and outputs.
 * Values become the tensors' types without any scale. raw: outputs keep their types, else they are
 * float32. Batch and size, where the model leaves them open, are the first array's. False: one line
 * was printed. */
bool run_om(const char *path, const mona_device *device, const option_list *inputs,
            const option_list *outputs, bool raw);

#endif
